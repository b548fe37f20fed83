"""Sets K in NumPy: distances, support functions and CVXPY constraints."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import condal
from condal.linalg.triangles import svec_indices
from cvxpy_later import cp

BARELY = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


class Kept:
    """K. `made(factors)` is condal's set of the scaled images; the factors are equal, unless each
    coordinate may have its own (`each`). `rival(z)` are CVXPY's constraints, `nearest(z)` is the
    projection, and `support(d)` is inf if it is unbounded."""

    size: int
    each = False


@dataclass
class Box(Kept):
    """A box; `equal` marks equal bounds, and infinite bounds give shifted orthants."""

    low: np.ndarray
    high: np.ndarray
    each = True

    def __post_init__(self) -> None:
        self.size = self.low.size

    def made(self, factors: np.ndarray) -> Any:
        low, high = factors * self.low, factors * self.high
        if np.array_equal(low, high):
            return condal.Equal(low)
        if np.all(low == 0) and np.all(high == np.inf):
            return condal.NonNegative(self.size)
        if np.all(high == 0) and np.all(low == -np.inf):
            return condal.NonPositive(self.size)
        return condal.Box(low, high)

    def rival(self, z: Any) -> list[Any]:
        equal = self.low == self.high
        below, above = np.isfinite(self.low) & ~equal, np.isfinite(self.high) & ~equal
        rules = [z[equal] == self.low[equal]] if equal.any() else []
        rules += [z[below] >= self.low[below]] if below.any() else []
        return rules + ([z[above] <= self.high[above]] if above.any() else [])

    def nearest(self, z: np.ndarray) -> np.ndarray:
        return np.clip(z, self.low, self.high)

    def support(self, d: np.ndarray) -> float:
        side = np.where(d > 0, self.high, self.low)
        return float(sum(a * b for a, b in zip(d, side, strict=True) if a != 0.0))


@dataclass
class Ball(Kept):
    centre: np.ndarray
    radius: float

    def __post_init__(self) -> None:
        self.size = self.centre.size

    def made(self, factors: np.ndarray) -> Any:
        return condal.Ball(factors * self.centre, factors[0] * self.radius)

    def rival(self, z: Any) -> list[Any]:
        return [cp.norm2(z - self.centre) <= self.radius]

    def nearest(self, z: np.ndarray) -> np.ndarray:
        away = z - self.centre
        length = float(np.linalg.norm(away))
        return z if length <= self.radius else self.centre + self.radius / length * away

    def support(self, d: np.ndarray) -> float:
        return float(self.centre @ d) + self.radius * float(np.linalg.norm(d))


@dataclass
class Cone(Kept):
    """|u| <= t, t the first coordinate."""

    size: int

    def made(self, factors: np.ndarray) -> Any:
        return condal.SecondOrder(self.size)

    def rival(self, z: Any) -> list[Any]:
        return [cp.norm2(z[1:]) <= z[0]] if self.size > 1 else [z[0] >= 0]

    def nearest(self, z: np.ndarray) -> np.ndarray:
        t, u = float(z[0]), z[1:]
        length = float(np.linalg.norm(u))
        if length <= t:
            return z
        if length <= -t:
            return 0.0 * z
        return 0.5 * (1 + t / length) * np.concatenate([[length], u])

    def support(self, d: np.ndarray) -> float:
        excess = float(d[0]) + float(np.linalg.norm(d[1:]))  # d in -K
        return 0.0 if excess <= 1e-12 * float(np.linalg.norm(d)) else np.inf


@dataclass
class Psd(Kept):
    """k x k psd matrices as lower triangles, scaled by sqrt(2) off the diagonal."""

    k: int

    def __post_init__(self) -> None:
        self.size = self.k * (self.k + 1) // 2
        i, j, _ = svec_indices(self.k)
        self.basis = np.zeros((self.k**2, self.size))  # x.ravel() = basis @ z
        root = np.where(i == j, 1.0, np.sqrt(0.5))
        self.basis[i * self.k + j, np.arange(self.size)] = root
        self.basis[j * self.k + i, np.arange(self.size)] = root

    def square(self, z: np.ndarray) -> np.ndarray:
        return (self.basis @ z).reshape(self.k, self.k)

    def made(self, factors: np.ndarray) -> Any:
        return condal.PSDCone(self.k)

    def rival(self, z: Any) -> list[Any]:
        return [cp.reshape(self.basis @ z, (self.k, self.k), order="C") >> 0]

    def nearest(self, z: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh(self.square(z))
        full = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return self.basis.T @ full.ravel()

    def support(self, d: np.ndarray) -> float:
        top = np.linalg.eigvalsh(self.square(d))[-1]
        return 0.0 if top <= 1e-12 * float(np.linalg.norm(d)) else np.inf


@dataclass
class Affine(Kept):
    C: np.ndarray
    d: np.ndarray

    def __post_init__(self) -> None:
        self.size = self.C.shape[1]

    def made(self, factors: np.ndarray) -> Any:
        return condal.Affine(self.C, factors[0] * self.d)

    def rival(self, z: Any) -> list[Any]:
        return [self.C @ z == self.d]

    def nearest(self, z: np.ndarray) -> np.ndarray:
        return z - np.linalg.lstsq(self.C, self.C @ z - self.d, rcond=1e-12)[0]

    def support(self, d: np.ndarray) -> float:
        u = np.linalg.lstsq(self.C.T, d, rcond=1e-12)[0]
        off = float(np.linalg.norm(self.C.T @ u - d))
        return float(self.d @ u) if off <= 1e-10 * float(np.linalg.norm(d)) else np.inf


class Parts(Kept):
    """A product of sets."""

    def __init__(self, *parts: Kept) -> None:
        self.parts, self.size = parts, sum(part.size for part in parts)
        self.ends = np.cumsum([part.size for part in parts])[:-1]
        self.each = all(part.each for part in parts)

    def _cut(self, z: Any) -> Any:
        return zip(self.parts, np.split(z, self.ends), strict=True)

    def made(self, factors: np.ndarray) -> Any:
        return condal.Separable(*(part.made(some) for part, some in self._cut(factors)))

    def rival(self, z: Any) -> list[Any]:
        begins = [0, *self.ends]
        pairs = zip(self.parts, begins, strict=True)
        return [rule for part, a in pairs for rule in part.rival(z[a : a + part.size])]

    def nearest(self, z: np.ndarray) -> np.ndarray:
        return np.concatenate([part.nearest(some) for part, some in self._cut(z)])

    def support(self, d: np.ndarray) -> float:
        return sum(part.support(some) for part, some in self._cut(d))
