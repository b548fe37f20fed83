"""Domains of vectors in NumPy: balls, simplices, boxes and cones."""

from typing import Any

import numpy as np

import condal
from cvxpy_later import cp
from truth.regions import Flat


class Simplex(Flat):
    """x >= 0 with sum radius; at most radius if `cut`."""

    def __init__(self, n: int, radius: float, cut: bool = False) -> None:
        super().__init__(n, radius)
        self.radius, self.cut = radius, cut

    def made(self, s: float) -> Any:
        kind = condal.CutOrthant if self.cut else condal.Simplex
        return kind(self.space.n, s * self.radius)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        corner = np.zeros(v.size)
        i = int(np.argmin(v))
        corner[i] = 0.0 if self.cut and v[i] >= 0 else self.radius
        return corner

    def off(self, z: np.ndarray) -> float:
        excess = z.sum() - self.radius
        return max(-z.min(), excess if self.cut else abs(excess), 0.0)

    def _rules(self, x: Any) -> list[Any]:
        return [x >= 0, cp.sum(x) <= self.radius if self.cut else cp.sum(x) == self.radius]


class Simplices(Flat):
    scales = False

    def __init__(self, sizes: list[int]) -> None:
        super().__init__(sum(sizes), float(np.sqrt(len(sizes))))
        self.sizes, self.ends = sizes, np.cumsum(sizes)[:-1]

    def made(self, s: float) -> Any:
        return condal.Simplices(self.sizes)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        parts = np.split(v, self.ends)
        return np.concatenate([np.eye(part.size)[int(np.argmin(part))] for part in parts])

    def off(self, z: np.ndarray) -> float:
        missing = max(abs(part.sum() - 1.0) for part in np.split(z, self.ends))
        return max(-z.min(), missing, 0.0)

    def _rules(self, x: Any) -> list[Any]:
        begins = [0, *self.ends]
        pairs = zip(begins, self.sizes, strict=True)
        return [x >= 0, *(cp.sum(x[a : a + size]) == 1 for a, size in pairs)]


class L1Ball(Flat):
    def __init__(self, n: int, radius: float) -> None:
        super().__init__(n, radius)
        self.radius = radius

    def made(self, s: float) -> Any:
        return condal.L1Ball(self.space.n, s * self.radius)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        corner = np.zeros(v.size)
        i = int(np.argmax(np.abs(v)))
        corner[i] = -self.radius if v[i] > 0 else self.radius
        return corner

    def off(self, z: np.ndarray) -> float:
        return max(0.0, float(np.abs(z).sum()) - self.radius)

    def _rules(self, x: Any) -> list[Any]:
        return [cp.norm1(x) <= self.radius]


class L2Ball(Flat):
    def __init__(self, n: int, radius: float, centre: np.ndarray) -> None:
        super().__init__(n, radius + float(np.linalg.norm(centre)))
        self.radius, self.centre = radius, centre

    def made(self, s: float) -> Any:
        return condal.L2Ball(self.space.n, s * self.radius, centre=s * self.centre)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        length = float(np.linalg.norm(v))
        return self.centre - (self.radius / length * v if length else 0.0 * v)

    def least(self, v: np.ndarray) -> float:
        return float(self.centre @ v) - self.radius * float(np.linalg.norm(v))

    def off(self, z: np.ndarray) -> float:
        return max(0.0, float(np.linalg.norm(z - self.centre)) - self.radius)

    def _rules(self, x: Any) -> list[Any]:
        return [cp.norm2(x - self.centre) <= self.radius]

    def exact(self, rng) -> np.ndarray:
        return self.face(rng)[1]

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        v = np.eye(self.space.n)[rng.integers(self.space.n)] * rng.choice([-2.0, 1.0])
        return v, self.centre - self.radius * np.sign(v)


class Box(Flat):
    """With `ball`, the symmetric version around 0."""

    def __init__(self, low: np.ndarray, high: np.ndarray, ball: bool = False) -> None:
        super().__init__(low.size, float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high)))))
        self.low, self.high, self.ball = low, high, ball

    def made(self, s: float) -> Any:
        if self.ball:
            return condal.LinfBall(self.low.size, s * self.high[0])
        return condal.domains.Box(s * self.low, s * self.high)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        return np.where(v > 0, self.low, self.high)

    def off(self, z: np.ndarray) -> float:
        return max(0.0, float((self.low - z).max()), float((z - self.high).max()))

    def _rules(self, x: Any) -> list[Any]:
        return [x >= self.low, x <= self.high]


