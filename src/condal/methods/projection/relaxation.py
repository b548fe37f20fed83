"""Over-relaxed sweeps over the rows of R: what brings a factor near a minimum at the least cost.

With all rows but R_i fixed, <C, R R'> is linear in R_i: 2 <g_i, R_i> with g_i the i-th row of C R
without its own part. On |R_i|^2 = squares_i its minimum is -g_i scaled to that length (the mixing
method of Wang, Chang and Kolter 2017). Rows that no entry of C joins do not see each other, so that
a colour of the graph of C moves at once, by one sparse product. Moving past the minimum by a factor
omega < 2 still descends, and turns a linear rate into about its square root (Young 1954).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, Indices
from condal.linalg.symmetric import SCATTERED, Symmetric
from condal.runtime.cancellation import check_cancelled

FIRST_OMEGA = 1.9
MAX_OMEGA = 1.99
LEAST_WORK = 1000  # entries of C in a colour, on average: with less, calls cost more than work


@dataclass(frozen=True, eq=False)
class Sweeps:
    """R_i <- on(R_i + omega (best_i - R_i)), colour by colour.

    It works on rows of length 1, in the order of the colours: `order` sorts the rows of R so, and
    their `lengths` become part of C. `blocks` are the rows of that C of a colour, without its
    diagonal, in double and in single precision. As in `Rows`, a row may be several of R.
    """

    order: Indices
    rows: tuple[slice, ...]
    blocks: dict[Any, tuple[Any, ...]]
    lengths: Array

    @classmethod
    def of(cls, C: Symmetric, squares: Array) -> Sweeps | None:
        """The sweeps of a sparse C whose graph has few colours for its size; else None."""
        if not C.factorable:
            return None
        lengths, each = np.sqrt(squares), C.n // squares.size
        stored = sp.coo_array(C.to_sparse())
        i, j = stored.row // each, stored.col // each
        off = (i != j) & (stored.data != 0.0)
        if np.any((i == j) & (stored.row != stored.col) & (stored.data != 0.0)):
            return None  # what a row meets of itself is no multiple of it
        weights = stored.data[off] * lengths[i[off]] * lengths[j[off]]
        places = (stored.row[off], stored.col[off])
        joined = sp.csr_array((weights / _largest(weights), places), stored.shape)
        seen = np.ones(weights.size)
        graph = joined if each == 1 else sp.csr_array((seen, (i[off], j[off])), 2 * squares.shape)
        colours = colouring(graph, most=1 + joined.nnz // LEAST_WORK)
        if colours is None:
            return None
        if C.n >= SCATTERED:  # neighbours near each other, also within a colour
            from scipy.sparse.csgraph import reverse_cuthill_mckee

            place = np.argsort(reverse_cuthill_mckee(sp.csr_matrix(graph), symmetric_mode=True))
            colours = [colour[np.argsort(place[colour])] for colour in colours]
        order = np.concatenate(colours)
        ends = np.cumsum([len(colour) for colour in colours])
        rows = tuple(slice(end - len(c), end) for end, c in zip(ends, colours, strict=True))
        sorted_ = (each * order[:, None] + np.arange(each)).ravel()
        joined = sp.csr_array(joined[sorted_][:, sorted_])
        joined.sort_indices()
        double = tuple(joined[each * here.start : each * here.stop] for here in rows)
        single = tuple(block.astype(np.float32) for block in double)
        blocks = {np.float64: double, np.float32: single}
        return cls(order, rows, blocks, lengths[order][:, None])

    def relaxed(self, R: Array, *, sweeps: int, omega: float, single: bool) -> Array:
        """R after that many sweeps; each lowers <C, R R'>, or leaves it.

        In single precision they move half as much memory, which is what they wait for.
        """
        dtype: Any = np.float32 if single else np.float64
        shape = R.shape
        R = R.reshape(self.order.size, -1)
        unit: Array = np.empty(R.shape, dtype)
        for here in block_slices(*R.shape):
            unit[here] = R[self.order[here]] / self.lengths[here]
        whole = unit.reshape(shape)
        for _ in range(sweeps):
            check_cancelled()
            for here, block in zip(self.rows, self.blocks[dtype], strict=True):
                _move(unit[here], (block @ whole).reshape(-1, unit.shape[1]), omega)
        out = np.empty(R.shape)
        for here in block_slices(*R.shape):
            rows = unit[here].astype(np.float64)
            out[self.order[here]] = rows * (self.lengths[here] / _sizes(rows))
        return out.reshape(shape)


def _move(rows: Array, pull: Array, omega: float) -> None:
    """rows + omega (the best rows - rows), of length 1; the best are those against the pull."""
    size = _sizes(pull)
    pulled = size > 0.0  # a row that meets nothing stays where it is
    pull *= np.where(pulled, -omega / np.where(pulled, size, 1.0), 0.0).astype(rows.dtype)
    rows *= np.where(pulled, 1.0 - omega, 1.0).astype(rows.dtype)
    rows += pull
    rows /= _sizes(rows)


def _sizes(rows: Array) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


def _largest(weights: Array) -> float:
    """The largest absolute value; the scale of C does not matter to its sweeps."""
    return float(np.abs(weights).max(initial=0.0)) or 1.0


def next_omega(omega: float, rate: float) -> float:
    """A larger omega where a sweep's rate, |residual after| / |before|, shows that it is too small.

    A rate above omega - 1 is that of the slowest component, from which follows the spectral radius
    mu of Jacobi's iteration, (rate + omega - 1)^2 = rate (omega mu)^2, and the best omega.
    """
    if not omega - 1.0 < rate < 1.0:
        return omega
    mu2 = (rate + omega - 1.0) ** 2 / (rate * omega**2)
    return max(omega, min(MAX_OMEGA, 2.0 / (1.0 + sqrt(max(0.0, 1.0 - mu2)))))


def colouring(graph: Any, *, most: int) -> list[Indices] | None:
    """Sets of vertices, none joined to another of its set; None if more than `most` are needed.

    Each set is a maximal independent one of what is left, built by taking at once all vertices that
    come before their neighbours (Luby 1986); those of many neighbours come first.
    """
    n = graph.shape[0]
    degrees = np.diff(graph.indptr)
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((np.random.default_rng(n).random(n), -degrees))] = np.arange(n, 0, -1)
    left = np.ones(n, dtype=bool)
    colours: list[Indices] = []
    while left.any():
        if len(colours) == most:
            return None
        open_, chosen = left.copy(), np.zeros(n, dtype=bool)
        while open_.any():
            places = np.where(open_, rank, 0)
            first = open_ & (places > _largest_beside(graph, degrees, places))
            chosen |= first
            open_ &= ~first & (_largest_beside(graph, degrees, first.astype(np.int64)) == 0)
        colours.append(np.flatnonzero(chosen))
        left &= ~chosen
    return colours


def _largest_beside(graph: Any, degrees: Indices, values: Indices) -> Indices:
    """The largest value among a vertex's neighbours; 0 where it has none."""
    largest = np.zeros_like(values)
    some = degrees > 0
    if some.any():
        starts = graph.indptr[:-1][some]
        largest[some] = np.maximum.reduceat(values[graph.indices], starts)
    return largest
