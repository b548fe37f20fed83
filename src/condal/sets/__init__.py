"""Sets K for the constraint Ax in K, each the h of the template: its indicator function."""

from condal.sets.affine import Affine
from condal.sets.balls import Ball
from condal.sets.boxes import Box, Equal
from condal.sets.cones import PSDCone, SecondOrder
from condal.sets.orthants import NonNegative, NonPositive
from condal.sets.separable import Separable

__all__ = [
    "Affine",
    "Ball",
    "Box",
    "Equal",
    "NonNegative",
    "NonPositive",
    "PSDCone",
    "SecondOrder",
    "Separable",
]
