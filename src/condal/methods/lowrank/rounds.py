"""Rounds of the low-rank method: sweeps or trust region steps on R, then the dual and the rank.

A round minimises L_lam(R R', y) over R to a target residual. Its end moves the dual to the
multiplier, asks the oracle for the lowest eigenvectors of the gradient, and adds columns to R where
these promise a descent, or else cuts columns and lowers the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, normals_like, total_rows
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.methods.lowrank.columns import (
    MAX_NEW_NUMBERS,
    LowestEigenspace,
    cut,
    inverse_of,
    max_rank,
)
from condal.methods.lowrank.factored import (
    FORCING,
    FactoredLagrangian,
    FactorPoint,
    first_radius,
    least_scale_of,
    norm,
    residual_of,
    scale_of,
    step,
    surface_of,
)
from condal.methods.lowrank.surfaces import StiefelBlocks, UnitRows
from condal.methods.lowrank.sweeps import FIRST_OMEGA, Sweeps, next_omega
from condal.methods.state import State
from condal.runtime.meter import agreed, time_is_up

if TYPE_CHECKING:
    from condal.methods.lowrank.method import LowRankCGAL
    from condal.problem import Problem

CUT_RESIDUAL = 1e-3  # residual below which columns may be cut
CUT_EVERY = 10  # iterations of sweeps
CUT = 1e-3  # of the largest eigenvalue of x: smaller ones do not belong to the solution
SIGNIFICANT = 1.0  # ratio of the promised descent to the residual from which R grows
LACKING = 3.0  # the same ratio, from which a fixed rank is too small
PERSISTENT = 0.5  # of the promise of the round before: from this on, it does not fall with f
FRUITLESS = 0.01  # of the promised descent: less means that new columns did not help
FRESH_STEPS = 4
SETTLED = 1e-2  # of the target: a residual that new columns reach and no saddle does
SWEEPS = 10  # per iteration,
MAX_SWEEPS = 60  # at most: the first, and those that the target likely takes
SINGLE_RESIDUAL = 1e-3  # residual above which single precision is enough
SWEEP_PATIENCE = 100  # iterations in which sweeps halve the residual, or the trust region follows
PENALTY_FACTOR, MIN_DECREASE = 4, 0.3  # lam grows where infeasibility falls by less


@dataclass(frozen=True, eq=False)
class LowRankState:
    """R, the trust radius, the target residual, lam, and the infeasibility of the last round.

    `fresh` is the number of further steps that new columns get before the round may end: near a
    saddle the gradient is small and carries no information.
    """

    R: Array
    radius: float | None
    target: float
    lam: float
    infeasibility: float = inf
    fresh: int = 0
    hoped: tuple[float, float] | None = None  # value at the last growth, and the promised descent
    omega: float | None = FIRST_OMEGA  # of the sweeps; None once the trust region has taken over
    mark: tuple[float, int] = (inf, 0)  # a residual of the sweeps, and its age in iterations
    rate: float | None = None  # of the residual per sweep; None before the first of a start
    promised: float = inf  # the descent that the eigenvectors of the last round promised
    drawn: bool = False  # R is the first one, random: its residual is large, and not computed


class Rounds:
    """The point on the surface, the dual, and the steps that change them.

    The point is evaluated when it is first asked for: sweeps from a random R do not ask.
    """

    def __init__(self, method: LowRankCGAL, problem: Problem, state: State) -> None:
        self.method, self.problem = method, problem
        geometry, self.rows, layout = surface_of(problem)
        self.carry: LowRankState = state.carry
        self.y, self.w, self.s = state.y, state.w, state.s
        function = FactoredLagrangian(
            problem,
            geometry,
            self.rows is not None,
            layout,
            state.y,
            self.carry.lam,
            least_scale_of(problem),
            inverse_of(problem) if isinstance(geometry, StiefelBlocks) else None,
        )
        self._function, self._R = function, self.carry.R
        self._point: FactorPoint | None = None
        self.sweeps = None
        if isinstance(geometry, UnitRows) and problem.f.L == 0 and not time_is_up():
            V = problem.f.M.adjoint(problem.f.gradient(zeros_of(problem.f.M)))
            self.sweeps = Sweeps.of(V, geometry.squares) if isinstance(V, Symmetric) else None
        self.gap, self.lower = inf, -inf
        self.stuck = self.last = False

    @property
    def point(self) -> FactorPoint:
        """R, with the value and the derivatives there."""
        if self._point is None:
            self._point = self._function.at(self._R)
        return self._point

    @point.setter
    def point(self, point: FactorPoint) -> None:
        self._point, self._function, self._R = point, point.function, point.R

    @property
    def sweeping(self) -> bool:
        """Whether sweeps apply and still pay."""
        return self.sweeps is not None and self.carry.omega is not None

    def advance(self, k: int) -> None:
        """Sweep or descend; update the dual, and R at the end of a round."""
        if self.sweeping:
            self.sweep(k)
        else:
            self.descend()
        if self.settle():
            self.end_round()

    def sweep(self, k: int) -> None:
        """Sweep over the rows of R some times; cut columns now and then."""
        function, R, carry = self._function, self._R, self.carry
        assert self.sweeps is not None
        assert carry.omega is not None
        before = inf if carry.drawn else residual_of(self.point)
        # The gradient of the point is as large as R, and memory is short where n is large.
        self._point = None
        R, met = self.sweeps.relaxed(
            R,
            sweeps=_likely_sweeps(carry, before),
            omega=carry.omega,
            single=before > SINGLE_RESIDUAL,
            until=carry.target,
        )
        if k % CUT_EVERY == 0 and before <= CUT_RESIDUAL:
            R = function.geometry.on(cut(R, CUT))
        self.point = function.at(R)
        before = met.first if carry.drawn else before
        self.carry = _after_sweeps(carry, before, residual_of(self.point), met.sweeps)

    def descend(self) -> None:
        """Take one trust region step."""
        carry, point = self.carry, self.point
        radius = first_radius(point) if carry.radius is None else carry.radius
        target = SETTLED * carry.target if carry.fresh else carry.target
        moved = step(point.function, point, radius, _accuracy(point, target))
        self.point, self.stuck = moved.point, moved.stuck
        self.carry = replace(carry, radius=moved.radius, drawn=False)

    def settle(self) -> bool:
        """Update the multiplier and the fresh steps; return whether the round is over."""
        residual, carry = residual_of(self.point), self.carry
        fresh = 0 if residual <= SETTLED * carry.target else max(0, carry.fresh - 1)
        self.carry = replace(carry, fresh=fresh)
        self.gap, self.lower = inf, -inf
        self.last = self.stuck and fresh == 0
        if self.rows is not None:
            geometry = self.point.function.geometry
            assert isinstance(geometry, UnitRows | StiefelBlocks)
            self.y = self.w = -geometry.multipliers(self.point.shift) / self.rows
        return self.last or (residual <= carry.target and fresh == 0)

    def end_round(self) -> None:
        """Bound the optimum, move the dual to w, and grow or cut R for the next round."""
        problem, point, carry = self.problem, self.point, self.carry
        function, residual, scale = point.function, residual_of(point), scale_of(point)
        self.w = point.w if self.rows is None else self.w
        lowest = LowestEigenspace.of(problem, point, self.w, carry.target)
        self.y, self.gap, self.lower = self.w, lowest.gap, lowest.lower

        lam, infeasibility = carry.lam, problem.h.distance(point.Ax)
        if not function.eliminated and infeasibility > MIN_DECREASE * carry.infeasibility:
            lam *= PENALTY_FACTOR
        promised = lowest.promised / scale
        grows = promised > SIGNIFICANT * residual and self._can_grow()
        # Where f is curved, the promise may fall with f itself: at a fixed rank, two rounds tell.
        persists = promised > max(LACKING * residual, PERSISTENT * carry.promised)
        lacking = self.method.fixed_rank and persists and grows
        grows = grows and not self.method.fixed_rank
        function = replace(function, y=lowest.w, lam=lam)
        self.point = replace(point, function=function)
        self.carry = LowRankState(
            carry.R,
            carry.radius,
            carry.target,
            lam,
            infeasibility,
            omega=carry.omega,
            rate=carry.rate or 1.0,
            promised=promised,
        )
        if grows:
            self._grow(lowest.vectors, promised)
        else:
            target = residual * self._shrinkage(lowest.gap / scale)
            # Where V depends on x, cutting a column must not change V noticeably.
            least = CUT if function.eliminated and problem.f.L == 0 else CUT * target
            R = cut(point.R, least) if residual <= CUT_RESIDUAL else point.R
            if R is not point.R:
                self.point = function.at(function.geometry.on(R))
            elif not function.eliminated:  # else no dual or penalty changes the point
                self.point = function.at(R)
            self.carry = replace(self.carry, R=self.point.R, target=min(target, carry.target))
        self.last = lacking or (self.last and not grows and function.settled(self.point))

    def escape(self, refuting: Array) -> None:
        """Grow R along vectors of a failed proof, where the slack is negative on them.

        The oracle stops at a tolerance and may miss an eigenvalue in a cluster. The vectors belong
        to an earlier dual: the slack of this point decides what they promise.
        """
        point, (n, _) = self.point, self.point.R.shape
        if len(refuting) != n or not point.function.layout.alone:
            return
        image = point.function.layout.product(point.V, refuting)
        point.function.geometry.subtract(image, point.shift, refuting)
        values, turned = agreed(tuple(np.linalg.eigh(refuting.T @ image)))
        negative = values < 0
        promised = max(-float(values[0]), 0.0) * norm(point.R) ** 2 / scale_of(point)
        grows = promised > SIGNIFICANT * residual_of(point) and self._can_grow()
        if grows and not self.method.fixed_rank:
            self._grow(refuting @ turned[:, negative], promised)

    def _grow(self, vectors: Array, promised: float) -> None:
        """Continue from R with new columns, which get some steps before the round may end."""
        function, carry, residual = self.point.function, self.carry, residual_of(self.point)
        R = self._grown(self.point.R, vectors, promised)
        self.point = function.at(function.geometry.on(R))
        self.carry = replace(
            carry,
            R=self.point.R,
            radius=first_radius(self.point),
            target=min(max(residual, promised / 10), carry.target),
            fresh=FRESH_STEPS,
            hoped=(self.point.value, 0.5 * promised * scale_of(self.point)),
        )

    def state(self, k: int) -> State:
        """Return the state after iteration k."""
        self.carry = carry = replace(self.carry, R=self.point.R)
        Mx, Ax, value = self.point.Mx, self.point.Ax, self.problem.f.value(self.point.Mx)
        bound = value, self.gap, self.lower
        return State(
            k, Mx, Ax, self.y, self.w, self.s, *bound, carry.lam, carry=carry, last=self.last
        )

    def _can_grow(self) -> bool:
        """Whether R has room for more columns, and the last new columns helped."""
        hoped, value = self.carry.hoped, self.point.value
        fruitless = hoped is not None and hoped[0] - value < FRUITLESS * hoped[1]
        return not fruitless and max_rank(self.problem) > self.point.R.shape[1]

    def _grown(self, R: Array, vectors: Array, promised: float) -> Array:
        """Append eigenvectors to R, and random columns where memory allowed too few of them."""
        n, rank = total_rows(R), R.shape[1]
        most = min(max(2, rank // 2), max_rank(self.problem) - rank)
        known = vectors.shape[1]
        more = max(0, most // 2 - known) if MAX_NEW_NUMBERS // n < most // 2 else 0
        random = normals_like(R, [self.method.seed, known], more) / sqrt(n)
        new = np.hstack([vectors, random])[:, :most]
        new *= min(0.3, sqrt(promised)) * norm(R) / sqrt(n)
        return np.hstack([R, new])

    def _shrinkage(self, gap: float) -> float:
        """The next target over the residual; the gap falls about as the residual does."""
        aim = self.method.aim
        if aim is None or not gap > 0:
            return 0.5
        return min(0.7, max(0.1, 0.7 * aim / gap))


def _likely_sweeps(carry: LowRankState, residual: float) -> int:
    """The sweeps that likely reach the target: a product that measures the residual takes longer
    than some sweeps."""
    rate = carry.rate
    if rate is None:
        return MAX_SWEEPS
    if not rate < 1 or residual <= carry.target:
        return SWEEPS
    likely = ceil(log(carry.target / residual) / log(rate))
    return max(SWEEPS, min(MAX_SWEEPS, likely))


def _after_sweeps(carry: LowRankState, before: float, residual: float, sweeps: int) -> LowRankState:
    """The omega of the next sweeps; None where they no longer pay."""
    assert carry.omega is not None
    rate = (residual / max(before, TINY)) ** (1 / sweeps)
    omega = next_omega(carry.omega, rate)
    best, age = carry.mark
    mark = (residual, 0) if residual <= 0.5 * best else (best, age + 1)
    omega_or_end = None if mark[1] >= SWEEP_PATIENCE else omega
    return replace(carry, omega=omega_or_end, mark=mark, rate=rate, drawn=False)


def _accuracy(point: FactorPoint, target: float) -> float:
    """The residual at which a subproblem is solved: smaller near the end, but not below target."""
    residual = residual_of(point)
    relative = max(min(FORCING, sqrt(residual)), 0.3 * target / max(residual, TINY))
    return norm(point.gradient) * min(relative, FORCING)
