"""Over-relaxed sweeps over the rows of R, the cheapest way to bring a factor near a minimum.

With all rows but R_i fixed, <C, R R'> is linear in R_i: 2 <g_i, R_i>, where g_i is the i-th row of
C R without the term of R_i. On |R_i|^2 = squares_i the minimum is -g_i scaled to that length (the
mixing method of Wang, Chang and Kolter 2017). Rows that no entry of C joins are independent, so one
sparse product moves a colour of the graph of C at once. Moving past the minimum by a factor
omega < 2 still descends, and turns a linear rate into about its square root (Young 1954).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import aligned_empty, block_slices, for_each
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import TINY
from condal.linalg.sparse import distinct, row_entries, split_rows
from condal.linalg.symmetric import MIN_REORDERED_SIDE, Symmetric
from condal.runtime.meter import PRODUCT_FLOPS, spend, time_is_up

FIRST_OMEGA = 1.9
MAX_OMEGA = 1.99
MIN_COLOUR_ENTRIES = 1000  # of C per colour, on average: with fewer, calls dominate


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of one colour, and the same rows of C.

    Where R is larger than the cache, a product waits for one row of R after the other. A copy of
    all rows that it reads does not: `neighbours` are those, one per entry of C.
    """

    rows: slice
    joined: Any
    neighbours: Indices | None

    @classmethod
    def of(cls, joined: Any, rows: slice, each: int) -> Block:
        """Cut rows out of C."""
        part = joined[each * rows.start : each * rows.stop]
        if joined.shape[0] < MIN_REORDERED_SIDE or part.nnz == 0:
            return cls(rows, part, None)
        places = np.arange(part.nnz, dtype=part.indices.dtype)
        local = sp.csr_array((part.data, places, part.indptr), shape=(part.shape[0], part.nnz))
        return cls(rows, local, part.indices.astype(np.intp))

    def pull(self, whole: Array, memory: threading.local) -> Array:
        """Return the product of the rows of C with R, by way of memory that a thread reuses."""
        if self.neighbours is None:
            return np.asarray(self.joined @ whole)
        shape = self.neighbours.size, whole.shape[1]
        if len(getattr(memory, "rows", ())) < shape[0]:
            memory.rows = aligned_empty(shape, whole.dtype)
        read = memory.rows[: shape[0]]
        np.take(whole, self.neighbours, axis=0, out=read, mode="clip")  # "raise" copies twice
        return np.asarray(self.joined @ read)


Colours = tuple[tuple[Block, ...], ...]


