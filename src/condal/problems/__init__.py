"""Applications: models that pass to `solve` as they are, with what their solutions mean."""

from condal.problems.maxcut import Cut, MaxCut, max_cut

__all__ = ["Cut", "MaxCut", "max_cut"]
