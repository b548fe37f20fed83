"""The primal-dual interior-point method: Newton steps along the central path, for small problems.

The problem becomes a conic program, and the method follows the path of its embedding. A step
factors a dense system with one row per constraint; about 12 steps reach 1e-8, whatever the
conditioning, where other methods need thousands. Every state has a bound and a point in X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.cone_slices import sections
from condal.linalg.points import Array, Point
from condal.linalg.rounding import TINY
from condal.methods.choice import INTERIOR_STEPS, MAX_STEP_SECONDS, Estimate
from condal.methods.interior.assembly import bounds, standard_form
from condal.methods.interior.embedding import Embedded, Numbers
from condal.methods.interior.engine import Path, Scaled
from condal.methods.interior.form import StandardForm
from condal.methods.interior.standard import step_seconds
from condal.methods.state import State, Warm, require_linear
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_ROWS = 7500
MAX_ENTRIES = 10_000_000
MATRICES = 20  # of the size of x, at the peak
MAX_MATRIX_SIDE = 1000
ROUNDED, LOST = 1e-6, 30.0  # from this error on, a rise by this factor is due to rounding
FAR = 100.0  # above every value of the normalised objective


@dataclass(frozen=True)
class InteriorPoint:
    r"""Minimise :math:`\langle C, x \rangle` over small sections of cones, by Newton steps.

    Ax has bounds or lies in second-order cones. Each step moves along the central path of the
    homogeneous self-dual embedding, which ends at a solution, or at a proof that there is none.

    References
    ----------
    X. Xu, P.-F. Hung, Y. Ye. A simplified homogeneous and self-dual linear programming algorithm
    and its implementation. Annals of Operations Research 62, 1996.

    C. Helmberg, F. Rendl, R. J. Vanderbei, H. Wolkowicz. An interior-point method for semidefinite
    programming. SIAM Journal on Optimization 6, 1996.
    """

    name: ClassVar[str] = "interior-point"
    keeps: ClassVar[Keeps] = "factor"

    def seconds(self, problem: Problem) -> float:
        """Estimate the seconds per step on one core; inf if the method does not apply."""
        parts, rows = sections(problem.X), problem.A.size
        if problem.f.L != 0 or parts is None or rows > MAX_ROWS:
            return inf
        if max((part.n for part in parts if part.kind == "psd"), default=0) > MAX_MATRIX_SIDE:
            return inf
        size = sum(part.length for part in parts)
        A = problem.A.as_matrix() if rows else sp.csr_array((0, size))
        if A is None or A.nnz > MAX_ENTRIES:
            return inf
        try:
            bounds(problem.h)
        except ProblemError:
            return inf
        return step_seconds(sp.csr_array(A), parts)

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate where a step takes at most a second, or why the method is no choice.

        Without constraints the oracle has the answer.
        """
        seconds = self.seconds(problem) if problem.A.size else inf
        if seconds == inf:
            return "it needs a linear f, and few rows of bounds on small sections of cones"
        if seconds > MAX_STEP_SECONDS:
            return f"a step would take {seconds:.1g} seconds"
        why = "f is linear and the system of a Newton step is small"
        return Estimate(INTERIOR_STEPS * seconds, why)

    def bytes(self, problem: Problem) -> int:
        """Return the size of the matrices of a step."""
        size = sum(part.length for part in sections(problem.X) or ())
        return 8 * (2 * problem.A.size**2 + MATRICES * size)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state in the middle of X; `warm`, near the boundary, gives only its count."""
        require_linear(problem, "the interior-point method")
        return State.start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each step, then the best one, or one of a ray."""
        state = start or self.start(problem)
        form, k = standard_form(problem), state.k
        path = Path(
            Scaled.of(form.c, form.A, form.b, form.blocks, diagonal_rows=form.caps, natural=True)
        )
        if state.carry is not None:
            state.carry.take_up(path)
        for at in path.points(0.0):
            k += 1
            state, point = _state_of(form, path.scaled, at, k)
            x.load(point)
            yield replace(state, carry=InteriorState.of(path))
            if at.error > LOST * path.error and path.error <= ROUNDED:
                break
        if form.clash is not None or path.ends_in_ray:
            yield replace(_refuted(form, path, state), k=k + 1, last=True)
        elif path.at.error > 2 * path.error:
            state, point = _state_of(form, path.scaled, path.best, k + 1)
            x.load(point)
            yield replace(state, last=True)


@dataclass(frozen=True, eq=False)
class InteriorState:
    """The numbers of the last point and of the best one, and what the path remembers."""

    at: Numbers
    best: Numbers
    iterations: int
    marks: Array
    since: int

    @classmethod
    def of(cls, path: Path) -> InteriorState:
        """Return the record of a path, whose last point is recorded next."""
        return cls(path.at.numbers, path.best.numbers, path.iterations, path.marks, path.since)

    def take_up(self, path: Path) -> None:
        """Bring a new path to the recorded point."""
        program = path.scaled.program
        path.at, path.best = (Embedded.of(program, point) for point in (self.at, self.best))
        path.iterations, path.error = self.iterations, path.best.error
        path.marks, path.since = self.marks, self.since


def _state_of(form: StandardForm, scaled: Scaled, at: Embedded, k: int) -> tuple[State, Point]:
    """The state of a point of the embedding, and its x."""
    problem = form.problem
    vector, point = form.point(scaled.x(at) / at.tau)
    y = form.dual(scaled.multipliers(at))
    lower = form.lower(y, scaled.slack(at) / at.tau)
    Mx, Ax = np.array([form.cost @ vector]), form.matrix @ vector
    value = problem.f.value(Mx)
    gap = value + float(y @ Ax) - lower - problem.h.conjugate(y)
    return State(k, Mx, Ax, y, y, None, value, gap, lower), point


def _refuted(form: StandardForm, path: Path, state: State) -> State:
    """The state with a bound that refutes feasibility: y goes far along the clash or the ray."""
    z = np.zeros(form.c.size)
    if form.clash is not None:
        y = state.y + (abs(state.value - state.lower) + FAR) * form.clash
    else:
        ray, z = path.at.tau * path.scaled.multipliers(path.at), path.scaled.slack(path.at)
        far = FAR / max(float(form.b @ ray), TINY)
        y, z = form.dual(far * ray), far * z
    return replace(state, y=y, w=y, lower=form.lower(y, z))
