"""The conic form of a problem: minimise <c, u>, A u = b, u in a product of cones.

    x = shift + sizes u, with a block of u for each section of X, then slacks

A bounded sum, an entry of a box and a row of Ax with two bounds have slacks, and the sums and boxes
of X are rows of A, so the program and its dual have a solution wherever the problem is feasible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.cone_slices import ConeSlice
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.rounding import gamma
from condal.methods.projection.vectorise import Vectoriser

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The program in c, A, b and the blocks of u.

    Row i of A is row rows[i] of the problem, or bounds X or a slack if this is -1; the last `caps`
    rows bound a single entry each. The first entries of u are the entries `kept` of x, in units of
    `sizes`: an interval of a box that is a point has none. The unit of c is `unit`. `clash` is a y
    for the problem with A'y = 0 and <b, y> = -1, if the dependent rows contradict the others.
    """

    problem: Problem
    c: Array
    A: Any
    b: Array
    blocks: tuple[ConeSlice, ...]
    caps: int
    rows: Indices
    kept: Indices
    shift: Array
    sizes: Array
    unit: float
    places: tuple[tuple[ConeSlice, slice], ...]
    flat: Vectoriser
    matrix: Any
    cost: Array
    clash: Array | None

    def dual(self, y: Array) -> Array:
        """Return the y of the problem, where <y, Ax> is added, from the y of A'y + z = c."""
        y = of_problem(self.matrix.shape[0], self.rows, -self.unit * y)
        return self.problem.h.dual_point(y)

    def lower(self, y: Array, z: Array) -> float:
        """Return a bound on the optimum by a dual y of the problem, which survives rounding.

        z is the slack of the program, which is positive definite: the least eigenvalue of a matrix
        V = C + A'y is t - |V - Z - t I| at least, for any t.
        """
        v, slack, least = self.cost + self.matrix.T @ y, np.zeros(self.cost.size), 0.0
        slack[self.kept] = self.unit / self.sizes * z[: self.kept.size]
        for section, entries in self.places:
            cost = v[entries]
            if section.kind == "box":
                least += float(np.minimum(cost * section.low, cost * section.high).sum())
                continue
            if section.kind == "psd":
                beside = (cost - slack[entries]).reshape(section.n, section.n)
                level = float(np.trace(beside)) / section.n
                level -= float(np.linalg.norm(beside - level * np.eye(section.n)))
            elif section.kind == "second-order":
                level = float(cost[0] - np.linalg.norm(cost[1:]))
            else:
                level = float(cost.min())
            least += section.bound * (min(level, 0.0) if section.at_most else level)
        problem = self.problem
        rounding = float(np.linalg.norm(self._sizes_of_rows @ np.abs(y)))
        least -= gamma(problem.A.terms + 8) * problem.X.max_norm * rounding
        return problem.f.value(np.zeros(problem.f.M.size)) + least - problem.h.conjugate(y)

    @cached_property
    def _sizes_of_rows(self) -> Any:
        """|A|' for the A of the problem: the rounding error of A'y is a multiple of |A|'|y|."""
        return sp.csr_array(abs(self.matrix).T)

    def point(self, u: Array) -> tuple[Array, Point]:
        """Return x as one vector and as a point of X with exact sums."""
        x, factors = self.shift.copy(), []
        x[self.kept] += self.sizes * u[: self.kept.size]
        for section, entries in self.places:
            if section.kind == "box":
                x[entries] = np.clip(x[entries], section.low, section.high)
            elif section.kind == "psd":
                factor = _root(x[entries].reshape(section.n, section.n))
                factor *= sqrt(_fitted(section, float(np.vdot(factor, factor))))
                x[entries] = (factor @ factor.T).ravel()
                factors.append(factor)
            else:
                total = x[entries.start] if section.kind == "second-order" else x[entries].sum()
                x[entries] *= _fitted(section, float(total))
        return x, _factored(self.flat.point(x), iter(factors))


def of_problem(size: int, rows: Indices, y: Array) -> Array:
    """y for the rows of the problem, from a y for `rows`."""
    out, own = np.zeros(size), rows >= 0
    out[rows[own]] = y[own]
    return out


def _root(X: Array) -> Array:
    """A factor of a psd matrix: triangular, unless rounding has left the interior."""
    try:
        return np.asarray(np.linalg.cholesky(X))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(X)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _fitted(section: ConeSlice, total: float) -> float:
    """The factor that gives the total its required value."""
    return 1.0 if section.at_most and total <= section.bound else section.bound / total


def _factored(x: Any, factors: Iterator[Array]) -> Point:
    """x with its matrices as factors."""
    if isinstance(x, tuple):
        return tuple(_factored(part, factors) for part in x)
    if x.ndim == 1:
        return np.asarray(x)
    factor = next(factors)
    return LowRank(factor, np.ones(factor.shape[1]))
