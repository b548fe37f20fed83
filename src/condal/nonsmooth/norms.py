"""Norms: g* is the indicator of the ball of the dual norm."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.norms import group_indices, group_norms, stable_norm
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import NEAR, norm_above, one_factor, written
from condal.linalg.roundoff import gamma
from condal.nonsmooth.finite import Coordinatewise, Finite, Unsized, positive_weights, total
from condal.nonsmooth.levels import level, onto_l1_ball
from condal.runtime.arguments import require_positive


class L1(Coordinatewise, Unsized):
    """g(z) = sum_i t_i |z_i|; t is one weight, or one an entry."""

    def __init__(self, t: Any = 1.0, size: int | None = None) -> None:
        super().__init__(size)
        weights = positive_weights(t, size)
        if weights.ndim:
            self._size = int(weights.size)
        self.t: Array = weights if size is None else np.broadcast_to(weights, (size,)).copy()

    def _of_size(self, size: int) -> L1:
        return L1(self.t, size)

    def _cut(self, here: slice) -> L1:
        return L1(self.t[here])

    @property
    def lipschitz(self) -> float:
        """|t|."""
        return stable_norm(np.broadcast_to(self.t, (self.size,)))

    def prox(self, z: Array, t: float) -> Array:
        """z, each entry nearer to 0 by t t_i, or 0."""
        return np.asarray(z - np.clip(z, -t * self.t, t * self.t))

    def value(self, z: Array) -> float:
        """sum_i t_i |z_i|."""
        return total(self.t, np.abs(z))

    def conjugate(self, y: Array) -> float:
        """0 where every |y_i| <= t_i, else inf."""
        return 0.0 if np.all(np.abs(y) <= self.t) else inf

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam z, clipped."""
        return np.asarray(np.clip(lam * z, -self.t, self.t, out=out))

    def dual_point(self, y: Array) -> Array:
        """y, clipped."""
        return np.asarray(np.clip(y, -self.t, self.t))

    def scaled(self, rows: Array, c: float) -> L1:
        """c g(z / rows)."""
        return L1(c * self.t / rows)


