"""Losses, entry by entry: how badly a prediction z misses."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.nonsmooth.finite import Coordinatewise, Unsized, positive_weights, total
from condal.runtime.arguments import finite_array


class _Kinked(Coordinatewise):
    """g(z) = sum_i max(low_i (z_i - c_i), high_i (z_i - c_i)), low <= 0 <= high.

    g*(y) = <c, y> where low <= y <= high.
    """

    def __init__(self, size: int | None, c: Array, low: Array, high: Array) -> None:
        super().__init__(size)
        self._kink, self._low, self._high = c, low, high

    @property
    def lipschitz(self) -> float:
        """The norm of the steeper slopes."""
        steepest = np.maximum(-self._low, self._high)
        return float(np.linalg.norm(np.broadcast_to(steepest, (self.size,))))

    def prox(self, z: Array, t: float) -> Array:
        """z, by t times a slope nearer to the kink, or the kink."""
        r = z - self._kink
        step = np.clip(r, t * self._low, t * self._high)
        return np.where(step == r, self._kink, z - step)

    def value(self, z: Array) -> float:
        """g(z)."""
        r = z - self._kink
        return float(np.maximum(self._low * r, self._high * r).sum())

    def conjugate(self, y: Array) -> float:
        """<c, y> between the slopes, else inf."""
        if np.all((self._low <= y) & (y <= self._high)):
            return total(self._kink, y)
        return inf

    def conjugate_abs_sum(self, y: Array) -> float:
        """<|c|, |y|>."""
        return total(np.abs(self._kink), np.abs(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam (z - c), clipped to the slopes."""
        w = np.subtract(z, self._kink, out=out)
        w *= lam
        return np.asarray(np.clip(w, self._low, self._high, out=w))

    def dual_point(self, y: Array) -> Array:
        """y, clipped to the slopes."""
        return np.asarray(np.clip(y, self._low, self._high))


class AbsoluteLoss(_Kinked):
    """g(z) = sum_i t_i |z_i - c_i|; t is one weight, or one an entry."""

    def __init__(self, c: Any, t: Any = 1.0) -> None:
        self.c: Array = finite_array(c, "c", ndim=1).copy()
        self.t: Array = _for_each(t, self.c.size)
        super().__init__(self.c.size, self.c, -self.t, self.t)

    def _cut(self, here: slice) -> AbsoluteLoss:
        return AbsoluteLoss(self.c[here], self.t[here])

    def scaled(self, rows: Array, c: float) -> AbsoluteLoss:
        """c g(z / rows)."""
        return AbsoluteLoss(rows * self.c, c * self.t / rows)


class Quantile(_Kinked):
    """g(z) = sum_i t_i (q (c_i - z_i) where z_i is below c_i, (1 - q) (z_i - c_i) above).

    The pinball loss of predictions z of c: it is least where a part q of the c_i lies below z_i.
    """

    def __init__(self, c: Any, q: float = 0.5, t: Any = 1.0) -> None:
        self.c: Array = finite_array(c, "c", ndim=1).copy()
        self.t: Array = _for_each(t, self.c.size)
        if not isinstance(q, float | int | np.number) or not 0 < q < 1:
            raise ProblemError(f"q must lie between 0 and 1; got {q!r}")
        self.q = float(q)
        super().__init__(self.c.size, self.c, -self.q * self.t, (1 - self.q) * self.t)

    def _cut(self, here: slice) -> Quantile:
        return Quantile(self.c[here], self.q, self.t[here])

    def scaled(self, rows: Array, c: float) -> Quantile:
        """c g(z / rows)."""
        return Quantile(rows * self.c, self.q, c * self.t / rows)


