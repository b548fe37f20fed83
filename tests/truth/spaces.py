"""Spaces of points as real vectors: x is flat, a map is a matrix, the inner product a dot.

`point` is the point of condal's domain that a flat x stands for, and `row` the flat form of a
gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import condal
from condal.linalg.lifting import real_point, square_point
from cvxpy_later import cp


def numbers(rng, shape, whole: bool) -> np.ndarray:
    """Random numbers; small integers, some of them 0, if `whole`."""
    return rng.integers(-3, 4, shape).astype(float) if whole else rng.standard_normal(shape)


@dataclass(frozen=True)
class Vectors:
    n: int

    @property
    def dimension(self) -> int:
        return self.n

    def flat(self, x: Any) -> np.ndarray:
        return np.asarray(x, dtype=float)

    def point(self, z: np.ndarray) -> Any:
        return z.copy()

    def row(self, v: Any) -> np.ndarray:
        return np.asarray(v)

    def rows(self, rng, count: int, whole: bool) -> np.ndarray:
        """Return random linear functions, one per row."""
        return numbers(rng, (count, self.n), whole)

    def cost(self, row: np.ndarray) -> Any:
        """Return the argument of `Linear` for a linear function."""
        return row

    def map(self, rows: np.ndarray) -> Any:
        """Return condal's map of these linear functions."""
        return condal.Matrix(rows)

    def variable(self) -> tuple[Any, list[Any], Any]:
        """Return a CVXPY variable: flat, with the constraints of the space, and as a matrix."""
        x = cp.Variable(self.n)
        return x, [], x


@dataclass(frozen=True)
class Symmetric:
    n: int

    @property
    def dimension(self) -> int:
        return self.n**2

    def point(self, z: np.ndarray) -> Any:
        return z.reshape(self.n, self.n)

    def row(self, v: Any) -> np.ndarray:
        return v.to_dense().ravel()

    def flat(self, x: Any) -> np.ndarray:
        full = np.asarray(x, dtype=float).reshape(self.n, self.n)
        return (0.5 * (full + full.T)).ravel()

    def rows(self, rng, count: int, whole: bool) -> np.ndarray:
        upper = np.triu(numbers(rng, (count, self.n, self.n), whole))
        return (upper + np.triu(upper, 1).transpose(0, 2, 1)).reshape(count, self.dimension)

    def cost(self, row: np.ndarray) -> Any:
        return row.reshape(self.n, self.n)

    def map(self, rows: np.ndarray) -> Any:
        return condal.Inner([self.cost(row) for row in rows])

    def variable(self) -> tuple[Any, list[Any], Any]:
        x = cp.Variable((self.n, self.n), symmetric=True)
        return cp.vec(x, order="C"), [], x


@dataclass(frozen=True)
class Hermitian:
    """Real parts first, then imaginary ones."""

    n: int

    @property
    def dimension(self) -> int:
        return 2 * self.n**2

    def point(self, z: np.ndarray) -> Any:
        values, vectors = np.linalg.eigh(self.square(z))
        return real_point(condal.LowRank(vectors, np.maximum(values, 0.0)), self.n)

    def row(self, v: Any) -> np.ndarray:
        full = v.to_dense()
        return self.flat(full[::2, ::2] + 1j * full[1::2, ::2])

    def flat(self, x: Any) -> np.ndarray:
        full = np.asarray(x).reshape(self.n, self.n)
        full = 0.5 * (full + full.conj().T)
        return np.concatenate([full.real.ravel(), full.imag.ravel()])

    def rows(self, rng, count: int, whole: bool) -> np.ndarray:
        vectors = []
        for _ in range(count):
            a = numbers(rng, (self.n, self.n), whole) + 1j * numbers(rng, (self.n, self.n), whole)
            upper = np.triu(a, 1)
            vectors.append(self.flat(np.diag(np.diag(a).real) + upper + upper.conj().T))
        return np.array(vectors).reshape(count, self.dimension)

    def cost(self, row: np.ndarray) -> Any:
        return self.square(row)

    def square(self, row: np.ndarray) -> np.ndarray:
        half = self.n**2
        return (row[:half] + 1j * row[half:]).reshape(self.n, self.n)

    def map(self, rows: np.ndarray) -> Any:
        return condal.Inner([self.cost(row) for row in rows])

    def variable(self) -> tuple[Any, list[Any], Any]:
        real, imaginary = cp.Variable((self.n, self.n)), cp.Variable((self.n, self.n))
        rules = [real == real.T, imaginary == -imaginary.T]
        whole = cp.bmat([[real, -imaginary], [imaginary, real]])
        return cp.hstack([cp.vec(real, order="C"), cp.vec(imaginary, order="C")]), rules, whole


@dataclass(frozen=True)
class Rectangles:
    m: int
    n: int

    @property
    def dimension(self) -> int:
        return self.m * self.n

    def point(self, z: np.ndarray) -> Any:
        return square_point(z.reshape(self.m, self.n), self.m, self.n)

    def row(self, v: Any) -> np.ndarray:
        return 2 * v.to_dense()[: self.m, self.m :].ravel()

    def flat(self, x: Any) -> np.ndarray:
        return np.asarray(x, dtype=float).ravel()

    def rows(self, rng, count: int, whole: bool) -> np.ndarray:
        return numbers(rng, (count, self.dimension), whole)

    def cost(self, row: np.ndarray) -> Any:
        return condal.lifted(row.reshape(self.m, self.n))

    def map(self, rows: np.ndarray) -> Any:
        return condal.Inner([self.cost(row) for row in rows])

    def variable(self) -> tuple[Any, list[Any], Any]:
        x = cp.Variable((self.m, self.n))
        return cp.vec(x, order="C"), [], x


@dataclass(frozen=True)
class Tuples:
    parts: tuple[Any, ...]

    @property
    def dimension(self) -> int:
        return sum(part.dimension for part in self.parts)

    def cut(self, row: np.ndarray) -> list[np.ndarray]:
        """Split a flat vector, or the columns of a matrix, into parts."""
        ends = np.cumsum([part.dimension for part in self.parts])[:-1]
        return np.split(row, ends, axis=-1)

    def point(self, z: np.ndarray) -> Any:
        return tuple(part.point(p) for part, p in zip(self.parts, self.cut(z), strict=True))

    def row(self, v: Any) -> np.ndarray:
        return np.concatenate([part.row(w) for part, w in zip(self.parts, v, strict=True)])

    def flat(self, x: Any) -> np.ndarray:
        return np.concatenate([part.flat(p) for part, p in zip(self.parts, x, strict=True)])

    def rows(self, rng, count: int, whole: bool) -> np.ndarray:
        return np.hstack([part.rows(rng, count, whole) for part in self.parts])

    def cost(self, row: np.ndarray) -> Any:
        return tuple(p.cost(r) for p, r in zip(self.parts, self.cut(row), strict=True))

    def map(self, rows: np.ndarray) -> Any:
        pairs = zip(self.parts, self.cut(rows), strict=True)
        return condal.Across(*(part.map(block) for part, block in pairs))
