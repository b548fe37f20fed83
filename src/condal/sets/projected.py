"""What all sets with a projection share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from condal.linalg.points import Array


class Projected(ABC):
    """The indicator of a set K: 0 in K, inf outside, known by its projection `prox`."""

    @abstractmethod
    def prox(self, z: Array, t: float) -> Array:
        """The projection of z."""

    @abstractmethod
    def conjugate(self, y: Array) -> float:
        """sup <y, z> over K."""

    @abstractmethod
    def conjugate_abs_sum(self, y: Array) -> float:
        """The sum of the absolute values of its terms."""

    @abstractmethod
    def dual_point(self, y: Array) -> Array:
        """The nearest point to y where h* is finite."""

    def value(self, z: Array) -> float:
        """0."""
        return 0.0

    def distance(self, z: Array) -> float:
        """|z - its projection|."""
        return float(np.linalg.norm(z - self.prox(z, 1.0)))

    def normal_residual(self, z: Array) -> Array:
        """z less its projection."""
        return self.dual_point(z - self.prox(z, 1.0))

    def dual_error(self, y: Array) -> float:
        """0: where h* is finite is decided by comparisons alone."""
        return 0.0

    def support(self, d: Array) -> float:
        """h*(d)."""
        return self.conjugate(d)

    def support_abs_sum(self, d: Array) -> float:
        """That of h*(d)."""
        return self.conjugate_abs_sum(d)

    def support_error(self, d: Array) -> float:
        """That of h*."""
        return self.dual_error(d)
