"""Bounds on traces by linear programs over the rows that use only diagonals and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.problems.conic.exact import trace_places
from condal.problems.conic.folded import Folded, Part

MAX_ENTRIES = 200_000  # of the linear program


def diagonal_weights(folded: Folded, wanted: tuple[int, ...]) -> Array | None:
    """Return y of least sup_K <y, .> with A'y >= 1 on the diagonals of the wanted parts; or None.

    A'y >= 0 on the diagonals of the other parts.
    """
    rows = _diagonal_rows(folded)
    if not rows.size:
        return None
    diagonals = [_places(part, rows) for part in folded.parts]
    matrix = sp.csc_array(sp.hstack(diagonals).T)
    if matrix.nnz > MAX_ENTRIES:
        return None
    target = np.concatenate(
        [np.full(diagonal.shape[1], float(j in wanted)) for j, diagonal in enumerate(diagonals)]
    )
    from scipy.optimize import linprog

    low, high = folded.low[rows], folded.high[rows]
    up, down = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
    # For an equation, either sign costs the same.
    cost = np.concatenate([high[up], -low[down]])
    both = sp.csr_array(sp.hstack([matrix[:, up], -matrix[:, down]]))
    program = linprog(cost, A_ub=-both, b_ub=-target, bounds=(0, None), method="highs")
    if program.status != 0:
        return None
    y = np.zeros(folded.rows.size)
    y[rows[up]] += program.x[: up.size]
    y[rows[down]] -= program.x[up.size :]
    return y


def _diagonal_rows(folded: Folded) -> Indices:
    """Return the bounded rows without entries off a diagonal or in a second-order block."""
    fits = np.ones(folded.rows.size, dtype=bool)
    fits[folded.bounded :] = False
    for part in folded.parts:
        off = np.ones(part.A.nnz, dtype=bool)
        if part.kind != "second-order":
            off = part.A.indices % (part.n + 1) != 0 if part.kind == "psd" else ~off
        owner = np.repeat(np.arange(part.A.shape[0]), np.diff(part.A.indptr))
        fits[owner[off]] = False
    return np.flatnonzero(fits)


def _places(part: Part, rows: Indices) -> Any:
    """Return the diagonal of a part in these rows."""
    A = sp.csr_array(part.A[rows])
    count = trace_places(part).size
    where = A.indices // (part.n + 1) if part.kind == "psd" else A.indices
    return sp.csr_array((A.data, where, A.indptr), (rows.size, count))
