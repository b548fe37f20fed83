"""min <c, x>, Ax + s = b, s in K: the CVXPY problem as a conic program in s or in the dual z."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.certificates.row_space import dot
from condal.cvxpy.elimination import Elimination, drop_rounding
from condal.cvxpy.structure import Structure, root_of
from condal.cvxpy.svec import CONE, Layout
from condal.linalg.points import Array, Indices
from condal.problems.conic.program import Program

SOLUTION, SEPARATOR, DIRECTION = "solution", "separator", "direction"  # outcomes of a proposal


class Pair(NamedTuple):
    """x, and the dual z of Ax + s = b: c + A'z = 0."""

    x: Array
    z: Array


@dataclass(frozen=True, eq=False)
class CvxpyProblem:
    """min <c, x> + 1/2 <x, Px> subject to Ax + s = b, s in K, with rows in the order of `layout`.

    P is None for a linear objective. `names` holds the first column and the name of each of the
    user's variables.
    """

    A: Any = field(repr=False)
    b: Array = field(repr=False)
    c: Array = field(repr=False)
    layout: Layout
    names: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    P: Any = field(default=None, repr=False)
    known: Structure | None = field(default=None, repr=False)

    @cached_property
    def structure(self) -> Structure:
        """What depends on A, P and the cones: `known` from another solve if it is given."""
        return self.known or Structure(self.A, self.layout, self.P)

    def value(self, x: Array) -> float:
        """Return the objective."""
        return dot(self.c, x)[0] + (0.0 if self.P is None else 0.5 * dot(self.P @ x, x)[0])

    def gradient(self, x: Array) -> Array:
        """Return the gradient of the objective."""
        return self.c if self.P is None else np.asarray(self.c + self.P @ x)

    @property
    def fewest(self) -> tuple[int, int]:
        """The least numbers of constraints of the programs in s and in z."""
        m, n = self.A.shape
        return max(m - n, 0), max(n - self.layout.zero, 0)

    def error(self, pair: Pair) -> float:
        """Return the error of x and z: the largest of both infeasibilities and the gap."""
        (x, z), layout = pair, self.layout
        s, r, value = self.b - self.A @ x, self.gradient(x) + self.A.T @ z, self.value(x)
        curved = 0.0 if self.P is None else float(x @ (self.P @ x))
        primal = float(layout.distances(s).max(initial=0.0))
        outside = layout.distances(z / layout.multiplicity)[layout.zero :]  # of K*
        dual = float(np.abs(np.concatenate([r, outside])).max(initial=0.0))
        return max(
            primal / (1.0 + float(np.abs(self.b).max(initial=0.0))),
            dual / (1.0 + float(np.abs(self.c).max(initial=0.0))),
            abs(value + 0.5 * curved + float(self.b @ z)) / (1.0 + abs(value)),
        )

    def moved(self, x: Array) -> list[str]:
        """Return the names of the variables that a direction x moves, the farthest first."""
        ends = [begin for begin, _ in self.names[1:]]
        lengths = [float(np.linalg.norm(block)) for block in np.split(x, ends)]
        order = sorted(range(len(self.names)), key=lambda j: -lengths[j])
        return [self.names[j][1] for j in order if lengths[j] > 1e-3 * max(lengths)]


