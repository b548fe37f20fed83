"""Bounds on the coordinates of A(x) as equations with slacks, what they imply, and factors of x."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import SquareRows
from condal.linalg.points import Array, Indices, LowRank
from condal.linalg.symmetric import Symmetric
from condal.types import Proximable, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

SQUARE = 1e-12  # relative error of a row v v'
DEPENDENT = 1e-8  # of the largest singular value of the v: smaller ones belong to dependent v
MAX_NULL_VECTORS = 20  # each is a dense vector that R is orthogonal to
IMPLIED = 1e-10  # relative residual below which I is a combination of the A_i


def coordinate_bounds(h: Proximable) -> tuple[Array, Array] | None:
    """low <= z <= high where this is what h says; None if h says something else."""
    from condal.methods.interior.assembly import bounds

    if h.fixed is not None:
        return h.fixed, h.fixed
    try:
        low, high, cones = bounds(h)
    except ProblemError:
        return None
    return None if cones else (low, high)


def equations(low: Array, high: Array) -> tuple[Indices, Array, Array]:
    """The rows, right-hand sides and signs of the slacks of the equations of bounds.

    A row with two different bounds has two equations.
    """
    fixed = low == high
    every = np.arange(low.size)
    below, above = every[~fixed & (low > -inf)], every[~fixed & (high < inf)]
    rows = np.concatenate([every[fixed], below, above])
    b = np.concatenate([low[fixed], low[below], high[above]])
    signs = np.repeat([0.0, -1.0, 1.0], [fixed.sum(), below.size, above.size])
    order = np.argsort(rows, kind="stable")
    return rows[order], b[order], signs[order]


def implied_trace(A: Any, b: Array, n: int) -> float | None:
    """<b, u> for the u with A'u = I; None if there is none."""
    from scipy.sparse.linalg import lsqr

    diagonal = np.arange(n) * (n + 1)
    if np.unique(A.indices[A.indices % (n + 1) == 0]).size < n:
        return None
    columns = np.unique(A.indices)
    place = np.searchsorted(columns, A.indices)
    compact = sp.csr_array((A.data, place, A.indptr), shape=(A.shape[0], columns.size))
    target = np.isin(columns, diagonal).astype(np.float64)
    u, _, _, residual = lsqr(sp.csr_array(compact.T), target, atol=1e-15, btol=1e-15)[:4]
    return float(b @ u) if residual <= IMPLIED * np.sqrt(n) else None


def null_vectors(A: SquareRows, rows: Indices, n: int) -> tuple[Indices, Array, float]:
    """The rows among the given ones that are squares v v', and an orthonormal basis of the v.

    The number is the smallest eigenvalue of the sum of the v v' on the span of the v. An equation
    <v v', x> = 0 leaves x without an interior: it means x v = 0.
    """
    found, vectors = _squares_in(A.matrix, rows, n)
    positive = np.isin(A.squares, rows) & (A.c > 0)
    found += A.squares[positive].tolist()
    vectors += list((A.vectors[:, positive] * np.sqrt(A.c[positive])).T)
    if not found or len(found) > MAX_NULL_VECTORS:
        return np.zeros(0, dtype=np.int64), np.zeros((n, 0)), 1.0
    axes, sizes, _ = np.linalg.svd(np.array(vectors).T, full_matrices=False)
    large = sizes > DEPENDENT * sizes[0]
    return np.array(found), axes[:, large], float(sizes[large].min() ** 2)


def _squares_in(A: Any, rows: Indices, n: int) -> tuple[list[int], list[Array]]:
    """The rows of a sparse A among the given ones that are squares v v', and the v."""
    found, vectors = [], []
    diagonal = A.indices % (n + 1) == 0
    owner = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    width = np.bincount(owner[diagonal], minlength=A.shape[0])
    square = (width > 0) & (np.diff(A.indptr) == width.astype(np.int64) ** 2)
    for i in rows[square[rows]]:
        entries = slice(A.indptr[i], A.indptr[i + 1])
        a, b = np.divmod(A.indices[entries].astype(np.int64), n)
        first, data = int(a.min()), A.data[entries]
        corner = float(data[(a == first) & (b == first)].sum())
        v = np.zeros(n)
        if corner <= 0:
            continue
        v[b[a == first]] = data[a == first] / np.sqrt(corner)
        if np.abs(v[a] * v[b] - data).max() <= SQUARE * np.abs(data).max():
            found.append(int(i))
            vectors.append(v)
    return found, vectors


def cost_of(problem: Problem) -> Symmetric:
    """Return the gradient of the linear f at a factor of trace 1."""
    f = problem.f
    C = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    assert isinstance(C, Symmetric)
    assert isinstance(problem.X, Spectral)
    return C.scaled(problem.X.trace).merged()


def point_of_factor(X: Spectral, R: Array) -> LowRank:
    """Return trace R R', scaled into X: what R misses of the surface is left to the rows of A."""
    size = float(np.linalg.norm(R))
    R = R / (max(size, 1.0) if X.at_most else size)
    return LowRank(R, np.full(R.shape[1], X.trace))
