"""Methods: frozen records, each with one generator, `iterates`."""

from condal.methods.cgal import CGAL, hcgm

__all__ = ["CGAL", "hcgm"]
