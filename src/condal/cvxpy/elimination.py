"""x = p - E s: eliminate the free variables of Ax + s = b by slacks that determine them.

Rows whose part on the uncovered columns is invertible cover those columns, one step at a time.
Rows with one entry come first: psd rows, so that a psd variable is its own block, then other cones,
then equations. Rows with one remaining entry follow, equations before cones. A column with two
entries, such as t of |x| <= t, is deferred until the rest is covered: one of its rows is added to
the other. The remaining connected pieces are covered by an orthogonal basis of independent rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from condal.cvxpy.independent import connected_pieces, independent_rows
from condal.cvxpy.svec import CONE, PSD, ZERO
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices

SMALLEST_PIVOT = 1e-6  # relative to the largest entry of its row
SMALLEST_PAIR_PIVOT = 1e-3  # the same, for a row that is added to another
MIN_RAY = 1e-13  # relative to |c|; less is rounding
TERM_ROUNDING = 1e-13  # relative to the terms that add up to an entry
MAX_COLUMNS, MAX_ENTRIES = 4_000, 4e7  # of a connected piece
MIN_INDEPENDENT_PART = 1e-9  # of a row of a piece, relative to its norm
MAX_INCONSISTENCY = 1e-14  # of 0 = g, relative to the terms of g


@dataclass(frozen=True, eq=False)
class Elimination:
    """x = p - E s, E nonzero only in the columns `basis`, and the remaining constraints M s = g.

    M has a row for each of `rest`, the rows outside the basis: s_i - A_i E s = b_i - A_i p. `ray`
    is a direction that no row sees and along which the objective falls, or None. `contradictions`
    are the remaining rows that state 0 = g with g nonzero. Both may be rounding: they propose
    verdicts, which the judge proves or not. If s determines x, it is `unique`: no objective has a
    ray.
    """

    p: Array = field(repr=False)
    E: Any = field(repr=False)
    basis: Indices = field(repr=False)
    rest: Indices = field(repr=False)
    M: Any = field(repr=False)
    g: Array = field(repr=False)
    ray: Array | None = field(repr=False)
    contradictions: Indices = field(repr=False)
    unique: bool = False

    def with_right_side(self, A: Any, b: Array) -> Elimination:
        """Return the elimination of the same A with another b, where x is `unique`."""
        p = np.asarray(self.E @ b)
        g, contradictions = _right_side(A, b, p, self.rest, self.M)
        return replace(self, p=p, g=g, contradictions=contradictions)


def eliminate(A: Any, b: Array, c: Array, kinds: Indices) -> Elimination:
    """Express x by s where Ax + s = b and the objective is <c, x>.

    s is 0 in rows of kind ZERO, where M has no entries. The kinds ascend from row to row.
    """
    cover = _Cover(A, b, c, kinds)
    cover.peel((ZERO, CONE, PSD), rounds=1)
    if not cover.covered.all():
        cover.peel((PSD, CONE, ZERO))
        with cover.pairs_later():
            cover.peel((PSD, CONE, ZERO))
            cover.rows_alone()
            cover.pieces()
    E, rest = cover.E, np.flatnonzero(~cover.used)
    rest_rows = cover.A[rest]
    M = _prune(sp.csr_array(rest_rows @ E), abs(rest_rows) @ _largest(E))
    cone_rows = np.flatnonzero(kinds[rest] != ZERO)
    M = sp.csr_array((np.ones(cone_rows.size), (cone_rows, rest[cone_rows])), shape=M.shape) - M
    M.data[kinds[M.indices] == ZERO] = 0.0
    M.eliminate_zeros()
    g, contradictions = _right_side(cover.A, b, cover.p, rest, M)
    large = np.linalg.norm(cover.ray) > MIN_RAY * np.linalg.norm(c)
    return Elimination(
        p=cover.p,
        E=E,
        basis=np.flatnonzero(cover.used),
        rest=rest,
        M=M,
        g=g,
        ray=cover.ray if large else None,
        contradictions=contradictions,
        unique=cover.unique,
    )


def _right_side(A: Any, b: Array, p: Array, rest: Indices, M: Any) -> tuple[Array, Indices]:
    """Return g, and the remaining rows that contradict it."""
    rows = A[rest]
    terms = np.abs(b[rest]) + abs(rows) @ np.abs(p)
    g = drop_rounding(b[rest] - rows @ p, terms)
    contradicts = (np.diff(M.indptr) == 0) & (np.abs(g) > MAX_INCONSISTENCY * terms)
    return g, rest[contradicts]


class _Cover:
    """The state of the elimination: E and p are 0 on uncovered columns.

    `A` holds the rows as given, `T` = L A the rows that cover further columns.
    """

    def __init__(self, A: Any, b: Array, c: Array, kinds: Indices) -> None:
        self.A = sp.csr_array(A, dtype=np.float64)
        if not (self.A.has_canonical_format and self.A.data.all()):
            self.A = self.A.copy()
            self.A.sum_duplicates()
            self.A.eliminate_zeros()
        self.b, self.c, self.kinds = b, c, kinds
        m, n = self.A.shape
        self.E, self.p, self.ray = sp.csr_array((n, m)), np.zeros(n), np.zeros(n)
        self.covered, self.used = np.zeros(n, dtype=bool), np.zeros(m, dtype=bool)
        self.unique = True  # as long as rows determine the columns that they cover
        self.T: Any = self.A
        self.L: Any = None
        self.left = np.diff(self.A.indptr)  # uncovered entries per row of T

    def step(self, S: Any, rows: Indices, cols: Indices) -> None:
        """x_cols = S L (b - s - Ax), S the inverse of the rows of T on the uncovered columns."""
        S = S if self.L is None else S @ self.L
        if self.E.nnz == 0:
            self.E, self.p = S, S @ self.b
        else:
            E = sp.csr_array(self.E + S - (S @ self.A) @ self.E)
            self.E = _prune(E, _largest(E))
            self.p = self.p + S @ (self.b - self.A @ self.p)
        self.used[rows] = True
        self.covered[cols] = True
        self._count()

    def _count(self) -> None:
        if self.covered.all():
            self.left = np.zeros_like(self.left)
        else:
            self.left = self._sums(np.ones(self.T.nnz, dtype=np.int64))

    def peel(self, order: tuple[int, ...], rounds: int | None = None) -> None:
        """Cover columns by rows with one remaining entry; the last kind in `order` is preferred."""
        while (rounds is None or rounds > 0) and not self.covered.all():
            rounds = None if rounds is None else rounds - 1
            rows, col, value = self._singles()
            if rows.size == 0:
                return
            owner = np.full(self.covered.size, -1)
            ends = np.searchsorted(self.kinds[rows], np.arange(len(order) + 1))
            for kind in order:  # the first row of each kind is written last
                positions = np.arange(ends[kind + 1] - 1, ends[kind] - 1, -1)
                owner[col[positions]] = positions
            chosen = owner[owner >= 0]
            ends = np.concatenate([[0], np.cumsum(owner >= 0)])
            S = sp.csr_array((1.0 / value[chosen], rows[chosen], ends), shape=self.E.shape)
            self.step(S, rows[chosen], col[chosen])

    @contextmanager
    def pairs_later(self) -> Iterator[None]:
        """Defer columns with two entries to the end, by adding one of their rows to the other."""
        cols, rows, others, pivots, ratios = self._pairs()
        if cols.size == 0:
            yield
            return
        c, m = self.c, self.used.size
        diagonal = np.ones(m)
        diagonal[rows] = 0.0
        self.L = sp.dia_array((diagonal[None], [0]), shape=(m, m)).tocsr()
        self.L = self.L - sp.csr_array((ratios, (others, rows)), shape=(m, m))
        self.T = _prune(sp.csr_array(self.L @ self.A), abs(self.L) @ _largest(self.A))
        self.c = c - self.A[rows].T @ (c[cols] / pivots)
        self.covered[cols] = True
        self._count()
        yield
        self.T, self.L, self.c = self.A, None, c
        self.ray[cols] = -(self.A[rows] @ self.ray) / pivots
        self.step(self._sparse(cols, rows, 1.0 / pivots), rows, cols)

    def _pairs(self) -> tuple[Indices, Indices, Indices, Array, Array]:
        """Return columns with two entries that can be deferred, no two of them in one pivot row.

        Also return the pivot row and the other row of each, the pivot, and the ratio of the other
        entry.
        """
        T = self._open()
        cols = np.flatnonzero(np.diff(T.indptr) == 2)
        at = T.indptr[cols]
        cols, at = (
            v[np.abs(T.data[at]) >= SMALLEST_PAIR_PIVOT * _largest(self.T)[T.indices[at]]]
            for v in (cols, at)
        )
        alone = np.unique(T.indices[at], return_index=True)[1]
        cols, at = cols[alone], at[alone]
        shared = np.bincount(
            np.concatenate([T.indices[at], T.indices[at + 1]]), minlength=T.shape[0]
        )
        cols, at = (v[shared[T.indices[at]] == 1] for v in (cols, at))
        pivots = T.data[at]
        return cols, T.indices[at], T.indices[at + 1], pivots, T.data[at + 1] / pivots

    def rows_alone(self) -> None:
        """Cover the columns that a single row sees: x = a (b - s) / |a|^2, 0 across a."""
        T = self._open()
        seen_by = np.diff(T.indptr)
        unseen = np.flatnonzero(~self.covered & (seen_by == 0))
        self.ray[unseen] = -self.c[unseen]
        self.unique &= not unseen.size
        alone = self.left > 0
        alone[T.indices[np.repeat(seen_by, seen_by) > 1]] = False
        rows = np.flatnonzero(alone)
        if rows.size == 0:
            return
        self.unique = False
        owner, cols, values = self._entries(rows)
        squares = np.bincount(owner, values**2, rows.size)
        along = np.bincount(owner, values * self.c[cols], rows.size) / squares
        self.ray[cols] = values * along[owner] - self.c[cols]
        self.step(self._sparse(cols, rows[owner], values / squares[owner]), rows, cols)

    def pieces(self) -> None:
        """Cover the remaining connected pieces of rows and columns."""
        T = sp.csr_array(self._open())
        inverses: list[tuple[Indices, Indices, Array]] = []
        for rows, cols in connected_pieces(T):
            if cols.size > MAX_COLUMNS or rows.size * cols.size > MAX_ENTRIES:
                raise ProblemError(
                    f"{cols.size} variables without a cone of their own are coupled by {rows.size} "
                    f"rows, which is too many to eliminate: at most {MAX_COLUMNS} variables and "
                    f"{MAX_ENTRIES:.0e} entries. Give them bounds, write the problem with psd or "
                    "nonnegative variables, or build it with condal.Problem.of"
                )
            piece = T[rows][:, cols].toarray()
            first = self.kinds[rows] == ZERO
            chosen = independent_rows(piece, tol=MIN_INDEPENDENT_PART, first=first)
            Q, R = la.qr(piece[chosen].T, mode="economic")
            self.ray[cols] = Q @ (Q.T @ self.c[cols]) - self.c[cols]
            inverse = Q @ la.solve_triangular(R, np.eye(len(chosen)), trans="T")
            inverses.append((cols, rows[chosen], inverse))
        if not inverses:
            return
        self.unique = False
        S = self._sparse(
            np.concatenate([np.repeat(cols, rows.size) for cols, rows, _ in inverses]),
            np.concatenate([np.tile(rows, cols.size) for cols, rows, _ in inverses]),
            np.concatenate([inverse.ravel() for _, _, inverse in inverses]),
        )
        rows = np.concatenate([rows for _, rows, _ in inverses])
        cols = np.concatenate([cols for cols, _, _ in inverses])
        self.step(_prune(S, _largest(S)), rows, cols)

    def _singles(self) -> tuple[Indices, Indices, Array]:
        """Return the rows with one remaining entry that is not small, its column and value."""
        rows = np.flatnonzero(self.left == 1)
        if not self.covered.any():
            at = self.T.indptr[rows]
            return rows, self.T.indices[at], self.T.data[at]
        col, value = (self._sums(v)[rows] for v in (self.T.indices, self.T.data))
        firm = np.abs(value) >= SMALLEST_PIVOT * _largest(self.T)[rows]
        return rows[firm], col[firm], value[firm]

    def _sums(self, v: Any) -> Any:
        """Return the sum of v over the uncovered entries of each row."""
        if self.covered.any():
            v = np.where(self.covered[self.T.indices], 0, v)
        return _by_row(np.add, v, self.T.indptr)

    def _open(self) -> Any:
        """Return T by columns, with covered columns empty."""
        T = self.T.tocsc(copy=True)
        T.sort_indices()
        T.data[np.repeat(self.covered, np.diff(T.indptr))] = 0.0
        T.eliminate_zeros()
        return T

    def _entries(self, rows: Indices) -> tuple[Indices, Indices, Array]:
        """Return the uncovered entries of the rows: position in rows, column and value."""
        T = self.T[rows]
        owner = np.repeat(np.arange(rows.size), np.diff(T.indptr))
        uncovered = ~self.covered[T.indices]
        return owner[uncovered], T.indices[uncovered], T.data[uncovered]

    def _sparse(self, cols: Indices, rows: Indices, values: Array) -> Any:
        m, n = self.A.shape
        return sp.csr_array((values, (cols, rows)), shape=(n, m))


def _prune(M: Any, scale: Array) -> Any:
    """Return M without entries that are rounding relative to the scale of their row."""
    M.data = drop_rounding(M.data, np.repeat(scale, np.diff(M.indptr)))
    M.eliminate_zeros()
    return M


def drop_rounding(v: Array, terms: Array) -> Array:
    """Return v with 0 where it is rounding relative to the sum of absolute terms."""
    return np.where(np.abs(v) <= TERM_ROUNDING * terms, 0.0, v)


def _largest(M: Any) -> Array:
    """Return the largest absolute value in each row."""
    return np.asarray(_by_row(np.maximum, np.abs(M.data), M.indptr))


def _by_row(operation: Any, v: Any, indptr: Any) -> Any:
    """Return the sum or maximum of the values of each row; 0 for empty rows."""
    nonempty = indptr[1:] > indptr[:-1]
    results = np.zeros(nonempty.size, dtype=v.dtype)
    if v.size:
        single = v.size == np.count_nonzero(nonempty)  # one value per row
        results[nonempty] = v if single else operation.reduceat(v, indptr[:-1][nonempty])
    return results
