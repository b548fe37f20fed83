"""Rows that add up to the trace: exactly, in fractions, where that can be decided."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.linalg.points import Array, Indices
from condal.problems.conic.folded import Folded, Part

MAX_TRACE_ERROR = 1e-9  # relative; a combination this near to the trace is tried in fractions
MAX_DENOMINATOR = 1000
MAX_EXACT_ENTRIES = 300_000  # exact arithmetic is slow


def identity_weights(folded: Folded) -> Array | None:
    """Return y on equations with A'y the trace of all parts, up to rounding; or None."""
    bounded = slice(folded.bounded)  # the rows of cones, which come last, are not equations
    rows = np.flatnonzero(folded.low[bounded] == folded.high[bounded])
    if not rows.size:
        return None
    matrix, target = _compact(folded, rows)
    weights = lsqr(matrix.T, target, atol=1e-14, btol=1e-14, iter_lim=20 * rows.size + 100)[0]
    error = float(np.linalg.norm(matrix.T @ weights - target)) / float(np.linalg.norm(target))
    if not error <= MAX_TRACE_ERROR:
        return None
    y = np.zeros(folded.rows.size)
    y[rows] = weights
    return y


def exact_trace(folded: Folded, y: Array) -> Fraction | None:
    """Return the trace that simple fractions near y prove exactly; None if they do not."""
    rows = np.flatnonzero(y)
    matrix, target = _compact(folded, rows)
    if matrix.nnz > MAX_EXACT_ENTRIES:
        return None
    simple = [Fraction(float(value)).limit_denominator(MAX_DENOMINATOR) for value in y[rows]]
    if any(
        abs(float(s) - v) > MAX_TRACE_ERROR * (1 + abs(v))
        for s, v in zip(simple, y[rows], strict=True)
    ):
        return None
    if not _adds_up(matrix, simple, target):
        return None
    return sum(
        (s * Fraction(b) for s, b in zip(simple, folded.low[rows].tolist(), strict=True)),
        Fraction(0),
    )


def _adds_up(matrix: Any, weights: list[Fraction], target: Array) -> bool:
    whole = np.array([float(w) for w in weights])
    simple = len(weights) <= 2**13 and all(w.denominator == 1 for w in weights)
    if simple and _small_whole(whole) and _small_whole(matrix.data):
        return bool(np.array_equal(matrix.T @ whole, target))  # floats are exact there
    columns = sp.csc_array(matrix)
    for j, wanted in enumerate(target.tolist()):
        column = slice(columns.indptr[j], columns.indptr[j + 1])
        pairs = zip(columns.indices[column].tolist(), columns.data[column].tolist(), strict=True)
        if sum((weights[i] * Fraction(a) for i, a in pairs), Fraction(0)) != Fraction(wanted):
            return False
    return True


def _small_whole(v: Array) -> bool:
    """Return whether products of such numbers, and sums of 2^13 products, are exact."""
    return bool(np.all(v == np.round(v)) and np.all(np.abs(v) <= 2**20))


def _compact(folded: Folded, rows: Indices) -> tuple[Any, Array]:
    """Return the rows of all parts, and the trace, on the columns that either uses."""
    matrices, targets = [], []
    for part in folded.parts:
        A = sp.csr_array(part.A[rows])
        ones = trace_places(part)
        used, position = np.unique(np.concatenate([A.indices, ones]), return_inverse=True)
        places = position.ravel()
        target = np.zeros(used.size)
        target[places[A.nnz :]] = 1.0
        matrices.append(sp.csr_array((A.data, places[: A.nnz], A.indptr), (rows.size, used.size)))
        targets.append(target)
    return sp.csr_array(sp.hstack(matrices)), np.concatenate(targets)


def trace_places(part: Part) -> Indices:
    """Return the places of the entries that make up the trace of a part."""
    if part.kind == "psd":
        return np.arange(part.n, dtype=np.int64) * (part.n + 1)
    return np.arange(part.n if part.kind == "orthant" else 1, dtype=np.int64)
