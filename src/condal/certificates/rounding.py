"""Bounds on the rounding errors of a bound: of the tangent of f, of A'y and of y itself."""

from __future__ import annotations

from math import inf

import numpy as np

from condal.linalg.gradients import Gradient, zeros_of
from condal.linalg.points import Array
from condal.linalg.rounding import Errors, Rounded, gamma, norm_above, stable_norm
from condal.types import LinearMap, Smooth

MAX_SQUARED = 1e150  # the square of a larger number may overflow
TINY = float(np.finfo(np.float64).tiny)  # what a product may lose to underflow, with room
MAX_ENTRYWISE_SIDE = 1000  # n up to which the rounding of A'y is bounded entry by entry


def errors_of(f: Smooth, u: Array, value: float, g: Array) -> Errors:
    """Return the rounding errors of f at u; where f does not state them, assume a few roundings."""
    stated = f.errors(u) if isinstance(f, Rounded) else None
    if stated is not None:
        return stated
    trusted = "the value and the gradient of f, and that it is convex"
    return Errors(gamma(u.size + 8) * abs(value), gamma(8) * stable_norm(g), trusting=trusted)


def tangent_rounding(M: LinearMap, off: Errors, u: float, size: float) -> float:
    """Bound how far the tangent of f at an image of norm u may be above f where |x| <= size."""
    if max(u, size) > MAX_SQUARED:
        return inf
    above = off.value + 0.5 * (off.concavity * (u + size) ** 2 + off.departure * size**2)
    if off.gradient:
        # A norm may be an estimate: twice that is too small with a probability below 1e-40.
        norm = min(2 * M.norm, norm_above(M.row_norms()))
        above += off.gradient * (u + norm * size)
    return above


def adjoint_rounding(A: LinearMap, y: Array, enough: float = 0.0) -> float:
    """Bound |computed A'y - A'y|: an entry is a sum of A.terms products, rounded.

    The norms of A and y give a bound; if that is not `enough` and A is small, |A|'|y| gives one.
    """
    sizes = norm_above(A.row_norms()), norm_above(y)
    if 0.0 in sizes:
        return 0.0  # no product is rounded
    by_norms = gamma(A.terms + 4) * (sizes[0] * sizes[1]) + TINY * A.terms
    if by_norms <= enough or not np.isfinite(by_norms) or not _is_small(A.adjoint(zeros_of(A))):
        return by_norms
    from condal.linalg.forms import SquareRows

    rows = SquareRows.of(A)
    if rows is None:
        return by_norms
    counts = np.diff(rows.matrix.indptr)
    each = np.abs(rows.matrix.data) * np.repeat(np.abs(y), counts)
    columns = np.unique(rows.matrix.indices, return_inverse=True)[1].ravel()
    size = norm_above(np.asarray(np.bincount(columns, each), dtype=np.float64))
    products = int(counts[y != 0].sum())  # each may underflow
    if rows.squares.size:  # of v v', without its n^2 entries
        squared = np.array([norm_above(v) ** 2 for v in rows.vectors.T])
        size += float(np.abs(rows.c * y[rows.squares]) @ squared) * (1 + gamma(squared.size + 4))
        products += rows.vectors.size * len(rows.vectors)
    return min(by_norms, gamma(A.terms + 8) * size + TINY * products)


def _is_small(v: Gradient | None) -> bool:
    """Return whether v is small enough to bound each entry."""
    if isinstance(v, tuple):
        return all(_is_small(part) for part in v)
    return v is not None and v.shape[0] <= MAX_ENTRYWISE_SIDE ** (1 if len(v.shape) > 1 else 2)


def dual_rounding(A: LinearMap, error: float) -> float:
    """Bound |A'y - A'w| for the point w that y stands for, if |y - w| <= error."""
    return error * norm_above(A.row_norms()) + TINY if error else 0.0
