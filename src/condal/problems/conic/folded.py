"""Programs without slacks: low <= Ax <= high, and rows in second-order cones.

A variable u >= 0 without cost that appears in a single row is the slack of that row, which becomes
an inequality. A second-order block whose entries are all such slacks turns its rows into rows of a
cone, if their b is 0. Unused entries may be 0 and are dropped. All arrays here are as long as the
stored entries, never as long as a psd block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.problems.conic.components import Pieces, pieces
from condal.problems.conic.program import Program
from condal.runtime.meter import spend

T = TypeVar("T")


class Deferred(Generic[T]):
    """A field of a frozen dataclass: a value, or a function without arguments that returns it.

    The function is called on first use, once.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: type) -> T:
        if record is None:
            raise AttributeError(self.name)
        value = record.__dict__[self.name]
        if callable(value):
            value = record.__dict__[self.name] = value()
        return value

    def __set__(self, record: Any, value: T | Callable[[], T]) -> None:
        record.__dict__[self.name] = value


@dataclass(frozen=True, eq=False)
class Part:
    """A part of x: a psd matrix, all nonnegative numbers together, or a second-order block.

    `A` and `c` are its columns of the rows and of the minimised objective, made on first use.
    `block` is its index among the program's blocks. `index` holds the rows and columns of a matrix
    within its block, or the places of the numbers in the program's x.
    """

    kind: Literal["psd", "orthant", "second-order"]
    n: int
    A: Deferred[Any] = field(default=Deferred(), repr=False)
    c: Deferred[Any] = field(default=Deferred(), repr=False)
    block: int = -1
    index: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    @property
    def trace_places(self) -> Indices:
        """The places of the entries that make up the trace."""
        if self.kind == "psd":
            return np.arange(self.n, dtype=np.int64) * (self.n + 1)
        return np.arange(self.n if self.kind == "orthant" else 1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Slack:
    """The entry of x at `column`: (b_i - rest of row i) / coefficient."""

    column: int
    row: int
    coefficient: float


@dataclass(frozen=True, eq=False)
class Folded:
    """low <= Ax <= high, and z in a second-order cone for the rows z of Ax at each of `cones`.

    Row k of A is scale_k times row rows_k of the program without its slacks. The rows of the cones
    come last.
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
        """The number of rows with bounds, which come before those of the cones."""
        return self.cones[0].start if self.cones else int(self.rows.size)

    def multipliers(self, w: Array) -> Array:
        """Return the multipliers of the program's rows from those of the folded rows."""
        y = np.zeros(self.program.b.size)
        y[self.rows] = self.scale * w
        return y


def fold(program: Program) -> Folded:
    """Turn slacks into inequalities and cones, and gather all numbers in one part."""
    return _Folding(program).folded()


class _Folding:
    """The nonzero entries of A and c, and the state of the folding."""

    def __init__(self, program: Program) -> None:
        self.program = program
        entries = sp.coo_array(program.A)
        nonzero = entries.data != 0
        self.row, self.data = entries.row[nonzero].astype(np.int64), entries.data[nonzero]
        self.col = entries.col[nonzero].astype(np.int64)
        self.block = program.owners(self.col)
        nonzero = program.c.data != 0
        self.cost_col = program.c.indices[nonzero].astype(np.int64)
        self.cost = -program.c.data[nonzero] if program.maximise else program.c.data[nonzero]
        self.low, self.high = program.b.copy(), program.b.copy()
        self.scale = np.ones(program.b.size)
        self.slacks: list[Slack] = []
        self.cone_rows: list[Indices] = []
        self.gone: set[int] = set()  # folded second-order blocks
        self.once = self._once()

    @cached_property
    def _in_matrix(self) -> Any:
        """Which entries belong to a psd block of more than one number."""
        matrices = [block.kind == "psd" and block.n > 1 for block in self.program.blocks]
        return np.array(matrices)[self.block]

    @cached_property
    def _diagonal(self) -> Any:
        """Which entries are on the diagonal of such a block."""
        step = np.array([block.n + 1 for block in self.program.blocks])[self.block]
        return self._in_matrix & ((self.col - self.program.offsets[self.block]) % step == 0)

    def folded(self) -> Folded:
        """Return the folded program."""
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
        """Return the candidates for slacks: costless entries in a single row, with others."""
        columns, first, times = np.unique(self.col, return_index=True, return_counts=True)
        others = np.bincount(self.row, minlength=self.program.b.size)[self.row[first]] > 1
        plain = self._diagonal[first] | ~self._in_matrix[first]
        single = (times == 1) & others & plain & ~np.isin(columns, self.cost_col)
        entry = first[single]
        slacks = zip(columns[single], self.row[entry], self.data[entry], strict=True)
        return {int(j): Slack(int(j), int(i), float(a)) for j, i, a in slacks}

    def _fold_cones(self) -> Any:
        """Fold second-order blocks that are slacks; return the rows still free to fold."""
        free = np.ones(self.program.b.size, dtype=bool)
        for j, block in enumerate(self.program.blocks):
            if block.kind != "second-order" or block.n == 1:
                continue
            place = self.program.place(j)
            slacks = [self.once[k] for k in range(place.start, place.stop) if k in self.once]
            rows = np.array([slack.row for slack in slacks], dtype=np.int64)
            alone = np.unique(rows).size == block.n and free[rows].all()
            if alone and not self.program.b[rows].any():
                free[rows] = False
                self.gone.add(j)
                self.scale[rows] = [-1.0 / slack.coefficient for slack in slacks]
                self.cone_rows.append(rows)
                self.slacks += slacks
        return free

    def _pieces(self) -> dict[int, Pieces]:
        """Return the pieces of the psd blocks."""
        split = {}
        for j, block in enumerate(self.program.blocks):
            if block.kind == "psd" and block.n > 1:
                place = self.program.place(j)
                cost = (self.cost_col >= place.start) & (self.cost_col < place.stop)
                used = np.concatenate([self.col[self.block == j], self.cost_col[cost]])
                diagonal = place.start + np.arange(block.n) * (block.n + 1)
                slack = np.array([k for k, column in enumerate(diagonal) if column in self.once])
                split[j] = pieces(block.n, used - place.start, slack.astype(np.int64))
        return split

    def _numbers(self, split: dict[int, Pieces]) -> Indices:
        """Return the columns of all nonnegative numbers, in ascending order."""
        columns = [np.zeros(0, dtype=np.int64)]
        for j, block in enumerate(self.program.blocks):
            place = self.program.place(j)
            if j in split:
                columns.append(place.start + split[j].numbers * (block.n + 1))
            elif block.kind == "orthant" or block.n == 1:
                columns.append(np.arange(place.start, place.stop))
        return np.concatenate(columns)

    def _fold_numbers(self, numbers: Indices, free: Any) -> Indices:
        """Fold the numbers that are slacks of other entries; return the remaining ones."""
        slacks = [self.once[j] for j in numbers.tolist() if j in self.once]
        slacks = [slack for slack in slacks if free[slack.row]]
        entries = np.bincount(self.row, minlength=free.size)
        owners = np.array([slack.row for slack in slacks], dtype=np.int64)
        others = entries > np.bincount(owners, minlength=free.size)
        slacks = [slack for slack in slacks if others[slack.row]]
        for slack in slacks:
            if slack.coefficient > 0:
                self.low[slack.row] = -inf
            else:
                self.high[slack.row] = inf
        self.slacks += slacks
        folded = np.array([slack.column for slack in slacks], dtype=np.int64)
        self._tighten(folded)
        return numbers[~np.isin(numbers, folded)]

    def _read(self, numbers: Indices) -> Indices:
        """Drop numbers that no row uses and that do not gain: they may be 0."""
        asked = (self.low > -inf) | (self.high < inf)
        gains = self.cost_col[self.cost < 0]
        return numbers[np.isin(numbers, np.concatenate([self.col[asked[self.row]], gains]))]

    def _tighten(self, folded: Indices) -> None:
        """Make x_kk <= b an equation if nothing else uses x_kk and it has no cost.

        A larger x_kk keeps x psd and is no worse.
        """
        remaining = ~np.isin(self.col, folded)
        alone = np.bincount(self.row[remaining], minlength=self.low.size)[self.row] == 1
        _, where, times = np.unique(self.col, return_inverse=True, return_counts=True)
        costly = np.isin(self.col, self.cost_col[self.cost > 0])
        above = np.where(self.data > 0, self.low[self.row] == -inf, self.high[self.row] == inf)
        bounded = np.isfinite(self.low[self.row]) | np.isfinite(self.high[self.row])
        once = times[where.ravel()] == 1
        tightened = remaining & alone & once & self._diagonal & ~costly & above & bounded
        rows = self.row[tightened]
        self.low[rows] = self.high[rows] = self.program.b[rows]

    def _parts(self, rows: Indices, split: dict[int, Pieces], numbers: Indices) -> tuple[Part, ...]:
        matrices = [
            self._matrix(rows, j, index) for j, block in split.items() for index in block.matrices
        ]
        cones = []
        for j, block in enumerate(self.program.blocks):
            spend(0.0)
            if block.kind != "second-order" or block.n == 1 or j in self.gone:
                continue
            every = np.arange(*self.program.offsets[[j, j + 1]])
            if (self.block == j).any() or np.isin(every, self.cost_col).any():
                cones.append(Part("second-order", block.n, *self._vector(rows, every), j))
        if numbers.size:
            part = Part("orthant", int(numbers.size), *self._vector(rows, numbers), -1, numbers)
            return (*matrices, part, *cones)
        if not matrices and not cones:  # a problem needs a point: a number that is not part of x
            return (Part("orthant", 1, sp.csr_array((rows.size, 1)), sp.csr_array([[1.0]])),)
        return (*matrices, *cones)

    def _matrix(self, rows: Indices, j: int, index: Indices) -> Part:
        """Return the part of the rows and columns `index` of psd block j."""
        place, n, side = self.program.place(j), self.program.blocks[j].n, int(index.size)
        position = np.full(n, -1)
        position[index] = np.arange(side)

        def moved(columns: Indices) -> tuple[Any, Indices]:
            mine = np.flatnonzero((columns >= place.start) & (columns < place.stop))
            row, col = np.divmod(columns[mine] - place.start, n)
            inside = position[row] >= 0
            return mine[inside], position[row[inside]] * side + position[col[inside]]

        def A() -> Any:
            return self._rows(rows, *moved(self.col), side * side)

        def c() -> Any:
            cost, places = moved(self.cost_col)
            return _row(self.cost[cost], places, side * side)

        return Part("psd", side, A, c, j, index)

    def _vector(self, rows: Indices, columns: Indices) -> tuple[Any, Any]:
        """Return A and c of these columns, which are in ascending order."""
        mine, cost = (np.isin(used, columns) for used in (self.col, self.cost_col))
        places = np.searchsorted(columns, self.col[mine])
        A = self._rows(rows, np.flatnonzero(mine), places, columns.size)
        cost_places = np.searchsorted(columns, self.cost_col[cost])
        return A, _row(self.cost[cost], cost_places, columns.size)

    def _rows(self, rows: Indices, mine: Indices, places: Indices, length: int) -> Any:
        """Return some rows of these entries, scaled."""
        owner = self.row[mine]
        shape = (self.program.b.size, length)
        whole = sp.csr_array((self.data[mine] * self.scale[owner], (owner, places)), shape)
        return sp.csr_array(whole[rows])


def _row(values: Array, places: Indices, length: int) -> Any:
    zeros = np.zeros(values.size, dtype=np.int64)
    return sp.csr_array((values, (zeros, places)), (1, length))
