"""The laboratory of condal: sweeps, the experiments of the CGAL paper, comparisons with other
solvers, and the methods that exist for comparison."""

from condal.runtime.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, __file__)
