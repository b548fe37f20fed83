"""A planted problem, and the exact check of what is known about it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from planted.cones import Block

Vector = list[Fraction]


@dataclass(frozen=True)
class Cap:
    """Row `row` says that the trace of a block is equal to, or at most, a positive number."""

    block: int
    row: int


@dataclass(frozen=True)
class Weak:
    """A 2 x 2 psd block X with rows of its own, for which no exact witness exists.

    X_12 = 1 at the cost of X_11 has the infimum 0, which is not attained. With X_11 = 0 as well,
    nothing is feasible, but points with any small residual are.
    """

    block: int
    rows: tuple[int, ...]  # of X_12, and of X_11 if the problem is infeasible


@dataclass(frozen=True, eq=False)
class Planted:
    r"""minimise <c, v> + offset subject to A v = b, or A v <= b where `loose`, v in the blocks.

    Every number is a double and is meant exactly. With `maximise`, the user maximises
    -<c, v> - offset. The witnesses are v (feasible; optimal if there is an optimum), y and `ray`;
    y belongs to the rows divided by `scale`:

    * optimal: c - A'y is in the dual cone, y <= 0 where loose, <b, y> = <c, v>;
    * infeasible: -A'y is in the dual cone, y <= 0 where loose, <b, y> > 0;
    * unbounded: A ray = 0, or <= 0 where loose, ray is in the blocks, and <c, ray> < 0.

    A `weak` problem is infeasible without y, or optimal with v the limit of feasible points.
    """

    status: str
    blocks: tuple[Block, ...]
    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    loose: np.ndarray
    scale: np.ndarray
    caps: tuple[Cap, ...] = ()
    offset: float = 0.0
    maximise: bool = False
    v: np.ndarray | None = None
    y: np.ndarray | None = None
    ray: np.ndarray | None = None
    weak: Weak | None = None
    story: tuple[str, ...] = field(default=())

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each block stands in v."""
        ends = np.cumsum([0, *(block.length for block in self.blocks)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def sense(self) -> float:
        return -1.0 if self.maximise else 1.0

    @cached_property
    def value(self) -> Fraction:
        """The optimum of the minimisation."""
        assert self.v is not None
        return dot(exact(self.c), exact(self.v)) + Fraction(self.offset)

    @cached_property
    def multipliers(self) -> Vector:
        """The witness y of the rows as they are."""
        assert self.y is not None
        return [Fraction(y) / Fraction(s) for y, s in zip(self.y, self.scale, strict=True)]

    @cached_property
    def margin(self) -> Fraction:
        """<b, y> of the witness of infeasibility: margin <= <y, b - A v> for v in the cones."""
        return Fraction(0) if self.y is None else dot(exact(self.b), self.multipliers)

    def fault(self) -> str:
        """Return what is false about the witnesses, computed in fractions; "" if nothing is."""
        rows, b, c = [exact(row) for row in self.A], exact(self.b), exact(self.c)
        if self.weak is not None and not self._is_weak(self.weak):
            return "the block has other rows or costs"
        if self.weak is not None and self.status == "infeasible":
            return ""
        if self.status != "infeasible":
            assert self.v is not None
            v = exact(self.v)
            if not self._has(v):
                return "v is not in the cones"
            if not self._satisfied([dot(row, v) - b[i] for i, row in enumerate(rows)]):
                return "v does not satisfy the rows"
        if self.status == "unbounded":
            assert self.ray is not None
            ray = exact(self.ray)
            falls = self._has(ray) and dot(c, ray) < 0
            fine = falls and self._satisfied([dot(row, ray) for row in rows])
            return "" if fine else "the ray is none"
        return self._fault_of_multipliers(rows, b, c)

    def _fault_of_multipliers(self, rows: list[Vector], b: Vector, c: Vector) -> str:
        y = self.multipliers
        if any(y[i] > 0 for i in np.flatnonzero(self.loose)):
            return "y has the wrong sign"
        z = c if self.status == "optimal" else [Fraction(0)] * len(c)
        z = [z[j] - dot(y, [row[j] for row in rows]) for j in range(len(c))]
        if not all(block.dual_has(z[p]) for block, p in self._parts):
            return "the slack is not in the dual cone"
        if self.status == "infeasible":
            return "" if self.margin > 0 else "y proves nothing"
        equal = dot(b, y) + Fraction(self.offset) == self.value
        return "" if equal else "v and y have different values"

    def _is_weak(self, weak: Weak) -> bool:
        """Whether the rows of the weak block, and its costs, are what they should be."""
        place = self.places[weak.block]
        names = {0: 1, 1: 0}  # coordinates of X_12 and X_11 in (X_11, X_12, X_22)
        for k, row in enumerate(weak.rows):
            wanted = np.zeros(self.c.size, dtype=bool)
            wanted[place.start + names[k]] = True
            if self.loose[row] or not np.array_equal(self.A[row] != 0, wanted):
                return False
        if self.b[weak.rows[0]] == 0 or (len(weak.rows) == 2 and self.b[weak.rows[1]] != 0):
            return False
        others = np.delete(self.A[:, place], weak.rows, axis=0)
        costs = self.c[place]
        if self.status == "infeasible":
            return len(weak.rows) == 2
        return not others.any() and costs[0] > 0 and not costs[1:].any()

    @property
    def _parts(self) -> Iterator[tuple[Block, slice]]:
        return zip(self.blocks, self.places, strict=True)

    def _has(self, v: Vector) -> bool:
        limit = None if self.weak is None else self.places[self.weak.block]
        return all(p == limit or block.has(v[p]) for block, p in self._parts)

    def _satisfied(self, excess: Vector) -> bool:
        return all(e <= 0 if loose else e == 0 for e, loose in zip(excess, self.loose, strict=True))


def exact(v: np.ndarray) -> Vector:
    return [Fraction(value) for value in v.tolist()]


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))
