"""Domains X in NumPy: minimisers, members and CVXPY constraints."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import condal
from cvxpy_later import cp
from spaces import Hermitians, Matrices, Rectangles, Tuples, Vectors


def signs(rng, n: int) -> np.ndarray:
    """A vector of 0, 1 and -1, with 1, 2 or 4 of the latter: its outer product is exact."""
    count = int(rng.choice([k for k in (1, 2, 4) if k <= n]))
    u = np.zeros(n)
    u[rng.permutation(n)[:count]] = rng.choice([-1.0, 1.0], count)
    return u


class Region:
    """X, of points x / s where condal has x: `made(s)` is its domain, s a power of 2.

    `vertex(v)` is a least point of <v, .>, `off(z)` how far z is outside, `rival()` gives CVXPY's
    flat variable and constraints. `exact(rng)` is a member without rounding, and `face(rng)` a
    linear function of whole numbers with a least point that has none either.
    """

    space: Any
    size: float
    scales = True
    exacts = True

    def least(self, v: np.ndarray) -> float:
        return float(v @ self.vertex(v))

    def member(self, rng) -> np.ndarray:
        """Return an interior point: a mean of vertices."""
        ways = self.space.rows(rng, self.space.dimension + 2, False)
        return np.mean([self.vertex(v) for v in ways], axis=0)

    def exact(self, rng) -> np.ndarray:
        return self.vertex(self.space.rows(rng, 1, True)[0])

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        v = self.space.rows(rng, 1, True)[0]
        return v, self.vertex(v)

    def others(self) -> list[Any]:
        """Return points of `made(1.0)` that `space.point` does not return."""
        return []

    def __repr__(self) -> str:
        return repr(self.made(1.0))


def eigenvectors(full: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.linalg.eigh(0.5 * (full + full.conj().T))


@dataclass(repr=False)
class Spectral(Region):
    """Real or Hermitian psd matrices with a given trace, or at most that."""

    n: int
    trace: float
    at_most: bool
    hermitian: bool = False
    engine: Any = None

    def __post_init__(self) -> None:
        self.space = Hermitians(self.n) if self.hermitian else Matrices(self.n)
        self.size = self.trace

    def made(self, s: float) -> Any:
        kind = condal.Hermitian if self.hermitian else condal.Spectrahedron
        more = {} if self.engine is None else {"engine": self.engine}
        return kind(self.n, trace=s * self.trace, at_most=self.at_most, **more)

    def others(self) -> list[Any]:
        return [self.trace * np.outer(e, e) for e in np.eye(2 * self.n)] if self.hermitian else []

    def _square(self, z: np.ndarray) -> np.ndarray:
        return self.space.square(z) if self.hermitian else z.reshape(self.n, self.n)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        values, vectors = eigenvectors(self._square(v))
        if self.at_most and values[0] >= 0:
            return np.zeros(self.space.dimension)
        return self.space.flat(self.trace * np.outer(vectors[:, 0], vectors[:, 0].conj()))

    def least(self, v: np.ndarray) -> float:
        value = float(eigenvectors(self._square(v))[0][0])
        return self.trace * (min(value, 0.0) if self.at_most else value)

    def off(self, z: np.ndarray) -> float:
        values = eigenvectors(self._square(z))[0]
        excess = values.sum() - self.trace
        return max(-values[0], excess if self.at_most else abs(excess), 0.0)

    def rival(self) -> tuple[Any, list[Any]]:
        flat, rules, whole = self.space.variable()
        trace = cp.trace(whole) / (2 if self.hermitian else 1)
        bound = trace <= self.trace if self.at_most else trace == self.trace
        return flat, [*rules, whole >> 0, bound]

    def exact(self, rng) -> np.ndarray:
        u = signs(rng, self.n)
        return self.space.flat(self.trace / (u @ u) * np.outer(u, u))

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        i = int(rng.integers(self.n))
        costs = rng.integers(1, 4, self.n) * (np.arange(self.n) != i)
        corner = np.zeros((self.n, self.n))
        corner[i, i] = self.trace
        return self.space.flat(np.diag(costs.astype(float))), self.space.flat(corner)


@dataclass(repr=False)
class Nuclear(Region):
    m: int
    n: int
    radius: float

    def __post_init__(self) -> None:
        self.space, self.size = Rectangles(self.m, self.n), self.radius

    def made(self, s: float) -> Any:
        return condal.NuclearBall(self.m, self.n, s * self.radius)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        U, _, Vt = np.linalg.svd(v.reshape(self.m, self.n), full_matrices=False)
        return -self.radius * np.outer(U[:, 0], Vt[0]).ravel()

    def least(self, v: np.ndarray) -> float:
        return -self.radius * float(np.linalg.norm(v.reshape(self.m, self.n), 2))

    def off(self, z: np.ndarray) -> float:
        return max(0.0, float(np.linalg.norm(z.reshape(self.m, self.n), "nuc")) - self.radius)

    def rival(self) -> tuple[Any, list[Any]]:
        flat, rules, whole = self.space.variable()
        return flat, [*rules, cp.normNuc(whole) <= self.radius]

    def exact(self, rng) -> np.ndarray:
        corner = np.zeros((self.m, self.n))
        corner[rng.integers(self.m), rng.integers(self.n)] = rng.choice([-1.0, 1.0]) * self.radius
        return corner.ravel()

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        corner = self.exact(rng)
        return -np.sign(corner), corner


class Joined(Region):
    """A product of regions."""

    def __init__(self, *parts: Region) -> None:
        self.parts = parts
        self.space = Tuples(tuple(part.space for part in parts))
        self.size = float(np.linalg.norm([part.size for part in parts]))
        self.scales = all(part.scales for part in parts)
        self.exacts = all(part.exacts for part in parts)

    def made(self, s: float) -> Any:
        return condal.Product(*(part.made(s) for part in self.parts))

    def vertex(self, v: np.ndarray) -> np.ndarray:
        pairs = zip(self.parts, self.space.cut(v), strict=True)
        return np.concatenate([part.vertex(w) for part, w in pairs])

    def least(self, v: np.ndarray) -> float:
        pairs = zip(self.parts, self.space.cut(v), strict=True)
        return sum(part.least(w) for part, w in pairs)

    def off(self, z: np.ndarray) -> float:
        return max(p.off(w) for p, w in zip(self.parts, self.space.cut(z), strict=True))

    def rival(self) -> tuple[Any, list[Any]]:
        flats, rules = zip(*(part.rival() for part in self.parts), strict=True)
        return cp.hstack(flats), [rule for some in rules for rule in some]

    def exact(self, rng) -> np.ndarray:
        return np.concatenate([part.exact(rng) for part in self.parts])

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        faces = [part.face(rng) for part in self.parts]
        return np.concatenate([v for v, _ in faces]), np.concatenate([x for _, x in faces])


class Flat(Region):
    """The base of the domains of vectors; `_rules(x)` are the constraints for CVXPY."""

    def __init__(self, n: int, size: float) -> None:
        self.space, self.size = Vectors(n), size

    def rival(self) -> tuple[Any, list[Any]]:
        x = self.space.variable()[0]
        return x, self._rules(x)
