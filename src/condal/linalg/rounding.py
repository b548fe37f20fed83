"""Norms, rounding errors and proved bounds.

Norms neither overflow nor underflow. No vector of doubles may lie exactly in dom h*, so h* counts
as finite within NEAR of its domain. A proof then loses `Proximable.dual_error`, an upper bound on
the distance of the point from the domain. It loses the `Errors` of f to the rounding of f, if f is
`Rounded`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.runtime.arguments import plain_array

MIN_SAFE_SQUARE = 1e-280  # a sum of squares above this has lost nothing to underflow
UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
TINY = 1e-300  # the least divisor, in place of one that may be 0
UNDERFLOW = float(np.finfo(np.float64).tiny)  # what a product may lose to underflow, with room
NEAR = 1e-12  # relative to a point: far above rounding, far below any tolerance


def stable_norm(v: Array) -> float:
    """Return |v|, with at most n + 4 roundings."""
    with np.errstate(over="ignore", under="ignore"):
        square = float(v @ v)
    if MIN_SAFE_SQUARE < square < inf:
        return sqrt(square)
    largest = float(np.abs(v).max(initial=0.0))
    if not 0.0 < largest < inf:
        return largest
    scaled = v / largest
    return largest * sqrt(float(scaled @ scaled))


def sum_roundings(v: Any) -> int:
    """Return the most roundings of a sum over v."""
    return int(getattr(v, "summands", v.size))


def row_norms(a: Any) -> Array:
    """Return |a_i| for each row of a dense or CSR matrix."""
    if sp.issparse(a):
        owner = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))
        return group_norms(a.data, owner, a.shape[0])
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", a, a)
    norms = np.sqrt(squares)
    for i in np.flatnonzero((squares <= MIN_SAFE_SQUARE) | (squares == inf)):
        norms[i] = stable_norm(a[i])
    return norms


def row_squares(a: Any) -> Array:
    """Return |a_i|^2 for each row of a sparse matrix, which must not overflow."""
    return np.asarray(a.multiply(a).sum(axis=1)).ravel()


def group_norms(v: Array, groups: Indices, count: int) -> Array:
    """Return |v_G| for each group G = 0 ... count - 1, with the roundings of `stable_norm`."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.bincount(groups, weights=v * v, minlength=count)
    norms = np.sqrt(squares)
    unsafe = (squares <= MIN_SAFE_SQUARE) | (squares == inf)
    again = np.flatnonzero(unsafe[groups] & (v != 0.0)) if unsafe.any() else ()
    if len(again):
        _write_scaled_norms(norms, v[again], groups[again])
    return norms


def _write_scaled_norms(norms: Array, v: Array, groups: Indices) -> None:
    """Compute the norms of these groups relative to their largest entries."""
    largest = np.zeros(norms.size)
    np.maximum.at(largest, groups, np.abs(v))
    finite = largest[groups] < inf
    v, groups = v[finite], groups[finite]
    shares = v / largest[groups]
    squares = np.bincount(groups, weights=shares * shares, minlength=norms.size)
    nonzero = squares > 0
    norms[nonzero] = largest[nonzero] * np.sqrt(squares[nonzero])


def group_indices(labels: Any) -> tuple[Indices, int]:
    """Return the group of each entry, numbered in the order of the labels, and their count."""
    given = plain_array(labels, "groups", "a whole number for each entry, such as [0, 0, 1]")
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise ProblemError(
            "groups must be a whole number for each entry, such as [0, 0, 1]; got "
            f"{given.dtype} of shape {given.shape}"
        )
    distinct, places = np.unique(given, return_inverse=True)
    return places.reshape(-1).astype(np.intp), int(distinct.size)


def gamma(k: int) -> float:
    """Return k u / (1 - k u), a bound on the relative error of k roundings."""
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)


def norm_above(y: Array) -> float:
    """Return |y| rounded up."""
    return stable_norm(y) * (1 + gamma(y.size + 6))


@dataclass(frozen=True)
class Errors:
    """Bounds on the rounding errors of an objective f(x) = phi(Mx) at an image u.

    Attributes
    ----------
    value : float
        Bounds the error of value(u).
    gradient : float
        Bounds the Euclidean norm of the error of gradient(u).
    concavity : float
        At x, f lies below its tangent at u by at most concavity / 2 (|u| + |x|)^2 (for M = I).
    trusting : str
        What the bounds assume without proof, if anything.
    departure : float
        At x, f lies below the convex function that is computed by at most departure / 2 |x|^2.
    """

    value: float
    gradient: float
    concavity: float = 0.0
    trusting: str = ""
    departure: float = 0.0


@runtime_checkable
class Rounded(Protocol):
    """An f with known rounding errors; any other f is trusted as it is computed."""

    def errors(self, u: Array) -> Errors | None:
        """Return bounds on the errors of phi and its gradient at u; None if they are unknown."""


def written(w: Array, out: Array | None) -> Array:
    """Return w, copied to `out` if that is given."""
    if out is None:
        return w
    out[...] = w
    return out


def one_factor(rows: Array, name: str) -> float:
    """Return the common value of `rows`; ProblemError if they differ."""
    if rows.size == 0:
        return 1.0
    low, high = float(rows.min()), float(rows.max())
    if low != high:
        raise ProblemError(
            f"{name} takes one factor for all its coordinates; got factors from {low:g} to {high:g}"
        )
    return low


@dataclass(frozen=True)
class Proof:
    """A lower bound `value` on min over X of <v, x>, and `how` it was proved.

    `failure` is the probability that the bound is wrong: 0 for a deterministic proof. Where a
    better bound was asked for and does not hold, the orthonormal columns u of `refuting` may show
    that: <v, t uu'> is below it, for the trace t of a spectral X.
    """

    value: float
    how: str
    failure: float = 0.0
    refuting: Array | None = field(default=None, compare=False, repr=False)

    @property
    def because(self) -> str:
        """The proof in words, with the probability that it is wrong."""
        surely = f", wrong with probability at most {self.failure:.1g}" if self.failure else ""
        return self.how + surely
