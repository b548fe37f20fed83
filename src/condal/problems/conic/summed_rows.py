"""Bounds on traces, and verdicts, that sums of a program's rows prove.

Rows may add up to the trace: exactly, in fractions, where that can be decided. A linear program
over the rows that use only diagonals and numbers may bound it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.certificates.judge import of_separation
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import Proof
from condal.problems.conic.folded import Folded, Part
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace_bound import Combination, TraceBound, Verdict, combine, traces

MAX_SINGLE_PARTS = 64  # of which each is tried alone
MIN_TRACE, TRACE_OF_ZERO_PARTS = 1e-9, 1e-3  # relative to the largest trace
MAX_TRACE_ERROR = 1e-9  # relative; a combination this near to the trace is tried in fractions
MAX_DENOMINATOR = 1000
MAX_EXACT_ENTRIES = 300_000  # exact arithmetic is slow
MAX_ENTRIES = 200_000  # of the linear program


def by_rows(shape: Shape) -> TraceBound | Verdict | list[Combination]:
    """Return a bound or verdict from the rows as they are; else the combinations found."""
    folded, count = shape.folded, len(shape.maps)
    proofs: list[Combination] = []
    refuted = refuted_by_empty_row(shape)
    if refuted is not None:
        return refuted
    y = identity_weights(folded)
    if y is not None:
        total = exact_trace(folded, y)
        if total is not None and total > 0:
            how = "constraints add up to the trace"
            exact = Combination(y, np.ones(count), float(total))
            traces_ = np.full(count, float(total))
            return TraceBound(traces_, how, exact=count == 1, combinations=(exact,))
        proofs.append(combine(shape, y))
    else:
        _add_diagonal(shape, proofs, tuple(range(count)))
    return _summed(shape, proofs) or proofs


def by_single_parts(shape: Shape, proofs: list[Combination]) -> TraceBound | Verdict | None:
    """Return a bound or verdict from rows that bound the traces of single parts."""
    count = len(shape.maps)
    if not 1 < count <= MAX_SINGLE_PARTS:
        return None
    for part in range(count):
        _add_diagonal(shape, proofs, (part,))
    return _summed(shape, proofs)


def _add_diagonal(shape: Shape, proofs: list[Combination], parts: tuple[int, ...]) -> None:
    """Add what rows that use only diagonals prove about the traces of some parts."""
    weights = diagonal_weights(shape.folded, parts)
    if weights is not None:
        proofs.append(combine(shape, weights))


def _summed(shape: Shape, proofs: list[Combination]) -> TraceBound | Verdict | None:
    """Return the bound or the verdict that sums of rows prove."""
    for proof in proofs:
        refuted = _refuted(proof, "by a sum of rows")
        if refuted is not None:
            return refuted
    bound = traces(proofs, len(shape.maps))
    if np.all(np.isfinite(bound)):
        return roomy_bound(bound, proofs, "a sum of constraints bounds it")
    return None


def refuted_by_empty_row(shape: Shape) -> Verdict | None:
    """Return the verdict of a row without entries that requires a nonzero value."""
    entries = sum(np.diff(part.A.indptr) for part in shape.folded.parts)
    # The normal at 0 points from K to 0, so all of K is on its other side.
    asked = shape.K.normal_residual(np.zeros(shape.K.size)) * (entries == 0)
    return _refuted(combine(shape, asked), "by a row without entries") if asked.any() else None


def roomy_bound(bounds: Array, proofs: list[Combination], how: str) -> TraceBound:
    """Return the bound, with some room for parts that must be 0.

    A domain needs a positive size; a size far below the others would give multipliers that rounding
    spoils.
    """
    largest = float(bounds.max()) or 1.0
    roomy = np.where(bounds > MIN_TRACE * largest, bounds, TRACE_OF_ZERO_PARTS * largest)
    return TraceBound(roomy, how, combinations=tuple(proofs))


def _refuted(proof: Combination, by: str) -> Verdict | None:
    """Return the verdict of rows whose sum no point attains; None if one may."""
    how = f"{by}: weighted constraints add up to a value that no point of the cone has, "
    how += "whatever its trace"
    status = of_separation(Proof(proof.distance, how))
    return None if status is None else Verdict(status, how, y=proof.y)


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
        ones = part.trace_places
        used, position = np.unique(np.concatenate([A.indices, ones]), return_inverse=True)
        places = position.ravel()
        target = np.zeros(used.size)
        target[places[A.nnz :]] = 1.0
        matrices.append(sp.csr_array((A.data, places[: A.nnz], A.indptr), (rows.size, used.size)))
        targets.append(target)
    return sp.csr_array(sp.hstack(matrices)), np.concatenate(targets)


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
    count = part.trace_places.size
    where = A.indices // (part.n + 1) if part.kind == "psd" else A.indices
    return sp.csr_array((A.data, where, A.indptr), (rows.size, count))
