"""Functions of the residual Mx - c."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.norms import gamma, stable_norm, sum_roundings
from condal.linalg.points import Array
from condal.linalg.rounding import Errors
from condal.maps.user import as_map
from condal.runtime.arguments import finite_array, require_positive
from condal.types import LinearMap


@dataclass(frozen=True, eq=False)
class LeastSquares:
    r"""Least squares, :math:`f(x) = \tfrac{w}{2} \|Mx - c\|^2`.

    Parameters
    ----------
    M : array_like, sparse array, LinearOperator or linear map
        The map.
    c : array_like
        The data, one number per entry of Mx.
    weight : float
        The weight :math:`w`.
    """

    M: Any
    c: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        M, c = with_data(self.M, self.c, "c", "LeastSquares")
        require_positive(self.weight, "weight")
        object.__setattr__(self, "M", M)
        object.__setattr__(self, "c", c)

    @cached_property
    def L(self) -> float:
        return float(self.weight * self.M.norm**2)

    def value(self, u: Array) -> float:
        r = u - self.c
        return 0.5 * self.weight * float(r @ r)

    def gradient(self, u: Array) -> Array:
        gradient: Array = self.weight * (u - self.c)
        return gradient

    def errors(self, u: Array) -> Errors:
        """A fraction of the residual, and of its squares, which do not cancel."""
        return _of_residuals(self.value(u), self.gradient(u))

    def variation(self, max_norm: float) -> float:
        reach = float(self.M.norm * max_norm)
        return self.weight * reach * (float(np.linalg.norm(self.c)) + 0.5 * reach)

    def scaled(self, c: float) -> LeastSquares:
        return replace(self, weight=self.weight * c)


@dataclass(frozen=True, eq=False)
class Huber:
    r"""The Huber loss :math:`f(x) = w \sum_i H((Mx - c)_i)`, least squares with bounded slopes.

    :math:`H(r) = r^2 / 2` for :math:`|r| \le \delta`, else :math:`\delta (|r| - \delta / 2)`.

    Parameters
    ----------
    M : array_like, sparse array, LinearOperator or linear map
        The map.
    c : array_like
        The data, one number per entry of Mx.
    delta : float
        The largest slope :math:`\delta` of H.
    weight : float
        The weight :math:`w`.
    """

    M: Any
    c: Any
    delta: float = 1.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        M, c = with_data(self.M, self.c, "c", "Huber")
        require_positive(self.delta, "delta")
        require_positive(self.weight, "weight")
        object.__setattr__(self, "M", M)
        object.__setattr__(self, "c", c)

    @cached_property
    def L(self) -> float:
        return float(self.weight * self.M.norm**2)

    def value(self, u: Array) -> float:
        r = np.abs(u - self.c)
        near = np.minimum(r, self.delta)
        return self.weight * float(near @ (r - 0.5 * near))

    def gradient(self, u: Array) -> Array:
        return np.asarray(self.weight * np.clip(u - self.c, -self.delta, self.delta))

    def errors(self, u: Array) -> Errors:
        """As for least squares: |r| - delta/2 is at least |r|/2 beyond delta."""
        return _of_residuals(self.value(u), self.gradient(u))

    def variation(self, max_norm: float) -> float:
        """What the slope at 0 and the curvature allow, or the largest slope."""
        reach = float(self.M.norm * max_norm)
        near = float(np.linalg.norm(self.gradient(np.zeros(self.c.size)))) * reach
        near += 0.5 * self.weight * reach**2
        return min(near, self.weight * self.delta * sqrt(self.c.size) * reach)

    def scaled(self, c: float) -> Huber:
        return replace(self, weight=self.weight * c)


def _of_residuals(value: float, gradient: Array) -> Errors:
    """A few roundings of each residual and of its function, which is positive, and of the sum."""
    return Errors(gamma(sum_roundings(gradient) + 16) * value, gamma(8) * stable_norm(gradient))


def with_data(M: Any, values: Any, name: str, owner: str) -> tuple[LinearMap, Array]:
    """Return M as a linear map, and a copy of the values, one per entry of its images."""
    A, data = as_map(M, "M"), finite_array(values, name, ndim=1).copy()
    if data.size != A.size:
        raise ProblemError(
            f"{owner}: M makes images of length {A.size}, but {name} has length {data.size}"
        )
    return A, data
