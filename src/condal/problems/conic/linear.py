"""Bounds on traces by linear programs, from the rows that read diagonals and numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from condal.linalg.points import Array, Indices
from condal.problems.conic.exact import trace_places
from condal.problems.conic.folded import Folded, Part

LARGEST = 200_000  # entries of such a program


def diagonal_weights(folded: Folded, wanted: tuple[int, ...]) -> Array | None:
    """y of the least sup_K <y, .> with A'y >= 1 on the diagonals of the wanted parts and >= 0 on
    those of the others; None if there is none."""
    rows = _diagonal_rows(folded)
    if not rows.size:
        return None
    places = [_places(part, rows) for part in folded.parts]
    matrix = sp.csc_array(sp.hstack(places).T)
    if matrix.nnz > LARGEST:
        return None
    target = np.concatenate(
        [np.full(one.shape[1], float(j in wanted)) for j, one in enumerate(places)]
    )
    low, high = folded.low[rows], folded.high[rows]
    up, down = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
    # What an equation may be taken with either sign for costs the same: no sign is split.
    cost = np.concatenate([high[up], -low[down]])
    both = sp.csr_array(sp.hstack([matrix[:, up], -matrix[:, down]]))
    found = linprog(cost, A_ub=-both, b_ub=-target, bounds=(0, None), method="highs")
    if found.status != 0:
        return None
    y = np.zeros(folded.rows.size)
    y[rows[up]] += found.x[: up.size]
    y[rows[down]] -= found.x[up.size :]
    return y


def _diagonal_rows(folded: Folded) -> Indices:
    """The rows with bounds that have no entry off a diagonal, and none in a second-order block."""
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
    """The diagonal of a part, of these rows."""
    A = sp.csr_array(part.A[rows])
    count = trace_places(part).size
    where = A.indices // (part.n + 1) if part.kind == "psd" else A.indices
    return sp.csr_array((A.data, where, A.indptr), (rows.size, count))
