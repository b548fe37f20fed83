"""Nonsmooth functions g, each an h of the template: convex, Lipschitz, reached by its prox.

Those that need no data take their size from B when the problem is made: `L1(0.3)`.
"""

from condal.nonsmooth.largest import MaxEigenvalue, Maximum
from condal.nonsmooth.losses import AbsoluteLoss, EpsilonInsensitive, Hinge, Quantile
from condal.nonsmooth.norms import L1, L2, GroupL1, Linf
from condal.nonsmooth.variation import total_variation

__all__ = [
    "L1",
    "L2",
    "AbsoluteLoss",
    "EpsilonInsensitive",
    "GroupL1",
    "Hinge",
    "Linf",
    "MaxEigenvalue",
    "Maximum",
    "Quantile",
    "total_variation",
]
