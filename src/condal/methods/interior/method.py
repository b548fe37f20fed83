"""The primal-dual interior-point method: Newton steps along the central path, for small problems.

    u z = mu,   A u = b,   A'y + z = c,   mu -> 0

with the HKM direction for matrices, as in CSDP and SDPA. A step factors a dense system with one row
per constraint; about 15 steps reach 1e-8, whatever the conditioning, where other methods need
thousands. Every state has a bound and a point in X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.cone_slices import sections
from condal.linalg.points import Array, Point
from condal.linalg.rounding import gamma
from condal.methods.choice import INTERIOR_STEPS, MAX_STEP_SECONDS, Estimate
from condal.methods.interior.assembly import bounds, standard_form
from condal.methods.interior.central import Path
from condal.methods.interior.cost import step_seconds
from condal.methods.state import State, Warm, require_linear
from condal.runtime.meter import check_cancelled
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_ROWS = 7500
MAX_ENTRIES = 10_000_000
MATRICES = 20  # of the size of x, at the peak
MAX_MATRIX_SIDE = 1000
PATIENCE = 6  # steps without progress
NEGLIGIBLE = 1e-13  # gap or infeasibility
PROGRESS = 0.8  # of the previous error
FAR = 100.0  # above every value of the normalised objective
BOUND_PROGRESS = 0.1  # of the bound: a rise that suggests infeasibility


@dataclass(frozen=True)
class InteriorPoint:
    r"""Minimise :math:`\langle C, x \rangle` over small sections of cones, by Newton steps.

    Ax has bounds or lies in second-order cones. Each step moves along the central path
    :math:`u z = \mu,\ A u = b,\ A^\top y + z = c` as :math:`\mu \to 0`.

    References
    ----------
    S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM Journal on
    Optimization 2, 1992.

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
        """Yield the state after each step; end where rounding prevents progress."""
        state = start or self.start(problem)
        if state.last:
            return
        carry, path, k = state.carry, Path.first(standard_form(problem)), state.k
        best, since = BestInteriorPoint(), 0
        if carry is not None:
            path, best, since = carry.path(path), carry.best, carry.since
        while since < PATIENCE:
            check_cancelled()
            moved = path.advanced()
            if moved is None:
                break
            path, k = moved, k + 1
            state, point = _state_of(problem, path, k)
            best, better = best.after(problem, state, point)
            since = 0 if better else since + 1
            x.load(point)
            yield replace(state, carry=InteriorState.of(path, best, since))
        if best.point is not None and best.state is not None:
            x.load(best.point)
            if path.form.clash is not None:
                yield replace(_refuted(path.form.clash, best.state), k=k + 1, last=True)


@dataclass(frozen=True, eq=False)
class InteriorState:
    """The arrays of each point and y, the best point so far, and the steps without progress."""

    places: tuple[dict[str, Array], ...]
    y: Array
    best: BestInteriorPoint
    since: int

    @classmethod
    def of(cls, path: Path, best: BestInteriorPoint, since: int) -> InteriorState:
        """Record a path."""
        places = tuple(
            {name: part for name, part in _fields(place) if isinstance(part, np.ndarray)}
            for place in path.places
        )
        return cls(places, path.y, best, since)

    def path(self, first: Path) -> Path:
        """Return the recorded path, given its first point."""
        places = zip(first.places, self.places, strict=True)
        return replace(
            first,
            places=tuple(type(place)(**dict(_fields(place)) | arrays) for place, arrays in places),
            y=self.y,
        )


def _fields(place: Any) -> Iterator[tuple[str, Any]]:
    return ((field.name, getattr(place, field.name)) for field in fields(place))


@dataclass(frozen=True, eq=False)
class BestInteriorPoint:
    """The least gap and infeasibility so far, the best bound, and the state of the least error.

    The error is the largest of gap, infeasibility and price.
    """

    gap: float = inf
    infeasibility: float = inf
    lower: float = -inf
    error: float = inf
    state: State | None = None
    point: Point | None = None

    def after(self, problem: Problem, state: State, point: Point) -> tuple[BestInteriorPoint, bool]:
        """Return the best after one more state and its point, and whether this is progress."""
        unit = problem.gap_unit(state.value)
        gap = abs(state.value - state.lower) / unit
        infeasibility = problem.h.distance(state.Ax) / problem.infeasibility_unit
        error = max(gap, infeasibility, problem.price(state.Ax, state.w) / unit)
        better = (
            NEGLIGIBLE < gap < PROGRESS * self.gap
            or NEGLIGIBLE < infeasibility < PROGRESS * self.infeasibility
            or state.lower > self.lower + BOUND_PROGRESS * max(unit, abs(self.lower))
        )
        best = replace(
            self,
            gap=min(gap, self.gap),
            infeasibility=min(infeasibility, self.infeasibility),
            lower=max(state.lower, self.lower),
        )
        if error < self.error:
            best = replace(best, error=error, state=state, point=point)
        return best, better


def _refuted(clash: Array, state: State) -> State:
    """The state with a bound that refutes feasibility: y goes far along the clash."""
    far = abs(state.value - state.lower) + FAR
    y = state.y - far * clash
    return replace(state, y=y, w=y, lower=state.lower + far)


def _state_of(problem: Problem, path: Path, k: int) -> tuple[State, Point]:
    """The state of a point on the path, and this point."""
    form = path.form
    vector, point = form.point([place.point for place in path.places])
    f = problem.f
    Mx, Ax = np.array([form.cost @ vector]), form.matrix @ vector
    value, y = f.value(Mx), problem.h.dual_point(form.dual(path.y))
    # The bound must survive rounding: y may go to infinity.
    lower = path.lower - gamma(problem.A.terms + 8) * problem.X.max_norm * form.rounding(y)
    gap = value + float(y @ Ax) - lower - problem.h.conjugate(y)
    return State(k, Mx, Ax, y, y, None, value, gap, lower), point
