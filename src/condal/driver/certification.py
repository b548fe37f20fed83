"""Certification during a solve: proofs are tried when the schedule says so."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.evaluation import EXACT_INFEASIBILITY, EvaluatedPoint, relative_price
from condal.certificates.history import Row
from condal.certificates.ledger import CertifiedPoint, ProofLedger
from condal.driver.scaling import Scaling
from condal.driver.schedule import CLOSE_GAP, CertificationSchedule, Estimates
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof
from condal.methods.state import State
from condal.problem import Problem
from condal.result import Status
from condal.runtime.meter import Cancelled, agreed
from condal.storage.sketch import reconstructed, reconstruction
from condal.types import Storage, from_user, to_user, why_unprovable

if TYPE_CHECKING:
    from condal.driver.repair import FactorRepair
    from condal.driver.run_record import Stop

ROOM_KEPT = 0.05  # of the room below an estimate, which may be too good: left to the proof
MAX_INFEASIBILITY = 0.1  # relative: from further away, the nearest point is not worth the search
MAX_REPAIRED_ERROR = 0.02  # of the last point: a feasible one is not worth the search above it
DOUBT_SLACK = 0.1  # of the value: what a proof of a doubtful bound may lose


class Certifier:
    """Tries proofs of the states of a method; the ledger holds what was proved.

    `lower` is the best estimated bound, in normalised units. `w` is the dual behind it, and `u` the
    point at which it takes the tangent of f, unless f is linear.
    """

    checkpoint_fields = ("lower", "w", "u", "proved_w", "schedule")

    def __init__(
        self, problem: Problem, normalised: Problem, scaling: Scaling, stop: Stop, seed: int
    ) -> None:
        self.problem, self.normalised, self.scaling = problem, normalised, scaling
        self.tol, self.schedule = stop.aim, CertificationSchedule()
        self.ledger = ProofLedger(problem, stop.aim, seed, stop.failure)
        self.lower = -np.inf
        self.w: Array | None = None
        self.u: Array | None = None
        self.proved_w: Array | None = None  # the dual of the last bound that was proved
        self.point_seconds = 0.0  # what it took to evaluate the last point
        self.unprovable = why_unprovable(problem.X)
        self.seems_solved = False  # by the estimates, where no proof is possible
        self.factor_repair: FactorRepair | None = None
        if problem.repair is None:
            from condal.driver.repair import FactorRepair

            self.factor_repair = FactorRepair.of(normalised, stop.aim)
        self.given: tuple[Point, Array] | None = None  # a warm start that may be an answer already

    def memory(self) -> dict[str, Any]:
        """Return what a checkpoint holds of the proofs and of what is behind them."""
        own = {name: getattr(self, name) for name in self.checkpoint_fields}
        return {**own, "ledger": self.ledger.memory()}

    def recall(self, memory: dict[str, Any]) -> None:
        """Restore from a checkpoint; its claims are proved again."""
        for name in self.checkpoint_fields:
            setattr(self, name, memory[name])
        self.ledger.recall(memory["ledger"])

    def try_proposal_first(self) -> None:
        """Try the proposed pair after the first iteration, as the solve begins at such a pair."""
        self.schedule = replace(self.schedule, next_proposal=1)

    def note_bound(self, state: State) -> tuple[float, Array, float]:
        """Keep the best bound so far; return it, its dual, and the error that is proved."""
        if state.lower > self.lower:
            self.lower, self.w = state.lower, state.w
            if self.problem.f.L > 0:
                self.u = state.Mx if state.u is None else state.u
        return self.lower, state.w if self.w is None else self.w, self.ledger.error

    def try_certify(self, state: State, row: Row, x: Storage) -> Status | None:
        """Try the proofs that are due; return SOLVED or INFEASIBLE if that is proved."""
        if self.given is not None:
            pair, self.given = self.given, None
            self.ledger.certify_proposal(*pair)
            if self.ledger.status is not None:
                return self.ledger.status
        attempts, self.schedule = self.schedule.due(self._estimates(state, row))
        if attempts.infeasibility:
            self._prove_infeasible(state, row)
        if attempts.bound and self.ledger.separation is None:
            self._prove_bound(state)
        if attempts.proposal and self.ledger.status is None:
            self._prove_proposal(x)
        if attempts.gap and self.ledger.status is None:
            self._prove_gap(state, row, x)
        return self.ledger.status

    def try_infeasible(self, state: State, row: Row, *, exhausted: bool) -> Status | None:
        """Return INFEASIBLE if that is proved where a method is exhausted, or at a limit: a bound
        that no value can reach is not returned without trying that."""
        estimates = self._estimates(state, row)
        if estimates.beyond_tol if exhausted else estimates.rise > estimates.max_rise:
            self._prove_infeasible(state, row)
        return self.ledger.status

    def best(self, state: State, x: Storage, status: Status) -> CertifiedPoint:
        """Return the best pair of a point and a dual so far, with its certificate."""
        ledger, sense = self.ledger, self.problem.sense
        if status is Status.SOLVED and ledger.certified is not None:
            return ledger.certified
        if state.k == 0 or not np.isfinite(state.value):
            return ledger.last_or_unproved(None)
        w = self.w if self.w is not None else state.y
        seen = self._evaluate(x)
        error = self._estimated_error(seen, w)
        if error <= MAX_REPAIRED_ERROR:
            with suppress(FloatingPointError, Cancelled), ledger.deadline.on():
                repaired = self._repaired(seen, w)
                if self._estimated_error(repaired, w) <= error:
                    seen = repaired
        allowed = self.tol * self.problem.gap_unit(seen.objective)
        missed = abs(seen.objective - sense * self.lower / self.scaling.c)
        gap = max(allowed, missed) if missed < np.inf else allowed
        proved = None
        with suppress(FloatingPointError, Cancelled):  # what ended the solve may prevent a proof
            proved = self._certify(seen, w, gap)
        lost = reconstruction(x, self.normalised, state.Mx, state.Ax)
        if proved is None:
            from condal.certificates.bound import certificate_by

            y, no_proof = self.scaling.dual(w), Proof(-np.inf, "no proof")
            unproved = certificate_by(self.problem, seen, y, -np.inf, no_proof)
            proved = CertifiedPoint(seen.x, y, unproved, ledger.last, tangent=seen.tangent)
        if sense * (ledger.proposed_bound - proved.certificate.bound) > 0:
            with suppress(FloatingPointError, Cancelled):
                at_x = replace(seen, tangent=None)
                proposed = ledger.certify(at_x, ledger.proposed_dual, allowed)
                proved = ledger.best_pair(proved, proposed)
        return ledger.best_pair(ledger.certified, replace(proved, reconstruction=lost))

    def _estimates(self, state: State, row: Row) -> Estimates:
        missed, repairs = abs(row.objective - row.bound), self.problem.repair is not None
        price = row.price * self.problem.gap_unit(row.objective)
        rise = self.problem.sense * (row.bound - row.objective)
        # The objective with infeasibility at its price, less the bound, is the Frank-Wolfe gap.
        if repairs:
            missed = min(missed, abs(state.gap) / self.scaling.c)
        costly = self.factor_repair is not None and self._repairable(row.infeasibility)
        if costly:
            missed = abs(price - rise)
        return Estimates(
            k=state.k,
            rise=rise,
            missed=missed,
            infeasibility=row.infeasibility,
            price=price,
            tol=self.tol,
            allowed=self.tol * self.problem.gap_unit(row.objective),
            max_rise=2 * self.problem.objective_range,
            repairs=repairs or costly,
            costly=costly,
            doubtful=self.w is not self.proved_w and not self.unprovable,
        )

    def _prove_infeasible(self, state: State, row: Row) -> None:
        """Try to separate A(X) from K by a normal of K at Ax or in the best dual."""
        from condal.certificates.bound import candidates

        y = self.scaling.dual(state.w if self.w is None else self.w)
        rise = self.problem.sense * (row.bound - row.objective)
        excess = rise - self.problem.objective_range
        normals = candidates(self.problem, self.scaling.image(state.Ax), y, excess)
        any(self.ledger.separate(d, slack) for d, slack in normals)

    def _prove_bound(self, state: State) -> None:
        """Prove the best bound, to correct an estimate that an inexact oracle made too good."""
        assert self.w is not None
        slack = DOUBT_SLACK * max(abs(state.value), abs(self.lower))
        u = state.Mx if self.u is None else self.u
        lower = self.ledger.lower(self.normalised, u, self.w, slack)
        if self.ledger.in_time:
            self.proved_w, self.lower = self.w, min(self.lower, lower)

    def _prove_proposal(self, x: Storage) -> None:
        """Try the pair that the problem proposes, if it proposes any."""
        X, propose = self.problem.X, self.problem.propose
        if propose is None:
            return
        point, y = propose(to_user(X, x.point()))
        if not np.array_equal(y, self.ledger.proposed_dual):  # else it has been tried
            self.ledger.certify_proposal(from_user(X, point), y)

    def _prove_gap(self, state: State, row: Row, x: Storage) -> None:
        """Certify the current point, if its own gap is close to the requested one."""
        failed = agreed(self.ledger.failed_work)
        if not self.schedule.affords(state.k, failed, agreed(self.ledger.method_work)):
            return
        assert self.w is not None
        seen = self._repaired(self._evaluate(x), self.w)
        allowed = self.tol * self.problem.gap_unit(seen.objective)
        missed = self.problem.sense * (seen.objective - row.bound)
        price = self.problem.price(seen.Ax, self.problem.h.dual_point(self.scaling.dual(self.w)))
        if missed > CLOSE_GAP * allowed or price > allowed:
            return
        if self.factor_repair is not None and seen.infeasibility > self.tol:
            return
        self.schedule = self.schedule.after_proof(state.k, 1.0 - missed / allowed)
        if self.unprovable:
            self.seems_solved = True
            return
        proved = self._certify(seen, self.w, allowed, room=allowed - missed)
        lost = reconstruction(x, self.normalised, state.Mx, state.Ax)
        self.ledger.keep(replace(proved, reconstruction=lost))

    def _evaluate(self, x: Storage) -> EvaluatedPoint:
        """Return the point, repaired. A sketch has lost a part of x, and so of the bound by the
        tangent of f at x, which is taken elsewhere."""
        began, X = time.perf_counter(), self.problem.X
        point, lost = reconstructed(x)
        if self.problem.repair is not None:
            point = from_user(X, self.problem.repair(to_user(X, point)))
        seen = EvaluatedPoint.of(self.problem, point, None if lost is None else self.u)
        self.point_seconds = time.perf_counter() - began
        return seen

    def _repairable(self, infeasibility: float) -> bool:
        return EXACT_INFEASIBILITY < infeasibility <= MAX_INFEASIBILITY

    def _repaired(self, seen: EvaluatedPoint, w: Array) -> EvaluatedPoint:
        """Return a feasible point near this one; this one if none is found."""
        if self.factor_repair is not None and self._repairable(seen.infeasibility):
            repaired = self.factor_repair(seen.x, w)
            if repaired is not None:
                return EvaluatedPoint.of(self.problem, repaired, seen.tangent)
        return seen

    def _estimated_error(self, seen: EvaluatedPoint, w: Array) -> float:
        """The error of a point that the estimated bound and the dual w would prove."""
        bound, y = self.problem.sense * self.lower / self.scaling.c, self.scaling.dual(w)
        price = relative_price(self.problem, seen, y)
        gap = abs(bound - seen.objective) / self.problem.gap_unit(seen.objective)
        return max(gap, seen.infeasibility, price)

    def _certify(
        self, seen: EvaluatedPoint, w: Array, gap: float, *, room: float = np.inf
    ) -> CertifiedPoint:
        """Certify the point by a proof that loses little against an absolute gap of this size.

        `room` is how much the expected gap may grow: a proof may lose a part of it.
        """
        sense, y = self.problem.sense, self.scaling.dual(w)
        enough = sense * seen.objective - gap + ROOM_KEPT * room
        proved = self.ledger.certify(seen, y, gap, enough=enough)
        if self.ledger.in_time:  # else a better bound may hold
            self.proved_w = w
            # If the estimate was too good, as the oracle is inexact, another dual takes its place.
            self.lower = min(self.lower, sense * proved.certificate.bound * self.scaling.c)
        return proved
