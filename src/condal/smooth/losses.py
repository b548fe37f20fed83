"""Losses of Mx: functions of the residual, and negative log-likelihoods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, Self

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.linalg.rounding import Errors, gamma, stable_norm, sum_roundings
from condal.maps.user import as_map
from condal.runtime.arguments import finite_array, require_positive

LOG_ROUNDINGS = 8  # of a logarithm or an exponential: 4 units in the last place


class _Loss:
    """w times a sum of functions of the entries of Mx, each with a number of its own."""

    least = 0.0  # no term is ever below it
    M: Any
    weight: float

    def _keep(self, name: str) -> Array:
        """Check M, the weight and the data of that name, and keep a copy of the data."""
        M, data = as_map(self.M, "M"), finite_array(getattr(self, name), name, ndim=1).copy()
        if data.size != M.size:
            raise ProblemError(
                f"{type(self).__name__}: M makes images of length {M.size}, but {name} has length "
                f"{data.size}"
            )
        require_positive(self.weight, "weight")
        object.__setattr__(self, "M", M)
        object.__setattr__(self, name, data)
        return data

    def scaled(self, c: float) -> Self:
        return replace(self, weight=self.weight * c)  # type: ignore[type-var]  # a dataclass


@dataclass(frozen=True, eq=False)
class LeastSquares(_Loss):
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
        self._keep("c")

    @cached_property
    def L(self) -> float:
        return float(self.weight * self.M.norm * self.M.norm)

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


@dataclass(frozen=True, eq=False)
class Huber(_Loss):
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
        require_positive(self.delta, "delta")
        self._keep("c")

    @cached_property
    def L(self) -> float:
        return float(self.weight * self.M.norm * self.M.norm)

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


def _of_residuals(value: float, gradient: Array) -> Errors:
    """A few roundings of each residual and of its function, which is positive, and of the sum."""
    return Errors(gamma(sum_roundings(gradient) + 16) * value, gamma(8) * stable_norm(gradient))


@dataclass(frozen=True, eq=False)
class Logistic(_Loss):
    r"""The logistic loss :math:`f(x) = w \sum_i \log(1 + \exp(-l_i (Mx)_i))`.

    Parameters
    ----------
    M : array_like, sparse array, LinearOperator or linear map
        The features, one row per observation.
    labels : array_like
        The labels :math:`l_i`, 1 or -1.
    weight : float
        The weight :math:`w`.
    """

    M: Any
    labels: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        labels = self._keep("labels")
        if np.any(np.abs(labels) != 1):
            i = int(np.argmax(np.abs(labels) != 1))
            raise ProblemError(
                f"labels must be 1 or -1; got {labels[i]:g} at index {i}: pass 2 * labels - 1 if "
                "they are 0 and 1"
            )

    @cached_property
    def L(self) -> float:
        return 0.25 * float(self.weight * self.M.norm * self.M.norm)

    def value(self, u: Array) -> float:
        return self.weight * float(np.logaddexp(0.0, -self.labels * u).sum())

    def gradient(self, u: Array) -> Array:
        from scipy.special import expit

        return np.asarray(-self.weight * self.labels * expit(-self.labels * u))

    def errors(self, u: Array) -> Errors:
        """A few roundings of each term, all of them positive, and those of the sum."""
        each = 2 * LOG_ROUNDINGS + 8
        value, steepest = self.value(u), stable_norm(self.gradient(u))
        return Errors(gamma(u.size + each) * value, gamma(each) * steepest)

    def variation(self, max_norm: float) -> float:
        """What the slope at 0 and the curvature allow, or the largest slope."""
        reach, root = float(self.M.norm * max_norm), sqrt(self.labels.size)
        return self.weight * min(0.5 * root * reach + 0.125 * reach * reach, root * reach)


@dataclass(frozen=True, eq=False)
class Poisson(_Loss):
    r"""The Poisson loss, half the deviance of counts k from the rates :math:`\lambda = Mx + b`.

    .. math:: f(x) = w \sum_i \lambda_i - k_i + k_i \log(k_i / \lambda_i)

    It is the negative log-likelihood, less its value where the rates are the counts: 0 is a perfect
    fit, so a relative tolerance does not depend on a constant.

    Its domain is :math:`u = Mx \ge 0`, where :math:`b > 0` keeps the gradient Lipschitz: use it
    with M and X whose images are nonnegative. Below 0, where a method may evaluate it, each term
    continues as the parabola that matches its value, slope and curvature at :math:`u_i = 0`: f
    stays convex, and L holds everywhere.

    Parameters
    ----------
    M : array_like, sparse array, LinearOperator or linear map
        The expected counts are Mx + background.
    counts : array_like
        The observed counts :math:`k_i`, at least 0.
    background : float or array_like
        The expected counts :math:`b_i > 0` at x = 0.
    weight : float
        The weight :math:`w`.
    """

    least = -np.inf  # at images below 0
    M: Any
    counts: Any
    background: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        counts = self._keep("counts")
        if np.any(counts < 0):
            i = int(np.argmax(counts < 0))
            raise ProblemError(f"counts must not be negative; got {counts[i]:g} at index {i}")
        b = finite_array(self.background, "background")
        if b.ndim > 1 or (b.ndim == 1 and b.size != counts.size) or np.any(b <= 0):
            raise ProblemError(
                f"background must be a positive number, or {counts.size} of them; got "
                f"{self.background!r}: a small one, such as 1e-2, stands for none"
            )
        object.__setattr__(self, "background", np.broadcast_to(b, counts.shape).copy())

    @cached_property
    def L(self) -> float:
        """weight |Diag(sqrt(k) / b) M|^2."""
        return self.weight * float(self.M.scaled(np.sqrt(self._curvature)).norm ** 2)

    @cached_property
    def _logs(self) -> Array:
        """k log(k), 0 for k = 0."""
        from scipy.special import xlogy

        return np.asarray(xlogy(self.counts, self.counts))

    @cached_property
    def _curvature(self) -> Array:
        """The curvature of each term at 0, where it is largest."""
        return np.asarray(self.counts / self.background**2)

    def value(self, u: Array) -> float:
        rate, below = np.maximum(u, 0.0) + self.background, np.minimum(u, 0.0)
        terms = rate - self.counts + (self._logs - self.counts * np.log(rate))
        slope = 1 - self.counts / self.background
        return self.weight * float((terms + below * (slope + 0.5 * self._curvature * below)).sum())

    def gradient(self, u: Array) -> Array:
        rate, below = np.maximum(u, 0.0) + self.background, np.minimum(u, 0.0)
        return np.asarray(self.weight * (1 - self.counts / rate + self._curvature * below))

    def errors(self, u: Array) -> Errors:
        """Fractions of the terms before they cancel; log(rate) inherits what the rate has lost."""
        rate, below = np.maximum(u, 0.0) + self.background, np.maximum(-u, 0.0)
        terms = rate + np.abs(self._logs) + self.counts * (2 + np.abs(np.log(rate)))
        slope = 1 + self.counts / self.background
        terms += below * (slope + 0.5 * self._curvature * below)
        slopes = 1 + self.counts / rate + self._curvature * below
        value, steepest = self.weight * float(terms.sum()), self.weight * stable_norm(slopes)
        return Errors(
            gamma(u.size + LOG_ROUNDINGS + 16) * value, gamma(LOG_ROUNDINGS + 8) * steepest
        )

    def variation(self, max_norm: float) -> float:
        """What the slope at 0 and the curvature allow."""
        slope = float(np.linalg.norm(self.gradient(np.zeros(self.counts.size))))
        return slope * float(self.M.norm) * max_norm + 0.5 * self.L * max_norm**2