class KSparse(Flat):
    def __init__(self, n: int, k: int, radius: float) -> None:
        super().__init__(n, radius * float(np.sqrt(k)))
        self.k, self.radius = k, radius

    def made(self, s: float) -> Any:
        return condal.KSparse(self.space.n, self.k, s * self.radius)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        corner, top = np.zeros(v.size), np.argsort(-np.abs(v))[: self.k]
        corner[top] = np.where(v[top] > 0, -self.radius, self.radius)
        return corner

    def off(self, z: np.ndarray) -> float:
        total = float(np.abs(z).sum()) - self.k * self.radius
        return max(0.0, total, float(np.abs(z).max()) - self.radius)

    def _rules(self, x: Any) -> list[Any]:
        return [cp.norm_inf(x) <= self.radius, cp.norm1(x) <= self.k * self.radius]


class Groups(Flat):
    def __init__(self, groups: np.ndarray, radius: float) -> None:
        super().__init__(groups.size, radius)
        self.groups, self.radius = groups, radius
        self.places = [np.flatnonzero(groups == label) for label in np.unique(groups)]

    def made(self, s: float) -> Any:
        return condal.GroupL1Ball(self.groups, s * self.radius)

    def _lengths(self, v: np.ndarray) -> np.ndarray:
        return np.array([np.linalg.norm(v[place]) for place in self.places])

    def vertex(self, v: np.ndarray) -> np.ndarray:
        corner, lengths = np.zeros(v.size), self._lengths(v)
        best = self.places[int(np.argmax(lengths))]
        corner[best] = -self.radius * v[best] / (lengths.max() or 1.0)
        return corner

    def least(self, v: np.ndarray) -> float:
        return -self.radius * float(self._lengths(v).max())

    def off(self, z: np.ndarray) -> float:
        return max(0.0, float(self._lengths(z).sum()) - self.radius)

    def _rules(self, x: Any) -> list[Any]:
        return [sum(cp.norm2(x[place]) for place in self.places) <= self.radius]

    def exact(self, rng) -> np.ndarray:
        return self.face(rng)[1]

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        v = np.eye(self.space.n)[rng.integers(self.space.n)] * rng.choice([-2.0, 1.0])
        return v, -self.radius * np.sign(v)


class Cone(Flat):
    """|u| <= t <= height, t the first coordinate."""

    def __init__(self, n: int, height: float) -> None:
        super().__init__(n, height * float(np.sqrt(min(n, 2))))
        self.height = height

    def made(self, s: float) -> Any:
        return condal.CutCone(self.space.n, s * self.height)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        length = float(np.linalg.norm(v[1:]))
        if length <= v[0]:
            return np.zeros(v.size)
        return self.height * np.concatenate([[1.0], -v[1:] / (length or 1.0)])

    def least(self, v: np.ndarray) -> float:
        return self.height * min(0.0, float(v[0] - np.linalg.norm(v[1:])))

    def off(self, z: np.ndarray) -> float:
        return max(0.0, float(np.linalg.norm(z[1:]) - z[0]), float(z[0]) - self.height)

    def _rules(self, x: Any) -> list[Any]:
        above = [cp.norm2(x[1:]) <= x[0]] if self.space.n > 1 else [x[0] >= 0]
        return [*above, x[0] <= self.height]

    def exact(self, rng) -> np.ndarray:
        return self.face(rng)[1]

    def face(self, rng) -> tuple[np.ndarray, np.ndarray]:
        v, corner = np.zeros(self.space.n), np.zeros(self.space.n)
        v[0], corner[0] = 1.0, self.height
        if self.space.n == 1:
            return -v, corner
        i = int(rng.integers(1, self.space.n))
        v[i], corner[i] = 1.0, -self.height
        return v, corner  # <v, .> >= 0, and 0 at the corner