@dataclass(frozen=True, eq=False)
class Sweeps:
    """R_i <- on(R_i + omega (best_i - R_i)), colour by colour.

    It works on rows of length 1 in the order of the colours: `order` sorts the rows of R, and their
    `lengths` become part of C. `blocks` are the rows of this C for each colour, without the
    diagonal, in double and in single precision. They are split into blocks of rows that stay in the
    cache while they move. `constant` is what the diagonal adds to <C, R R'>, in the scale of the
    blocks. As in `UnitRows`, R_i may be several rows of R.
    """

    order: Indices
    blocks: BlocksByPrecision
    lengths: Array
    entries: int
    constant: float

    @classmethod
    def of(cls, C: Symmetric, squares: Array) -> Sweeps | None:
        """Return the sweeps of a sparse C whose graph has few colours for its size; else None.

        A matrix whose rows are on many ranks brings its own.
        """
        own = [matrix.sweeps for matrix in C.sparse if hasattr(matrix, "sweeps")]
        if own:
            sharded: Sweeps | None = own[0](squares) if len(C.terms) == 1 else None
            return sharded
        if not C.factorable:
            return None
        lengths, each = np.sqrt(squares), C.n // squares.size
        stored = sp.coo_array(C.to_sparse())
        i, j = stored.row // each, stored.col // each
        off = (i != j) & (stored.data != 0.0)
        if np.any((i == j) & (stored.row != stored.col) & (stored.data != 0.0)):
            return None  # the term of R_i is then not a multiple of R_i
        weights = stored.data[off] * lengths[i[off]] * lengths[j[off]]
        places = (stored.row[off], stored.col[off])
        largest = float(np.abs(weights).max(initial=0.0)) or 1.0  # sweeps do not depend on it
        joined = sp.csr_array((weights / largest, places), stored.shape)
        constant = float(stored.data[~off] @ squares[i[~off]]) / largest
        ones = np.ones(weights.size)
        graph = joined if each == 1 else sp.csr_array((ones, (i[off], j[off])), 2 * squares.shape)
        colours = colouring(graph, most=1 + joined.nnz // MIN_COLOUR_ENTRIES)
        if colours is None:
            return None
        if C.n >= MIN_REORDERED_SIDE:  # neighbours near each other, also within a colour
            from scipy.sparse.csgraph import reverse_cuthill_mckee

            place = np.argsort(reverse_cuthill_mckee(sp.csr_matrix(graph), symmetric_mode=True))
            colours = [colour[np.argsort(place[colour])] for colour in colours]
        order = np.concatenate(colours)
        sorted_ = (each * order[:, None] + np.arange(each)).ravel()
        joined = sp.csr_array(joined[sorted_][:, sorted_])
        joined.sort_indices()
        ends = np.cumsum([len(colour) for colour in colours])
        rows = [slice(end - len(c), end) for end, c in zip(ends, colours, strict=True)]
        blocks = BlocksByPrecision(joined, rows, each)
        return cls(order, blocks, lengths[order][:, None], joined.nnz, constant)

    def relaxed(
        self, R: Array, *, sweeps: int, omega: float, single: bool, until: float = 0.0
    ) -> tuple[Array, SweepResidual]:
        """Return R after sweeps, none of which increases <C, R R'>, and the residual they met.

        They end after `sweeps`, or before where the relative residual is likely at most `until`.
        The rows of R have their lengths. In single precision they move half as much memory, which
        dominates the time.
        """
        dtype: Any = np.float32 if single else np.float64
        shape = R.shape
        R = R.reshape(self.order.size, -1)
        unit = aligned_empty(R.shape, dtype)
        for rows in block_slices(*R.shape):
            unit[rows] = R[self.order[rows]] / self.lengths[rows]
        whole, memory = unit.reshape(shape), threading.local()
        residual = SweepResidual(self.lengths, self.constant)

        def move(block: Block) -> None:
            rows, pull = block.rows, block.pull(whole, memory).reshape(-1, unit.shape[1])
            residual.pulls[:, rows] = move_rows(unit[rows], pull, omega)

        for _ in range(sweeps):
            spend(PRODUCT_FLOPS * self.entries * (whole.size // len(whole)))
            for colour in self.blocks[dtype]:
                for_each(move, colour, rows=len(whole))
            if residual.after() <= until or time_is_up():
                break
        out = np.empty(R.shape)
        for rows in block_slices(*R.shape):
            double = unit[rows].astype(np.float64)
            out[self.order[rows]] = double * (self.lengths[rows] / row_sizes(double))
        return out.reshape(shape), residual


class SweepResidual:
    """The residual that a sweep meets: a product that measures it takes longer than some sweeps.

    `pulls` has two numbers of each row as it was before its move: the part of its pull along the
    row, and the square of the part across, which is the gradient. `total` sums over all ranks,
    `sweeps` counts, and `first` is the residual that the first sweep met.
    """

    def __init__(
        self, lengths: Array, constant: float, total: Callable[[Array], Array] = np.asarray
    ) -> None:
        self.pulls, self.sweeps, self.first = np.zeros((2, len(lengths))), 0, inf
        squares = np.square(lengths[:, 0])
        self._inverse, self._constant, self._total = 1.0 / squares, constant, total
        self._size = float(total(squares.sum()[None])[0])
        self._met: float | None = None

    def after(self) -> float:
        """End a sweep; return the likely residual after it, relative to the objective.

        A sweep reduces what it meets by about as much as it met less than the sweep before.
        """
        self.sweeps += 1
        along, across = self.pulls
        value, squares = map(float, self._total(np.array([along.sum(), across @ self._inverse])))
        met = sqrt(squares * self._size) / max(abs(value + self._constant), TINY)
        before, self._met = self._met, met
        self.first = met if before is None else self.first
        return met * min(1.0, met / before) if before else met


class BlocksByPrecision(dict[Any, Colours]):
    """The blocks of the rows of each colour, by the type of their numbers, built when asked for."""

    def __init__(self, joined: Any, colours: Sequence[slice], each: int = 1) -> None:
        super().__init__()
        self._joined, self._colours, self._each = joined, colours, each

    def __missing__(self, dtype: Any) -> Colours:
        joined, each = self._joined.astype(dtype), self._each
        before = joined.indptr[::each]
        self[dtype] = tuple(
            tuple(Block.of(joined, rows, each) for rows in split_rows(c.start, c.stop, before))
            for c in self._colours
        )
        return self[dtype]


def move_rows(rows: Array, pull: Array, omega: float) -> tuple[Array, Array]:
    """rows <- rows + omega (best - rows), scaled to length 1; the best rows oppose the pull.

    The rows have length 1. Return the part of the pull along each row, and the square of the part
    across it, before the move.
    """
    along, squares = np.einsum("ij,ij->i", rows, pull), np.einsum("ij,ij->i", pull, pull)
    size = np.sqrt(squares)
    limits = np.finfo(squares.dtype)
    stays = squares < limits.tiny / limits.eps  # no neighbours, or squares that underflow
    size[stays] = 1.0
    # The length of rows + omega (best - rows), as <best, rows> = -along / size.
    length = np.sqrt(1.0 + 2.0 * omega * (omega - 1.0) * (1.0 + along / size))
    kept = (1.0 - omega) / length
    kept[stays] = 1.0
    pull *= (-omega / (size * length))[:, None]
    rows *= kept[:, None]
    rows += pull
    return along, np.maximum(squares - np.square(along), 0.0)


def row_sizes(rows: Array) -> Array:
    """Return the length of each row, as a column."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


def next_omega(omega: float, rate: float) -> float:
    """Return a larger omega if the rate of a sweep, |residual after| / |before|, calls for it.

    A rate above omega - 1 is that of the slowest component. It gives the spectral radius mu of the
    Jacobi iteration by (rate + omega - 1)^2 = rate (omega mu)^2, and mu gives the best omega.
    """
    if not omega - 1.0 < rate < 1.0:
        return omega
    mu2 = (rate + omega - 1.0) ** 2 / (rate * omega**2)
    return max(omega, min(MAX_OMEGA, 2.0 / (1.0 + sqrt(max(0.0, 1.0 - mu2)))))


def colouring(graph: Any, *, most: int) -> list[Indices] | None:
    """Return independent sets of vertices; None if more than `most` are needed.

    In the order of falling degrees, ties at random, each vertex takes the first colour that no
    neighbour before it has. All vertices whose neighbours before them are coloured take theirs at
    once (Jones and Plassmann 1993).
    """
    n, degrees = graph.shape[0], np.diff(graph.indptr)
    place = np.empty(n, dtype=np.int64)
    place[np.lexsort((np.random.default_rng(n).random(n), -degrees))] = np.arange(n)
    before = place[graph.indices] < np.repeat(place, degrees)
    waits = np.bincount(np.repeat(np.arange(n), degrees)[before], minlength=n)
    colour, count, ready = np.full(n, -1), 0, np.flatnonzero(waits == 0)
    while ready.size:
        at, each = row_entries(graph, ready)
        neighbours, first = graph.indices[at], before[at]
        taken = np.zeros((ready.size, count + 1), dtype=bool)
        taken[np.repeat(np.arange(ready.size), each)[first], colour[neighbours[first]]] = True
        colour[ready] = np.argmin(taken, axis=1)  # the last column is free
        count = max(count, int(colour[ready].max()) + 1)
        if count > most:
            return None
        later = neighbours[~first]
        np.subtract.at(waits, later, 1)
        ready = distinct(later[waits[later] == 0])
    return np.split(np.argsort(colour, kind="stable"), np.cumsum(np.bincount(colour))[:-1])
