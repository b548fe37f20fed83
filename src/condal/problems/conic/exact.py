"""Rows that add up to the trace: exactly, in fractions, where that can be told."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.linalg.points import Array, Indices
from condal.problems.conic.folded import Folded, Part

NEAR = 1e-9  # a combination of rows is tried in fractions if it is so near to the trace
SIMPLE = 1000  # the largest denominator of the fractions that are tried
MOST = 300_000  # entries: exact arithmetic is slow


def identity_weights(folded: Folded) -> Array | None:
    """y with A'y the trace of all parts, but for rounding, of equations alone; None if there is
    none."""
    bounded = slice(folded.bounded)  # the rows of cones, which come after, are no equations
    rows = np.flatnonzero(folded.low[bounded] == folded.high[bounded])
    if not rows.size:
        return None
    matrix, target = _compact(folded, rows)
    found = lsqr(matrix.T, target, atol=1e-14, btol=1e-14, iter_lim=20 * rows.size + 100)[0]
    missed = float(np.linalg.norm(matrix.T @ found - target)) / float(np.linalg.norm(target))
    if not missed <= NEAR:
        return None
    y = np.zeros(folded.rows.size)
    y[rows] = found
    return y


def exact_trace(folded: Folded, y: Array) -> Fraction | None:
    """The trace that simple fractions near y prove, without rounding; None if they do not."""
    rows = np.flatnonzero(y)
    matrix, target = _compact(folded, rows)
    if matrix.nnz > MOST:
        return None
    simple = [Fraction(float(value)).limit_denominator(SIMPLE) for value in y[rows]]
    if any(abs(float(s) - v) > NEAR * (1 + abs(v)) for s, v in zip(simple, y[rows], strict=True)):
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
        here = slice(columns.indptr[j], columns.indptr[j + 1])
        pairs = zip(columns.indices[here].tolist(), columns.data[here].tolist(), strict=True)
        if sum((weights[i] * Fraction(a) for i, a in pairs), Fraction(0)) != Fraction(wanted):
            return False
    return True


def _small_whole(v: Array) -> bool:
    """Whether products of such numbers, and sums of 2^13 of them, have no rounding."""
    return bool(np.all(v == np.round(v)) and np.all(np.abs(v) <= 2**20))


def _compact(folded: Folded, rows: Indices) -> tuple[Any, Array]:
    """The rows of all parts, and the trace, on the columns that either has."""
    matrices, targets = [], []
    for part in folded.parts:
        A = sp.csr_array(part.A[rows])
        ones = trace_places(part)
        seen, where = np.unique(np.concatenate([A.indices, ones]), return_inverse=True)
        places = where.ravel()
        target = np.zeros(seen.size)
        target[places[A.nnz :]] = 1.0
        matrices.append(sp.csr_array((A.data, places[: A.nnz], A.indptr), (rows.size, seen.size)))
        targets.append(target)
    return sp.csr_array(sp.hstack(matrices)), np.concatenate(targets)


def trace_places(part: Part) -> Indices:
    """Where the entries that make the trace stand in a part."""
    if part.kind == "psd":
        return np.arange(part.n, dtype=np.int64) * (part.n + 1)
    return np.arange(part.n if part.kind == "orthant" else 1, dtype=np.int64)
