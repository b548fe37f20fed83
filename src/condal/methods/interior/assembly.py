"""The standard form of a problem: columns, rows and slacks."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpstrf

from condal.errors import ProblemError
from condal.linalg.cone_slices import ConeSlice, sections
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import row_norms, row_squares, stable_norm
from condal.methods.interior.standard import Cone, StandardForm, share_of
from condal.methods.projection.splitting_rows import gram_of
from condal.methods.projection.vectorise import Vectoriser
from condal.types import Proximable

if TYPE_CHECKING:
    from condal.problem import Problem

FAR = 1e10  # times the longest Ax of a normalised problem: a farther bound is not active
MIN_FIRST_SLACK = 0.1  # of what its row can reach
DEPENDENT = 1e-12  # of the square of a row: what the rows that span it leave of it
CLASH = 1e-9  # of the terms: how far b of a dependent row may differ from that of the others
PREFERENCE = 10.0  # factor on the rows that bound X, so that these are kept


def standard_form(problem: Problem) -> StandardForm:
    """Return the form of a linear f over cone slices, with K of bounds and second-order cones."""
    parts = sections(problem.X)
    A = problem.A.as_matrix() if problem.A.size else None
    if parts is None or (A is None and problem.A.size):
        obstacle = "an A that an operator hides, or one too large to write down"
        if parts is None:
            obstacle = "a domain that is none of these"
        raise ProblemError(
            "the interior-point method needs sections of cones, boxes and products of these, and "
            f"A as a matrix: this problem has {obstacle}; use condal.CGAL()"
        )
    flat = Vectoriser.of(problem)
    if A is None:
        A = sp.csr_array((0, flat.size))
    f = problem.f
    cost = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    assert cost is not None
    return Assembly(flat, parts, sp.csr_array(A), flat.gradient(cost), problem.h).form()


class Assembly:
    """Collects the columns, rows and slacks."""

    def __init__(
        self, flat: Vectoriser, parts: tuple[ConeSlice, ...], A: Any, c: Array, h: Proximable
    ) -> None:
        self.flat, self.A, self.c = flat, A, c
        ends = np.cumsum([part.length for part in parts])
        begins = ends - [part.length for part in parts]
        self.places = tuple(
            (part, slice(int(begin), int(end)))
            for part, begin, end in zip(parts, begins, ends, strict=True)
        )
        self.low, self.high, self.cones = bounds(h)
        self.shift, self.first = np.zeros(flat.size), np.zeros(flat.size)
        self.cap, self.linear = np.full(flat.size, inf), np.zeros(flat.size, dtype=bool)
        self.sums: list[tuple[Indices, float, float]] = []  # places, their sum, and its slack
        for part, entries in self.places:
            self._begin(part, entries)

    def _begin(self, part: ConeSlice, entries: slice) -> None:
        """Set the initial point of a slice, and its bounds."""
        every = np.arange(entries.start, entries.stop)
        if part.kind == "box":
            assert part.low is not None
            assert part.high is not None
            self.shift[entries], self.cap[entries] = part.low, part.high - part.low
            self.first[entries] = 0.5 * self.cap[entries]
            self.linear[entries] = self.cap[entries] > 0
            return
        if part.kind == "psd":
            every = every[:: part.n + 1]
        elif part.kind == "second-order":
            every = every[:1]
        else:
            self.linear[entries] = True
        self.first[every] = share = share_of(part)
        self.sums.append((every, part.bound, share if part.at_most else 0.0))

    def form(self) -> StandardForm:
        """Return the standard form, without dependent rows."""
        asked = (self.low > -inf) | (self.high < inf)
        rows = np.flatnonzero(asked)
        e = len(self.sums)
        owner = np.repeat(np.arange(e), [len(where) for where, _, _ in self.sums])
        where = np.concatenate([np.zeros(0, dtype=np.intp), *(s[0] for s in self.sums)])
        totals = np.array([total for _, total, _ in self.sums])
        E = sp.csr_array((1.0 / totals[owner], (owner, where)), (e, self.flat.size))
        A = sp.csc_array(sp.vstack([self.A[rows], E]))
        right = np.where(self.low > -inf, self.low, self.high)[rows]
        b = np.concatenate([right, np.ones(e)]) - A @ self.shift
        cones = self._cones(A, b, rows)
        scaled = [sp.csr_array(cone.A.multiply(_sizes(cone)[None, :])) for cone in cones]
        kept, clash = independent(scaled, b, last=e)
        every = np.concatenate([rows, np.full(e, -1)])
        if clash is not None:
            full = np.zeros(self.A.shape[0])
            full[rows] = clash[: rows.size]
            clash = full
        return StandardForm(
            tuple(_with_rows(cone, kept) for cone in cones),
            b[kept],
            float(self.c @ self.shift),
            every[kept][every[kept] >= 0],
            e,
            self.places,
            np.flatnonzero(self.linear),
            self.shift,
            self.flat,
            self.A,
            self.c,
            clash,
        )

    def _cones(self, A: Any, b: Array, rows: Indices) -> list[Cone]:
        """The orthant of all entries and slacks, then the other cones."""
        m, linear = A.shape[0], np.flatnonzero(self.linear)
        low, high = self.low[rows], self.high[rows]
        inside = np.zeros(rows.size, dtype=bool)
        for entries in self.cones:
            inside |= (rows >= entries.start) & (rows < entries.stop)
        slack = np.flatnonzero((low < high) & ~inside)
        sign = np.where(low[slack] > -inf, -1.0, 1.0)
        cap = np.where(low[slack] > -inf, high[slack] - low[slack], inf)
        row_reach = row_norms(sp.csr_array(A)) * stable_norm(self.first)
        image = A @ self.first
        first = np.maximum(sign * (b - image)[slack], MIN_FIRST_SLACK * row_reach[slack])
        first = np.where(first > 0, first, 1.0)
        first = np.where(first < 0.9 * cap, first, 0.5 * np.minimum(cap, FAR))
        open_sums = np.flatnonzero([slack for _, _, slack in self.sums])
        places = np.concatenate([slack, rows.size + open_sums])
        signs = np.concatenate([sign, [1.0 / self.sums[i][1] for i in open_sums]])
        shape = (m, places.size)
        slacks = sp.csc_array((signs, (places, np.arange(places.size))), shape)
        shares = np.array([self.sums[i][2] for i in open_sums], dtype=np.float64)
        firsts = [self.first[linear], first, shares]
        caps = [self.cap[linear], cap, np.full(open_sums.size, inf)]
        orthant = Cone(
            "orthant",
            linear.size + places.size,
            np.concatenate([self.c[linear], np.zeros(places.size)]),
            sp.csr_array(sp.hstack([A[:, linear], slacks])),
            np.concatenate(firsts),
            np.concatenate(caps),
        )
        cones = [orthant]
        for part, entries in self.places:
            if part.kind == "psd" or part.kind == "second-order":
                columns = self.c[entries], sp.csr_array(A[:, entries]), self.first[entries]
                cones.append(Cone(part.kind, part.n, *columns, np.zeros(0)))
        for entries in self.cones:
            at = np.flatnonzero((rows >= entries.start) & (rows < entries.stop))
            minus = sp.csr_array((np.full(at.size, -1.0), (at, np.arange(at.size))), (m, at.size))
            inner = np.zeros(at.size)
            least = MIN_FIRST_SLACK * float(row_reach[at].max())
            inner[0] = max(float(np.linalg.norm(image[at])), least) or 1.0
            cones.append(
                Cone("second-order", at.size, np.zeros(at.size), minus, inner, np.zeros(0))
            )
        return cones


def _sizes(cone: Cone) -> Array:
    """The sizes of the entries of the initial u."""
    return cone.first if cone.kind == "orthant" else np.full(cone.c.size, cone.first[0])


def _with_rows(cone: Cone, kept: Indices) -> Cone:
    A = cone.A if kept.size == cone.A.shape[0] else sp.csr_array(cone.A[kept])
    return Cone(cone.kind, cone.n, cone.c, A, cone.first, cone.cap)


def independent(parts: Sequence[Any], b: Array, *, last: int) -> tuple[Indices, Array | None]:
    """Return independent rows of A = (A_1, A_2, ...) that span all others, and any clash.

    The rows are in order; the `last` rows are preferred. The clash is a y with A'y = 0 and
    <b, y> = 1, and exists if the b of the other rows contradicts that of the independent ones.
    """
    m = b.size
    if m == 0:
        return np.arange(0), None
    norms = np.sqrt(sum(row_squares(A) for A in parts))
    factors = 1.0 / np.where(norms > 0, norms, 1.0)
    factors[m - last :] *= PREFERENCE
    gram = sum(gram_of(sp.csr_array(A.multiply(factors[:, None]))).toarray() for A in parts)
    rows, others = independent_rows_of_gram(gram, tol=DEPENDENT)
    if not others.size:
        return rows, None
    combinations = gram[np.ix_(rows, others)]
    if rows.size:  # SciPy 1.10 refuses an empty system
        factor = np.linalg.cholesky(gram[np.ix_(rows, rows)])
        combinations = cho_solve((factor, True), combinations)
    right = factors * b
    terms = 1.0 + np.abs(right[others]) + np.abs(combinations).T @ np.abs(right[rows])
    errors = right[others] - combinations.T @ right[rows]
    worst = int(np.argmax(np.abs(errors) - CLASH * terms))
    if abs(errors[worst]) <= CLASH * terms[worst]:
        return rows, None
    clash = np.zeros(m)
    clash[others[worst]], clash[rows] = 1.0, -combinations[:, worst]
    return rows, factors * clash / errors[worst]


def bounds(h: Proximable) -> tuple[Array, Array, list[slice]]:
    """Return low <= z <= high for the coordinates of dom h, and its second-order cones."""
    low, high = np.full(h.size, -inf), np.full(h.size, inf)
    cones = []
    for rows, piece in h.pieces:
        if piece.lipschitz < inf:
            obstacle = "a nonsmooth term g"
        elif getattr(piece, "cone", None) == "second-order":
            low[rows], high[rows] = 0.0, 0.0
            cones.append(rows)
            continue
        elif piece.separable:
            below = piece.prox(np.full(piece.size, -FAR), 1.0)
            above = piece.prox(np.full(piece.size, FAR), 1.0)
            low[rows] = np.where(below > -FAR, below, -inf)
            high[rows] = np.where(above < FAR, above, inf)
            continue
        else:
            obstacle = f"a set without coordinates, {type(piece).__name__}"
        raise ProblemError(
            "the interior-point method needs K of bounds on coordinates and of second-order "
            f"cones: this problem has {obstacle}; use condal.CGAL()"
        )
    return low, high, cones


def independent_rows_of_gram(gram: Array, *, tol: float) -> tuple[Indices, Indices]:
    """Return independent rows of A and the others, both in order, given AA'.

    By a Cholesky factorisation with pivots, which prefers long rows: for A too large for a QR
    factorisation. tol is relative to squares, and means little below 1e-14.
    """
    _, pivots, rank, _ = dpstrf(gram, tol=tol, lower=1)
    return np.sort(pivots[:rank] - 1), np.sort(pivots[rank:] - 1)
