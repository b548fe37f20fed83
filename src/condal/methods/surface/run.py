"""The run of Newton's method on a surface: landing, steps, and looks at the oracle."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.lanczos import MAX_LOWEST_DENSE_SIDE
from condal.linalg.points import Array, LowRank
from condal.methods.state import State
from condal.methods.surface.equations import point_of_factor
from condal.methods.surface.manifold import CLEARLY_FEASIBLE, FEASIBLE, Relaxation, Surface
from condal.methods.surface.newton import SurfacePoint, newton_step
from condal.methods.surface.oracle import RankPolicy, SlackSpectrum, regularised
from condal.runtime.meter import Cancelled, check_cancelled, impatient
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_LANDING_STEPS = 30  # from the first point, which may be far from the surface,
LANDING_STEPS = 5  # and of these, in one iteration
LEAST_RADIUS = 1e-9
LOOK_RESIDUAL = 1e-4  # below this residual each step is followed by a look at the oracle
PROMISING_RESIDUAL = 3.0  # times the gap that is asked for
LOOK_EVERY = 6  # accepted steps, at least,
LOOK_WORK = 2500  # products: the work that a look by Lanczos, a tenth of this, waits for,
LATEST_LOOK = 24  # but no more than these accepted steps
STEP_PRODUCTS = 4  # with R, of a step besides its inner ones
MAX_IDLE_LOOKS = 25  # looks in which the gap halves, or the method ends
DEGENERATE_LOOKS = 2  # the same, or the multipliers of least squares are taken to be the wrong ones
LEAST_VALUE = 1e-5  # of a normalised objective, for gaps: smaller ones count as 0
ORACLE_SHARE = 0.1  # of the residual: the accuracy of the oracle
BIAS = 0.25  # of the residual, or of the gap that is asked for: of regularised multipliers
RELAXED_RADIUS = 0.1  # of a trust region after a relaxation, at least


@dataclass(frozen=True, eq=False)
class SurfaceState:
    """R, a multiplier near that of R, the trust radius, and the policies of rank and relaxation.

    `steps` counts the accepted steps since the last call of the oracle, and `work` the products of
    all steps since then.
    """

    R: Array
    near: Array
    radius: float
    policy: RankPolicy
    steps: int = 0
    work: int = 0
    best: tuple[float, int] = (inf, 0)  # a gap, and the looks at the oracle since it was halved
    gap: float = inf  # at the last look
    landed: bool = False  # whether R is on the surface
    landing: int = 0  # the Gauss-Newton steps towards it so far
    relaxation: Relaxation | None = None
    regular: bool = False  # whether regularised multipliers gave the better bound
    reason: str = ""  # why the method ended


class SurfaceRun:
    """The point on the surface and the steps that change it."""

    def __init__(
        self,
        problem: Problem,
        surface: Surface,
        carry: SurfaceState,
        aim: float | None,
        patient: bool = True,
    ) -> None:
        self.problem, self.carry, self.aim, self.patient = problem, carry, aim or 0.0, patient
        self.surface = replace(surface, relaxation=carry.relaxation)
        self.point = SurfacePoint(self.surface, carry.R, carry.near)
        self.gap, self.lower = inf, -inf
        self.shown = self._point()
        self.w: Array | None = None

    def advance(self) -> None:
        """Land on the surface, or take a Newton step, and ask the oracle if it is due."""
        carry, self.gap, self.lower = self.carry, inf, -inf
        if carry.landing == 0 and not carry.landed:
            with suppress(Cancelled), impatient():  # the first point is shown in any case
                self._land()
            return
        if not carry.landed:
            self._land()
            return
        step = newton_step(self.point, carry.radius)
        self.point = step.point
        steps = carry.steps + step.accepted
        work = carry.work + (step.inner + STEP_PRODUCTS) * carry.R.shape[1]
        stuck = step.stuck or step.radius < LEAST_RADIUS or self.point.gram.failed
        self.carry = replace(
            carry,
            R=self.point.R,
            near=self.point.near,
            radius=step.radius,
            steps=steps,
            work=work,
        )
        self.shown = self._point()
        folded = self.surface.rows.folded(self.point.multiplier)
        self.w = self.problem.h.dual_point(-folded)
        if self._ill_conditioned and not (self.patient or self._promising):
            self.carry = replace(self.carry, reason="the rows are nearly dependent at x")
            return
        due = step.accepted and (self._settled(carry.gap) or self._ill_conditioned)
        if due or stuck or self._late:
            self._look(stuck)

    def _land(self) -> None:
        """Take some steps towards the surface; the point that is shown waits for the last.

        Where they lead nowhere, the surface is relaxed.
        """
        check_cancelled()
        before = float(np.linalg.norm(self.surface.residual(self.carry.R)))
        R, size = self.surface.approached(self.carry.R, most=LANDING_STEPS)
        carry = replace(self.carry, R=R, landing=self.carry.landing + LANDING_STEPS)
        # Far away the residual falls by about as much each time.
        left = MAX_LANDING_STEPS - carry.landing
        ended = left * (before - size) < LANDING_STEPS * size
        self.carry = carry
        if size <= FEASIBLE or (ended and size <= CLEARLY_FEASIBLE):
            self.carry = replace(carry, landed=True)
            self.point = SurfacePoint(self.surface, R, carry.near)
            self.shown = self._point()
        elif ended:
            self.carry = replace(carry, landed=True)
            n, slacks = self.surface.rows.n, self.surface.rows.slacks(R)
            relaxation = Relaxation.of(self.surface.gram(R).diagonal, carry.near)
            self._move(np.ascontiguousarray(R[:n]), slacks, relaxation, carry.near)

    def _settled(self, gap: float) -> bool:
        """Whether the point is near a stationary one, given the last gap."""
        relaxation, residual = self.carry.relaxation, self.point.residual
        if relaxation is None:
            return residual <= LOOK_RESIDUAL
        return relaxation.round_ends(residual, self.point.price / self._unit, gap, self.aim)

    @property
    def _late(self) -> bool:
        """Whether a look costs little compared with the steps since the last one."""
        steps, work = self.carry.steps, self.carry.work
        cheap = work >= LOOK_WORK or self.surface.rows.n <= MAX_LOWEST_DENSE_SIDE
        return steps >= (LOOK_EVERY if cheap else LATEST_LOOK)

    @property
    def _promising(self) -> bool:
        """Whether other multipliers may prove what is asked for."""
        return self.point.residual <= PROMISING_RESIDUAL * self.aim

    @property
    def _ill_conditioned(self) -> bool:
        """Whether the rows are nearly dependent, and no relaxation mends that."""
        return self.carry.relaxation is None and self.point.gram.slow

    @property
    def _unit(self) -> float:
        return max(abs(self.point.value), LEAST_VALUE)

    def _look(self, stuck: bool) -> None:
        """Bound the optimum, then cut and grow R, and relax the surface where this is needed."""
        point, unit = self.point, self._unit
        spectrum = self._spectrum()
        self.gap, self.lower, self.w = spectrum.gap, spectrum.lower, spectrum.w
        gap, error = spectrum.gap / unit, max(spectrum.gap, abs(point.price)) / unit
        best, age = self.carry.best
        best, age = (error, 0) if error <= 0.5 * best else (best, age + 1)
        carry = self.carry = replace(self.carry, steps=0, work=0, gap=gap, best=(best, age))
        if age >= MAX_IDLE_LOOKS:
            self.carry = replace(carry, reason="the gap does not fall")
            return
        reached = self._reached(gap)
        relaxation = carry.relaxation if reached else self._next_relaxation(stuck)
        if stuck and relaxation is carry.relaxation:
            dependent = point.gram.failed
            reason = "the rows are dependent at x" if dependent else "rounding hides any progress"
            carry = self.carry = replace(carry, reason=reason)
        if reached:
            return
        policy, before = carry.policy, self.surface.rows.slacks(point.R)
        kept = policy.kept(spectrum.squares, spectrum.curvatures, float(spectrum.values[0]), gap)
        residual = 0.0 if stuck else point.residual
        grown = policy.grown(spectrum.values, int(kept.sum()), gap, residual)
        slacks = policy.opened(before, point.slack_values, gap)
        same = not grown and kept.all() and slacks is before
        if same and relaxation is carry.relaxation:
            return
        roots = np.sqrt(spectrum.squares[kept])
        new = spectrum.vectors[:, :grown] * policy.column_norm(gap)
        R = np.hstack([spectrum.axes[:, kept] * roots, new])
        if not self._move(R, slacks, relaxation, point.multiplier):
            return
        policy = policy if kept.all() else policy.after_cut(gap)
        radius = max(self.carry.radius, sqrt(max(gap, 0.0))) if grown else self.carry.radius
        reason = "" if grown else carry.reason
        self.carry = replace(self.carry, radius=radius, policy=policy, reason=reason)

    def _spectrum(self) -> SlackSpectrum:
        """The spectrum of S for the multipliers of least squares or for regularised ones.

        The kind that did better before comes first. The other one is tried where the gap is larger
        than the residual explains.
        """
        point, unit, aim = self.point, self._unit, self.aim
        explained = max(point.residual, 0.5 * aim) * unit
        tol = max(ORACLE_SHARE * min(point.residual, 1e-2), 0.05 * aim) * unit
        spectra: list[SlackSpectrum] = []
        for regular in (self.carry.regular, not self.carry.regular):
            if regular and self.carry.relaxation is not None:
                continue
            bias = BIAS * max(point.residual, aim) * unit
            y = regularised(self.problem, point, bias) if regular else point.multiplier
            spectra.append(SlackSpectrum.of(self.problem, point, y, tol))
            if spectra[-1].gap <= explained:
                break
        if len(spectra) == 2 and spectra[1].gap < spectra[0].gap:
            self.carry = replace(self.carry, regular=not self.carry.regular)
        return min(spectra, key=lambda spectrum: spectrum.gap)

    def _reached(self, gap: float) -> bool:
        """Whether the point is as good as was asked for."""
        if gap > 0.5 * self.aim:
            return False
        errors = [self.point.price / self._unit]
        errors.append(self._infeasibility / self.problem.infeasibility_unit)
        return self.carry.relaxation is None or max(map(abs, errors)) <= 0.5 * self.aim

    @property
    def _infeasibility(self) -> float:
        return float(np.linalg.norm(self.surface.infeasibility(self.point.R)))

    def _next_relaxation(self, stuck: bool) -> Relaxation | None:
        """The relaxation to continue with: the same one until its round ends."""
        point, relaxation = self.point, self.carry.relaxation
        if relaxation is None:
            degenerate = stuck or self.carry.best[1] >= DEGENERATE_LOOKS or self._ill_conditioned
            return Relaxation.of(point.gram.diagonal, point.multiplier) if degenerate else None
        if stuck and self.carry.best[1] > DEGENERATE_LOOKS:
            return relaxation
        if not stuck and not self._settled(self.carry.gap):
            return relaxation
        return relaxation.next_round(point.multiplier, self._infeasibility)

    def _move(self, R: Array, slacks: Array, relaxation: Relaxation | None, near: Array) -> bool:
        """Continue from another factor, on the surface of a relaxation; False if it is too far."""
        surface = replace(self.surface, relaxation=relaxation)
        moved = surface.retracted(surface.joined(R, slacks))
        if moved is None:
            return False
        radius, best = self.carry.radius, self.carry.best
        if self.carry.relaxation is None and relaxation is not None:
            radius, best = max(radius, RELAXED_RADIUS), (inf, 0)
        self.surface, self.point = surface, SurfacePoint(surface, moved, near)
        self.carry = replace(
            self.carry, R=moved, near=near, radius=radius, best=best, relaxation=relaxation
        )
        return True

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
