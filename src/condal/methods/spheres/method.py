"""Augmented Lagrangian sweeps for fixed diagonals, or zero entries, and bounds on entries of x."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import add
from condal.linalg.points import Array, LowRank, total_rows
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.methods.choice import MIN_SWEPT_SIDE, SWEPT_ENTRY, SWEPT_TOL, Estimate
from condal.methods.spheres.forms import SphereForm, form_of
from condal.methods.spheres.program import first_rank
from condal.methods.spheres.sweeps import PairSweeps
from condal.methods.state import State, Warm, require_factor, require_linear, require_spectral
from condal.runtime.meter import time_is_up
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

OMEGA = 1.9  # of the sweeps
FIRST_CURVATURE = 0.5  # of its bound: what sweeps use until infeasibility rises; 1 always descends
RISING = 1.2  # ratio of infeasibilities from which it rises
SWEEPS = 5  # between two updates of the multipliers
UPDATES = 2  # of the multipliers, per iteration
LOOK_EVERY = 3  # iterations between two bounds
ORACLE_SHARE = 0.1  # of the gap, or of the gap that is asked for: the accuracy of a bound
PENALTY_FACTOR, MIN_DECREASE = 2.0, 0.7  # the penalty grows where infeasibility falls by less
DEAR, CHEAP = 1.0, 0.05  # shares of the gap above which it may grow, and below which it shrinks
MIN_PENALTY, MAX_PENALTY = 0.25, 100.0  # times the first one
GROWTH_LOOKS = 8  # in which the gap falls by GROWTH_DECREASE, or columns are added
GROWTH_DECREASE = 0.7
GROWTH = 0.5  # of the columns: how many are added
MAX_RANK_FACTOR = 3  # times the first number of columns
NEW_SHARE = 0.3  # of the root of the gap: the length of new columns, relative to a row
MAX_IDLE_LOOKS = 40  # looks in which the gap halves, or the method ends
LEAST_VALUE = 1e-5  # of a normalised objective, for gaps: smaller ones count as this
FIRST_PENALTY = 0.3  # of the size of the objective per vector
SINGLE_AIM = 1e-4  # the least gap for which single precision is enough
VECTORS = 4  # of the size of R in double precision, at the peak
MAX_BYTES = 6 * 2**30  # of these vectors, for the method to be chosen automatically
PATIENCE = 300  # each iteration is ten sweeps
MIN_COLOUR_PAIRS = 500  # pairs per colour, on average: with fewer, calls dominate


@dataclass(frozen=True, eq=False)
class SphereState:
    """The vectors R, the multipliers z of the pairs, the penalty, and the last bounds.

    `best` is a gap and the looks since it was reached by a factor of GROWTH_DECREASE, `halved` the
    same by a factor of 2. `since` counts the iterations since the last look.
    """

    R: Array
    z: Array
    penalty: float
    curvature: float = FIRST_CURVATURE
    first_penalty: float = 0.0
    first_rank: int = 0
    infeasibility: float = inf
    gap: float = inf
    best: tuple[float, int] = (inf, 0)
    halved: tuple[float, int] = (inf, 0)
    since: int = 0


class SphereRun:
    """The vectors in the order of the sweeps, and the steps that change them."""

    def __init__(
        self, problem: Problem, form: SphereForm, carry: SphereState, aim: float | None, seed: int
    ) -> None:
        self.problem, self.form, self.aim, self.seed = problem, form, aim or 0.0, seed
        sweeps = PairSweeps.of(form.program)
        assert sweeps is not None
        self.sweeps = sweeps
        if not carry.first_rank:
            first = {"first_penalty": carry.penalty, "first_rank": carry.R.shape[1]}
            carry = replace(carry, **first)
        self.carry = carry
        self.shown, self.last, self.lower, self.gap = LowRank(carry.R, np.ones(0)), False, -inf, inf
        self.w: Array | None = None

    def advance(self) -> None:
        """Sweep, update the multipliers, and bound the optimum if that is due."""
        carry, program, self.gap, self.lower = self.carry, self.form.program, inf, -inf
        z, p, R = carry.z, np.zeros(0), self.sweeps.sorted_rows(carry.R)
        for _ in range(UPDATES):
            if not time_is_up():  # the first vectors are shown in any case
                self.sweeps.relax(
                    R, z, carry.penalty, sweeps=SWEEPS, omega=OMEGA, curvature=carry.curvature
                )
            p = self.sweeps.products(R)
            z = program.priced(p, z, carry.penalty)
        R = self.sweeps.unsorted_rows(R)
        self.carry = replace(carry, R=R, z=z, since=carry.since + 1)
        self._show()
        if self.carry.since >= LOOK_EVERY and not time_is_up():
            self._look(p)

    def _show(self) -> None:
        self.shown = self.form.point(self.carry.R.astype(np.float64))  # a copy in any case
        self.Mx, self.Ax = self.problem.f.M(self.shown), self.problem.A(self.shown)

    def _look(self, p: Array) -> None:
        """Bound the optimum by the oracle, then adapt the penalty and the rank."""
        problem, carry, X = self.problem, self.carry, self.problem.X
        assert isinstance(X, Spectral)
        f, h = problem.f, problem.h
        mu = self.form.program.multipliers(carry.R, p, carry.z)
        self.w = w = h.dual_point(self.form.dual(carry.R, carry.z, mu))
        g, value = f.gradient(self.Mx), f.value(self.Mx)
        V = add(f.M.adjoint(g), problem.A.adjoint(w))
        assert isinstance(V, Symmetric)
        unit = max(abs(value), LEAST_VALUE)
        tol = ORACLE_SHARE * max(self.aim, min(carry.gap, 0.1)) * unit
        atom = X.lmo(V, tol)
        assert isinstance(atom, LowRank)
        u = atom.U[:, 0]
        least = X.trace * float(u @ (V @ u)) - tol
        least = min(least, 0.0) if X.at_most else least
        self.lower = f.value(np.zeros(f.M.size)) + least - h.conjugate(w)
        self.gap = float(g @ self.Mx + w @ self.Ax) - least
        gap, price = abs(value - self.lower) / unit, problem.price(self.Ax, w) / unit
        infeasibility = h.distance(self.Ax)
        violation = max(price, infeasibility / problem.infeasibility_unit)
        share = violation / max(gap, self.aim, TINY)
        self.carry = _after_look(carry, gap, infeasibility, share)
        if self.carry.best[1] >= GROWTH_LOOKS:
            self._grow()
        self.last = self.carry.halved[1] >= MAX_IDLE_LOOKS

    def _grow(self) -> None:
        """Add random columns: those that there are do not suffice."""
        carry, program = self.carry, self.form.program
        rank = carry.R.shape[1]
        most = min(MAX_RANK_FACTOR * carry.first_rank, program.n + 1)
        more = min(max(1, int(GROWTH * rank)), most - rank)
        if more > 0:
            share = NEW_SHARE * sqrt(min(carry.gap, 1.0))
            R = program.with_columns(carry.R, more, share, self.seed)
            carry = replace(carry, R=R.astype(carry.R.dtype))
        self.carry = replace(carry, best=(carry.gap, 0))

    def state(self, k: int, near: Array) -> State:
        """Return the state after iteration k; `near` is the dual before."""
        carry = self.carry
        w = near if self.w is None else self.w
        value = self.problem.f.value(self.Mx)
        bound = value, self.gap, self.lower
        return State(
            k, self.Mx, self.Ax, w, w, None, *bound, carry.penalty, carry=carry, last=self.last
        )


def _after_look(carry: SphereState, gap: float, infeasibility: float, share: float) -> SphereState:
    """The state with the next penalty, and with what a look told about the gap.

    `share` is the infeasibility, or its price, over the gap. A smaller penalty lets the vectors
    move further, and the bound improves faster.
    """
    penalty, curvature = carry.penalty, carry.curvature
    if infeasibility > RISING * carry.infeasibility and curvature < 1.0:
        curvature = 1.0
    elif share < CHEAP:
        penalty = max(penalty / PENALTY_FACTOR, MIN_PENALTY * carry.first_penalty)
    elif share > DEAR and infeasibility > MIN_DECREASE * carry.infeasibility:
        penalty = min(PENALTY_FACTOR * penalty, MAX_PENALTY * carry.first_penalty)
    best, halved = carry.best, carry.halved
    return replace(
        carry,
        penalty=penalty,
        curvature=curvature,
        infeasibility=infeasibility,
        gap=gap,
        best=(gap, 0) if gap <= GROWTH_DECREASE * best[0] else (best[0], best[1] + 1),
        halved=(gap, 0) if gap <= 0.5 * halved[0] else (halved[0], halved[1] + 1),
        since=0,
    )


@dataclass(frozen=True)
class SphereSweeps:
    r"""Sweeps over the vectors of :math:`x_{ij} = \langle r_i, r_j \rangle` on spheres.

    For min <C, x> with a fixed diagonal and bounds on single entries, and for Lovasz's theta,
    whose vectors are on spheres of another form of the problem. The spheres hold exactly, the
    bounds by an augmented Lagrangian. An iteration is some sweeps over all vectors and updates of
    the multipliers; the oracle bounds the optimum now and then.

    Parameters
    ----------
    rank : int or None
        The initial number of columns; None for a choice by n and aim.
    seed : int
        The seed of the first vectors.
    aim : float or None
        The relative gap that is asked for, if known: above 1e-4 single precision is used.

    References
    ----------
    P.-W. Wang, W.-C. Chang, J. Z. Kolter. The mixing method: low-rank coordinate descent for
    semidefinite programming with diagonal constraints. arXiv:1706.00476, 2017.

    Examples
    --------
    >>> import condal, networkx
    >>> model = condal.problems.theta(networkx.cycle_graph(5))
    >>> result = condal.solve(model, condal.methods.SphereSweeps(), tol=1e-5)
    >>> print(f"{result.objective:.4f}")
    2.2361
    """

    name: ClassVar[str] = "spheres"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    seed: int = 0
    aim: float | None = None

    def __post_init__(self) -> None:
        require_factor(self.rank, self.seed, self.aim)

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply or is slower than Newton steps."""
        form = form_of(problem) if self.fits(problem) else None
        if form is None:
            return "it needs diag x = d or theta, and vectors that fit into memory"
        n, method = form.program.n, replace(self, aim=tol)
        if n < MIN_SWEPT_SIDE or tol < SWEPT_TOL:
            return "Newton steps are faster for small n, and for small tolerances"
        most = 1 + total_rows(form.program.cost) // MIN_COLOUR_PAIRS
        if PairSweeps.of(form.program, most=most) is None:
            return "its sweeps would have many colours"
        seconds = SWEPT_ENTRY * n * first_rank(n, self.rank, tol)
        why = "f is linear and A bounds inner products of pairs of vectors on spheres"
        return Estimate(seconds, why, patience=PATIENCE, method=method)

    def fits(self, problem: Problem, *, processes: int = 1) -> bool:
        """Whether the vectors fit into the memory of each of some processes that share them."""
        spectral = isinstance(problem.X, Spectral)
        return spectral and self.bytes(problem) <= processes * MAX_BYTES

    def bytes(self, problem: Problem) -> int:
        """Return the peak size of the vectors of the method, if the rank does not grow."""
        if not isinstance(problem.X, Spectral):
            return 0  # `start` raises the error
        n = problem.X.n
        return VECTORS * 8 * n * first_rank(n, self.rank, self.aim)

    @property
    def _dtype(self) -> Any:
        return np.float32 if self.aim is not None and self.aim >= SINGLE_AIM else np.float64

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of random vectors, or of the point and dual of `warm`."""
        require_spectral(problem, "the method of sweeps")
        require_linear(problem, "the method of sweeps")
        form = form_of(problem)
        if form is None:
            raise ProblemError(
                "the method of sweeps needs diag x = d and bounds on single entries, or the form "
                "of theta: got another problem; use condal.CGAL()"
            )
        program = form.program
        rank = first_rank(program.n, self.rank, self.aim)
        R, z = program.random(rank, self.seed), np.zeros_like(program.cost)
        if warm is not None and warm.x is not None:
            R = form.vectors(warm.x)
            if R.shape[1] < rank:
                R = program.with_columns(R, rank - R.shape[1], 1e-2, self.seed)
            z = form.pair_multipliers(warm.x, warm.y)
        size = float(np.abs(program.linear).mean())
        if size == 0.0:
            size = 2 * float(np.abs(program.cost).sum()) / program.n
        penalty = FIRST_PENALTY * (size or 1.0) / float(program.radius.max()) ** 2 / 4
        carry = SphereState(R.astype(self._dtype, copy=False), z, penalty)
        return State.of_dual(problem, warm, carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration; it is the last where no progress is possible."""
        state = start or self.start(problem)
        form = form_of(problem)
        assert form is not None
        # A checkpoint may hold vectors of another precision, for an aim that has changed.
        carry = replace(state.carry, R=state.carry.R.astype(self._dtype, copy=False))
        run = SphereRun(problem, form, carry, self.aim, self.seed)
        near: Array = state.y
        for k in count(state.k + 1):
            run.advance()
            state = run.state(k, near)
            near = state.w
            x.load(run.shown)  # last: an interrupted iteration leaves x unchanged
            yield state
