"""Exact arithmetic for small proofs: doubles are fractions, and fractions do not round."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.runtime.limits import current_limit

MAX_ENTRIES = 20_000  # of a system that is reduced in fractions
MAX_ROWS = 200
MAX_ELIMINATION = 150_000  # rows times entries: fractions grow in an elimination
CLEARLY = -1e-8  # of the largest eigenvalue
SPLITTER = 2.0**27 + 1  # of a double of 53 bits
MAX_FACTOR, MIN_PRODUCT = 2.0**400, 2.0**-900  # of products without under- and overflow


def is_psd(full: Array) -> bool:
    """Whether a symmetric matrix of doubles is psd, by LDL' in fractions."""
    if not np.isfinite(full).all() or _is_clearly_indefinite(full):
        return False
    return is_psd_exactly([[Fraction(value) for value in row] for row in full.tolist()])


def _is_clearly_indefinite(full: Array) -> bool:
    """Whether a negative eigenvalue is far beyond the rounding of its computation."""
    values = np.linalg.eigvalsh(full)
    return bool(values.size and values[0] < CLEARLY * np.abs(values).max())


def is_psd_exactly(S: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix of fractions is psd; its lower triangle is overwritten."""
    left = list(range(len(S)))
    while left:
        k = max(left, key=lambda i: S[i][i])
        pivot = S[k][k]
        if pivot <= 0:
            return pivot == 0 and all(S[i][j] == 0 for i in left for j in left)
        left.remove(k)
        for i in left:
            if S[i][k]:
                factor = S[i][k] / pivot
                for j in left:
                    S[i][j] -= factor * S[k][j]
    return True


def in_second_order(v: Array) -> bool:
    """Whether |(v_2, ..., v_n)| <= v_1, by squares in fractions."""
    if not np.isfinite(v).all():
        return False
    head, *rest = (Fraction(value) for value in v.tolist())
    return head >= 0 and sum((value * value for value in rest), Fraction(0)) <= head * head


def exact_rows(M: Any, t: Array, size: Array, system: tuple[Any, Array]) -> Indices | None:
    """Return independent rows of M that imply all others in M u = t - A v, (A, v) the `system`.

    None if that is not proved: a row of M that is an exact combination of other rows must have the
    same combination on the right-hand side, and an empty row 0. `size` bounds the right-hand side.
    """
    M = sp.csr_array(M)
    entries = np.diff(M.indptr)
    empty = np.flatnonzero((entries == 0) & (size > 0))
    if empty.size > MAX_ROWS or any(exact_residual(system, t, int(i)) != 0 for i in empty):
        return None
    rows = np.flatnonzero(entries > 0)
    if rows.size == 0 or _seem_independent(sp.csr_array(M[rows])):
        return rows
    if rows.size > MAX_ROWS or M.nnz > MAX_ENTRIES or rows.size * M.nnz > MAX_ELIMINATION:
        return None
    return _reduced(M, rows, [exact_residual(system, t, int(i)) for i in rows])


def exact_solution(
    rows: list[dict[int, Fraction]], right_sides: list[Fraction], start: Array, room: Array
) -> list[Fraction] | None:
    """Return u near `start` with rows u = right sides exactly; None if there is none.

    Entries without `room` stay.
    """
    u = [Fraction(value) for value in start.tolist()]
    residuals = [
        right - sum((a * u[k] for k, a in row.items()), Fraction(0))
        for row, right in zip(rows, right_sides, strict=True)
    ]
    moves = shortest_solution([dict(row) for row in rows], residuals, room)
    if moves is None:
        return None
    return [value + moves.get(k, Fraction(0)) for k, value in enumerate(u)]


def shortest_solution(
    rows: list[dict[int, Fraction]], right_sides: list[Fraction], weight: Array
) -> dict[int, Fraction] | None:
    """Return the nonzero entries of some u with rows u = right sides exactly; None if none exists.

    Each row is solved for the entry of largest size times `weight`. The rows are overwritten.
    """
    basis: list[tuple[int, dict[int, Fraction], Fraction]] = []  # pivot column, row, right side
    for row, right in zip(rows, right_sides, strict=True):
        if current_limit().is_over():
            return None
        row, right = _without_pivots(row, right, basis)
        row = {j: a for j, a in row.items() if weight[j] > 0}
        if row:
            pivot = max(row, key=lambda j: abs(float(row[j])) * weight[j])
            basis.append((pivot, row, right))
        elif right != 0:
            return None
    u: dict[int, Fraction] = {}
    for pivot, row, right in reversed(basis):
        rest = sum((a * u[j] for j, a in row.items() if j in u), Fraction(0))
        if right != rest:
            u[pivot] = (right - rest) / row[pivot]
    return u


def _seem_independent(M: Any) -> bool:
    """Whether the rows seem independent: a guess, which decides only what is tried."""
    if M.shape[0] > min(M.shape[1], MAX_ROWS):
        return M.shape[0] <= M.shape[1]
    unit = sp.csr_array((1 / abs(M).max(axis=1).toarray().ravel())[:, None] * M)  # no overflow
    norms = np.sqrt(np.asarray(unit.multiply(unit).sum(axis=1)).ravel())
    unit = sp.csr_array((1 / norms)[:, None] * unit)
    gram = (unit @ unit.T).toarray()
    if not np.isfinite(gram).all():  # subnormal entries
        return False
    values = np.linalg.eigvalsh(gram)
    return bool(values[0] > 1e-13 * values[-1])


def exact_residual(system: tuple[Any, Array], t: Array, i: int) -> Fraction:
    """Return t_i - <row i of A, v> without rounding."""
    A, v = system
    place = slice(A.indptr[i], A.indptr[i + 1])
    pairs = zip(A.data[place].tolist(), v[A.indices[place]].tolist(), strict=True)
    return sum((-Fraction(a) * Fraction(x) for a, x in pairs), Fraction(float(t[i])))


def rounded_residual(system: tuple[Any, Array], t: Array, rows: Indices) -> tuple[Array, Array]:
    """Return t - A v in some rows, rounded once, and bounds on the errors: 0 where it is a double.

    Each product is a sum of two doubles without error, and `fsum` rounds a sum once. Rows of
    products that may under- or overflow are summed in fractions.
    """
    A, v = system
    high, low, safe = _exact_products(A.data, v[A.indices])
    r, error = np.zeros(rows.size), np.zeros(rows.size)
    for k, i in enumerate(rows.tolist()):
        place = slice(A.indptr[i], A.indptr[i + 1])
        try:
            if safe[place].all():
                terms = [float(t[i]), *(-high[place]).tolist(), *(-low[place]).tolist()]
                r[k] = fsum(terms)
                rest = fsum([*terms, -r[k]])
                error[k] = np.nextafter(abs(rest), inf) if rest else 0.0
            else:
                exact = exact_residual(system, t, i)
                r[k] = float(exact)
                error[k] = 0.0 if Fraction(r[k]) == exact else 2 * np.spacing(abs(r[k]))
        except OverflowError:  # larger than any double
            r[k], error[k] = inf, inf
    return r, error


def _exact_products(a: Array, b: Array) -> tuple[Array, Array, Any]:
    """Return a * b as sums of two doubles by Dekker's product, and where that has no error."""
    with np.errstate(all="ignore"):
        high = a * b
        (a1, a2), (b1, b2) = _halves(a), _halves(b)
        low = a2 * b2 - (((high - a1 * b1) - a2 * b1) - a1 * b2)
    factors = np.maximum(np.abs(a), np.abs(b)) <= MAX_FACTOR
    safe = (high == 0) & ((a == 0) | (b == 0)) | factors & (np.abs(high) >= MIN_PRODUCT)
    return np.where(safe, high, 0.0), np.where(safe & (high != 0), low, 0.0), safe


def _halves(a: Array) -> tuple[Array, Array]:
    """Return a as the sum of two doubles of 26 bits each, by Veltkamp's method."""
    scaled = SPLITTER * a
    first = scaled - (scaled - a)
    return first, a - first


def _reduced(M: Any, rows: Indices, right_sides: list[Fraction]) -> Indices | None:
    """Eliminate [M, right side] in fractions; return the pivot rows, None if rows contradict."""
    independent: list[int] = []
    basis: list[tuple[int, dict[int, Fraction], Fraction]] = []  # pivot column, row, right side
    for i, right in zip(rows.tolist(), right_sides, strict=True):
        if current_limit().is_over():
            return None
        row, right = _without_pivots(row_fractions(M, i), right, basis)
        if row:
            basis.append((max(row, key=lambda j: abs(row[j])), row, right))
            independent.append(i)
        elif right != 0:
            return None
    return np.array(independent, dtype=np.intp)


def row_fractions(M: Any, i: int) -> dict[int, Fraction]:
    """Return the entries of a row by column."""
    place = slice(M.indptr[i], M.indptr[i + 1])
    pairs = zip(M.indices[place].tolist(), M.data[place].tolist(), strict=True)
    return {int(j): Fraction(a) for j, a in pairs if a}


def _without_pivots(
    row: dict[int, Fraction],
    right: Fraction,
    basis: list[tuple[int, dict[int, Fraction], Fraction]],
) -> tuple[dict[int, Fraction], Fraction]:
    """Return a row and its right side after the elimination of the pivots of the basis."""
    for column, other, value in basis:
        if column in row:
            factor = row[column] / other[column]
            for j, a in other.items():
                row[j] = row.get(j, Fraction(0)) - factor * a
                if row[j] == 0:
                    del row[j]
            right -= factor * value
    return row, right
