"""min <c, x>, Ax + s = b, s in K: what CVXPY asks, as a conic program in s, or in the dual z."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.elimination import Elimination, eliminate, rounded
from condal.cvxpy.svec import ZERO, Layout
from condal.linalg.points import Array
from condal.problems.conic.program import Program


class Pair(NamedTuple):
    """x, and the dual z of Ax + s = b: c + A'z = 0."""

    x: Array
    z: Array


@dataclass(frozen=True, eq=False)
class Asked:
    """min <c, x> subject to Ax + s = b, s in K, the rows of K in the order of `layout`.

    `names` says which of the user's variables begin where in x.
    """

    A: Any = field(repr=False)
    b: Array = field(repr=False)
    c: Array = field(repr=False)
    layout: Layout
    names: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    @property
    def fewest(self) -> tuple[int, int]:
        """How many constraints the programs in s and in z have at least."""
        m, n = self.A.shape
        return max(m - n, 0), max(n - self.layout.zero, 0)

    def error(self, pair: Pair) -> float:
        """How far x and z are from a solution: the largest of what each lacks, and the gap."""
        (x, z), layout = pair, self.layout
        s, r, value = self.b - self.A @ x, self.c + self.A.T @ z, float(self.c @ x)
        lacks = max(float(np.abs(s[: layout.zero]).max(initial=0.0)), layout.outside(s))
        dual = max(float(np.abs(r).max(initial=0.0)), layout.outside(z))
        return max(
            lacks / (1.0 + float(np.abs(self.b).max(initial=0.0))),
            dual / (1.0 + float(np.abs(self.c).max(initial=0.0))),
            abs(value + float(self.b @ z)) / (1.0 + abs(value)),
        )

    def moved(self, x: Array) -> list[str]:
        """The names of the variables that a direction x moves, the farthest first."""
        ends = [begin for begin, _ in self.names[1:]]
        lengths = [float(np.linalg.norm(part)) for part in np.split(x, ends)]
        order = sorted(range(len(self.names)), key=lambda j: -lengths[j])
        return [self.names[j][1] for j in order if lengths[j] > 1e-3 * max(lengths)]


@dataclass(frozen=True, eq=False)
class Primal:
    """min <c, p - E s> subject to M s = g, s in K: the program in s, with x = p - E s eliminated.

    Its multipliers y, with c - A'y the slack, are -z in the rows that are left, and c + A'z = 0
    gives the others.
    """

    asked: Asked

    @cached_property
    def elimination(self) -> Elimination:
        """x = p - E s."""
        asked = self.asked
        return eliminate(asked.A, asked.b, asked.c, asked.layout.kinds)

    @cached_property
    def _some(self) -> Any:
        """Which of the rows left ask something of s."""
        return np.diff(self.elimination.M.indptr) > 0

    @cached_property
    def program(self) -> Program:
        """In s."""
        found, layout = self.elimination, self.asked.layout
        M, g = found.M[self._some], found.g[self._some]
        c = self.asked.c
        cost = -(found.E.T @ c)[layout.zero :]
        if found.E.nnz > found.basis.size:  # else each is one product
            cost = rounded(cost, (abs(found.E).T @ np.abs(c))[layout.zero :])
        return Program(
            c=layout.spread(sp.coo_array(cost[None])),
            A=layout.spread(M[:, layout.zero :]),
            b=g,
            blocks=layout.blocks,
            offset=float(c @ found.p),
            name="CVXPY problem",
        )

    def pair(self, blocks: Array, y: Array) -> Pair:
        """x and z."""
        found, asked = self.elimination, self.asked
        s, z = np.zeros(asked.b.size), np.zeros(asked.b.size)
        s[asked.layout.zero :] = asked.layout.gathered(blocks)
        z[found.rest[self._some]] = -y
        return Pair(found.p - found.E @ s, self._completed(z, asked.c))

    def direction(self, blocks: Array) -> Array:
        """The direction of x for one of the program's vector."""
        E, zero = self.elimination.E, self.asked.layout.zero
        return np.asarray(-(E[:, zero:] @ self.asked.layout.gathered(blocks)))

    def separating(self, y: Array) -> Array:
        """z, A'z = 0, of multipliers y that prove that the program is infeasible: <b, z> < 0."""
        z = np.zeros(self.asked.b.size)
        z[self.elimination.rest[self._some]] = -y
        return self._completed(z, np.zeros(self.asked.c.size))

    def contradiction(self) -> Array:
        """z, A'z = 0 and <b, z> < 0, of a row that says 0 = g."""
        found, z = self.elimination, np.zeros(self.asked.b.size)
        row = found.contradictions[0]
        z[row] = -np.sign(found.g[np.searchsorted(found.rest, row)])
        return self._completed(z, np.zeros(self.asked.c.size))

    def _completed(self, z: Array, c: Array) -> Array:
        """z with the rows of the basis such that c + A'z = 0."""
        return np.asarray(z - self.elimination.E.T @ (c + self.asked.A.T @ z))


@dataclass(frozen=True, eq=False)
class Dual:
    """max -<b, z> subject to A'z = -c, z in K where s is in a cone: the program in z.

    The dual w of the rows that are equations is free, and eliminated from A0'w = -(c + A1'z), 0 the
    rows of equations, 1 the others: w = -E (c + A1'z), and M (c + A1'z) = 0 is what is left. The
    multipliers y of that, with -c - A'y the slack, are x: x = E'b0 + M'y satisfies A0 x = b0.
    """

    asked: Asked

    @cached_property
    def _split(self) -> tuple[Any, Any, Array, Array]:
        A, b, zero = self.asked.A, self.asked.b, self.asked.layout.zero
        return A[:zero], A[zero:], b[:zero], b[zero:]

    @cached_property
    def elimination(self) -> Elimination:
        """w = -E (c + A1'z); a ray of it says that the equations contradict one another."""
        A0, _, b0, _ = self._split
        n = self.asked.c.size
        return eliminate(A0.T, np.zeros(n), b0, np.full(n, ZERO + 1))

    @cached_property
    def program(self) -> Program:
        """In z."""
        found, layout = self.elimination, self.asked.layout
        (_, A1, b0, b1), c = self._split, self.asked.c
        x0 = found.E.T @ b0
        cost = rounded(A1 @ x0 - b1, abs(A1) @ np.abs(x0) + np.abs(b1))
        return Program(
            c=layout.spread(sp.coo_array(cost[None])),
            A=layout.spread(found.M @ A1.T),
            b=-rounded(found.M @ c, abs(found.M) @ np.abs(c)),
            blocks=layout.blocks,
            offset=float(c @ x0),
            maximise=True,
            name="CVXPY problem, dual",
        )

    def pair(self, blocks: Array, y: Array) -> Pair:
        """x and z."""
        found, asked = self.elimination, self.asked
        _, A1, b0, _ = self._split
        z1 = asked.layout.gathered(blocks)
        z = np.concatenate([-(found.E @ (asked.c + A1.T @ z1)), z1])
        return Pair(found.E.T @ b0 + found.M.T @ y, z)

    def separating(self, blocks: Array) -> Array:
        """z, A'z = 0, of a ray of the program, which proves that no x is feasible: <b, z> < 0."""
        z1 = self.asked.layout.gathered(blocks)
        return np.concatenate([-(self.elimination.E @ (self._split[1].T @ z1)), z1])

    def contradiction(self) -> Array:
        """z, A'z = 0 and <b, z> < 0, of equations that contradict one another."""
        assert self.elimination.ray is not None
        return np.concatenate([self.elimination.ray, np.zeros(self._split[1].shape[0])])
