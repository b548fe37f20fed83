"""The assembly of the conic form of a problem: columns, rows and slacks.

Dependent rows are left out. The sizes are those of the middle of X, where the path begins.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpstrf

from condal.errors import ProblemError
from condal.linalg.cone_slices import ConeSlice, sections
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import row_norms, row_squares
from condal.methods.interior.form import StandardForm, of_problem
from condal.methods.projection.splitting_rows import gram_of
from condal.methods.projection.vectorise import Vectoriser
from condal.types import Proximable

if TYPE_CHECKING:
    from condal.problem import Problem

FAR = 1e10  # times the longest Ax of a normalised problem: a farther bound is not active
REACH = 1.0 + 1e-9  # times the longest a_i x: the same, in each row
MIN_FIRST_SLACK = 0.1  # of what its row can reach
DEPENDENT = 1e-12  # of the square of a row: what the rows that span it leave of it
CLASH = 1e-9  # of the terms: how far b of a dependent row may differ from that of the others
PREFERENCE = 10.0  # factor on the rows that bound X, so that these are kept


def standard_form(problem: Problem) -> StandardForm:
    """Return the form of a linear f over cone slices, with K of bounds and second-order cones."""
    parts, flat = sections(problem.X), Vectoriser.of(problem)
    matrix = problem.A.as_matrix() if problem.A.size else sp.csr_array((0, flat.size))
    if parts is None or matrix is None:
        obstacle = "an A that an operator hides, or one too large to write down"
        if parts is None:
            obstacle = "a domain that is none of these"
        raise ProblemError(
            "the interior-point method needs sections of cones, boxes and products of these, and "
            f"A as a matrix: this problem has {obstacle}; use condal.CGAL()"
        )
    return _Assembly(problem, flat, parts, sp.csr_array(matrix)).form()


class _Assembly:
    """Collects the columns, rows and slacks.

    `middle` is the middle of X less the shift, `size` the size of each entry there.
    """

    def __init__(
        self, problem: Problem, flat: Vectoriser, parts: tuple[ConeSlice, ...], matrix: Any
    ) -> None:
        self.problem, self.flat, self.matrix = problem, flat, matrix
        gradient = problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size)))
        assert gradient is not None
        self.cost, self.shift = flat.gradient(gradient), np.zeros(flat.size)
        self.middle, self.size = np.zeros(flat.size), np.zeros(flat.size)
        self.places: list[tuple[ConeSlice, slice]] = []
        self.unit, end = 0.0, 0
        for part in parts:
            begin, end = end, end + part.length
            self._place(part, slice(begin, end))
        self.kept = np.flatnonzero(self.size > 0)
        self.entries: list[tuple[Any, Any, Any]] = []
        self.b: list[Array] = []
        self.firsts = [self.size[self.kept]]  # the sizes of all columns
        self.count, self.width = 0, self.kept.size
        self.slacked = [np.zeros(0, dtype=np.int64)]  # rows with a slack

    def _place(self, part: ConeSlice, entries: slice) -> None:
        """Set the middle of a section; the spreads of its costs make the unit of c."""
        values: Any = self.cost[entries]
        size: Any
        if part.kind == "box":
            assert part.low is not None
            assert part.high is not None
            size = 0.5 * (part.high - part.low)
            self.shift[entries], self.middle[entries] = part.low, size
            spread = float(np.abs(size * values).max(initial=0.0))
        else:
            size = part.bound / (1 if part.kind == "second-order" else part.n) / (1 + part.at_most)
            if part.kind == "psd":
                values = np.linalg.eigvalsh(values.reshape(part.n, part.n))
            elif part.kind == "second-order":
                values = _norm(values[1:]) * np.array([-1.0, 1.0])
            self.middle[_summed(part, np.arange(entries.start, entries.stop))] = size
            spread = size * float(values.max() - values.min())
        self.size[entries], self.unit = size, max(self.unit, spread)
        self.places.append((part, entries))

    def form(self) -> StandardForm:
        """Return the form."""
        rows, cones, capped, caps = self._bounded_rows()
        blocks = self._sums()
        in_box = np.zeros(self.size.size, dtype=bool)
        for part, entries in self.places:
            in_box[entries] = part.kind == "box"
        boxed = np.flatnonzero(in_box[self.kept])
        capped = np.concatenate([boxed, capped])
        caps = np.concatenate([2 * self.size[self.kept][boxed], caps])
        first = caps - np.concatenate(self.firsts)[capped]
        self._slacks(self._ones(np.arange(capped.size), capped, caps), np.ones(capped.size), first)
        blocks.append(ConeSlice("orthant", self.width - self.kept.size))
        for at, first in cones:
            self._slacks(at, np.full(at.size, -1.0), first)
            blocks.append(ConeSlice("second-order", at.size))

        at_rows, at_columns, data = map(np.concatenate, zip(*self.entries, strict=True))
        sizes, b = np.concatenate(self.firsts), np.concatenate(self.b)
        where = at_rows, at_columns
        A = sp.csr_array((data * sizes[at_columns], where), (self.count, self.width))
        c, unit = np.zeros(self.width), self.unit or 1.0
        c[: self.kept.size] = self.cost[self.kept] * sizes[: self.kept.size] / unit
        every = np.concatenate([rows, np.full(b.size - rows.size, -1)])
        tight = np.setdiff1d(np.arange(self.count), np.concatenate(self.slacked))
        independent, clash = _independent(A, b, tight, last=b.size - rows.size)
        return StandardForm(
            self.problem,
            c,
            sp.csr_array(A[independent]),
            b[independent],
            tuple(blocks),
            capped.size,
            every[independent],
            self.kept,
            self.shift,
            sizes[: self.kept.size],
            unit,
            tuple(self.places),
            self.flat,
            self.matrix,
            self.cost,
            None if clash is None else of_problem(self.matrix.shape[0], every, -clash),
        )

    def _bounded_rows(self) -> tuple[Indices, list[tuple[Indices, Array]], Indices, Array]:
        """Add the rows of the problem that may be active.

        Return them, the rows of each second-order cone with the sizes of its entries, and the
        slacks that have an upper bound, with the bounds.
        """
        low, high, cones = bounds(self.problem.h)
        norms = row_norms(self.matrix)
        reach = REACH * self.problem.X.max_norm * norms
        for entries in cones:
            reach[entries] = inf
        low, high = np.where(low > -reach, low, -inf), np.where(high < reach, high, inf)
        rows = np.flatnonzero((low > -inf) | (high < inf))
        low, high, A = low[rows], high[rows], self.matrix[rows]
        top = sp.coo_array(A[:, self.kept])
        self.entries.append((top.row, top.col, top.data))
        self.count = rows.size
        self.b.append(np.where(low > -inf, low, high) - A @ self.shift)

        image, least = A @ self.middle, MIN_FIRST_SLACK * norms[rows] * _norm(self.middle)
        inside = [np.flatnonzero((rows >= s.start) & (rows < s.stop)) for s in cones]
        heights = [max(_norm(image[at]), float(least[at].max())) or 1.0 for at in inside]
        sizes = [np.full(at.size, height) for at, height in zip(inside, heights, strict=True)]
        loose = np.flatnonzero(low < high)
        sign, cap = np.where(low[loose] > -inf, -1.0, 1.0), (high - low)[loose]
        first = np.maximum(sign * (self.b[0] - image)[loose], least[loose])
        first = np.where(first > 0, first, 1.0)
        first = np.where(first < 0.9 * cap, first, 0.5 * np.minimum(cap, FAR))
        slacks = self._slacks(loose, sign, first)
        return rows, list(zip(inside, sizes, strict=True)), slacks[cap < inf], cap[cap < inf]

    def _sums(self) -> list[ConeSlice]:
        """Add the rows that bound X, and return the blocks of its sections."""
        blocks = []
        for part, entries in self.places:
            own = np.flatnonzero((self.kept >= entries.start) & (self.kept < entries.stop))
            if part.kind == "box":
                blocks.append(ConeSlice("orthant", own.size))
                continue
            blocks.append(ConeSlice(part.kind, part.n))
            summed = _summed(part, own)
            row = self._ones(np.zeros(summed.size, np.int64), summed, np.array([part.bound]))
            if part.at_most:
                self._slacks(row, np.ones(1), self.size[entries][:1])
        return blocks

    def _slacks(self, rows: Indices, signs: Array, first: Array) -> Indices:
        """Add columns of one entry each, in these rows, and of these sizes; return their places."""
        columns = np.arange(self.width, self.width + rows.size)
        self.entries.append((rows, columns, signs))
        self.slacked.append(rows)
        self.firsts.append(first)
        self.width += rows.size
        return columns

    def _ones(self, owner: Indices, columns: Indices, b: Array) -> Indices:
        """Add rows of ones, row `owner` in each of the columns, and return their places."""
        rows = np.arange(self.count, self.count + b.size)
        self.entries.append((rows[owner], columns, np.ones(columns.size)))
        self.b.append(b)
        self.count += rows.size
        return rows


def _summed(part: ConeSlice, entries: Indices) -> Indices:
    """The entries of a section whose sum is bounded."""
    if part.kind == "orthant":
        return entries
    return entries[:: part.n + 1] if part.kind == "psd" else entries[:1]


def _norm(v: Array) -> float:
    return float(np.linalg.norm(v))


def _independent(A: Any, b: Array, tight: Indices, *, last: int) -> tuple[Indices, Array | None]:
    """Return independent rows of A that span all others, and any clash; rows that are not `tight`
    are independent.

    A Cholesky factorisation of AA' with pivots prefers long rows: the `last` rows are made long.
    The clash is a y with A'y = 0 and <b, y> = 1, and exists if the b of the other rows contradicts
    that of the independent ones.
    """
    m = b.size
    if not tight.size:
        return np.arange(m), None
    norms = np.sqrt(row_squares(A))
    factors = 1.0 / np.where(norms > 0, norms, 1.0)
    factors[m - last :] *= PREFERENCE
    gram = gram_of(sp.csr_array(A.multiply(factors[:, None]))[tight]).toarray()
    _, pivots, rank, _ = dpstrf(gram, tol=DEPENDENT, lower=1)
    own, others = np.sort(pivots[:rank] - 1), np.sort(pivots[rank:] - 1)
    kept = np.setdiff1d(np.arange(m), tight[others])
    if not others.size:
        return kept, None
    combinations = gram[np.ix_(own, others)]
    if own.size:  # SciPy 1.10 refuses an empty system
        combinations = cho_solve(cho_factor(gram[np.ix_(own, own)]), combinations)
    right = (factors * b)[tight]
    terms = 1.0 + np.abs(right[others]) + np.abs(combinations).T @ np.abs(right[own])
    errors = right[others] - combinations.T @ right[own]
    worst = int(np.argmax(np.abs(errors) - CLASH * terms))
    if abs(errors[worst]) <= CLASH * terms[worst]:
        return kept, None
    clash = np.zeros(m)
    clash[tight[others[worst]]], clash[tight[own]] = 1.0, -combinations[:, worst]
    return kept, factors * clash / errors[worst]


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
