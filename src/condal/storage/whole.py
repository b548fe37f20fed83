"""x stored exactly: as an array, as factors, as atoms with weights."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point, combine, dense, zero_like
from condal.runtime.arguments import require_whole
from condal.types import Domain, matrix_sides

FLOAT_BYTES = 8


class Dense:
    """Store x as one array: n numbers for a vector, n x n for a symmetric matrix."""

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("_x",)

    def __init__(self) -> None:
        self._x: Array | None = None

    def move(self, s: Point, eta: float) -> None:
        atom = dense(s)
        if self._x is None or eta == 1.0:
            self._x = eta * np.asarray(atom, dtype=np.float64)  # before the first step x is 0
            return
        self._x *= 1 - eta
        self._x += eta * atom

    def load(self, x: Point) -> None:
        self._x = np.array(dense(x), dtype=np.float64)

    def point(self) -> Array:
        if self._x is None:
            raise ProblemError("no step has been taken yet: there is no point to return")
        return self._x.copy()

    def bytes(self, X: Domain) -> int:
        """At most what points of X take: x, its copy for the caller, and that copy repaired."""
        return sum(self.bytes_for(n) for n in matrix_sides(X))

    @staticmethod
    def bytes_for(n: int) -> int:
        """What an n x n array takes."""
        return 3 * FLOAT_BYTES * n * n


class Factor:
    """Store x as it was last loaded, for methods that carry a factor of x themselves."""

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("_x",)

    def __init__(self) -> None:
        self._x: Point | None = None

    def move(self, s: Point, eta: float) -> None:
        if self._x is None or eta == 1.0:
            self._x = combine([s], np.array([eta]))
        else:
            self._x = combine([self._x, s], np.array([1 - eta, eta]))

    def load(self, x: Point) -> None:
        """x <- the given point, without a copy."""
        self._x = x

    def point(self) -> Point:
        if self._x is None:
            raise ProblemError("no step has been taken yet: there is no point to return")
        return combine([self._x], np.ones(1))


class Factored:
    r"""Store x exactly as :math:`U \operatorname{diag}(w) U^\top`.

    Each atom adds its columns; above 2n columns they are compressed to n.

    Parameters
    ----------
    n : int
        The side of x.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("n", "filled")

    def __init__(self, n: int) -> None:
        require_whole(n, "n")
        self.n = n
        self._columns = np.empty((16, n))  # atoms as rows: appending one is a contiguous write
        self._weights = np.zeros(16)
        self._count = 0

    @property
    def filled(self) -> tuple[Array, Array]:
        """The columns and the weights in use, without the reserve."""
        return self._columns[: self._count], self._weights[: self._count]

    @filled.setter
    def filled(self, parts: tuple[Array, Array]) -> None:
        self._columns, self._weights = (np.array(part) for part in parts)
        self._count = self._weights.size

    def move(self, s: Point, eta: float) -> None:
        if eta == 1.0:
            self._count = 0
        self._weights[: self._count] *= 1 - eta
        self._append(spectral(s), eta)

    def load(self, x: Point) -> None:
        self._count = 0
        self._append(spectral(x), 1.0)

    def _append(self, s: LowRank, eta: float) -> None:
        keep = s.weights != 0.0
        added = int(keep.sum())
        self._reserve(added)
        end = self._count + added
        self._columns[self._count : end] = s.U.T[keep]
        self._weights[self._count : end] = eta * s.weights[keep]
        self._count = end

    def _reserve(self, added: int) -> None:
        n = self.n
        if self._count + added > 2 * n:
            self._compress()
        wanted = self._count + added
        if wanted > len(self._columns):
            room = max(wanted, min(2 * len(self._columns), 2 * n))
            columns, weights = np.empty((room, n)), np.zeros(room)
            columns[: self._count] = self._columns[: self._count]
            weights[: self._count] = self._weights[: self._count]
            self._columns, self._weights = columns, weights

    def _compress(self) -> None:
        atoms, weights = self._columns[: self._count], self._weights[: self._count]
        values, vectors = np.linalg.eigh((atoms.T * weights) @ atoms)
        keep = np.abs(values) > 1e-15 * np.abs(values).max(initial=0.0)
        self._count = int(keep.sum())
        self._columns[: self._count] = vectors.T[keep]
        self._weights[: self._count] = values[keep]

    def point(self) -> LowRank:
        return LowRank(self._columns[: self._count].T.copy(), self._weights[: self._count].copy())

    def bytes(self, X: Domain) -> int:
        """At most what it takes."""
        return self.bytes_for(self.n)

    @staticmethod
    def bytes_for(n: int) -> int:
        """What 2n columns take, and twice that to compress them."""
        return 3 * FLOAT_BYTES * n * 2 * n


def spectral(x: Point) -> LowRank:
    """Return x as its eigenvectors and eigenvalues, unless it has factors already."""
    if isinstance(x, LowRank):
        return x
    values, vectors = np.linalg.eigh(dense(x))
    return LowRank(vectors, values)


class Atoms:
    r"""Store x as :math:`\sum_i \theta_i s_i`: the answers s_i of the oracle and their weights.

    Parameters
    ----------
    by_block : bool
        Store the blocks of a point of a Product as separate atoms; the weights of each block then
        add up to 1.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("_by_block", "points", "weights", "blocks")

    def __init__(self, *, by_block: bool = False) -> None:
        self._by_block = by_block
        self._forget()

    def _forget(self) -> None:
        self.points: list[Point] = []
        self.weights = np.zeros(0)
        self.blocks = np.zeros(0, dtype=np.intp)

    def move(self, s: Point, eta: float) -> None:
        if eta == 1.0:
            self._forget()
        parts = s if self._by_block and isinstance(s, tuple) else (s,)
        self.points.extend(parts)
        self.weights = np.append(self.weights * (1 - eta), np.full(len(parts), eta))
        self.blocks = np.append(self.blocks, np.arange(len(parts)))

    def load(self, x: Point) -> None:
        """Store x as one atom; one per block with `by_block`."""
        self.move(x, 1.0)

    def split(self, s: Point) -> tuple[Point, ...]:
        """Return the atoms of s, each a point of the whole space; they add up to s."""
        if not (self._by_block and isinstance(s, tuple)):
            return (s,)
        zero = [zero_like(part) for part in s]
        return tuple((*zero[:i], part, *zero[i + 1 :]) for i, part in enumerate(s))

    def whole(self) -> tuple[Point, ...]:
        """Return the atoms, each a point of the whole space."""
        if not self._by_block:
            return tuple(self.points)
        first = tuple(self.points[int(np.argmax(self.blocks == b))] for b in np.unique(self.blocks))
        zero = [zero_like(part) for part in first]
        return tuple(
            (*zero[:b], point, *zero[b + 1 :])
            for b, point in zip(self.blocks, self.points, strict=True)
        )

    def reweigh(self, weights: Array) -> None:
        active = np.flatnonzero(weights > 0)
        self.points = [self.points[i] for i in active]
        self.weights, self.blocks = weights[active], self.blocks[active]

    def point(self) -> Point:
        if not self.points:
            raise ProblemError("no step has been taken yet: there is no point to return")
        if not self._by_block:
            return combine(self.points, self.weights)
        return tuple(
            combine(
                [self.points[i] for i in np.flatnonzero(self.blocks == b)],
                self.weights[self.blocks == b],
            )
            for b in range(int(self.blocks.max()) + 1)
        )
