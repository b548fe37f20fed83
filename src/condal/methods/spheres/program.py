"""Programs over vectors on spheres whose rows are inner products of pairs.

    minimise    sum_i linear_i <e, r_i> + 2 sum_k cost_k <r_a, r_b>
    subject to  |r_i - centre e| = radius_i,   lower_k <= <r_a, r_b> <= upper_k,   (a, b) = pair k

over vectors r_1, ..., r_n, with a fixed unit vector e, the first axis. A sweep moves vectors of one
colour and one number of neighbours at once. In the arrangement for it each vector has *slots*, one
for each pair that it is in. In one process all vectors and pairs are here. On ranks each has its
own, and the neighbours that others own follow its vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices, normals_like
from condal.linalg.symmetric import MIN_REORDERED_SIDE
from condal.methods.lowrank.sweeps import colouring

RANK, LOOSE_RANK = 3.2, 1.5  # times n^(1/3): the first number of columns, for an aim below
LOOSE_AIM = 5e-3  # and from here on
FIRST_LEAN = 0.5  # along e, of the first vectors, before they are scaled to length 1


class Slots(Protocol):
    """The vectors of this process in the order of sweeps, then their neighbours elsewhere."""

    @property
    def arrangement(self) -> Arrangement:
        """The order of the vectors, and their slots."""

    def sorted_rows(self, R: Array, dtype: Any) -> Array:
        """Return a NumPy array of the rows of R, or of the entries of a vector, in this order."""

    def unsorted_rows(self, R: Array) -> Array:
        """Return sorted rows in the order of the program."""

    def of_pairs(self, values: Array) -> Array:
        """Return the number of each slot, given one per pair."""

    def to_pairs(self, values: Array) -> Array:
        """Return a number per pair, given one for each slot, the same for both slots of a pair."""

    def fetch(self, colour: int, R: Array) -> None:
        """Update the sorted rows of a colour that are elsewhere, after they have moved."""


class Pairs(Protocol):
    """Pairs (a, b) of vectors."""

    def ends(self, v: Array) -> tuple[Array, Array]:
        """Return v_a and v_b for each pair."""

    def sums(self, at_a: Array, at_b: Array) -> Array:
        """Return for each vector the sum over its pairs, of at_a where it is a, of at_b else."""

    def slots(self, most: int | None = None) -> Slots | None:
        """Return the arrangement for sweeps; None if more than `most` colours are needed."""


@runtime_checkable
class EntryMap(Protocol):
    """A map whose rows read single entries off the diagonal, each at most once."""

    def entry_pairs(self) -> tuple[Pairs, Array]:
        """Return the pairs (i, j) and the factors of A x = factors * x_ij."""


@dataclass(frozen=True, eq=False)
class Group:
    """Vectors of one colour with as many neighbours each: their rows, and where their slots are."""

    rows: slice
    slots: slice
    degree: int


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Vectors in the order of colours and numbers of neighbours.

    `order` sorts the vectors of this process. In this order vector i has the `neighbours` in its
    slots, one for each pair that it is in, and `pair` is the number of the pair of a slot.
    `colours` are the groups of each colour.
    """

    order: Indices
    colours: tuple[tuple[Group, ...], ...]
    neighbours: Indices
    pair: Indices

    @classmethod
    def of(
        cls,
        slots: tuple[Indices, Indices, Indices],
        colour: Indices,
        place: Indices,
        *,
        count: int,
        outside: Indices | None = None,
    ) -> Arrangement:
        """Return the arrangement of slots: their vectors, neighbours and pairs.

        `place` sorts the vectors of a group, `count` is the number of colours, and `outside` sorts
        the neighbours that are not of this process, which are numbered after its own vectors.
        """
        owner, other, pair = slots
        n = colour.size
        outside = np.zeros(0, dtype=np.int64) if outside is None else outside
        degrees = np.bincount(owner, minlength=n)
        order = np.lexsort((place, degrees, colour))
        where = np.empty(n + outside.size, dtype=np.int64)
        where[order] = np.arange(n)
        where[n + outside] = np.arange(n, where.size)
        by_vector = np.lexsort((where[other], where[owner]))
        kinds = np.stack([colour[order], degrees[order]])
        changes = (kinds[:, 1:] != kinds[:, :-1]).any(axis=0)
        begins = np.flatnonzero(np.concatenate([[n > 0], changes]))
        first = np.concatenate([[0], np.cumsum(degrees[order])])
        groups: list[list[Group]] = [[] for _ in range(count)]
        for begin, end in pairwise([*begins.tolist(), n]):
            number, degree = kinds[:, begin].tolist()
            some = slice(int(first[begin]), int(first[end]))
            groups[number].append(Group(slice(begin, end), some, degree))
        colours = tuple(map(tuple, groups))
        return cls(order, colours, where[other][by_vector], pair[by_vector])


