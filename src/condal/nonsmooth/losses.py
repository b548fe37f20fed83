"""Losses, entry by entry, of a prediction z."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.nonsmooth.finite import Coordinatewise, Unsized, positive_weights, total
from condal.runtime.arguments import finite_array


class _Kinked(Coordinatewise):
    """g(z) = sum_i max(low_i (z_i - left_i), 0, high_i (z_i - right_i)), with low <= 0 <= high and
    left <= right.

    g*(y) = sum_i max(left_i y_i, right_i y_i) where low <= y <= high.
    """

    def __init__(
        self, size: int | None, left: Array, right: Array, *, low: Array, high: Array
    ) -> None:
        super().__init__(size)
        self._left, self._right, self._low, self._high = left, right, low, high
        self._flat = left is not right  # g_i is 0 on an interval, and not at one point only

    @property
    def lipschitz(self) -> float:
        steepest = np.maximum(-self._low, self._high)
        return float(np.linalg.norm(np.broadcast_to(steepest, (self.size,))))

    def _nearest(self, z: Array) -> Array:
        """Return the nearest point to z where g is 0."""
        return np.clip(z, self._left, self._right) if self._flat else self._left

    def prox(self, z: Array, t: float) -> Array:
        """Each entry moves towards that point by t times a slope, at most to it."""
        nearest = self._nearest(z)
        r = z - nearest
        step = np.clip(r, t * self._low, t * self._high)
        return np.where(step == r, nearest, z - step)

    def value(self, z: Array) -> float:
        r = z - self._nearest(z)
        return float(np.maximum(self._low * r, self._high * r).sum())

    def conjugate(self, y: Array) -> float:
        if not np.all((self._low <= y) & (y <= self._high)):
            return inf
        if self._flat:
            return float(np.maximum(self._left * y, self._right * y).sum())
        return total(self._left, y)

    def conjugate_abs_sum(self, y: Array) -> float:
        return total(np.maximum(np.abs(self._left), np.abs(self._right)), np.abs(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        w = np.subtract(z, self._nearest(z), out=out)
        w *= lam
        return np.asarray(np.clip(w, self._low, self._high, out=w))

    def dual_point(self, y: Array) -> Array:
        return np.asarray(np.clip(y, self._low, self._high))


class AbsoluteLoss(_Kinked):
    r"""The absolute loss :math:`g(z) = \sum_i t_i |z_i - c_i|`.

    Parameters
    ----------
    c : array_like of shape (m,)
        The data.
    t : float or array_like of shape (m,)
        One positive weight, or one per entry.
    """

    def __init__(self, c: Any, t: Any = 1.0) -> None:
        self.c: Array = finite_array(c, "c", ndim=1).copy()
        self.t: Array = _broadcast_weights(t, self.c.size)
        super().__init__(self.c.size, self.c, self.c, low=-self.t, high=self.t)

    def _cut(self, part: slice) -> AbsoluteLoss:
        return AbsoluteLoss(self.c[part], self.t[part])

    def scaled(self, rows: Array, c: float) -> AbsoluteLoss:
        return AbsoluteLoss(rows * self.c, c * self.t / rows)


class Quantile(_Kinked):
    r"""The pinball loss :math:`g(z) = \sum_i t_i \max\{q (c_i - z_i), (1 - q) (z_i - c_i)\}`.

    It is smallest where a fraction q of the :math:`c_i` lies below the predictions :math:`z_i`.

    Parameters
    ----------
    c : array_like of shape (m,)
        The data.
    q : float
        The quantile, between 0 and 1.
    t : float or array_like of shape (m,)
        One positive weight, or one per entry.
    """

    def __init__(self, c: Any, q: float = 0.5, t: Any = 1.0) -> None:
        self.c: Array = finite_array(c, "c", ndim=1).copy()
        self.t: Array = _broadcast_weights(t, self.c.size)
        if not isinstance(q, float | int | np.number) or not 0 < q < 1:
            raise ProblemError(f"q must lie between 0 and 1; got {q!r}")
        self.q = float(q)
        with np.errstate(under="ignore"):
            low, high = -self.q * self.t, (1 - self.q) * self.t
        super().__init__(self.c.size, self.c, self.c, low=low, high=high)

    def _cut(self, part: slice) -> Quantile:
        return Quantile(self.c[part], self.q, self.t[part])

    def scaled(self, rows: Array, c: float) -> Quantile:
        return Quantile(rows * self.c, self.q, c * self.t / rows)


class Hinge(_Kinked, Unsized):
    r"""The hinge loss :math:`g(z) = \sum_i t_i \max(0, 1 - l_i z_i)`.

    Parameters
    ----------
    labels : array_like of shape (m,), optional
        The labels :math:`l_i`, 1 or -1; all 1 if left out.
    t : float or array_like of shape (m,)
        One positive weight, or one per entry.
    size : int, optional
        The length of z; taken from the labels, the weights or B if left out.
    """

    def __init__(self, labels: Any = None, t: Any = 1.0, size: int | None = None) -> None:
        signs = finite_array(1.0 if labels is None else labels, "labels").copy()
        if signs.ndim != (0 if labels is None else 1):
            raise ProblemError(f"labels must be a vector; got shape {signs.shape}")
        if np.any(signs == 0):
            i = int(np.argmax(signs == 0))
            raise ProblemError(
                f"labels must be 1 or -1; got 0 at index {i}: pass 2 * labels - 1 if they are 0 "
                "and 1"
            )
        weights = finite_array(t, "t")
        lengths = [size, *(data.size if data.ndim else None for data in (signs, weights))]
        known = {int(given) for given in lengths if given is not None}
        if len(known) > 1:
            raise ProblemError(
                f"Hinge: labels, t and size are of different lengths: {sorted(known)}"
            )
        length = known.pop() if known else None
        self.labels, self.t = signs, positive_weights(t, length)
        if length is not None:
            self.labels = np.broadcast_to(signs, (length,)).copy()
            self.t = np.broadcast_to(self.t, (length,)).copy()
        slope = -self.t * self.labels
        low, high = np.minimum(slope, 0.0), np.maximum(slope, 0.0)
        kink = 1.0 / self.labels
        super().__init__(length, kink, kink, low=low, high=high)

    def _of_size(self, size: int) -> Hinge:
        return Hinge(None, self.t, size)

    def _cut(self, part: slice) -> Hinge:
        return Hinge(self.labels[part], self.t[part])

    def scaled(self, rows: Array, c: float) -> Hinge:
        return Hinge(self.labels / rows, c * self.t)


class EpsilonInsensitive(_Kinked):
    r"""The loss :math:`g(z) = \sum_i t_i \max(0, |z_i - c_i| - \epsilon_i)`.

    Parameters
    ----------
    c : array_like of shape (m,)
        The data.
    epsilon : float or array_like of shape (m,)
        Errors up to this size cost nothing.
    t : float or array_like of shape (m,)
        One positive weight, or one per entry.
    """

    def __init__(self, c: Any, epsilon: Any, t: Any = 1.0) -> None:
        self.c: Array = finite_array(c, "c", ndim=1).copy()
        self.t: Array = _broadcast_weights(t, self.c.size)
        free = finite_array(epsilon, "epsilon")
        if free.ndim > 1 or (free.ndim == 1 and free.size != self.c.size) or np.any(free < 0):
            raise ProblemError(
                f"epsilon must be a number, at least 0, or {self.c.size} of them; got {epsilon!r}"
            )
        self.epsilon: Array = np.broadcast_to(free, self.c.shape).copy()
        left, right = self.c - self.epsilon, self.c + self.epsilon
        super().__init__(self.c.size, left, right, low=-self.t, high=self.t)

    def _cut(self, part: slice) -> EpsilonInsensitive:
        return EpsilonInsensitive(self.c[part], self.epsilon[part], self.t[part])

    def scaled(self, rows: Array, c: float) -> EpsilonInsensitive:
        return EpsilonInsensitive(rows * self.c, rows * self.epsilon, c * self.t / rows)


def _broadcast_weights(t: Any, size: int) -> Array:
    return np.broadcast_to(positive_weights(t, size), (size,)).copy()