@dataclass(frozen=True, eq=False)
class Form:
    """min <c, u> + <d, v> subject to Fu + Gv = h, u free, v in the cones: a program in v.

    u = p - EGv is eliminated, and MGv = g remains. The multipliers y of all rows, with F'y = c and
    slack d - G'y, follow from those of the rows that remain.

    In s, it is the problem itself: v is s, u is x and z = -y. `in_z` it is its dual: v are the z of
    the cones, u those of the equations, and x = y.
    """

    problem: CvxpyProblem
    in_z: bool = False

    @cached_property
    def _data(self) -> tuple[Any, Any, Array, Array, Array]:
        """F, G, h, c and d."""
        A, b, c, zero = self.problem.A, self.problem.b, self.problem.c, self.problem.layout.zero
        if self.in_z:
            return A[:zero].T, A[zero:].T, -c, b[:zero], b[zero:]
        m = b.size
        return A, sp.eye_array(m, m - zero, k=-zero, format="csr"), b, c, np.zeros(m - zero)

    @cached_property
    def _weight(self) -> Array:
        """v over the lower triangles of its matrices."""
        counted = self.problem.layout.multiplicity[self.problem.layout.zero :]
        return counted if self.in_z else np.ones(counted.size)

    @cached_property
    def elimination(self) -> Elimination:
        """u = p - Er, and Mr = g, where Fu + r = h."""
        F, _, h, c, _ = self._data
        kinds = np.full(h.size, CONE) if self.in_z else self.problem.layout.kinds
        return self.problem.structure.elimination("z" if self.in_z else "s", F, h, c, kinds)

    def _pair(self, u: Array, v: Array, y: Array) -> Pair:
        """Return x and z."""
        return Pair(y, np.concatenate([u, v])) if self.in_z else Pair(u, -y)

    @cached_property
    def _rows(self) -> Indices:
        """The rows that constrain v."""
        return self.elimination.rest[self._constrains]

    @cached_property
    def _constrains(self) -> Any:
        return np.diff(self.elimination.M.indptr) > 0

    @cached_property
    def program(self) -> Program:
        """The program in v; the dual is a maximisation."""
        elimination, layout, kept = self.elimination, self.problem.layout, self._constrains
        _, G, _, c, d = self._data
        y = drop_rounding(elimination.E.T @ c, abs(elimination.E).T @ np.abs(c))
        cost = drop_rounding(d - G.T @ y, np.abs(d) + abs(G).T @ np.abs(y)) * self._weight
        sign = -1.0 if self.in_z else 1.0
        return Program(
            c=layout.spread(sp.coo_array(sign * cost[None])),
            A=layout.spread((elimination.M[kept] @ G) * self._weight[None]),
            b=elimination.g[kept],
            blocks=layout.blocks,
            offset=sign * float(c @ elimination.p),
            maximise=self.in_z,
            name="CVXPY problem, dual" if self.in_z else "CVXPY problem",
        )

    def pair(self, blocks: Array, y: Array) -> Pair:
        """Return x and z from the x of the program and its multipliers, as a minimisation."""
        _, G, _, c, _ = self._data
        v = self._weight * self.problem.layout.gathered(blocks)
        u = self.elimination.p - self.elimination.E @ (G @ v)
        return self._pair(u, v, self._completed(self._rows, y, c))

    def ray(self, blocks: Array) -> tuple[str, Pair]:
        """Return what a ray of the program is, and its vector beside one of zeros."""
        v = self._weight * self.problem.layout.gathered(blocks)
        return self._ray(-(self.elimination.E @ (self._data[1] @ v)), v)

    def separator(self, y: Array) -> tuple[str, Pair]:
        """Return what a separator of the program is, and its vector beside one of zeros."""
        return self._separator(self._rows, y)

    def shown(self) -> Iterator[tuple[str, Pair]]:
        """Yield what the elimination shows: a row that states 0 = g, or a direction of u alone."""
        elimination = self.elimination
        for row in elimination.contradictions[:1]:
            g = elimination.g[np.searchsorted(elimination.rest, [row])]
            yield self._separator(np.array([row]), np.sign(g))
        if elimination.ray is not None:
            yield self._ray(elimination.ray, np.zeros(self._weight.size))

    def _ray(self, u: Array, v: Array) -> tuple[str, Pair]:
        pair = self._pair(u, v, np.zeros(self._data[2].size))
        return SEPARATOR if self.in_z else DIRECTION, pair

    def _separator(self, rows: Indices, y: Array) -> tuple[str, Pair]:
        u: Array = np.zeros(self._data[3].size)
        pair = self._pair(u, np.zeros(self._weight.size), self._completed(rows, y, u))
        return DIRECTION if self.in_z else SEPARATOR, pair

    def _completed(self, rows: Indices, y: Array, c: Array) -> Array:
        """Return the multipliers of all rows with F'y = c, for those of some rows."""
        F, _, h, _, _ = self._data
        whole: Array = np.zeros(h.size)
        whole[rows] = y
        return np.asarray(whole + self.elimination.E.T @ (c - F.T @ whole))


def with_cone(problem: CvxpyProblem) -> CvxpyProblem:
    """Return the problem with one more variable t and |(2 R'x, 2t - 1)| <= 2t + 1, P = R R'.

    So CVXPY states a quadratic objective for solvers that take none. One that is proved convex is
    bounded by its tangents instead.

    The cone stands after the other second-order cones; `without_cone` leads back.
    """
    if problem.P is None:
        return problem
    (m, n), layout, R = problem.A.shape, problem.layout, root_of(problem.P)
    begin, k = layout.zero + layout.plain, R.shape[1]
    t = sp.csr_array(([-2.0, -2.0], ([0, 1], [0, 0])), (k + 2, 1))
    cone = sp.hstack([sp.vstack([sp.csr_array((2, n)), -2.0 * R.T]), t])
    A = sp.hstack([problem.A, sp.csr_array((m, 1))], format="csr")
    return replace(
        problem,
        A=sp.csr_array(sp.vstack([A[:begin], cone, A[begin:]])),
        b=np.concatenate([problem.b[:begin], [1.0, -1.0], np.zeros(k), problem.b[begin:]]),
        c=np.append(problem.c, 1.0),
        layout=replace(layout, soc=(*layout.soc, k + 2)),
        P=None,
        known=None,
    )


def without_cone(problem: CvxpyProblem, pair: Pair) -> Pair:
    """Return x and z without the variable and the rows that `with_cone` added to the problem."""
    end = problem.layout.zero + problem.layout.plain
    cone = slice(end - problem.layout.soc[-1], end)
    return Pair(pair.x[:-1], np.delete(pair.z, cone))
