"""x = p - E s: the free variables of Ax + s = b written by the slacks of rows that determine them.

Rows whose part on the columns not yet covered is invertible cover those columns, a step at a time.
Rows of one entry come first: psd ones, so that a psd variable is its own block, then other cones,
then equations. Rows of one entry left follow, equations before cones. A column of two entries, as
the t of |x| <= t has, waits until the rest is covered, one of its rows added to the other; and what
is left then goes by an orthogonal basis of independent rows, a connected piece of it at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.independent import independent, pieces_of
from condal.cvxpy.svec import CONE, PSD, ZERO
from condal.linalg.points import Array, Indices

SMALLEST_PIVOT = 1e-6  # of its row's largest entry
FIRM = 1e-3  # the same, of a row that is added to another
UNSEEN = 1e-9  # of |c|: less of the objective than this is rounding
ROUNDING = 1e-13  # of the terms that add up to an entry
NOTHING = 1e-9  # of the terms of a right-hand side: 0 = less than this is no contradiction


@dataclass(frozen=True, eq=False)
class Elimination:
    """x = p - E s, E nonzero on the columns `basis` alone, and what is left to ask of s: M s = g.

    M has a row for each of `rest`, the rows that are not in the basis: s_i - A_i E s = b_i - A_i p.
    `ray` is a direction that no row sees, along which the objective falls, or None;
    `contradictions` are those rows left that say 0 = g and g is not 0.
    """

    p: Array = field(repr=False)
    E: Any = field(repr=False)
    basis: Indices = field(repr=False)
    rest: Indices = field(repr=False)
    M: Any = field(repr=False)
    g: Array = field(repr=False)
    ray: Array | None = field(repr=False)
    contradictions: Indices = field(repr=False)


def eliminate(A: Any, b: Array, c: Array, kinds: Indices) -> Elimination:
    """Write x by s where Ax + s = b and the objective is <c, x>; s is 0 in rows of kind ZERO, and
    M has no entries there. The kinds rise from row to row."""
    cover = _Cover(A, b, c, kinds)
    cover.peel((ZERO, CONE, PSD), rounds=1)
    if not cover.covered.all():
        cover.peel((PSD, CONE, ZERO))
        with cover.pairs_later():
            cover.peel((PSD, CONE, ZERO))
            cover.rows_alone()
            cover.pieces()
    E, rest = cover.E, np.flatnonzero(~cover.used)
    part = cover.A[rest]
    M = _pruned(sp.csr_array(part @ E), abs(part) @ _largest(E))
    own = np.flatnonzero(kinds[rest] != ZERO)
    M = sp.csr_array((np.ones(own.size), (own, rest[own])), shape=M.shape) - M
    M.data[kinds[M.indices] == ZERO] = 0.0
    M.eliminate_zeros()
    terms = np.abs(b[rest]) + abs(part) @ np.abs(cover.p)
    g = rounded(b[rest] - part @ cover.p, terms)
    wrong = (np.diff(M.indptr) == 0) & (np.abs(g) > NOTHING * terms)
    large = np.linalg.norm(cover.ray) > UNSEEN * np.linalg.norm(c)
    return Elimination(
        p=cover.p,
        E=E,
        basis=np.flatnonzero(cover.used),
        rest=rest,
        M=M,
        g=g,
        ray=cover.ray if large else None,
        contradictions=rest[wrong],
    )


class _Cover:
    """How far the columns are covered: E is 0 on the others, and so is p.

    `A` are the rows as they are, `T` those that columns are still to be covered by: T = L A.
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
        self.T: Any = self.A
        self.L: Any = None
        self.left = np.diff(self.A.indptr)  # entries not covered, of each row of T

    def step(self, S: Any, rows: Indices, cols: Indices) -> None:
        """x_cols = S L (b - s - Ax), S the inverse of the rows of T on the columns not covered."""
        S = S if self.L is None else S @ self.L
        if self.E.nnz == 0:
            self.E, self.p = S, S @ self.b
        else:
            E = sp.csr_array(self.E + S - (S @ self.A) @ self.E)
            self.E = _pruned(E, _largest(E))
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
        """Cover columns by rows with one entry left; the last kind in the order is preferred."""
        while (rounds is None or rounds > 0) and not self.covered.all():
            rounds = None if rounds is None else rounds - 1
            rows, col, value = self._singles()
            if rows.size == 0:
                return
            owner = np.full(self.covered.size, -1)
            ends = np.searchsorted(self.kinds[rows], np.arange(len(order) + 1))
            for kind in order:  # of each kind, the first row is written last
                here = np.arange(ends[kind + 1] - 1, ends[kind] - 1, -1)
                owner[col[here]] = here
            chosen = owner[owner >= 0]
            ends = np.concatenate([[0], np.cumsum(owner >= 0)])
            S = sp.csr_array((1.0 / value[chosen], rows[chosen], ends), shape=self.E.shape)
            self.step(S, rows[chosen], col[chosen])

    @contextmanager
    def pairs_later(self) -> Iterator[None]:
        """Leave out columns of two entries, a row of each added to the other, until the end."""
        cols, rows, others, pivots, ratios = self._pairs()
        if cols.size == 0:
            yield
            return
        c, m = self.c, self.used.size
        kept = np.ones(m)
        kept[rows] = 0.0
        self.L = sp.dia_array((kept[None], [0]), shape=(m, m)).tocsr()
        self.L = self.L - sp.csr_array((ratios, (others, rows)), shape=(m, m))
        self.T = _pruned(sp.csr_array(self.L @ self.A), abs(self.L) @ _largest(self.A))
        self.c = c - self.A[rows].T @ (c[cols] / pivots)
        self.covered[cols] = True
        self._count()
        yield
        self.T, self.L, self.c = self.A, None, c
        self.ray[cols] = -(self.A[rows] @ self.ray) / pivots
        self.step(self._sparse(cols, rows, 1.0 / pivots), rows, cols)

    def _pairs(self) -> tuple[Indices, Indices, Indices, Array, Array]:
        """Columns of two entries that can wait: no two of them are in the first row of either.
        The columns, the row that each is left out with and the other; the entry in the first, and
        what the other's is of it."""
        T = self._open()
        cols = np.flatnonzero(np.diff(T.indptr) == 2)
        at = T.indptr[cols]
        cols, at = (
            v[np.abs(T.data[at]) >= FIRM * _largest(self.T)[T.indices[at]]] for v in (cols, at)
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
        """Cover the columns that one row alone sees: x = a (b - s) / |a|^2, and 0 beside a."""
        T = self._open()
        seen_by = np.diff(T.indptr)
        none = np.flatnonzero(~self.covered & (seen_by == 0))
        self.ray[none] = -self.c[none]
        alone = self.left > 0
        alone[T.indices[np.repeat(seen_by, seen_by) > 1]] = False
        rows = np.flatnonzero(alone)
        if rows.size == 0:
            return
        here, cols, values = self._entries(rows)
        squares = np.bincount(here, values**2, rows.size)
        along = np.bincount(here, values * self.c[cols], rows.size) / squares
        self.ray[cols] = values * along[here] - self.c[cols]
        self.step(self._sparse(cols, rows[here], values / squares[here]), rows, cols)

    def pieces(self) -> None:
        """Cover what is left, a connected piece of rows and columns at a time."""
        T = sp.csr_array(self._open())
        inverses: list[tuple[Indices, Indices, Array]] = []
        for rows, cols in pieces_of(T):
            piece = independent(T, rows, cols, first=self.kinds[rows] == ZERO)
            self.ray[cols] = piece.Q @ (piece.Q.T @ self.c[cols]) - self.c[cols]
            inverses.append((cols, piece.rows, piece.inverse))
        if not inverses:
            return
        S = self._sparse(
            np.concatenate([np.repeat(cols, rows.size) for cols, rows, _ in inverses]),
            np.concatenate([np.tile(rows, cols.size) for cols, rows, _ in inverses]),
            np.concatenate([inverse.ravel() for _, _, inverse in inverses]),
        )
        rows = np.concatenate([rows for _, rows, _ in inverses])
        cols = np.concatenate([cols for cols, _, _ in inverses])
        self.step(_pruned(S, _largest(S)), rows, cols)

    def _singles(self) -> tuple[Indices, Indices, Array]:
        """The rows with one entry left that is not small beside the others; column and value."""
        rows = np.flatnonzero(self.left == 1)
        if not self.covered.any():
            at = self.T.indptr[rows]
            return rows, self.T.indices[at], self.T.data[at]
        col, value = (self._sums(v)[rows] for v in (self.T.indices, self.T.data))
        firm = np.abs(value) >= SMALLEST_PIVOT * _largest(self.T)[rows]
        return rows[firm], col[firm], value[firm]

    def _sums(self, v: Any) -> Any:
        """The sum of v over the entries of each row that are not covered."""
        if self.covered.any():
            v = np.where(self.covered[self.T.indices], 0, v)
        return _by_row(np.add, v, self.T.indptr)

    def _open(self) -> Any:
        """T by columns, those that are covered left empty."""
        T = self.T.tocsc(copy=True)
        T.sort_indices()
        T.data[np.repeat(self.covered, np.diff(T.indptr))] = 0.0
        T.eliminate_zeros()
        return T

    def _entries(self, rows: Indices) -> tuple[Indices, Indices, Array]:
        """The entries of the rows that are not covered: which of the rows, column and value."""
        part = self.T[rows]
        here = np.repeat(np.arange(rows.size), np.diff(part.indptr))
        bare = ~self.covered[part.indices]
        return here[bare], part.indices[bare], part.data[bare]

    def _sparse(self, cols: Indices, rows: Indices, values: Array) -> Any:
        m, n = self.A.shape
        return sp.csr_array((values, (cols, rows)), shape=(n, m))


def _pruned(M: Any, scale: Array) -> Any:
    """M without entries that are rounding beside the scale of their row."""
    M.data = rounded(M.data, np.repeat(scale, np.diff(M.indptr)))
    M.eliminate_zeros()
    return M


def rounded(v: Array, terms: Array) -> Array:
    """v, 0 where it is rounding beside the absolute values of the terms that add up to it."""
    return np.where(np.abs(v) <= ROUNDING * terms, 0.0, v)


def _largest(M: Any) -> Array:
    """The largest absolute value in each row."""
    return np.asarray(_by_row(np.maximum, np.abs(M.data), M.indptr))


def _by_row(operation: Any, v: Any, indptr: Any) -> Any:
    """The sum, or the maximum, of the values of each row; 0 where it has none."""
    some = indptr[1:] > indptr[:-1]
    found = np.zeros(some.size, dtype=v.dtype)
    if v.size:
        alone = v.size == np.count_nonzero(some)  # one value a row
        found[some] = v if alone else operation.reduceat(v, indptr[:-1][some])
    return found
