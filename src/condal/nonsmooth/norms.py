"""Norms, whose g* is the indicator of the ball of the dual norm, and total variation."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import NEAR, gamma, group_indices, group_norms, norm_above, stable_norm
from condal.nonsmooth.finite import (
    Coordinatewise,
    Finite,
    Unsized,
    Weighted,
    positive_weights,
    total,
)
from condal.nonsmooth.levels import level, onto_l1_ball
from condal.runtime.arguments import require_whole


class L1(Coordinatewise, Unsized):
    r"""The weighted l1 norm :math:`g(z) = \sum_i t_i |z_i|`.

    Parameters
    ----------
    t : float or array_like of shape (m,)
        One positive weight, or one per entry.
    size : int, optional
        The length of z; taken from B if left out.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.nonsmooth import L1
    >>> L1(0.5, 3).value(np.array([1.0, -2.0, 0.0]))
    1.5
    """

    def __init__(self, t: Any = 1.0, size: int | None = None) -> None:
        super().__init__(size)
        weights = positive_weights(t, size)
        if weights.ndim:
            self._size = int(weights.size)
        self.t: Array = weights if size is None else np.broadcast_to(weights, (size,)).copy()

    def _of_size(self, size: int) -> L1:
        return L1(self.t, size)

    def _cut(self, part: slice) -> L1:
        return L1(self.t[part])

    @property
    def lipschitz(self) -> float:
        return stable_norm(np.broadcast_to(self.t, (self.size,)))

    def prox(self, z: Array, t: float) -> Array:
        """Soft thresholding: each entry moves towards 0 by t t_i, at most to 0."""
        return np.asarray(z - np.clip(z, -t * self.t, t * self.t))

    def value(self, z: Array) -> float:
        return total(self.t, np.abs(z))

    def conjugate(self, y: Array) -> float:
        return 0.0 if np.all(np.abs(y) <= self.t) else inf

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return np.asarray(np.clip(lam * z, -self.t, self.t, out=out))

    def dual_point(self, y: Array) -> Array:
        return np.asarray(np.clip(y, -self.t, self.t))

    def scaled(self, rows: Array, c: float) -> L1:
        return L1(c * self.t / rows)


class L2(Weighted):
    r"""The Euclidean norm :math:`g(z) = t \|z\|`, not squared.

    Parameters
    ----------
    t : float
        The weight.
    size : int, optional
        The length of z; taken from B if left out.
    """

    def prox(self, z: Array, t: float) -> Array:
        """z moves towards 0 by t times the weight, at most to 0."""
        length, step = stable_norm(z), t * self.t
        return np.asarray((1 - step / length if length > step else 0.0) * z)

    def value(self, z: Array) -> float:
        return self.t * stable_norm(z)

    def conjugate(self, y: Array) -> float:
        return 0.0 if stable_norm(y) <= self.t * (1 + NEAR) else inf

    def dual_error(self, y: Array) -> float:
        return max(0.0, norm_above(y) - self.t)

    def dual_point(self, y: Array) -> Array:
        if self.conjugate(y) == 0.0:
            return y
        return np.asarray(y / stable_norm(y) * self.t)  # t / |y| may underflow


class Linf(Weighted):
    r"""The largest absolute entry :math:`g(z) = t \max_i |z_i|`.

    Parameters
    ----------
    t : float
        The weight.
    size : int, optional
        The length of z; taken from B if left out.
    """

    def prox(self, z: Array, t: float) -> Array:
        """z, its largest entries cut off at one level."""
        sizes = np.abs(z)
        if sizes.sum() <= t * self.t:
            return np.zeros_like(z)
        top = level(sizes, t * self.t)
        return np.asarray(np.clip(z, -top, top))

    def value(self, z: Array) -> float:
        return self.t * float(np.abs(z).max())

    def conjugate(self, y: Array) -> float:
        return 0.0 if float(np.abs(y).sum()) <= self.t * (1 + NEAR) else inf

    def dual_error(self, y: Array) -> float:
        return max(0.0, float(np.abs(y).sum()) * (1 + gamma(y.size + 2)) - self.t)

    def dual_point(self, y: Array) -> Array:
        return y if self.conjugate(y) == 0.0 else onto_l1_ball(y, self.t)


class GroupL1(Finite):
    r"""The group norm :math:`g(z) = \sum_G t_G \|z_G\|`, Euclidean norms over groups of entries.

    Parameters
    ----------
    groups : array_like of int, shape (m,)
        A label for each entry of z; entries with the same label form a group.
    t : float or array_like
        One positive weight, or one per group in the order of the labels.
    """

    def __init__(self, groups: Any, t: Any = 1.0) -> None:
        self.groups: Indices
        self.groups, count = group_indices(groups)
        super().__init__(int(self.groups.size))
        self.t: Array = np.broadcast_to(positive_weights(t, count), (count,)).copy()

    @property
    def lipschitz(self) -> float:
        return stable_norm(self.t)

    def _norms(self, z: Array) -> Array:
        """Return |z_G| for each group."""
        return group_norms(z, self.groups, self.t.size)

    def prox(self, z: Array, t: float) -> Array:
        """Each group moves towards 0 by t t_G, at most to 0."""
        norms, step = self._norms(z), t * self.t
        shares = np.divide(norms - step, norms, out=np.zeros_like(norms), where=norms > step)
        return np.asarray(shares[self.groups] * z)

    def value(self, z: Array) -> float:
        return float(self.t @ self._norms(z))

    def conjugate(self, y: Array) -> float:
        return 0.0 if np.all(self._norms(y) <= self.t * (1 + NEAR)) else inf

    def dual_error(self, y: Array) -> float:
        excess = self._norms(y) * (1 + gamma(y.size + 6)) - self.t
        return norm_above(np.maximum(excess, 0.0))

    def dual_point(self, y: Array) -> Array:
        norms = self._norms(y)
        long = norms > self.t * (1 + NEAR)
        if not long.any():
            return y
        # Not times t / |y_G|, which may underflow.
        lengths, limits = np.where(long, norms, 1.0), np.where(long, self.t, 1.0)
        return np.asarray(y / lengths[self.groups] * limits[self.groups])

    def scaled(self, rows: Array, c: float) -> GroupL1:
        factors = np.empty(self.t.size)
        factors[self.groups] = rows
        if np.any(factors[self.groups] != rows):
            i = int(np.argmax(factors[self.groups] != rows))
            raise ProblemError(
                "GroupL1 takes one factor for all entries of a group; got "
                f"{rows[i]:g} and {factors[self.groups][i]:g} in the group of entry {i}"
            )
        return GroupL1(self.groups, c * self.t / factors)


def total_variation(
    shape: Sequence[int], t: float = 1.0, *, isotropic: bool = True
) -> GroupL1 | L1:
    r"""Return g such that g(Bx) is t times the total variation of x.

    B = `FiniteDifferences(shape)` returns the differences along the first axis for all entries,
    then along the second axis, and so on. With :math:`d_i` the differences of entry i,

    .. math:: g(Bx) = t \sum_i \|d_i\|_2 \quad\text{(isotropic)} \qquad\text{or}\qquad
              t \sum_i \|d_i\|_1.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array x.
    t : float
        The weight.
    isotropic : bool
        Whether to use Euclidean norms.

    Returns
    -------
    GroupL1 or L1
        The function g.
    """
    for side in shape:
        require_whole(side, "a side of shape")
    entries, axes = prod(shape), len(shape)
    if isotropic and axes > 1:
        return GroupL1(np.tile(np.arange(entries), axes), t)
    return L1(t, axes * entries)
