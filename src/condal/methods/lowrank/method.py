"""The low-rank corrective step: L_lam(R R', y) minimised over R, and the oracle to leave a saddle.

CGAL's fully corrective step for spectral domains, over all x = R R' of the rank of R instead of
the hull of the atoms (Burer and Monteiro 2003 for the factorisation). A round minimises over R by
a trust region, moves the dual to the multiplier, and asks the oracle for the smallest eigenvalues
of the gradient: these bound the optimum, and where they are too small their eigenvectors become
new columns. The oracle is what makes it a convex method. Where diag x = b is all of A, sweeps over
the rows of R (`relaxation`) take the place of the trust region for as long as they pay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, inf, log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.lagrangian import require_penalty
from condal.methods.lowrank.factor_layout import Layout
from condal.methods.lowrank.factored import (
    FactoredLagrangian,
    FactorPoint,
    residual_of,
    scale_of,
    surface_of,
)
from condal.methods.lowrank.geometry import UnitRows
from condal.methods.lowrank.initial_factor import first_atoms
from condal.methods.lowrank.lowest_eigenspace import MOST_NEW, LowestEigenspace
from condal.methods.lowrank.trust_region import FORCING, first_radius, norm, step
from condal.methods.preconditions import require_blocks
from condal.methods.projection.relaxation import FIRST_OMEGA, Sweeps, next_omega
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Keeps, Storage, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem

FIRST_TARGET = 1e-2  # the residual of the first round
FIRST_AIMED = 3e-3  # the same, where a gap below FIRST_TARGET is aimed at
SOONEST_CUT = 1e-3  # residual below which columns may be cut
CUT_EVERY = 10  # iterations of sweeps
CUT = 1e-3  # of the largest eigenvalue of x: smaller ones are not of the solution
SIGNIFICANT = 1.0  # how much more than the residual a negative eigenvalue must promise
FRESH_STEPS = 4
SETTLED = 1e-2  # of the residual aimed at: what new columns lead to, but no saddle does
SWEEPS = 10  # an iteration of them
SINGLE = 1e-3  # residual above which single precision tells all that is to be told
PATIENCE = 100  # iterations in which sweeps halve the residual, or the trust region takes over
VECTORS = 12  # of the size of R, at the worst moment of the trust region
SWEPT_VECTORS = 5  # and of the sweeps
TINY = 1e-300
MAX_BYTES = 4 * 2**30  # what they may take, for the method to be chosen by itself


@dataclass(frozen=True, eq=False)
class LowRankState:
    """R, the trust radius, the residual aimed at, lam, and the last round's infeasibility.

    `fresh` is how many more steps new columns are given before the round may end: beside a saddle
    the gradient is small, and says nothing.
    """

    R: Array
    radius: float | None
    target: float
    lam: float
    infeasibility: float = inf
    fresh: int = 0
    hoped: tuple[float, float] | None = None  # the value at the last growth, and what it promised
    omega: float | None = FIRST_OMEGA  # of the sweeps; None once the trust region has taken over
    mark: tuple[float, int] = (inf, 0)  # a residual of the sweeps, and how many iterations ago


@dataclass(frozen=True)
class LowRankCGAL:
    """minimise f(x) + h(Ax) over x = R R' in a spectral domain, the oracle to leave saddles by.

    Constraints diag x = b are kept exactly, all others by the augmented Lagrangian. An iteration is
    some sweeps over the rows of R, or one step of the trust region; those that end a round carry a
    bound.

    Parameters
    ----------
    rank : columns to begin with; None for 4 log n + n^(1/4).
    lam : the penalty to begin with, on the normalised problem.
    seed : of the first R.
    aim : the relative gap that is asked for, if it is known: a round ends where it is expected.
    """

    name: ClassVar[str] = "lowrank"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    lam: float = 1.0
    seed: int = 0
    aim: float | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            require_whole(self.rank, "rank")
        if self.aim is not None:
            require_positive(self.aim, "aim")
        require_penalty(self.lam, "lam")
        require_whole(self.seed, "seed", least=0)

    def suits(self, problem: Problem) -> bool:
        """Whether the surface takes care of every constraint, and the method's vectors fit."""
        if spectral_parts(problem.X) is None or problem.f.L > 0:
            return False
        return surface_of(problem)[1] is not None and self.fits(problem)

    def fits(self, problem: Problem) -> bool:
        """Whether the method's vectors do."""
        return self.bytes(problem) <= MAX_BYTES

    def bytes(self, problem: Problem) -> int:
        """What its vectors take at the worst moment, if the rank does not grow."""
        if spectral_parts(problem.X) is None:
            return 0  # `start` says that it does not apply
        C = problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size)))
        swept = isinstance(C, Symmetric) and C.factorable
        vectors, layout = SWEPT_VECTORS if swept else VECTORS, Layout.of(problem)
        return vectors * 8 * layout.height * self._first_rank(problem, layout)

    def _first_rank(self, problem: Problem, layout: Layout) -> int:
        """4 log n + n^(1/4), and no more than is ever needed: measured, to be rather too many."""
        n = max(block.X.n for block in layout.blocks)
        expected = self.rank or problem.rank or ceil(4 * log(n) + n**0.25)
        return min(n, self._most(problem), expected)

    def _most(self, problem: Problem) -> int:
        """More columns than some solution has, and than a minimum that is not global can have."""
        return ceil(sqrt(2 * (problem.A.size + problem.f.M.size))) + 2

    def _columns(self, vectors: Array, most: int) -> Array:
        """New columns: the eigenvectors, and random ones where memory allowed too few of them."""
        n, found = vectors.shape
        more = max(0, most // 2 - found) if MOST_NEW // n < most // 2 else 0
        random = np.random.default_rng([self.seed, found]).standard_normal((n, more)) / sqrt(n)
        return np.hstack([vectors, random])[:, :most]

    def _shrink(self, gap: float) -> float:
        """How much smaller the next round's residual is to be: the gap falls about as it does."""
        if self.aim is None or not gap > 0:
            return 0.5
        return min(0.7, max(0.1, 0.7 * self.aim / gap))

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """A random R, or a factor of the point of `warm`, and its dual."""
        require_blocks(problem, "the low-rank method")
        geometry, _, layout = surface_of(problem)
        rank = self._first_rank(problem, layout)
        R = np.random.default_rng(self.seed).standard_normal((layout.height, rank))
        if warm is not None and warm.x is not None:
            found = layout.factor(warm.x)
            R = R if found is None else found  # of x = 0 there is nothing to begin from
        elif problem.f.L > 0:
            R = first_atoms(problem, layout, R)
        state = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k))
        state = replace(state, k=0 if warm is None else warm.k)
        close = self.aim is not None and self.aim < FIRST_TARGET
        target = FIRST_AIMED if close else FIRST_TARGET
        return replace(state, own=LowRankState(geometry.on(R), None, target, self.lam))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after some sweeps or a trust region step; end where rounding stops it."""
        state = start or self.start(problem)
        if state.last:
            return
        geometry, rows, layout = surface_of(problem)
        own, y, w, s = state.own, state.y, state.w, state.s
        function = FactoredLagrangian(problem, geometry, rows is not None, layout, y, own.lam)
        place = function.at(own.R)
        radius = first_radius(place) if own.radius is None else own.radius
        sweeps = None
        if isinstance(geometry, UnitRows) and isinstance(place.V, Symmetric) and problem.f.L == 0:
            sweeps = Sweeps.of(place.V, geometry.squares)

        ks = count(state.k + 1)
        del state, start  # they hold the first R
        for k in ks:
            gap, lower, stuck = inf, -inf, False
            if sweeps is not None and own.omega is not None:
                R, before = place.R, residual_of(place)
                del place  # its gradient is as large as R: memory is short where n is large
                R = sweeps.relaxed(R, sweeps=SWEEPS, omega=own.omega, single=before > SINGLE)
                if k % CUT_EVERY == 0 and before <= SOONEST_CUT:
                    R = function.geometry.on(_cut(R, CUT))
                place = function.at(R)
                own = _swept(own, before, residual_of(place))
            else:
                enough = _enough(place, SETTLED * own.target if own.fresh else own.target)
                moved = step(function, place, radius, enough)
                place, radius, stuck = moved.place, moved.radius, moved.stuck
            settled = residual_of(place) <= SETTLED * own.target  # far beyond any saddle
            own = replace(own, fresh=0 if settled else max(0, own.fresh - 1))
            ended = stuck and own.fresh == 0
            if rows is not None:
                y = w = -place.shift.reshape(rows.size, -1)[:, 0] / rows
            if ended or (residual_of(place) <= own.target and own.fresh == 0):
                w = place.w if rows is None else w
                bottom = LowestEigenspace.of(problem, place, w, own.target)
                gap, lower = bottom.gap, bottom.lower
                y = w
                place, own, radius = self._next_round(function, place, bottom, own, radius)
                function = place.function
                ended = ended and own.fresh == 0 and function.settled(place)
            own = replace(own, R=place.R, radius=radius)
            value = problem.f.value(place.Mx)
            Mx, Ax = place.Mx, place.Ax
            x.load(place.x)  # last: an iteration that is given up leaves x where it was
            yield State(k, Mx, Ax, y, w, s, value, gap, lower, own.lam, own=own, last=ended)
            if ended:
                return

    def _next_round(
        self,
        function: FactoredLagrangian,
        place: FactorPoint,
        bottom: LowestEigenspace,
        own: LowRankState,
        radius: float,
    ) -> tuple[FactorPoint, LowRankState, float]:
        """Where the next round begins: with more columns, fewer, or the same and a lower target."""
        problem, R, residual = function.problem, place.R, residual_of(place)
        infeasibility = problem.h.distance(place.Ax)
        lam = own.lam
        if not function.eliminated and infeasibility > 0.3 * own.infeasibility:
            lam *= 4
        promised = bottom.promised / scale_of(place)
        fruitless = own.hoped is not None and own.hoped[0] - place.value < 0.01 * own.hoped[1]
        room = self._most(problem) - R.shape[1]
        grown = promised > SIGNIFICANT * residual and not fruitless and room > 0
        if grown:
            new = self._columns(bottom.vectors, min(max(2, R.shape[1] // 2), room))
            new *= min(0.3, sqrt(promised)) * norm(R) / sqrt(len(R))
            R = np.hstack([R, new])
            target = max(residual, promised / 10)
        else:
            target = residual * self._shrink(bottom.gap / scale_of(place))
            if residual <= SOONEST_CUT:
                # Where V depends on x, a column that is cut must not be felt.
                R = _cut(R, CUT if function.eliminated and problem.f.L == 0 else CUT * target)
        function = replace(function, y=bottom.w, lam=lam)
        changed = R is not place.R
        place = function.at(function.geometry.on(R) if changed else R)
        radius = first_radius(place) if grown else radius
        fresh = FRESH_STEPS if grown else 0
        hoped = (place.value, 0.5 * promised * scale_of(place)) if grown else None
        target = min(target, own.target)
        own = LowRankState(place.R, radius, target, lam, infeasibility, fresh, hoped, own.omega)
        return place, own, radius


def _swept(own: LowRankState, before: float, residual: float) -> LowRankState:
    """The omega of the next sweeps; None where they no longer pay."""
    assert own.omega is not None
    omega = next_omega(own.omega, (residual / max(before, TINY)) ** (1 / SWEEPS))
    mark = (residual, 0) if residual <= 0.5 * own.mark[0] else (own.mark[0], own.mark[1] + 1)
    return replace(own, omega=None if mark[1] >= PATIENCE else omega, mark=mark)


def _enough(place: FactorPoint, target: float) -> float:
    """How far a subproblem is solved: further at the end, and no further than is aimed at."""
    residual = residual_of(place)
    close = max(min(FORCING, sqrt(residual)), 0.3 * target / max(residual, TINY))
    return norm(place.gradient) * min(close, FORCING)


def _cut(R: Array, least: float) -> Array:
    """R in its principal axes, without those below `least` of the largest; R if all count."""
    values, vectors = np.linalg.eigh(R.T @ R)
    kept = values > least * values[-1]
    return R if kept.all() else np.asarray(R @ vectors[:, kept])
