"""The primal-dual interior-point method: Newton steps along the central path, for small problems.

    u z = mu,   A u = b,   A'y + z = c,   mu -> 0

with the direction of Helmberg, Kojima and Monteiro for matrices, as CSDP and SDPA have it. A step
factors a dense system of a row for each constraint; some 15 of them reach 1e-8, whatever the
conditioning, where others need thousands. Every state has a bound, and ends in X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.cone_slices import ConeSlice, sections
from condal.linalg.points import Array, Point
from condal.linalg.roundoff import gamma
from condal.methods.interior.assembly import standard_form
from condal.methods.interior.bounds import bounds
from condal.methods.interior.central import Path
from condal.methods.interior.schur import plan
from condal.methods.preconditions import require_linear
from condal.methods.state import State, Warm
from condal.runtime.cancellation import check_cancelled
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

MOST_ROWS = 5000
MOST_ENTRIES = 10_000_000
MATRICES = 20  # of the size of x, at the worst moment
LARGEST = 1000  # side of a matrix
MAX_STEP_SECONDS = 2.0
FACTOR = 0.04  # ns: a third of a multiplication and an addition
WRITE = 8.0  # ns, of an entry of the Schur complement, all that is done with it
READ = 20.0  # ns, of an entry of A, all the times it is read
PRODUCT = 3.0  # ns: some 30 products, factors and spectra of the size of x
CALLS = 2e6  # ns, of a block, whatever its size
PATIENCE = 6  # steps without getting anywhere
ROUNDING = 1e-13  # a gap or infeasibility of no account
BETTER = 0.8  # of the error before: getting somewhere
FAR = 100.0  # of the normalised objective: above all that it can be
HIGHER = 0.1  # of its size: how much a bound rises where no x is feasible


@dataclass(frozen=True)
class InteriorPoint:
    """minimise <C, x> over small sections of cones, Ax within bounds or second-order cones."""

    name: ClassVar[str] = "interior-point"
    keeps: ClassVar[Keeps] = "factor"

    def suits(self, problem: Problem) -> bool:
        """Whether it applies, and its steps take a second or so."""
        return self.seconds(problem) <= MAX_STEP_SECONDS

    def seconds(self, problem: Problem) -> float:
        """What a step takes on one core, about: inf if it does not apply, or far too long."""
        parts, rows = sections(problem.X), problem.A.size
        if problem.f.L != 0 or parts is None or rows > MOST_ROWS:
            return inf
        if max((part.n for part in parts if part.kind == "psd"), default=0) > LARGEST:
            return inf
        size = sum(part.length for part in parts)
        A = problem.A.as_matrix() if rows else sp.csr_array((0, size))
        if A is None or A.nnz > MOST_ENTRIES:
            return inf
        try:
            bounds(problem.h)
        except ProblemError:
            return inf
        return 1e-9 * _nanoseconds(sp.csr_array(A), parts)

    def bytes(self, problem: Problem) -> int:
        """What the matrices of a step take: those of the size of x, and of a row a constraint."""
        size = sum(part.length for part in sections(problem.X) or ())
        return 8 * (2 * problem.A.size**2 + MATRICES * size)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """The middle of X: of `warm`, which is near the boundary, only the count is kept."""
        require_linear(problem, "the interior-point method")
        return State.start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each step; end where rounding stops it."""
        state = start or self.start(problem)
        if state.last:
            return
        own, path, k = state.carry, Path.first(standard_form(problem)), state.k
        best, since = BestInteriorPoint(), 0
        if own is not None:
            path, best, since = own.path(path), own.best, own.since
        while since < PATIENCE:
            check_cancelled()
            moved = path.advanced()
            if moved is None:
                break
            path, k = moved, k + 1
            state, point = _shown(problem, path, k)
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
    """The numbers of each place and y, without what the problem says again; the best so far, and
    how many steps have led nowhere."""

    places: tuple[dict[str, Array], ...]
    y: Array
    best: BestInteriorPoint
    since: int

    @classmethod
    def of(cls, path: Path, best: BestInteriorPoint, since: int) -> InteriorState:
        """Those of a path."""
        places = tuple(
            {name: part for name, part in _fields(place) if isinstance(part, np.ndarray)}
            for place in path.places
        )
        return cls(places, path.y, best, since)

    def path(self, first: Path) -> Path:
        """The path that they belong to, from its beginning."""
        places = zip(first.places, self.places, strict=True)
        return replace(
            first,
            places=tuple(type(place)(**dict(_fields(place)) | own) for place, own in places),
            y=self.y,
        )


def _fields(place: Any) -> Iterator[tuple[str, Any]]:
    return ((field.name, getattr(place, field.name)) for field in fields(place))


@dataclass(frozen=True, eq=False)
class BestInteriorPoint:
    """The least gap and infeasibility so far, the highest bound, and the state and the point of the
    least error, the larger of the two."""

    gap: float = inf
    infeasibility: float = inf
    lower: float = -inf
    error: float = inf
    state: State | None = None
    point: Point | None = None

    def after(self, problem: Problem, state: State, point: Point) -> tuple[BestInteriorPoint, bool]:
        """The best with a state and its point, and whether that gets anywhere."""
        unit = problem.gap_unit(state.value)
        gap = abs(state.value - state.lower) / unit
        infeasibility = problem.h.distance(state.Ax) / problem.infeasibility_unit
        error = max(gap, infeasibility)
        better = (
            ROUNDING < gap < BETTER * self.gap
            or ROUNDING < infeasibility < BETTER * self.infeasibility
            or state.lower > self.lower + HIGHER * max(unit, abs(self.lower))
        )
        found = replace(
            self,
            gap=min(gap, self.gap),
            infeasibility=min(infeasibility, self.infeasibility),
            lower=max(state.lower, self.lower),
        )
        if error < self.error:
            found = replace(found, error=error, state=state, point=point)
        return found, better


def _nanoseconds(A: Any, parts: tuple[ConeSlice, ...]) -> float:
    """Of the Schur complement, its factor, the products of matrices, and of the calls."""
    rows, columns = A.shape[0] + len(parts), sp.csc_array(A)
    total = FACTOR * rows**3 + WRITE * rows**2 + READ * A.nnz + CALLS
    end = 0
    for part in parts:
        begin, end = end, end + part.length
        if part.kind == "psd":
            owner = columns.indices[columns.indptr[begin] : columns.indptr[end]]
            counts = np.bincount(owner)
            counts = np.sort((counts[counts > 0] + 1) // 2)
            total += CALLS + PRODUCT * part.n**3 + plan(counts, part.n)[1]
    return float(total)


def _refuted(clash: Array, state: State) -> State:
    """The state with a bound that no feasible x could have: y goes far along the clash."""
    far = abs(state.value - state.lower) + FAR
    y = state.y - far * clash
    return replace(state, y=y, w=y, lower=state.lower + far)


def _shown(problem: Problem, path: Path, k: int) -> tuple[State, Point]:
    """The state of a place on the path, and its point."""
    form = path.form
    vector, point = form.point([place.point for place in path.places])
    f = problem.f
    Mx, Ax = np.array([form.cost @ vector]), form.matrix @ vector
    value, y = f.value(Mx), problem.h.dual_point(form.dual(path.y))
    # A bound that rounding takes away again is none: y may go to infinity.
    lower = path.lower - gamma(problem.A.terms + 8) * problem.X.max_norm * form.rounding(y)
    gap = value + float(y @ Ax) - lower - problem.h.conjugate(y)
    return State(k, Mx, Ax, y, y, None, value, gap, lower), point
