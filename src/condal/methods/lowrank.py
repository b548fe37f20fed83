"""The low-rank corrective step: L_lam(R R', y) minimised over R, and the oracle to leave a saddle.

CGAL's fully corrective step for spectral domains, over all x = R R' of the rank of R instead of
the hull of the atoms (Burer and Monteiro 2003 for the factorisation). A round minimises over R by
a trust region, moves the dual to the multiplier, and asks the oracle for the smallest eigenvalues
of the gradient: these bound the optimum, and where they are too small their eigenvectors become
new columns. The oracle is what makes it a convex method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, inf, log, sqrt
from typing import ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.methods.factored import FactoredLagrangian, Place, residual_of, scale_of, surface_of
from condal.methods.trust_region import FORCING, first_radius, norm, step
from condal.operators import Symmetric, add
from condal.points import (
    Array,
    LowRank,
    Point,
    dense,
    require_positive,
    require_whole,
)
from condal.problem import Problem
from condal.state import State, Warm
from condal.types import Keeps, Spectral, Storage

FIRST_TARGET = 1e-2  # the residual of the first round
SOONEST_CUT = 1e-3  # residual below which columns may be cut
CUT = 1e-5  # of the largest eigenvalue of x: smaller ones are not of the solution
SIGNIFICANT = 3.0  # how much more than the residual a negative eigenvalue must promise
FRESH_STEPS = 4
VECTORS = 12  # of the size of R, at the worst moment
MAX_BYTES = 4 * 2**30  # what they may take, for the method to be chosen by itself


@dataclass(frozen=True, eq=False)
class Own:
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


@dataclass(frozen=True)
class LowRankCGAL:
    """minimise f(x) + h(Ax) over x = R R' in a spectral domain, with the lmo to prove it.

    Constraints diag x = b are kept exactly, all others by the augmented Lagrangian. An iteration is
    one step of the trust region; those that end a round carry a bound.

    Parameters
    ----------
    rank : columns to begin with; None for 2 log n.
    lam : the penalty to begin with, on the normalised problem.
    seed : of the first R.
    """

    name: ClassVar[str] = "lowrank"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    lam: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rank is not None:
            require_whole(self.rank, "rank")
        require_positive(self.lam, "lam")
        require_whole(self.seed, "seed", least=0)

    def suits(self, problem: Problem) -> bool:
        """Whether the surface takes care of every constraint, and the method's vectors fit."""
        if not isinstance(problem.X, Spectral) or problem.f.L > 0:
            return False
        return surface_of(problem)[1] is not None and self.bytes(problem) <= MAX_BYTES

    def bytes(self, problem: Problem) -> int:
        """What its vectors take at the worst moment, if the rank does not grow."""
        assert isinstance(problem.X, Spectral)
        return VECTORS * 8 * problem.X.n * self._first_rank(problem, problem.X)

    def _first_rank(self, problem: Problem, X: Spectral) -> int:
        """2 log n, and no more than is ever needed."""
        return min(X.n, self._most(problem), self.rank or ceil(2 * log(X.n)) + 2)

    def _most(self, problem: Problem) -> int:
        """More columns than some solution has, and than a minimum that is not global can have."""
        return ceil(sqrt(2 * (problem.A.size + problem.f.M.size))) + 2

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """A random R, or a factor of the point of `warm`, and its dual."""
        X = problem.X
        if not isinstance(X, Spectral):
            raise ProblemError(
                "the low-rank method needs a spectral domain, such as condal.Spectrahedron(n): "
                "this problem has another; use condal.CGAL()"
            )
        geometry, _, slack = surface_of(problem)
        rank = self._first_rank(problem, X)
        R = np.random.default_rng(self.seed).standard_normal((X.n + slack, rank))
        if warm is not None and warm.x is not None:
            R = _factor(warm.x)
            if slack:
                left = sqrt(max(X.trace - float(np.vdot(R, R)), 0.0))
                R = np.vstack([R, np.eye(1, R.shape[1]) * left])
        state = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k))
        return replace(state, own=Own(geometry.on(R), None, FIRST_TARGET, self.lam))

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each step of the trust region; end where rounding stops it."""
        geometry, rows, slack = surface_of(problem)
        state = start or self.start(problem)
        own, y, w, s = state.own, state.y, state.w, state.s
        function = FactoredLagrangian(problem, geometry, rows is not None, slack, y, own.lam)
        place = function.at(own.R)
        radius = first_radius(place) if own.radius is None else own.radius

        for k in count(state.k + 1):
            moved = step(function, place, radius, _enough(place, 0.0 if own.fresh else own.target))
            place, radius, gap, lower = moved.place, moved.radius, inf, -inf
            own = replace(own, fresh=max(0, own.fresh - 1))
            ended = moved.stuck and own.fresh == 0
            if rows is not None:
                y = w = -place.shift / rows
            if ended or (residual_of(place) <= own.target and own.fresh == 0):
                w = place.w if rows is None else w
                bottom = _Bottom.of(problem, place, w, own.target)
                gap, lower = bottom.gap, bottom.lower
                y = w
                place, own, radius = self._next_round(function, place, bottom, own, radius)
                function = place.function
                ended = ended and own.fresh == 0 and function.settled(place)
            x.load(place.x)
            value = problem.f.value(place.Mx)
            yield State(
                k,
                place.Mx,
                place.Ax,
                y,
                w,
                s,
                value,
                gap,
                lower,
                own.lam,
                own=replace(own, R=place.R, radius=radius),
            )
            if ended:
                return

    def _next_round(
        self, function: FactoredLagrangian, place: Place, bottom: _Bottom, own: Own, radius: float
    ) -> tuple[Place, Own, float]:
        """Where the next round begins: with more columns, fewer, or the same and a lower target."""
        problem, R, residual = function.problem, place.R, residual_of(place)
        infeasibility = problem.h.distance(place.Ax)
        lam = own.lam
        if not function.eliminated and infeasibility > 0.3 * own.infeasibility:
            lam *= 4
        promised = -bottom.curvature * norm(place.x.U) ** 2 / scale_of(place)
        fruitless = own.hoped is not None and own.hoped[0] - place.value < 0.01 * own.hoped[1]
        room = self._most(problem) - R.shape[1]
        grown = promised > SIGNIFICANT * residual and not fruitless and room > 0
        if grown:
            width = min(max(2, R.shape[1] // 3), room)
            new = bottom.vectors[:, :width] * (min(0.3, sqrt(promised)) * norm(R) / sqrt(len(R)))
            R = np.hstack([R, function.padded(new)])
            target = max(residual, promised / 10)
        else:
            target = residual / 10
            if residual <= SOONEST_CUT:
                R = _cut(R)
        function = replace(function, y=bottom.w, lam=lam)
        changed = R is not place.R
        place = function.at(function.geometry.on(R) if changed else R)
        radius = first_radius(place) if grown else radius
        fresh = FRESH_STEPS if grown else 0
        hoped = (place.value, 0.5 * promised * scale_of(place)) if grown else None
        own = Own(place.R, radius, min(target, own.target), lam, infeasibility, fresh, hoped)
        return place, own, radius


@dataclass(frozen=True, eq=False)
class _Bottom:
    """The smallest eigenvectors of v = grad f + A'w, and what they say of the optimum.

    `curvature` is the smallest eigenvalue less the multiplier of the trace: negative at a saddle.
    """

    w: Array
    vectors: Array
    curvature: float
    gap: float
    lower: float

    @classmethod
    def of(cls, problem: Problem, place: Place, w: Array, target: float) -> _Bottom:
        X, f = problem.X, problem.f
        assert isinstance(X, Spectral)
        v = add(f.M.adjoint(place.g), problem.A.adjoint(w))
        assert isinstance(v, Symmetric)
        tol = 0.1 * target * scale_of(place) / X.size
        values, vectors = X.lowest(v, max(2, place.R.shape[1] // 3), tol)
        level = v.quadratic(place.x) / X.size
        # <v, x> / size is a Rayleigh quotient too: where the oracle found no smaller one, it errs.
        least = X.size * min(float(values[0]), level) - X.size * tol
        if X.at_most:
            least, level = min(least, 0.0), min(level, 0.0)
        value, price = f.value(place.Mx), float(w @ place.Ax) - problem.h.conjugate(w)
        lower = value - float(place.g @ place.Mx) + least - problem.h.conjugate(w)
        useful = values < level
        return cls(
            w, vectors[:, useful], min(float(values[0]) - level, 0.0), value + price - lower, lower
        )


def _enough(place: Place, target: float) -> float:
    """How far a subproblem is solved: further at the end, and no further than is aimed at."""
    residual = residual_of(place)
    close = max(min(FORCING, sqrt(residual)), 0.3 * target / max(residual, 1e-300))
    return norm(place.gradient) * min(close, FORCING)


def _cut(R: Array) -> Array:
    """R in its principal axes, without the columns of no account; R itself if all count."""
    values, vectors = np.linalg.eigh(R.T @ R)
    kept = values > CUT * values[-1]
    return R if kept.all() else np.asarray(R @ vectors[:, kept])


def _factor(x: Point) -> Array:
    """R with x = R R', in its principal axes, without the columns of no account."""
    if isinstance(x, LowRank):
        U, roots, _ = np.linalg.svd(x.factor(), full_matrices=False)
    else:
        values, U = np.linalg.eigh(dense(x))
        U, roots = U[:, ::-1], np.sqrt(np.maximum(values[::-1], 0.0))
    kept = roots**2 > CUT * roots[0] ** 2
    return np.asarray(U[:, kept] * roots[kept])
