"""Programs without slacks: low <= Ax <= high, and rows in second-order cones.

A variable u >= 0 of no cost that one row alone has is what that row may leave: the row becomes an
inequality. A second-order block of which that is true, entry by entry, makes its rows ones of a
cone, if their b is 0. What nothing reads may be 0, and is left out. Nothing here is as long as a
psd block has entries: only what is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.problems.conic.components import Pieces, pieces
from condal.problems.conic.program import Program


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of x: a psd matrix, all nonnegative numbers together, or a second-order block.

    `A` and `c` are what it has of the rows and of the minimised objective. `block` is its place
    among the program's blocks, and `index` its rows and columns in that block, if it is a matrix;
    of the numbers, `index` are their places in the program's x.
    """

    kind: Literal["psd", "orthant", "second-order"]
    n: int
    A: Any = field(repr=False)
    c: Any = field(repr=False)
    block: int = -1
    index: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)


@dataclass(frozen=True, eq=False)
class Slack:
    """An entry of x, at `column`: (b_i - what the rest of row i makes) / coefficient."""

    column: int
    row: int
    coefficient: float


@dataclass(frozen=True, eq=False)
class Folded:
    """low <= Ax <= high, and z in a second-order cone for the rows z of Ax at each of `cones`.

    Row k of A is scale_k times row rows_k of the program's, without its slacks; the rows of the
    cones come last.
    """

    program: Program
    parts: tuple[Part, ...]
    rows: Indices = field(repr=False)
    scale: Array = field(repr=False)
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    cones: tuple[slice, ...]
    slacks: tuple[Slack, ...] = field(repr=False)

    @property
    def bounded(self) -> int:
        """How many rows have bounds: those before the cones."""
        return self.cones[0].start if self.cones else int(self.rows.size)


def fold(program: Program) -> Folded:
    """The program with its slacks made inequalities and cones, its numbers gathered in one part."""
    return _Folding(program).folded()