class L2(Unsized):
    """g(z) = t |z|, the Euclidean norm and not its square."""

    def __init__(self, t: float = 1.0, size: int | None = None) -> None:
        super().__init__(size)
        require_positive(t, "t")
        self.t = float(t)

    def _of_size(self, size: int) -> L2:
        return L2(self.t, size)

    @property
    def lipschitz(self) -> float:
        """t."""
        return self.t

    def _shrunk(self, z: Array, t: float) -> float:
        """1 - t / |z|, or 0."""
        size = stable_norm(z)
        return 1 - t / size if size > t else 0.0

    def prox(self, z: Array, t: float) -> Array:
        """z, nearer to 0 by t times the weight, or 0."""
        return np.asarray(self._shrunk(z, t * self.t) * z)

    def value(self, z: Array) -> float:
        """t |z|."""
        return self.t * stable_norm(z)

    def conjugate(self, y: Array) -> float:
        """0 where |y| <= t, up to rounding, else inf."""
        return 0.0 if stable_norm(y) <= self.t * (1 + NEAR) else inf

    def dual_error(self, y: Array) -> float:
        """By how much |y| may pass t."""
        return max(0.0, norm_above(y) - self.t)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam z, or the point of the sphere in its direction."""
        return written(self.dual_point(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        """y, or the point of the sphere in its direction."""
        if self.conjugate(y) == 0.0:
            return y
        return np.asarray(y / stable_norm(y) * self.t)  # t / |y| may underflow

    def scaled(self, rows: Array, c: float) -> L2:
        """Another weight."""
        return L2(c * self.t / one_factor(rows, "L2"), rows.size)


class Linf(Unsized):
    """g(z) = t max_i |z_i|."""

    def __init__(self, t: float = 1.0, size: int | None = None) -> None:
        super().__init__(size)
        require_positive(t, "t")
        self.t = float(t)

    def _of_size(self, size: int) -> Linf:
        return Linf(self.t, size)

    @property
    def lipschitz(self) -> float:
        """t."""
        return self.t

    def prox(self, z: Array, t: float) -> Array:
        """z, its largest entries cut off at one level."""
        sizes = np.abs(z)
        if sizes.sum() <= t * self.t:
            return np.zeros_like(z)
        top = level(sizes, t * self.t)
        return np.asarray(np.clip(z, -top, top))

    def value(self, z: Array) -> float:
        """t max_i |z_i|."""
        return self.t * float(np.abs(z).max())

    def conjugate(self, y: Array) -> float:
        """0 where sum_i |y_i| <= t, up to rounding, else inf."""
        return 0.0 if float(np.abs(y).sum()) <= self.t * (1 + NEAR) else inf

    def dual_error(self, y: Array) -> float:
        """By how much sum_i |y_i| may pass t."""
        return max(0.0, float(np.abs(y).sum()) * (1 + gamma(y.size + 2)) - self.t)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """The nearest point to lam z where sum_i |y_i| <= t."""
        return written(self.dual_point(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        """The nearest point where sum_i |y_i| <= t."""
        return y if self.conjugate(y) == 0.0 else onto_l1_ball(y, self.t)

    def scaled(self, rows: Array, c: float) -> Linf:
        """Another weight."""
        return Linf(c * self.t / one_factor(rows, "Linf"), rows.size)


class GroupL1(Finite):
    """g(z) = sum over groups G of t_G |z_G|, Euclidean norms.

    Parameters
    ----------
    groups : a label for each entry of z, whole numbers; entries of one label form a group.
    t : one weight, or one for each group in the order of their labels.
    """

    def __init__(self, groups: Any, t: Any = 1.0) -> None:
        self.groups: Indices
        self.groups, count = group_indices(groups)
        super().__init__(int(self.groups.size))
        self.t: Array = np.broadcast_to(positive_weights(t, count), (count,)).copy()

    @property
    def lipschitz(self) -> float:
        """|t|, with a weight for each group."""
        return stable_norm(self.t)

    def _norms(self, z: Array) -> Array:
        """|z_G| for each group."""
        return group_norms(z, self.groups, self.t.size)

    def prox(self, z: Array, t: float) -> Array:
        """z, each group nearer to 0 by t t_G, or 0."""
        norms, less = self._norms(z), t * self.t
        kept = np.divide(norms - less, norms, out=np.zeros_like(norms), where=norms > less)
        return np.asarray(kept[self.groups] * z)

    def value(self, z: Array) -> float:
        """sum over groups of t_G |z_G|."""
        return float(self.t @ self._norms(z))

    def conjugate(self, y: Array) -> float:
        """0 where every |y_G| <= t_G, up to rounding, else inf."""
        return 0.0 if np.all(self._norms(y) <= self.t * (1 + NEAR)) else inf

    def dual_error(self, y: Array) -> float:
        """By how much the |y_G| may pass the t_G."""
        above = self._norms(y) * (1 + gamma(y.size + 6)) - self.t
        return norm_above(np.maximum(above, 0.0))

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam z, each group cut at its weight."""
        return written(self.dual_point(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        """y, each group cut at its weight."""
        norms = self._norms(y)
        long = norms > self.t * (1 + NEAR)
        if not long.any():
            return y
        # Not times t / |y_G|, which may underflow.
        sizes, cut = np.where(long, norms, 1.0), np.where(long, self.t, 1.0)
        return np.asarray(y / sizes[self.groups] * cut[self.groups])

    def scaled(self, rows: Array, c: float) -> GroupL1:
        """Other weights: the rows of a group have one factor."""
        factors = np.empty(self.t.size)
        factors[self.groups] = rows
        if np.any(factors[self.groups] != rows):
            i = int(np.argmax(factors[self.groups] != rows))
            raise ProblemError(
                "GroupL1 takes one factor for all entries of a group; got "
                f"{rows[i]:g} and {factors[self.groups][i]:g} in that of entry {i}"
            )
        return GroupL1(self.groups, c * self.t / factors)
