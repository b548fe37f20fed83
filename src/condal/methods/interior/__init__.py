"""The primal-dual interior-point method, for small linear problems."""

from condal.methods.interior.method import MOST_SECONDS, InteriorPoint

__all__ = ["MOST_SECONDS", "InteriorPoint"]
