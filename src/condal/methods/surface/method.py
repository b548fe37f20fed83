"""Newton's method for min <C, x>, l <= A(x) <= u, x psd of bounded trace, over x = R R'."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, dense
from condal.methods.preconditions import require_linear, require_spectral
from condal.methods.state import State, Warm
from condal.methods.surface.newton import (
    CLEARLY_FEASIBLE,
    FEASIBLE,
    Surface,
    SurfacePoint,
    newton_step,
)
from condal.methods.surface.oracle import SlackSpectrum
from condal.methods.surface.rank_policy import RankPolicy
from condal.methods.surface.rows import SurfaceRows, cost_of, point_of_factor
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_LANDING_STEPS = 60  # from the first point, which may be far from the surface,
LANDING_STEPS = 5  # and of these, in one iteration
FIRST_RADIUS = 0.3  # of |R|
LEAST_RADIUS = 1e-9
LOOK_RESIDUAL = 1e-4  # below this residual each step is followed by a look at the oracle
LOOK_EVERY = 6  # accepted steps
MAX_IDLE_LOOKS = 25  # looks in which the gap halves, or the method ends
LEAST_VALUE = 1e-5  # of a normalised objective, for gaps: smaller ones count as 0
ORACLE_SHARE = 0.1  # of the residual: the accuracy of the oracle
ROOM = 1.3  # n r over the number of rows, at least
MAX_BYTES = 2 * 2**30  # of the vectors of the method
VECTORS = 12  # of the size of R, at the peak
# Seconds of a run to 1e-6, fitted to benchmarks/results/crossover.json; to 1e-3 it takes 3/4.
CALLS = 0.14
COUPLING_SECONDS = 1.1e-5  # per entry of J J'
ENTRY_SECONDS = 2.4e-5  # per entry of R


@dataclass(frozen=True, eq=False)
class SurfaceState:
    """R, a multiplier near that of R, the trust radius, and the policy of the rank.

    `steps` counts the accepted steps since the last call of the oracle.
    """

    R: Array
    near: Array
    radius: float
    policy: RankPolicy
    steps: int = 0
    best: tuple[float, int] = (inf, 0)  # a gap, and the looks at the oracle since it was halved
    landed: bool = False  # whether R is on the surface
    landing: int = 0  # the Gauss-Newton steps towards it so far
    reason: str = ""  # why the method ended


@dataclass(frozen=True)
class LowRankNewton:
    r"""Newton's method over the factors of feasible points.

    Minimise :math:`\langle C, R R^\top \rangle` over the surface
    :math:`\{R : A(R R^\top) = b\}`, in which the trace is one more row, and a bound is a row with
    the square of a slack. The multipliers are those of least squares, a trust region limits the
    steps, and Gauss-Newton steps lead back to the surface. The smallest eigenvectors of
    :math:`S = C - A^\top y` bound the optimum and become new columns; columns are cut by
    complementarity.

    Parameters
    ----------
    rank : int or None
        The initial number of columns; None for a choice by the number of rows.
    seed : int
        The seed of the first R.
    aim : float or None
        The relative gap that is asked for, if known: at this gap R is not changed any more.

    Examples
    --------
    >>> import condal, networkx
    >>> model = condal.problems.theta(networkx.cycle_graph(5))
    >>> result = condal.solve(model, condal.methods.LowRankNewton(), tol=1e-6)
    >>> print(f"{result.objective:.4f}")
    2.2361
    """

    name: ClassVar[str] = "newton"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    seed: int = 0
    aim: float | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            require_whole(self.rank, "rank")
        if self.aim is not None:
            require_positive(self.aim, "aim")
        require_whole(self.seed, "seed", least=0)

    def seconds(self, problem: Problem) -> float:
        """Estimate the seconds of a run on one core.

        The estimate is inf if the problem is not one of a surface, J J' is not sparse, or the
        vectors do not fit.
        """
        rows = SurfaceRows.of(problem)
        if rows is None or not rows.sparse:
            return inf
        rank = self.first_rank(rows)
        entries = rows.height(rank) * rank
        room = entries - rank * (rank - 1) // 2
        if room <= rows.b.size or VECTORS * 8 * entries > MAX_BYTES:
            return inf
        return CALLS + COUPLING_SECONDS * rows.couplings + ENTRY_SECONDS * entries

    def reduces(self, problem: Problem) -> bool:
        """Whether the problem has no interior, and the method works on a face of the psd cone."""
        rows = SurfaceRows.of(problem)
        return rows is not None and rows.null.size > 0

    def first_rank(self, rows: SurfaceRows) -> int:
        """About sqrt(2 m), the largest rank needed, but no more than memory and time allow.

        Fewer columns do where no two rows share a row of x, as for diag x = b.
        """
        n, m = rows.n, rows.b.size
        needed = ceil(ROOM * m / n) + 1
        usual = min(ceil(sqrt(2 * m)), ceil((20 if rows.couplings > m else 5) * n**0.2))
        return min(n, self.rank or max(needed, usual))

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of a random R, or of a factor of the point of `warm`."""
        require_spectral(problem, "Newton's method")
        require_linear(problem, "Newton's method")
        rows = SurfaceRows.of(problem)
        if rows is None or not rows.solvable:
            raise ProblemError(
                "Newton's method needs bounds on sparse rows: got others; use condal.CGAL()"
            )
        rank = self.first_rank(rows)
        R = np.random.default_rng(self.seed).standard_normal((rows.n, rank))
        R /= np.linalg.norm(R)
        if warm is not None and warm.x is not None:
            R = _warm_factor(problem, warm, R)
        R = rows.with_slacks(R)
        state = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k))
        near = np.append(rows.unfolded(-state.y), np.zeros(rows.b.size - rows.size))
        carry = SurfaceState(np.ascontiguousarray(R), near, FIRST_RADIUS, RankPolicy(rows.n))
        return replace(state, k=0 if warm is None else warm.k, carry=carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each step; end where no progress is possible."""
        state = start or self.start(problem)
        if state.last:
            return
        rows = SurfaceRows.of(problem)
        assert rows is not None
        run = _Run(self, problem, Surface(rows, cost_of(problem)), state.carry)
        for k in count(state.k + 1):
            run.advance()
            state = run.state(k, state)
            x.load(run.shown)  # last: an interrupted iteration leaves x unchanged
            yield state
            if state.last:
                return


class _Run:
    """The point on the surface and the steps that change it."""

    def __init__(
        self, method: LowRankNewton, problem: Problem, surface: Surface, carry: SurfaceState
    ) -> None:
        self.method, self.problem, self.surface, self.carry = method, problem, surface, carry
        self.point = SurfacePoint(surface, carry.R, carry.near)
        self.gap, self.lower = inf, -inf
        self.shown = self._point()
        self.w: Array | None = None

    def advance(self) -> None:
        """Land on the surface, or take a Newton step, and ask the oracle if it is due."""
        carry, self.gap, self.lower = self.carry, inf, -inf
        if not carry.landed:
            self._land()
            return
        step = newton_step(self.point, carry.radius)
        self.point = step.point
        steps = carry.steps + step.accepted
        stuck = step.stuck or step.radius < LEAST_RADIUS
        carry = replace(
            carry, R=self.point.R, near=self.point.near, radius=step.radius, steps=steps
        )
        if self.point.gram.failed:
            stuck, carry = True, replace(carry, reason="the rows are dependent at x")
        elif stuck:
            carry = replace(carry, reason="rounding hides any progress")
        self.carry, self.shown = carry, self._point()
        folded = self.surface.rows.folded(self.point.multiplier)
        self.w = self.problem.h.dual_point(-folded)
        due = step.accepted and self.point.residual <= LOOK_RESIDUAL
        if due or stuck or steps >= LOOK_EVERY:
            self._look(stuck)

    def _land(self) -> None:
        """Take some steps towards the surface; the point that is shown waits for the last."""
        before = float(np.linalg.norm(self.surface.residual(self.carry.R)))
        R, size = self.surface.approached(self.carry.R, most=LANDING_STEPS)
        carry = replace(self.carry, R=R, landing=self.carry.landing + LANDING_STEPS)
        # Far away the residual falls by about as much each time.
        left = MAX_LANDING_STEPS - carry.landing
        ended = left * (before - size) < LANDING_STEPS * size
        if size <= FEASIBLE or (ended and size <= CLEARLY_FEASIBLE):
            self.carry = replace(carry, landed=True)
            self.point = SurfacePoint(self.surface, R, carry.near)
            self.shown = self._point()
        elif ended:
            reason = "no point of the surface was found near the first one"
            self.carry = replace(carry, reason=reason)
        else:
            self.carry = carry

    def _look(self, stuck: bool) -> None:
        """Bound the optimum, then cut and grow R."""
        point, carry = self.point, self.carry
        unit = max(abs(point.value), LEAST_VALUE)
        tol = ORACLE_SHARE * min(point.residual, 1e-2) * unit
        if self.method.aim is not None:
            tol = max(tol, 0.05 * self.method.aim * unit)
        spectrum = SlackSpectrum.of(self.problem, point, tol)
        self.gap, self.lower, self.w = spectrum.gap, spectrum.lower, spectrum.w
        gap, policy = spectrum.gap / unit, carry.policy
        best, age = carry.best
        carry = replace(carry, steps=0, best=(gap, 0) if gap <= 0.5 * best else (best, age + 1))
        if carry.best[1] >= MAX_IDLE_LOOKS:
            self.carry = replace(carry, reason="the gap does not fall")
            return
        if self.method.aim is not None and gap <= 0.5 * self.method.aim:
            self.carry = carry
            return
        kept = policy.kept(spectrum.squares, spectrum.curvatures, float(spectrum.values[0]), gap)
        residual = 0.0 if stuck else point.residual
        grown = policy.grown(spectrum.values, int(kept.sum()), gap, residual)
        before = self.surface.rows.slacks(point.R)
        slacks = policy.opened(before, point.slack_values, gap)
        if not grown and kept.all() and slacks is before:
            self.carry = carry
            return
        roots = np.sqrt(spectrum.squares[kept])
        new = spectrum.vectors[:, :grown] * policy.column_norm(gap)
        R = np.hstack([spectrum.axes[:, kept] * roots, new])
        R = self.surface.rows.joined(R, slacks)
        moved = self.surface.retracted(R)
        if moved is None:
            self.carry = carry
            return
        policy = policy if kept.all() else policy.after_cut(gap)
        self.point = SurfacePoint(self.surface, moved, point.multiplier)
        radius = max(carry.radius, sqrt(max(gap, 0.0))) if grown else carry.radius
        reason = "" if grown else carry.reason
        self.carry = replace(
            carry,
            R=moved,
            near=point.multiplier,
            radius=radius,
            policy=policy,
            reason=reason,
        )

    def state(self, k: int, before: State) -> State:
        """The state after iteration k."""
        problem = self.problem
        Mx, Ax = problem.f.M(self.shown), problem.A(self.shown)
        w = before.w if self.w is None else self.w
        bound = problem.f.value(Mx), self.gap, self.lower
        last = self.carry.reason != ""
        return State(k, Mx, Ax, w, w, None, *bound, carry=self.carry, last=last)

    def _point(self) -> LowRank:
        X = self.problem.X
        assert isinstance(X, Spectral)
        return point_of_factor(X, self.point.R[: X.n])


def _warm_factor(problem: Problem, warm: Warm, random: Array) -> Array:
    """A factor of the point of `warm`, with small random columns up to the rank of `random`."""
    X, x = problem.X, warm.x
    assert isinstance(X, Spectral)
    assert not isinstance(x, tuple)
    assert x is not None
    if isinstance(x, LowRank):
        axes, roots, _ = np.linalg.svd(x.factor(), full_matrices=False)
    else:
        values, axes = np.linalg.eigh(dense(x))
        axes, roots = axes[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))
    width = min(max(random.shape[1], int((roots > 1e-7 * roots.max(initial=0.0)).sum())), X.n)
    R = np.zeros((X.n, width))
    used = min(width, roots.size)
    R[:, :used] = axes[:, :used] * (roots[:used] / sqrt(X.trace))
    noise = np.random.default_rng(len(R)).standard_normal(R.shape)
    R += 1e-3 * noise / np.linalg.norm(noise)
    return R
