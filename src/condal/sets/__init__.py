"""Sets K for the constraint Ax in K, each the h of the template: its indicator function."""

from condal.sets.boxes import Box, Equal
from condal.sets.orthants import NonNegative, NonPositive
from condal.sets.separable import Separable

__all__ = ["Box", "Equal", "NonNegative", "NonPositive", "Separable"]
