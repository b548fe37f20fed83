"""Over-relaxed sweeps over vectors on spheres, for the augmented Lagrangian of their pairs.

With all vectors but r_i fixed, the augmented Lagrangian is a quadratic in r_i: its gradient is

    g_i = linear_i e + 2 sum_j (cost + w)_ij r_j,    w = z + rho (p - r),    p_ij = <r_i, r_j>,

and its curvature is at most 2 rho sum_j |r_j|^2. On the sphere, the minimum of the quadratic with
this gradient and a curvature L is in the direction L (r_i - centre e) - g_i from the centre.
Without a penalty this is the mixing method, see `lowrank.sweeps`. Vectors that no pair joins
are independent, so those of one colour and one number of neighbours move at once, in blocks, which
threads may share. A last pass makes the vectors of pairs orthogonal.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import for_each
from condal.linalg.points import Array, Indices
from condal.methods.spheres.program import Group, Slots, VectorProgram
from condal.runtime.meter import PRODUCT_FLOPS, check_cancelled, spend, time_is_up

BLOCK_NUMBERS = 2**18  # of the gathered neighbours of some vectors, which stay in the cache
LEAST_CURVATURE = 1e-3  # of the linear term, where there is no penalty to bound it by
PRODUCTS = 3  # of the size of a sparse product, of a sweep
REFINEMENTS = 3  # of a projection, whose first result is as inexact as an inverse
REGULARISATION = 1e-14  # of the inner products of unit vectors, per vector: they may be singular
SMALL_EIGENVALUE = 1e-12  # of these products, relative: smaller ones count as 0
ORTHOGONAL = 1e-13  # |cosine|: a vector with a larger one to a neighbour becomes 0


class Block(NamedTuple):
    """Rows that move at once, their slots, and the number of the rows and of their neighbours."""

    rows: slice
    slots: slice
    shape: tuple[int, int]


@dataclass(frozen=True, eq=False)
class PairSweeps:
    """Sweeps over the vectors in the order of colours and numbers of neighbours."""

    program: VectorProgram
    slots: Slots

    @classmethod
    def of(cls, program: VectorProgram, *, most: int | None = None) -> PairSweeps | None:
        """Return the sweeps of a program; None if more than `most` colours are needed."""
        slots = program.pairs.slots(most)
        return None if slots is None else cls(program, slots)

    @property
    def max_neighbours(self) -> int:
        """The largest number of neighbours of a vector."""
        groups = chain.from_iterable(self.slots.arrangement.colours)
        return max((group.degree for group in groups), default=0)

    def sorted_rows(self, R: Array) -> Array:
        """Return R in the order of the sweeps."""
        return self.slots.sorted_rows(R, R.dtype)

    def unsorted_rows(self, R: Array) -> Array:
        """Return sorted vectors in the order of the program."""
        return self.slots.unsorted_rows(R)

    def products(self, R: Array) -> Array:
        """Return the inner products of the pairs, for the sorted R."""
        out, memory = np.empty(self.slots.arrangement.pair.size), threading.local()

        def multiply(block: Block) -> None:
            near = self._gathered(R, block, memory)
            out[block.slots] = _product(near, R[block.rows][:, :, None]).ravel()

        for blocks in self._colours(R):
            for_each(multiply, blocks, rows=len(R))
        return self.slots.to_pairs(out)

    def relax(
        self, R: Array, z: Array, rho: float, *, sweeps: int, omega: float, curvature: float
    ) -> None:
        """Sweep some times over the sorted R, in place.

        `curvature` is the share of the bound on the curvature that is used. With 1 and omega <= 2
        no sweep increases the augmented Lagrangian; less is faster where the r_j are not parallel.
        """
        program, arrangement, dtype = self.program, self.slots.arrangement, R.dtype
        exact, neighbours = program.equality, arrangement.neighbours
        in_slots = [self.slots.of_pairs(array).astype(dtype) for array in (z, program.cost)]
        limits = () if exact else (program.lower, program.upper)
        bounds = [self.slots.of_pairs(limit).astype(dtype) for limit in limits]
        linear, radius = (
            self.slots.sorted_rows(array, dtype) for array in (program.linear, program.radius)
        )
        square = radius**2 - dtype.type(program.centre**2)  # |r|^2 = square + 2 centre <e, r>
        centre, penalty = dtype.type(program.centre), dtype.type(rho)
        least = LEAST_CURVATURE * np.abs(linear)
        flops = PRODUCTS * PRODUCT_FLOPS * neighbours.size * R.shape[1]
        colours, memory = self._colours(R), threading.local()

        def move(block: Block) -> None:
            rows, slots, shape = block
            near, own = self._gathered(R, block, memory), R[rows]
            p = _product(near, own[:, :, None])[:, :, 0]
            weights, cost = (array[slots].reshape(shape) for array in in_slots)
            moved = p if exact else p - _clipped(p, weights, bounds, slots, penalty)
            weights = weights + penalty * moved + cost
            gradient = 2 * _product(weights[:, None, :], near)[:, 0, :]
            gradient[:, 0] += linear[rows]
            near_squares = square[neighbours[slots]].reshape(shape)
            squares = near_squares + 2 * centre * near[:, :, 0]
            bent = dtype.type(2 * curvature) * penalty * squares.sum(axis=1)
            _move(own, gradient, bent + least[rows], centre, radius[rows], omega)

        for _ in range(sweeps):
            spend(flops)
            for colour, blocks in enumerate(colours):
                for_each(move, blocks, rows=len(R))
                self.slots.fetch(colour, R)
            if time_is_up():
                break

    def _colours(self, R: Array) -> list[list[Block]]:
        """Return the blocks of each colour.

        Rows without neighbours are in blocks as well: they follow the linear term alone.
        """
        return [
            list(chain.from_iterable(_blocks(group, R.shape[1]) for group in groups))
            for groups in self.slots.arrangement.colours
        ]

    def _gathered(self, R: Array, block: Block, memory: threading.local) -> Array:
        """Return the neighbours of the rows of a block, in memory of this thread."""
        (size, d), rank = block.shape, R.shape[1]
        if not hasattr(memory, "numbers") or memory.numbers.size < size * d * rank:
            memory.numbers = np.empty(size * d * rank, R.dtype)
        near: Array = memory.numbers[: size * d * rank].reshape(size * d, rank)
        indices = self.slots.arrangement.neighbours[block.slots]
        np.take(R, indices, axis=0, out=near, mode="clip")  # "raise" copies twice
        return near.reshape(size, d, rank)


@np.errstate(invalid="ignore")  # matmul may flag finite float32; the driver refuses NaN anyway
def _product(a: Array, b: Array) -> Array:
    return np.matmul(a, b)


def _blocks(group: Group, rank: int) -> Iterator[Block]:
    """Yield the blocks of a group: what is gathered of their neighbours stays in the cache."""
    d, step = group.degree, max(1, BLOCK_NUMBERS // (max(group.degree, 1) * rank))
    for begin in range(group.rows.start, group.rows.stop, step):
        size = min(step, group.rows.stop - begin)
        first = group.slots.start + (begin - group.rows.start) * d
        yield Block(slice(begin, begin + size), slice(first, first + size * d), (size, d))


def _clipped(p: Array, z: Array, bounds: list[Array], slots: slice, rho: Any) -> Array:
    lower, upper = (bound[slots].reshape(p.shape) for bound in bounds)
    return np.asarray(np.clip(p + z / rho, lower, upper))


def _move(
    own: Array, gradient: Array, curvature: Array, centre: Any, radius: Array, omega: float
) -> None:
    """r <- r + omega (best - r), scaled to its sphere, for the rows of `own`, in place."""
    own[:, 0] -= centre
    gradient *= -1
    gradient += curvature[:, None] * own
    sizes = np.sqrt(np.einsum("ij,ij->i", gradient, gradient))
    still = sizes == 0  # nothing pulls
    factors = own.dtype.type(omega) * radius / np.where(still, 1, sizes)
    own *= np.where(still, 1, own.dtype.type(1 - omega))[:, None]
    gradient *= factors[:, None]
    own += gradient
    sizes = np.sqrt(np.einsum("ij,ij->i", own, own))
    own *= (radius / np.where(sizes > 0, sizes, 1))[:, None]
    own[:, 0] += centre


def orthogonalise(R: Array, a: Indices, b: Indices) -> None:
    """Make the rows a_k and b_k of R orthogonal for all k, in place.

    Each is projected onto the complement of its neighbours that come before it, which do not move
    any more, so one pass is enough. Long vectors come first: short ones matter less. Vectors whose
    neighbours of before are final do not depend on each other, so they are projected at once.

    No row gets longer. One that depends on its neighbours, or almost, becomes 0.
    """
    place = np.empty(len(R), dtype=np.int64)
    place[np.argsort(-np.einsum("ij,ij->i", R, R), kind="stable")] = np.arange(len(R))
    later = place[a] > place[b]
    owner, before = np.where(later, a, b), np.where(later, b, a)
    shape = (len(R), len(R))
    earlier = sp.csr_array((np.ones(a.size, dtype=np.int8), (owner, before)), shape=shape)
    counts = np.diff(earlier.indptr)
    for rows in _levels(earlier):
        check_cancelled()
        rows = rows[np.argsort(counts[rows], kind="stable")]
        changes = np.flatnonzero(np.diff(counts[rows])) + 1
        for begin, end in pairwise([0, *changes.tolist(), rows.size]):
            count = int(counts[rows[begin]])
            step = max(1, BLOCK_NUMBERS // (count * R.shape[1]))
            for first in range(begin, end, step):
                some = rows[first : min(first + step, end)]
                slots = earlier.indptr[some][:, None] + np.arange(count)
                R[some] = _projected(R[some], R[earlier.indices[slots]])


def _levels(earlier: sp.csr_array) -> Iterator[Indices]:
    """Yield the rows with entries such that those that a row refers to are yielded before it."""
    left, following = np.diff(earlier.indptr), sp.csr_array(earlier.T)
    final = np.flatnonzero(left == 0)
    while final.size:
        fewer = np.bincount(following[final].indices, minlength=left.size)
        left = left - fewer
        final = np.flatnonzero((left == 0) & (fewer > 0))
        if final.size:
            yield final


def _projected(own: Array, near: Array) -> Array:
    """Return the rows of `own`, orthogonal to their neighbours; `near` is overwritten."""
    sizes = np.sqrt(np.einsum("kij,kij->ki", near, near))
    near /= np.where(sizes > 0, sizes, 1.0)[:, :, None]
    products, count = np.matmul(near, near.transpose(0, 2, 1)), near.shape[1]
    products[:, np.arange(count), np.arange(count)] = 1.0 + REGULARISATION * count
    projected, exact = _refined(own, near, np.linalg.inv(products))
    if not exact.all():  # the neighbours of some almost depend on each other
        some = ~exact
        inverse = np.linalg.pinv(products[some], rcond=SMALL_EIGENVALUE, hermitian=True)
        again, exact = _refined(own[some], near[some], inverse)
        projected[some] = np.where(exact[:, None], again, 0.0)
    return projected


def _refined(own: Array, near: Array, inverse: Array) -> tuple[Array, Any]:
    """Return the projections by an inverse of the inner products, and which are orthogonal."""
    for _ in range(REFINEMENTS):
        along = np.matmul(inverse, np.matmul(near, own[:, :, None]))
        own = own - np.matmul(along.transpose(0, 2, 1), near)[:, 0, :]
    left = np.abs(np.matmul(near, own[:, :, None])[:, :, 0]).max(axis=1)
    return own, left <= ORTHOGONAL * np.sqrt(np.einsum("ij,ij->i", own, own))
