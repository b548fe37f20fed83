"""The run of sweeps over vectors on spheres: multipliers, penalty, bounds and rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import add
from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.methods.spheres.forms import SphereForm
from condal.methods.spheres.sweeps import PairSweeps
from condal.methods.state import State
from condal.runtime.meter import time_is_up
from condal.types import Spectral

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
TINY = 1e-300
GROWTH_LOOKS = 8  # in which the gap falls by GROWTH_DECREASE, or columns are added
GROWTH_DECREASE = 0.7
GROWTH = 0.5  # of the columns: how many are added
MAX_RANK_FACTOR = 3  # times the first number of columns
NEW_SHARE = 0.3  # of the root of the gap: the length of new columns, relative to a row
MAX_IDLE_LOOKS = 40  # looks in which the gap halves, or the method ends
LEAST_VALUE = 1e-5  # of a normalised objective, for gaps: smaller ones count as this


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