class Hinge(_Kinked, Unsized):
    """g(z) = sum_i t_i max(0, 1 - l_i z_i), l the labels: 1 and -1; all 1 if left out."""

    def __init__(self, labels: Any = None, t: Any = 1.0, size: int | None = None) -> None:
        found = finite_array(1.0 if labels is None else labels, "labels").copy()
        if found.ndim != (0 if labels is None else 1):
            raise ProblemError(f"labels must be a vector; got shape {found.shape}")
        if np.any(found == 0):
            i = int(np.argmax(found == 0))
            raise ProblemError(
                f"labels must be 1 or -1; got 0 at index {i}: pass 2 * labels - 1 if they are 0 "
                "and 1"
            )
        weights = finite_array(t, "t")
        lengths = [size, *(each.size if each.ndim else None for each in (found, weights))]
        known = {int(length) for length in lengths if length is not None}
        if len(known) > 1:
            raise ProblemError(
                f"Hinge: labels, t and size are of different lengths: {sorted(known)}"
            )
        of = known.pop() if known else None
        self.labels, self.t = found, positive_weights(t, of)
        if of is not None:
            self.labels = np.broadcast_to(found, (of,)).copy()
            self.t = np.broadcast_to(self.t, (of,)).copy()
        slope = -self.t * self.labels
        low, high = np.minimum(slope, 0.0), np.maximum(slope, 0.0)
        super().__init__(of, 1.0 / self.labels, low, high)

    def _of_size(self, size: int) -> Hinge:
        return Hinge(None, self.t, size)

    def _cut(self, here: slice) -> Hinge:
        return Hinge(self.labels[here], self.t[here])

    def scaled(self, rows: Array, c: float) -> Hinge:
        """c g(z / rows): the labels take the factors."""
        return Hinge(self.labels / rows, c * self.t)


class EpsilonInsensitive(Coordinatewise):
    """g(z) = sum_i t_i max(0, |z_i - c_i| - epsilon_i): misses of up to epsilon are free."""

    def __init__(self, c: Any, epsilon: Any, t: Any = 1.0) -> None:
        self.c: Array = finite_array(c, "c", ndim=1).copy()
        super().__init__(self.c.size)
        self.t: Array = _for_each(t, self.c.size)
        free = finite_array(epsilon, "epsilon")
        if free.ndim > 1 or (free.ndim == 1 and free.size != self.c.size) or np.any(free < 0):
            raise ProblemError(
                f"epsilon must be a number, at least 0, or {self.c.size} of them; got {epsilon!r}"
            )
        self.epsilon: Array = np.broadcast_to(free, self.c.shape).copy()

    def _cut(self, here: slice) -> EpsilonInsensitive:
        return EpsilonInsensitive(self.c[here], self.epsilon[here], self.t[here])

    @property
    def lipschitz(self) -> float:
        """|t|."""
        return float(np.linalg.norm(self.t))

    def _missed(self, z: Array) -> Array:
        """z - c without what is free."""
        r = z - self.c
        return np.asarray(r - np.clip(r, -self.epsilon, self.epsilon))

    def prox(self, z: Array, t: float) -> Array:
        """z, nearer to c by t t_i, or at epsilon from it."""
        return np.asarray(z - np.clip(self._missed(z), -t * self.t, t * self.t))

    def value(self, z: Array) -> float:
        """sum_i t_i max(0, |z_i - c_i| - epsilon_i)."""
        return float(self.t @ np.abs(self._missed(z)))

    def conjugate(self, y: Array) -> float:
        """<c, y> + <epsilon, |y|> where every |y_i| <= t_i, else inf."""
        if np.all(np.abs(y) <= self.t):
            return float(self.c @ y + self.epsilon @ np.abs(y))
        return inf

    def conjugate_abs_sum(self, y: Array) -> float:
        """<|c| + epsilon, |y|>."""
        return float((np.abs(self.c) + self.epsilon) @ np.abs(y))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam times what is missed, clipped."""
        return np.asarray(np.clip(lam * self._missed(z), -self.t, self.t, out=out))

    def dual_point(self, y: Array) -> Array:
        """y, clipped."""
        return np.asarray(np.clip(y, -self.t, self.t))

    def scaled(self, rows: Array, c: float) -> EpsilonInsensitive:
        """c g(z / rows)."""
        return EpsilonInsensitive(rows * self.c, rows * self.epsilon, c * self.t / rows)


def _for_each(t: Any, size: int) -> Array:
    return np.broadcast_to(positive_weights(t, size), (size,)).copy()