class _Folding:
    """The entries of A, and which of them are of slacks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        entries = sp.coo_array(program.A)
        kept = entries.data != 0
        self.row, self.data = entries.row[kept].astype(np.int64), entries.data[kept]
        self.col = entries.col[kept].astype(np.int64)
        self.block = program.owners(self.col)
        kept = program.c.data != 0
        self.cost_col = program.c.indices[kept].astype(np.int64)
        self.cost = -program.c.data[kept] if program.maximise else program.c.data[kept]
        self.low, self.high = program.b.copy(), program.b.copy()
        self.scale = np.ones(program.b.size)
        self.slacks: list[Slack] = []
        self.cone_rows: list[Indices] = []
        self.gone: set[int] = set()  # second-order blocks, folded
        self.once = self._once()

    @cached_property
    def _in_matrix(self) -> Any:
        """Which entries are those of a psd block of more than a number."""
        matrices = [block.kind == "psd" and block.n > 1 for block in self.program.blocks]
        return np.array(matrices)[self.block]

    @cached_property
    def _diagonal(self) -> Any:
        """Which are on the diagonal of such a block."""
        step = np.array([block.n + 1 for block in self.program.blocks])[self.block]
        return self._in_matrix & ((self.col - self.program.offsets[self.block]) % step == 0)

    def folded(self) -> Folded:
        """All of it."""
        free = self._fold_cones()
        split = self._pieces()
        left = self._read(self._fold_numbers(self._numbers(split), free))
        asked = (self.low > -inf) | (self.high < inf)
        in_cones = np.concatenate([np.zeros(0, dtype=np.int64), *self.cone_rows])
        asked[in_cones] = False
        rows = np.concatenate([np.flatnonzero(asked), in_cones])
        begins = np.count_nonzero(asked) + np.cumsum([0, *(r.size for r in self.cone_rows)])
        return Folded(
            self.program,
            self._parts(rows, split, left),
            rows,
            self.scale[rows],
            self.low[rows],
            self.high[rows],
            tuple(slice(int(a), int(b)) for a, b in pairwise(begins)),
            tuple(self.slacks),
        )

    def _once(self) -> dict[int, Slack]:
        """The numbers and diagonal entries without a cost that one row alone has, beside others."""
        columns, first, times = np.unique(self.col, return_index=True, return_counts=True)
        others = np.bincount(self.row, minlength=self.program.b.size)[self.row[first]] > 1
        plain = self._diagonal[first] | ~self._in_matrix[first]
        single = (times == 1) & others & plain & ~np.isin(columns, self.cost_col)
        entry = first[single]
        found = zip(columns[single], self.row[entry], self.data[entry], strict=True)
        return {int(j): Slack(int(j), int(i), float(a)) for j, i, a in found}

    def _fold_cones(self) -> Any:
        """Fold the second-order blocks that are slacks; the rows that are left to fold into."""
        free = np.ones(self.program.b.size, dtype=bool)
        for j, block in enumerate(self.program.blocks):
            if block.kind != "second-order" or block.n == 1:
                continue
            here = self.program.place(j)
            mine = [self.once[k] for k in range(here.start, here.stop) if k in self.once]
            rows = np.array([slack.row for slack in mine], dtype=np.int64)
            alone = np.unique(rows).size == block.n and free[rows].all()
            if alone and not self.program.b[rows].any():
                free[rows] = False
                self.gone.add(j)
                self.scale[rows] = [-1.0 / slack.coefficient for slack in mine]
                self.cone_rows.append(rows)
                self.slacks += mine
        return free

    def _pieces(self) -> dict[int, Pieces]:
        """What the psd blocks fall into."""
        found = {}
        for j, block in enumerate(self.program.blocks):
            if block.kind == "psd" and block.n > 1:
                here = self.program.place(j)
                cost = (self.cost_col >= here.start) & (self.cost_col < here.stop)
                read = np.concatenate([self.col[self.block == j], self.cost_col[cost]]) - here.start
                diagonal = here.start + np.arange(block.n) * (block.n + 1)
                slack = np.array([k for k, place in enumerate(diagonal) if place in self.once])
                found[j] = pieces(block.n, read, slack.astype(np.int64))
        return found

    def _numbers(self, split: dict[int, Pieces]) -> Indices:
        """The columns of all entries that are nonnegative numbers, in rising order."""
        found = [np.zeros(0, dtype=np.int64)]
        for j, block in enumerate(self.program.blocks):
            here = self.program.place(j)
            if j in split:
                found.append(here.start + split[j].numbers * (block.n + 1))
            elif block.kind == "orthant" or block.n == 1:
                found.append(np.arange(here.start, here.stop))
        return np.concatenate(found)

    def _fold_numbers(self, numbers: Indices, free: Any) -> Indices:
        """Fold the numbers that are slacks of rows with other entries; the numbers that remain."""
        mine = [self.once[j] for j in numbers.tolist() if j in self.once]
        mine = [slack for slack in mine if free[slack.row]]
        entries = np.bincount(self.row, minlength=free.size)
        owners = np.array([slack.row for slack in mine], dtype=np.int64)
        others = entries > np.bincount(owners, minlength=free.size)
        mine = [slack for slack in mine if others[slack.row]]
        for slack in mine:
            if slack.coefficient > 0:
                self.low[slack.row] = -inf
            else:
                self.high[slack.row] = inf
        self.slacks += mine
        gone = np.array([slack.column for slack in mine], dtype=np.int64)
        self._tighten(gone)
        return numbers[~np.isin(numbers, gone)]

    def _read(self, numbers: Indices) -> Indices:
        """Without the numbers that no row asks about and that only cost: they may be 0."""
        asked = (self.low > -inf) | (self.high < inf)
        gains = self.cost_col[self.cost < 0]
        return numbers[np.isin(numbers, np.concatenate([self.col[asked[self.row]], gains]))]

    def _tighten(self, gone: Indices) -> None:
        """Make x_kk <= b an equation where nothing else reads x_kk, and it does not cost: more of
        it leaves x psd, and is no worse."""
        left = ~np.isin(self.col, gone)
        alone = np.bincount(self.row[left], minlength=self.low.size)[self.row] == 1
        _, where, times = np.unique(self.col, return_inverse=True, return_counts=True)
        costly = np.isin(self.col, self.cost_col[self.cost > 0])
        above = np.where(self.data > 0, self.low[self.row] == -inf, self.high[self.row] == inf)
        some = np.isfinite(self.low[self.row]) | np.isfinite(self.high[self.row])
        found = left & alone & (times[where.ravel()] == 1) & self._diagonal & ~costly & above & some
        rows = self.row[found]
        self.low[rows] = self.high[rows] = self.program.b[rows]

    def _parts(self, rows: Indices, split: dict[int, Pieces], numbers: Indices) -> tuple[Part, ...]:
        matrices = [
            self._matrix(rows, j, index) for j, part in split.items() for index in part.matrices
        ]
        cones = []
        for j, block in enumerate(self.program.blocks):
            every = np.arange(*self.program.offsets[[j, j + 1]])
            if block.kind != "second-order" or block.n == 1 or j in self.gone:
                continue
            if (self.block == j).any() or np.isin(every, self.cost_col).any():
                cones.append(Part("second-order", block.n, *self._vector(rows, every), j))
        if numbers.size:
            found = Part("orthant", int(numbers.size), *self._vector(rows, numbers), -1, numbers)
            return (*matrices, found, *cones)
        if not matrices and not cones:  # a problem needs a point: a number of no place in x
            return (Part("orthant", 1, sp.csr_array((rows.size, 1)), sp.csr_array([[1.0]])),)
        return (*matrices, *cones)

    def _matrix(self, rows: Indices, j: int, index: Indices) -> Part:
        """The rows and columns `index` of the psd block j."""
        here, n, side = self.program.place(j), self.program.blocks[j].n, int(index.size)
        place = np.full(n, -1)
        place[index] = np.arange(side)

        def moved(columns: Indices) -> tuple[Any, Indices]:
            mine = np.flatnonzero((columns >= here.start) & (columns < here.stop))
            row, col = np.divmod(columns[mine] - here.start, n)
            inside = place[row] >= 0
            return mine[inside], place[row[inside]] * side + place[col[inside]]

        mine, places = moved(self.col)
        cost, cost_places = moved(self.cost_col)
        A = self._rows(rows, mine, places, side * side)
        return Part("psd", side, A, _row(self.cost[cost], cost_places, side * side), j, index)

    def _vector(self, rows: Indices, columns: Indices) -> tuple[Any, Any]:
        """A and c of these columns, in rising order."""
        mine, cost = (np.isin(found, columns) for found in (self.col, self.cost_col))
        places = np.searchsorted(columns, self.col[mine])
        A = self._rows(rows, np.flatnonzero(mine), places, columns.size)
        cost_places = np.searchsorted(columns, self.cost_col[cost])
        return A, _row(self.cost[cost], cost_places, columns.size)

    def _rows(self, rows: Indices, mine: Indices, places: Indices, length: int) -> Any:
        """Some rows of these entries, scaled."""
        owner = self.row[mine]
        shape = (self.program.b.size, length)
        whole = sp.csr_array((self.data[mine] * self.scale[owner], (owner, places)), shape)
        return sp.csr_array(whole[rows])


def _row(values: Array, places: Indices, length: int) -> Any:
    zeros = np.zeros(values.size, dtype=np.int64)
    return sp.csr_array((values, (zeros, places)), (1, length))
