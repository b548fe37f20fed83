"""Hulls: of the permutations of a vector, and of given vertices."""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from condal.domains.flat import SMALLEST, ClosedForm, Flat
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof, gamma, stable_norm
from condal.runtime.arguments import finite_array

MAX_VERTICES_PAIRED = 4000  # up to which the diameter is computed from all pairs
BLOCK_ROWS = 256  # vertices whose pairs are computed at a time


class Permutahedron(ClosedForm):
    """The hull of all permutations of a vector.

    Parameters
    ----------
    vector : array_like of shape (n,)
        The entries of each vertex.
    """

    def __init__(self, vector: Any) -> None:
        self.vector: Array = np.sort(finite_array(vector, "vector", ndim=1))[::-1].copy()
        self.n = int(self.vector.size)
        if self.n == 0:
            raise ProblemError("vector must have at least one entry; got none")

    def __repr__(self) -> str:
        return f"Permutahedron(vector of {self.n} entries)"

    @property
    def diameter(self) -> float:
        """The distance between the vector in ascending and in descending order."""
        return stable_norm(self.vector - self.vector[::-1])

    @property
    def max_norm(self) -> float:
        return stable_norm(self.vector)

    def _minimum(self, v: Array) -> tuple[Array, int]:
        return np.sort(v) * self.vector, 1

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """The largest entry of the vector where v is smallest, and so on."""
        s = np.empty(self.n)
        s[np.argsort(np.asarray(v), kind="stable")] = self.vector
        return s

    def project(self, v: Array) -> Array:
        """v - d: in descending order of v, d is the nearest descending sequence to v - vector."""
        v = self._finite(v, "the vector to project")
        order = np.argsort(-v, kind="stable")
        x = np.empty(self.n)
        x[order] = v[order] - falling(v[order] - self.vector)
        return x


class Hull(Flat):
    """The hull of the rows of a matrix.

    Parameters
    ----------
    vertices : array_like of shape (m, n)
        The vertices, one per row.
    """

    def __init__(self, vertices: Any) -> None:
        self.vertices: Array = finite_array(vertices, "vertices", ndim=2).copy()
        if self.vertices.size == 0:
            raise ProblemError(
                f"vertices must be rows of numbers, at least one; got shape {self.vertices.shape}"
            )
        self.n = int(self.vertices.shape[1])

    def __repr__(self) -> str:
        return f"Hull({len(self.vertices)} vertices of {self.n} entries)"

    @cached_property
    def diameter(self) -> float:
        """The largest distance between vertices; for very many, twice that from their mean."""
        V = self.vertices - self.vertices.mean(axis=0)
        if len(V) > MAX_VERTICES_PAIRED:
            return 2.0 * float(np.linalg.norm(V, axis=1).max())
        return max(
            float(
                np.linalg.norm(
                    V[a : a + BLOCK_ROWS, None] - V[None, b : b + BLOCK_ROWS], axis=2
                ).max()
            )
            for a in range(0, len(V), BLOCK_ROWS)
            for b in range(0, a + 1, BLOCK_ROWS)
        )

    @cached_property
    def max_norm(self) -> float:
        return float(np.linalg.norm(self.vertices, axis=1).max())

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        return np.asarray(self.vertices[int(np.argmin(self.vertices @ np.asarray(v)))]).copy()

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """The smallest product of v with a vertex, less its rounding."""
        v = np.asarray(v)
        lost = gamma(self.n + 2) * (np.abs(self.vertices) @ np.abs(v))
        lost += 2 * self.n * SMALLEST * bool(v.any())
        return Proof(float((self.vertices @ v - lost).min()), "every vertex")

    def distance(self, x: Point) -> float:
        """The distance to the combination of vertices found by nonnegative least squares."""
        Z = self.vertices - self._finite(x, "x")
        apart = np.linalg.norm(Z, axis=1)
        unit = float(apart.max())
        nearest = float(apart.min())
        if nearest == 0.0:
            return 0.0
        # The point of least norm in a hull is, up to scale, that in the cone over it at height 1.
        cone = np.vstack([Z.T / unit, np.ones(len(Z))])
        from scipy.optimize import nnls

        try:
            w, _ = nnls(cone, np.append(np.zeros(self.n), 1.0))
        except RuntimeError:  # too many steps
            return nearest
        return min(nearest, stable_norm(Z.T @ (w / w.sum()))) if w.sum() > 0 else nearest


def falling(z: Array) -> Array:
    """Return the nearest d to z with d_1 >= d_2 >= ..., by pooling ascending neighbours."""
    means: list[float] = []
    counts: list[int] = []
    for number in z.tolist():
        mean, count = number, 1
        while means and means[-1] < mean:
            last, many = means.pop(), counts.pop()
            mean, count = (last * many + mean * count) / (many + count), many + count
        means.append(mean)
        counts.append(count)
    return np.repeat(np.array(means), counts)
