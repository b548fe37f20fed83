"""min <c, x>, Ax + s = b, s in K: the CVXPY problem as a conic program in s or in the dual z."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.certificates.row_space import dot
from condal.cvxpy.elimination import Elimination, drop_rounding
from condal.cvxpy.structure import Structure, root_of
from condal.cvxpy.svec import Layout
from condal.linalg.points import Array
from condal.problems.conic.program import Program


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
class Primal:
    """min <c, p - E s> subject to M s = g, s in K: the program in s, with x = p - E s eliminated.

    Its multipliers y, with slack c - A'y, are -z in the remaining rows; c + A'z = 0 gives the
    others.
    """

    problem: CvxpyProblem

    @cached_property
    def elimination(self) -> Elimination:
        return self.problem.structure.eliminate(self.problem.b, self.problem.c)

    @cached_property
    def _constraining(self) -> Any:
        """Which of the remaining rows constrain s."""
        return np.diff(self.elimination.M.indptr) > 0

    @cached_property
    def program(self) -> Program:
        """The program in s."""
        elimination, layout = self.elimination, self.problem.layout
        M, g = elimination.M[self._constraining], elimination.g[self._constraining]
        c = self.problem.c
        cost = -(elimination.E.T @ c)[layout.zero :]
        if elimination.E.nnz > elimination.basis.size:  # otherwise each entry is one product
            cost = drop_rounding(cost, (abs(elimination.E).T @ np.abs(c))[layout.zero :])
        return Program(
            c=layout.spread(sp.coo_array(cost[None])),
            A=layout.spread(M[:, layout.zero :]),
            b=g,
            blocks=layout.blocks,
            offset=float(c @ elimination.p),
            name="CVXPY problem",
        )

    def pair(self, blocks: Array, y: Array) -> Pair:
        """Return x and z from the program's x and multipliers."""
        elimination, problem = self.elimination, self.problem
        s, z = np.zeros(problem.b.size), np.zeros(problem.b.size)
        s[problem.layout.zero :] = problem.layout.gathered(blocks)
        z[elimination.rest[self._constraining]] = -y
        return Pair(elimination.p - elimination.E @ s, self._completed(z, problem.c))

    def direction(self, blocks: Array) -> Array:
        """Return the direction of x for a direction of the program."""
        E, zero = self.elimination.E, self.problem.layout.zero
        return np.asarray(-(E[:, zero:] @ self.problem.layout.gathered(blocks)))

    def separating(self, y: Array) -> Array:
        """Return z, A'z = 0 and <b, z> < 0, from multipliers that prove infeasibility."""
        z = np.zeros(self.problem.b.size)
        z[self.elimination.rest[self._constraining]] = -y
        return self._completed(z, np.zeros(self.problem.c.size))

    def contradiction(self) -> Array:
        """Return z, A'z = 0 and <b, z> < 0, from a row that states 0 = g."""
        elimination, z = self.elimination, np.zeros(self.problem.b.size)
        row = elimination.contradictions[0]
        z[row] = -np.sign(elimination.g[np.searchsorted(elimination.rest, row)])
        return self._completed(z, np.zeros(self.problem.c.size))

    def _completed(self, z: Array, c: Array) -> Array:
        """Return z with the rows of the basis set so that c + A'z = 0."""
        return np.asarray(z - self.elimination.E.T @ (c + self.problem.A.T @ z))


@dataclass(frozen=True, eq=False)
class Dual:
    """max -<b, z> subject to A'z = -c, z in K* where s is in a cone: the program in z.

    The dual w of the equations is free and eliminated from A0'w = -(c + A1'z), with A0 the rows of
    equations and A1 the others: w = -E (c + A1'z), and M (c + A1'z) = 0 remains. The multipliers y
    of these rows, with slack -c - A'y, give x: x = E'b0 + M'y satisfies A0 x = b0.
    """

    problem: CvxpyProblem

    @cached_property
    def _split(self) -> tuple[Any, Any, Array, Array]:
        A, b, zero = self.problem.A, self.problem.b, self.problem.layout.zero
        return A[:zero], A[zero:], b[:zero], b[zero:]

    @property
    def _multiplicity(self) -> Array:
        """z over the lower triangles of its matrices."""
        return self.problem.layout.multiplicity[self.problem.layout.zero :]

    @cached_property
    def elimination(self) -> Elimination:
        """w = -E (c + A1'z); a ray of it proves that the equations contradict each other."""
        return self.problem.structure.eliminate_dual(self.problem.b)

    @cached_property
    def program(self) -> Program:
        """The program in z."""
        elimination, layout = self.elimination, self.problem.layout
        (_, A1, b0, b1), c = self._split, self.problem.c
        x0 = elimination.E.T @ b0
        cost = drop_rounding(A1 @ x0 - b1, abs(A1) @ np.abs(x0) + np.abs(b1))
        return Program(
            c=layout.spread(sp.coo_array((self._multiplicity * cost)[None])),
            A=layout.spread(elimination.M @ A1.T * self._multiplicity[None]),
            b=-drop_rounding(elimination.M @ c, abs(elimination.M) @ np.abs(c)),
            blocks=layout.blocks,
            offset=float(c @ x0),
            maximise=True,
            name="CVXPY problem, dual",
        )

    def pair(self, blocks: Array, y: Array) -> Pair:
        """Return x and z from the program's x and multipliers."""
        elimination, problem = self.elimination, self.problem
        _, A1, b0, _ = self._split
        z1 = self._multiplicity * problem.layout.gathered(blocks)
        z = np.concatenate([-(elimination.E @ (problem.c + A1.T @ z1)), z1])
        return Pair(elimination.E.T @ b0 + elimination.M.T @ y, z)

    def separating(self, blocks: Array) -> Array:
        """Return z, A'z = 0 and <b, z> < 0, from a ray, which proves that no x is feasible."""
        z1 = self._multiplicity * self.problem.layout.gathered(blocks)
        return np.concatenate([-(self.elimination.E @ (self._split[1].T @ z1)), z1])

    def direction(self, y: Array) -> Array:
        """Return the direction of x for multipliers that prove that no z is feasible."""
        return np.asarray(self.elimination.M.T @ y)

    def contradiction(self) -> Array:
        """Return z, A'z = 0 and <b, z> < 0, from contradictory equations."""
        assert self.elimination.ray is not None
        return np.concatenate([self.elimination.ray, np.zeros(self._split[1].shape[0])])


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
