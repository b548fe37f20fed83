"""Spaces, their points and gradients.

A space says what points look like: `basis` is orthonormal in the space's own inner product, so that
the matrix of a map, its norm and the norms of its rows can be had from images of the basis alone.
"""

import inspect
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.gradients import dot
from condal.linalg.lifting import lifted, real_point, square_point, symmetric
from condal.linalg.points import LowRank, dense
from condal.linalg.symmetric import Symmetric


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


@dataclass(frozen=True)
class Matrices:
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


@dataclass(frozen=True)
class Hermitians:
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


@dataclass(frozen=True)
class Rectangles:
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
