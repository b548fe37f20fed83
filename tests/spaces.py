"""Spaces of points: of condal's points and gradients, and of the same as flat real vectors.

`basis` is orthonormal in the space's own inner product, so that the matrix of a map, its norm and
the norms of its rows can be had from images of the basis alone. In the flat form a map is a matrix
and the inner product a dot: `flat` is that of the x that a user sees, `row` that of a gradient, and
`point` the point of condal's domain that a flat x stands for.
"""

import inspect
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.linalg.gradients import dot
from condal.linalg.lifting import lifted, real_point, square_point, symmetric
from condal.linalg.points import LowRank, dense
from condal.linalg.symmetric import Symmetric
from cvxpy_later import cp


def numbers(rng, shape, whole: bool) -> np.ndarray:
    """Random numbers; small integers, some of them 0, if `whole`."""
    return rng.integers(-3, 4, shape).astype(float) if whole else rng.standard_normal(shape)


@dataclass(frozen=True)
class Vectors:
    """R^n."""

    n: int

    def basis(self) -> list[Any]:
        return list(np.eye(self.n))

    def points(self, rng: np.random.Generator) -> list[Any]:
        frozen = rng.standard_normal(self.n)
        frozen.flags.writeable = False
        return [frozen, rng.standard_normal(2 * self.n)[::2], np.zeros(self.n)]

    def gradient(self, rng: np.random.Generator) -> Any:
        return rng.standard_normal(self.n)

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


class OfMatrices:
    """The base of the spaces of matrices."""

    def map(self, rows: np.ndarray) -> Any:
        return condal.Inner([self.cost(row) for row in rows])


@dataclass(frozen=True)
class Matrices(OfMatrices):
    """Symmetric n x n matrices; <a, b> = tr(ab)."""

    n: int

    def basis(self) -> list[Any]:
        found = []
        for i in range(self.n):
            for j in range(i + 1):
                e = np.zeros((self.n, self.n))
                e[i, j] = e[j, i] = 1.0 if i == j else np.sqrt(0.5)
                found.append(e)
        return found

    def points(self, rng: np.random.Generator) -> list[Any]:
        frozen = random_symmetric(self.n, rng)
        frozen.flags.writeable = False
        return [
            frozen,
            np.asfortranarray(random_symmetric(self.n, rng)),
            random_lowrank(self.n, 1, rng),
            random_lowrank(self.n, 3, rng),
            LowRank(rng.standard_normal((self.n, 2)), np.array([1.0, -2.0])),
            LowRank(np.zeros((self.n, 0)), np.zeros(0)),
        ]

    def gradient(self, rng: np.random.Generator) -> Symmetric:
        return Symmetric(
            self.n,
            sparse=(sp.csr_array(random_symmetric(self.n, rng)),),
            diagonal=rng.standard_normal(self.n),
            pairs=((rng.standard_normal(self.n), rng.standard_normal(self.n)),),
        )

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

    def variable(self) -> tuple[Any, list[Any], Any]:
        x = cp.Variable((self.n, self.n), symmetric=True)
        return cp.vec(x, order="C"), [], x


@dataclass(frozen=True)
class Hermitians(OfMatrices):
    """Hermitian n x n matrices, by their real forms: symmetric 2n x 2n matrices."""

    n: int

    def basis(self) -> list[Any]:
        return Matrices(2 * self.n).basis()

    def points(self, rng: np.random.Generator) -> list[Any]:
        u = rng.standard_normal((self.n, 2)) + 1j * rng.standard_normal((self.n, 2))
        of_complex = [LowRank(u, np.array([1.0, 0.5])), random_hermitian(self.n, rng)]
        return [*Matrices(2 * self.n).points(rng), *(real_point(x, self.n) for x in of_complex)]

    def gradient(self, rng: np.random.Generator) -> Symmetric:
        return symmetric(random_hermitian(self.n, rng))

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

    def variable(self) -> tuple[Any, list[Any], Any]:
        real, imaginary = cp.Variable((self.n, self.n)), cp.Variable((self.n, self.n))
        rules = [real == real.T, imaginary == -imaginary.T]
        whole = cp.bmat([[real, -imaginary], [imaginary, real]])
        return cp.hstack([cp.vec(real, order="C"), cp.vec(imaginary, order="C")]), rules, whole


@dataclass(frozen=True)
class Rectangles(OfMatrices):
    """m x n matrices, by symmetric ones of side m + n that hold them in a corner."""

    m: int
    n: int

    def basis(self) -> list[Any]:
        return Matrices(self.m + self.n).basis()

    def points(self, rng: np.random.Generator) -> list[Any]:
        x = rng.standard_normal((self.m, self.n))
        return [
            *Matrices(self.m + self.n).points(rng),
            square_point(x, self.m, self.n),
            dense(square_point(x, self.m, self.n)),
        ]

    def gradient(self, rng: np.random.Generator) -> Symmetric:
        return lifted(rng.standard_normal((self.m, self.n)))

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

    def variable(self) -> tuple[Any, list[Any], Any]:
        x = cp.Variable((self.m, self.n))
        return cp.vec(x, order="C"), [], x


@dataclass(frozen=True)
class Tuples:
    """Blocks of other spaces."""

    parts: tuple[Any, ...]

    def basis(self) -> list[Any]:
        found = []
        for i, part in enumerate(self.parts):
            for e in part.basis():
                zeros = [0.0 * q.basis()[0] for q in self.parts]
                zeros[i] = e
                found.append(tuple(zeros))
        return found

    def points(self, rng: np.random.Generator) -> list[Any]:
        choices = [part.points(rng) for part in self.parts]
        return [tuple(c[i % len(c)] for c in choices) for i in range(max(map(len, choices)))]

    def gradient(self, rng: np.random.Generator) -> Any:
        return tuple(part.gradient(rng) for part in self.parts)

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


def public_classes(module: ModuleType, method: str) -> set[type]:
    """The classes that a module offers and that have a method, without its protocols."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    found = [getattr(module, name) for name in names]
    return {
        c
        for c in found
        if inspect.isclass(c)
        and c.__module__.startswith(module.__name__)
        and hasattr(c, method)
        and not getattr(c, "_is_protocol", False)
    }


def random_symmetric(n: int, rng: np.random.Generator) -> np.ndarray:
    a = rng.standard_normal((n, n))
    return 0.5 * (a + a.T)


def random_hermitian(n: int, rng: np.random.Generator) -> np.ndarray:
    a = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    return 0.5 * (a + a.conj().T)


def random_lowrank(n: int, rank: int, rng: np.random.Generator) -> LowRank:
    return LowRank(rng.standard_normal((n, rank)), rng.random(rank) + 0.1)


def combination(a: float, x: Any, b: float, y: Any) -> Any:
    """a x + b y, dense."""
    if isinstance(x, tuple):
        return tuple(combination(a, p, b, q) for p, q in zip(x, y, strict=True))
    return a * dense(x) + b * dense(y)


def length(x: Any) -> float:
    """|x|, Euclidean."""
    if isinstance(x, tuple):
        return float(np.linalg.norm([length(part) for part in x]))
    return float(np.linalg.norm(dense(x)))


def coordinates(v: Any, space: Any) -> np.ndarray:
    """A gradient in the space's basis."""
    return np.array([dot(v, e) for e in space.basis()])


def matrix_of(A: Any, space: Any) -> np.ndarray:
    """The matrix of a map in the space's basis."""
    basis = space.basis()
    return np.array([A(e) for e in basis]).reshape(len(basis), A.size).T
