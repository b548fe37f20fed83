"""Polytopes in NumPy and HiGHS: permutations, flows, hulls and inequalities."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog

import condal
from cvxpy_later import cp
from truth.regions import Flat


class Birkhoff(Flat):
    scales = False

    def __init__(self, side: int) -> None:
        super().__init__(side**2, float(np.sqrt(side)))
        self.side = side

    def made(self, s: float) -> Any:
        return condal.Birkhoff(self.side)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        corner = np.zeros((self.side, self.side))
        corner[linear_sum_assignment(v.reshape(self.side, self.side))] = 1.0
        return corner.ravel()

    def off(self, z: np.ndarray) -> float:
        full = z.reshape(self.side, self.side)
        sums = np.concatenate([full.sum(axis=0), full.sum(axis=1)])
        return max(0.0, -float(z.min()), float(np.abs(sums - 1.0).max()))

    def _rules(self, x: Any) -> list[Any]:
        full = cp.reshape(x, (self.side, self.side), order="C")
        return [x >= 0, cp.sum(full, axis=0) == 1, cp.sum(full, axis=1) == 1]


class Permutahedron(Flat):
    def __init__(self, vector: np.ndarray) -> None:
        super().__init__(vector.size, float(np.linalg.norm(vector)))
        self.vector = np.sort(vector)[::-1]

    def made(self, s: float) -> Any:
        return condal.Permutahedron(s * self.vector)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        corner = np.empty(v.size)
        corner[np.argsort(v, kind="stable")] = self.vector
        return corner

    def off(self, z: np.ndarray) -> float:
        sums = np.cumsum(np.sort(z)[::-1]) - np.cumsum(self.vector)
        return max(0.0, float(sums.max()), abs(float(sums[-1])))

    def _rules(self, x: Any) -> list[Any]:
        n = self.vector.size
        P = cp.Variable((n, n), nonneg=True)
        sums = [cp.sum(P, axis=0) == 1, cp.sum(P, axis=1) == 1]
        return [*sums, x == P @ self.vector]


class Linear(Flat):
    """{x : Gx <= h, Ex = e, low <= x <= high}; HiGHS minimises over it."""

    G: np.ndarray
    h: np.ndarray
    E: np.ndarray
    e: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def vertex(self, v: np.ndarray) -> np.ndarray:
        solution = linprog(
            v,
            A_ub=self.G if self.h.size else None,
            b_ub=self.h if self.h.size else None,
            A_eq=self.E if self.e.size else None,
            b_eq=self.e if self.e.size else None,
            bounds=np.column_stack([self.low, self.high]),
        )
        assert solution.status == 0, solution.message
        return solution.x

    def off(self, z: np.ndarray) -> float:
        sides = [self.low - z, z - self.high, self.G @ z - self.h, np.abs(self.E @ z - self.e)]
        return max(0.0, *(float(side.max(initial=-np.inf)) for side in sides))

    def _rules(self, x: Any) -> list[Any]:
        finite = np.isfinite(self.low), np.isfinite(self.high)
        rules = [x[finite[0]] >= self.low[finite[0]]] if finite[0].any() else []
        rules += [x[finite[1]] <= self.high[finite[1]]] if finite[1].any() else []
        rules += [self.G @ x <= self.h] if self.h.size else []
        return rules + ([self.E @ x == self.e] if self.e.size else [])


class Polytope(Linear):
    exacts = False  # HiGHS's vertices are rounded

    def __init__(self, G, h, E, e, low, high) -> None:
        self.G, self.h, self.E, self.e, self.low, self.high = G, h, E, e, low, high
        super().__init__(low.size, 1.0)
        reach = [max(abs(self.vertex(c) @ c), abs(self.vertex(-c) @ c)) for c in np.eye(low.size)]
        self.size = float(np.linalg.norm(reach))

    def made(self, s: float) -> Any:
        rows = {"G": self.G, "h": s * self.h} if self.h.size else {}
        rows |= {"E": self.E, "e": s * self.e} if self.e.size else {}
        return condal.Polytope(**rows, low=s * self.low, high=s * self.high)


class Flow(Linear):
    scales = False

    def __init__(self, tails: np.ndarray, heads: np.ndarray, sink: int) -> None:
        self.tails, self.heads, self.sink = tails, heads, sink
        n = tails.size
        self.E = np.zeros((sink + 1, n))
        self.E[tails, np.arange(n)] -= 1.0
        self.E[heads, np.arange(n)] += 1.0
        self.e = np.zeros(sink + 1)
        self.e[0], self.e[sink] = -1.0, 1.0
        self.G, self.h = np.zeros((0, n)), np.zeros(0)
        self.low, self.high = np.zeros(n), np.ones(n)
        super().__init__(n, 1.0)
        self.size = float(np.sqrt(-self.least(-np.ones(n))))

    def made(self, s: float) -> Any:
        return condal.FlowPolytope(self.tails, self.heads, source=0, sink=self.sink)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        return np.round(super().vertex(v))  # a path


class Hull(Flat):
    def __init__(self, vertices: np.ndarray) -> None:
        super().__init__(vertices.shape[1], float(np.linalg.norm(vertices, axis=1).max()))
        self.vertices = vertices

    def made(self, s: float) -> Any:
        return condal.Hull(s * self.vertices)

    def vertex(self, v: np.ndarray) -> np.ndarray:
        return self.vertices[int(np.argmin(self.vertices @ v))]

    def off(self, z: np.ndarray) -> float:
        """Return min over members x of max |x_i - z_i|, by a linear program."""
        m, n = self.vertices.shape
        unit = self.size or 1.0
        below = np.vstack([self.vertices.T, -self.vertices.T]) / unit
        solution = linprog(
            np.append(np.zeros(m), 1.0),
            A_ub=np.hstack([below, -np.ones((2 * n, 1))]),
            b_ub=np.concatenate([z, -z]) / unit,
            A_eq=np.append(np.ones(m), 0.0)[None],
            b_eq=[1.0],
        )
        assert solution.status == 0, solution.message
        return unit * float(solution.fun)

    def _rules(self, x: Any) -> list[Any]:
        w = cp.Variable(len(self.vertices), nonneg=True)
        return [cp.sum(w) == 1, x == self.vertices.T @ w]


class Corners(Hull):
    """A given domain, known by its vertices."""

    scales = False

    def __init__(self, X: Any, vertices: Any) -> None:
        super().__init__(np.asarray(vertices, dtype=float))
        self.X = X

    def made(self, s: float) -> Any:
        return self.X


def random_flow(rng) -> Flow:
    """3 to 6 vertices, edges from lower to higher, some parallel, and a path through all."""
    sink = int(rng.integers(2, 6))
    edges = [(i, i + 1) for i in range(sink)]
    for _ in range(int(rng.integers(1, 7))):
        a, b = sorted(rng.choice(sink + 1, 2, replace=False).tolist())
        edges.append((a, b))
    tails, heads = np.array(edges).T
    return Flow(tails, heads, sink)


def random_polytope(rng) -> Polytope:
    """Integer inequalities around 0, perhaps an equation, some bounds infinite."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(0, 4))
    G = rng.integers(-3, 4, (m, n)).astype(float)
    h = rng.integers(1, 5, m).astype(float)
    E = rng.integers(-2, 3, (1, n)).astype(float) if n > 1 and rng.random() < 0.4 else None
    low, high = -rng.integers(0, 4, n).astype(float), rng.integers(1, 4, n).astype(float)
    if rng.random() < 0.3:  # bounds that the rows of G imply are left out
        G = np.vstack([G, np.eye(n), -np.eye(n)])
        h = np.concatenate([h, high, -low])
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
    E, e = (np.zeros((0, n)), np.zeros(0)) if E is None else (E, np.zeros(1))
    return Polytope(G, h, E, e, low, high)
