"""Bounds on the coordinates of A(x) as equations with slacks, and what they imply for the trace."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.types import Proximable

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
    columns = np.unique(A.indices)
    if not np.isin(diagonal, columns).all():
        return None
    place = np.searchsorted(columns, A.indices)
    compact = sp.csr_array((A.data, place, A.indptr), shape=(A.shape[0], columns.size))
    target = np.isin(columns, diagonal).astype(np.float64)
    u, _, _, residual = lsqr(sp.csr_array(compact.T), target, atol=1e-15, btol=1e-15)[:4]
    return float(b @ u) if residual <= IMPLIED * np.sqrt(n) else None
