"""Over-relaxed sweeps over vectors on spheres, for the augmented Lagrangian of their pairs.

With all vectors but r_i fixed, the augmented Lagrangian is a quadratic in r_i: its gradient is

    g_i = linear_i e + 2 sum_j (cost + w)_ij r_j,    w = z + rho (p - r),    p_ij = <r_i, r_j>,

and its curvature is at most 2 rho sum_j |r_j|^2. On the sphere, the minimum of the quadratic with
this gradient and a curvature L is in the direction L (r_i - centre e) - g_i from the centre.
Without a penalty this is the mixing method, see `projection.relaxation`. Vectors that no pair joins
are independent, so those of one colour and one number of neighbours move at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.linalg.symmetric import MIN_REORDERED_SIDE
from condal.linalg.work import PRODUCT_FLOPS, add_work
from condal.methods.projection.relaxation import colouring
from condal.methods.spheres.program import VectorProgram
from condal.runtime.cancellation import check_cancelled, time_is_up

BLOCK_NUMBERS = 2**18  # of the gathered neighbours of some vectors, which stay in the cache
LEAST_CURVATURE = 1e-3  # of the linear term, where there is no penalty to bound it by
PRODUCTS = 3  # of the size of a sparse product, of a sweep


@dataclass(frozen=True, eq=False)
class _Group:
    """Vectors of one colour with as many neighbours each: their rows, and where their slots are."""

    rows: slice
    slots: slice
    degree: int


@dataclass(frozen=True, eq=False)
class PairSweeps:
    """Sweeps over the vectors in the order of colours and numbers of neighbours.

    `order` sorts the vectors. In this order vector i has the `neighbours` in its slots, one for
    each pair that it is in, and `pair` is the number of the pair of a slot.
    """

    program: VectorProgram
    order: Indices
    groups: tuple[_Group, ...]
    neighbours: Indices
    pair: Indices

    @classmethod
    def of(cls, program: VectorProgram, *, most: int | None = None) -> PairSweeps | None:
        """Return the sweeps of a program; None if more than `most` colours are needed."""
        n, (a, b) = program.n, program.pairs
        ends = np.concatenate([a, b]), np.concatenate([b, a])
        graph = sp.csr_array((np.ones(ends[0].size), ends), shape=(n, n))
        graph.sum_duplicates()
        colours = colouring(graph, most=n if most is None else most)
        if colours is None:
            return None
        place = np.arange(n)
        if n >= MIN_REORDERED_SIDE:  # neighbours near each other
            from scipy.sparse.csgraph import reverse_cuthill_mckee

            place = np.argsort(reverse_cuthill_mckee(sp.csr_matrix(graph), symmetric_mode=True))
        colour = np.empty(n, dtype=np.int64)
        for number, members in enumerate(colours):
            colour[members] = number
        degrees = np.bincount(ends[0], minlength=n)
        order = np.lexsort((place, degrees, colour))
        where = np.empty(n, dtype=np.int64)
        where[order] = np.arange(n)
        slots = np.lexsort((where[ends[1]], where[ends[0]]))
        pair = np.tile(np.arange(a.size), 2)[slots]
        kinds = np.stack([colour[order], degrees[order]])
        begins = np.flatnonzero(np.append(True, (kinds[:, 1:] != kinds[:, :-1]).any(axis=0)))
        first = np.concatenate([[0], np.cumsum(degrees[order])])
        groups = tuple(
            _Group(slice(begin, end), slice(first[begin], first[end]), int(kinds[1, begin]))
            for begin, end in zip(begins, np.append(begins[1:], n), strict=True)
        )
        return cls(program, order, groups, where[ends[1]][slots], pair)

    def sorted_rows(self, R: Array, dtype: Any) -> Array:
        """Return R in the order of the sweeps."""
        return np.ascontiguousarray(R[self.order], dtype=dtype)

    def unsorted_rows(self, R: Array) -> Array:
        """Return R in the order of the program, in double precision."""
        out = np.empty(R.shape)
        out[self.order] = R
        return out

    def products(self, R: Array) -> Array:
        """Return the inner products of the pairs, for the sorted R."""
        out = np.empty(self.program.cost.size)
        for rows, slots, shape, near in self._blocks(R):
            inner = np.matmul(near, R[rows][:, :, None])
            out[self.pair[slots]] = inner.reshape(shape[0] * shape[1])
        return out

    def relax(
        self, R: Array, z: Array, rho: float, *, sweeps: int, omega: float, curvature: float
    ) -> None:
        """Sweep some times over the sorted R, in place.

        `curvature` is the share of the bound on the curvature that is used. With 1 and omega <= 2
        no sweep increases the augmented Lagrangian; less is faster where the r_j are not parallel.
        """
        program, dtype = self.program, R.dtype
        exact = program.equality
        in_slots = [array[self.pair].astype(dtype) for array in (z, program.cost)]
        bounds = [b[self.pair].astype(dtype) for b in (program.lower, program.upper) if not exact]
        linear, radius = (a[self.order].astype(dtype) for a in (program.linear, program.radius))
        square = radius**2 - dtype.type(program.centre**2)  # |r|^2 = square + 2 centre <e, r>
        centre, penalty = dtype.type(program.centre), dtype.type(rho)
        least = LEAST_CURVATURE * np.abs(linear)
        add_work(sweeps * PRODUCTS * PRODUCT_FLOPS * self.neighbours.size * R.shape[1])
        for _ in range(sweeps):
            check_cancelled()
            for rows, slots, shape, near in self._blocks(R):
                own = R[rows]
                p = np.matmul(near, own[:, :, None])[:, :, 0]
                weights, cost = (array[slots].reshape(shape) for array in in_slots)
                moved = p if exact else p - _clipped(p, weights, bounds, slots, penalty)
                weights = weights + penalty * moved + cost
                gradient = 2 * np.matmul(weights[:, None, :], near)[:, 0, :]
                gradient[:, 0] += linear[rows]
                near_squares = square[self.neighbours[slots]].reshape(shape)
                squares = near_squares + 2 * centre * near[:, :, 0]
                bent = dtype.type(2 * curvature) * penalty * squares.sum(axis=1)
                _move(own, gradient, bent + least[rows], centre, radius[rows], omega)
            if time_is_up():
                break

    def _blocks(self, R: Array) -> Iterator[tuple[slice, slice, tuple[int, int], Array]]:
        """Yield rows, their slots, (the number of rows, of neighbours) and the neighbours.

        Rows without neighbours are yielded as well: they follow the linear term alone.
        """
        rank, buffer = R.shape[1], np.empty(0, R.dtype)
        for group in self.groups:
            d, count = group.degree, group.rows.stop - group.rows.start
            step = max(1, BLOCK_NUMBERS // (max(d, 1) * rank))
            if buffer.size < min(step, count) * d * rank:
                buffer = np.empty(min(step, count) * d * rank, R.dtype)
            for begin in range(0, count, step):
                size = min(step, count - begin)
                rows = slice(group.rows.start + begin, group.rows.start + begin + size)
                slots = slice(group.slots.start + begin * d, group.slots.start + (begin + size) * d)
                near = buffer[: size * d * rank].reshape(size * d, rank)
                np.take(R, self.neighbours[slots], axis=0, out=near, mode="clip")
                yield rows, slots, (size, d), near.reshape(size, d, rank)


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