@dataclass(frozen=True, eq=False)
class WholePairs:
    """Pairs of n vectors, all in this process."""

    n: int
    a: Indices
    b: Indices

    def ends(self, v: Array) -> tuple[Array, Array]:
        return v[self.a], v[self.b]

    def sums(self, at_a: Array, at_b: Array) -> Array:
        sums: Any = np.bincount(self.a, at_a, self.n) + np.bincount(self.b, at_b, self.n)
        return np.asarray(sums, dtype=np.float64)

    def slots(self, most: int | None = None) -> WholeSlots | None:
        n, a, b = self.n, self.a, self.b
        owner, other = np.concatenate([a, b]), np.concatenate([b, a])
        graph = sp.csr_array((np.ones(owner.size), (owner, other)), shape=(n, n))
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
        slots = owner, other, np.tile(np.arange(a.size), 2)
        return WholeSlots(a.size, Arrangement.of(slots, colour, place, count=len(colours)))


@dataclass(frozen=True, eq=False)
class WholeSlots:
    """Slots of vectors and pairs that are all in this process."""

    pairs: int
    arrangement: Arrangement

    def sorted_rows(self, R: Array, dtype: Any) -> Array:
        return np.ascontiguousarray(R[self.arrangement.order], dtype=dtype)

    def unsorted_rows(self, R: Array) -> Array:
        out = np.empty_like(R)
        out[self.arrangement.order] = R
        return out

    def of_pairs(self, values: Array) -> Array:
        return values[self.arrangement.pair]

    def to_pairs(self, values: Array) -> Array:
        out = np.empty(self.pairs)
        out[self.arrangement.pair] = values
        return out

    def fetch(self, colour: int, R: Array) -> None:
        """Do nothing: no vector is elsewhere."""


@dataclass(frozen=True, eq=False)
class VectorProgram:
    """The data of such a program. A pair without bounds only has a cost."""

    n: int
    pairs: Pairs
    cost: Array
    lower: Array
    upper: Array
    linear: Array
    radius: Array
    centre: float

    @property
    def equality(self) -> bool:
        """Whether every pair has the inner product 0."""
        return not (self.lower.any() or self.upper.any())

    def random(self, rank: int, seed: int) -> Array:
        """Return random vectors on the spheres, which lean towards e."""
        R = normals_like(self.radius, seed, rank)
        R /= np.sqrt(rank)
        R[:, 0] += FIRST_LEAN
        return self.on_spheres(R)

    def on_spheres(self, U: Array) -> Array:
        """Return the points of the spheres in the directions of the rows of U from the centre."""
        sizes = np.sqrt(np.einsum("ij,ij->i", U, U))
        R = U * (self.radius / np.where(sizes > 0, sizes, 1.0))[:, None]
        R[sizes == 0, 0] = self.radius[sizes == 0]
        R[:, 0] += self.centre
        return R

    def with_columns(self, R: Array, more: int, share: float, seed: int) -> Array:
        """Return R with more columns, random and of this share of the length of each row."""
        new = normals_like(self.radius, [seed, R.shape[1]], more)
        new *= (share / np.sqrt(more)) * self.radius[:, None]
        U = np.hstack([R, new])
        U[:, 0] -= self.centre
        return self.on_spheres(U)

    def priced(self, p: Array, z: Array, rho: float) -> Array:
        """Return the multipliers z + rho (p - r) at the inner products p, r the nearest bounds.

        r is the point within the bounds nearest to p + z / rho.
        """
        if self.equality:
            return z + rho * p
        return z + rho * (p - np.clip(p + z / rho, self.lower, self.upper))

    def multipliers(self, R: Array, p: Array, w: Array) -> Array:
        """Return mu with sum_j (cost + w)_ij r_j + linear_i e / 2 = -mu_i (r_i - centre e).

        At a stationary R this is exact; otherwise it is the best multiple of r_i - centre e. p has
        the inner products of the pairs.
        """
        total, first = self.cost + w, R[:, 0].astype(np.float64)
        at_a, at_b = self.pairs.ends(first)
        along = 0.5 * self.linear * (first - self.centre)
        along += self.pairs.sums(total * (p - self.centre * at_b), total * (p - self.centre * at_a))
        mu: Array = -along / self.radius**2
        return mu


def first_rank(n: int, given: int | None, aim: float | None) -> int:
    """Return the number of columns to begin with, enough for a gap of `aim` on random graphs.

    With fewer, the objective is right to more digits than the bound.
    """
    usual = 4 * log(n + 1) + (n + 1) ** 0.25
    loose = aim is not None and aim >= LOOSE_AIM
    needed = (LOOSE_RANK if loose else RANK) * n ** (1 / 3)
    return min(n + 1, given or ceil(max(usual, needed)))
