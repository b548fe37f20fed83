"""Bounds on the coordinates of A(x) as equations with slacks, what they imply, and factors of x."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, LowRank
from condal.linalg.symmetric import Symmetric
from condal.types import Proximable, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

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
