"""How much rounding may have moved a bound: of the tangent of f, of A'y, of y itself."""

from __future__ import annotations

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.images import zeros_of
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.rounding import Errors, Rounded
from condal.linalg.roundoff import gamma
from condal.types import LinearMap, Smooth

SMALL = 1000  # n up to which what A adds to each entry is looked at


def errors_of(f: Smooth, u: Array, value: float, g: Array) -> Errors:
    """What f says of its rounding at u; where it says nothing, a few roundings of what it gives."""
    found = f.errors(u) if isinstance(f, Rounded) else None
    if found is not None:
        return found
    word = "the value and the gradient of f, and that it is convex"
    return Errors(gamma(u.size + 8) * abs(value), gamma(8) * stable_norm(g), trusting=word)


def tangent_rounding(M: LinearMap, off: Errors, u: float, size: float) -> float:
    """How much the tangent of f at an image of length u may be above f where |x| <= size."""
    above = off.value + 0.5 * (off.concavity * (u + size) ** 2 + off.departure * size**2)
    if off.gradient:
        # A norm may be an estimate: twice of it is too little with a probability below 1e-40.
        norm = min(2 * M.norm, float(np.linalg.norm(M.row_norms())))
        above += off.gradient * (u + norm * size)
    return above


def adjoint_rounding(A: LinearMap, y: Array, enough: float = 0.0) -> float:
    """A bound on |computed A'y - A'y|: an entry is a sum of A.terms products, rounded.

    The norms of A and y bound it; where that is not `enough`, and A is small, |A|'|y| does.
    """
    found = gamma(A.terms + 4) * float(np.linalg.norm(A.row_norms())) * float(np.linalg.norm(y))
    if found <= enough or not np.isfinite(found) or not _is_small(A.adjoint(zeros_of(A))):
        return found
    matrix = A.as_matrix()
    if matrix is None:
        return found
    each = np.abs(matrix.data) * np.repeat(np.abs(y), np.diff(matrix.indptr))
    sizes = np.bincount(np.unique(matrix.indices, return_inverse=True)[1].ravel(), each)
    return min(found, gamma(A.terms + 8) * float(np.linalg.norm(sizes)))


def _is_small(v: Gradient | None) -> bool:
    """Whether all of its numbers may be looked at, one by one."""
    if isinstance(v, tuple):
        return all(_is_small(part) for part in v)
    return v is not None and v.shape[0] <= (SMALL if len(v.shape) > 1 else SMALL**2)


def dual_rounding(A: LinearMap, error: float) -> float:
    """A bound on |A'y - A'w|, w the point that y stands for, if |y - w| <= error."""
    return error * float(np.linalg.norm(A.row_norms())) if error else 0.0
