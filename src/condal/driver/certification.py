"""When to certify: the driver's eye on the free estimates, and the last that was proved."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from condal.certificates.certificate import Certificate, EvaluatedPoint, normal_part
from condal.certificates.ledger import CertifiedPoint, ProofLedger
from condal.domains.lifted import from_user, to_user
from condal.domains.user import why_unprovable
from condal.driver.scaling import Scaling
from condal.linalg.images import zeros_of
from condal.linalg.points import Array, Point
from condal.linalg.proof import Proof
from condal.methods.state import State
from condal.problem import Problem
from condal.result import Row, Status
from condal.runtime.cancellation import Cancelled
from condal.storage.reconstruction import reconstructed, reconstruction
from condal.types import Storage

CLOSE = 0.95  # of the gap that is asked for: an estimate below it is worth a proof
EXACT = 1e-12  # an infeasibility that is rounding
KEPT = 0.05  # of the room below the estimate, which may be too good: what is asked of a proof


class CertificationSchedule:
    """When to certify, and what was certified last.

    A proof costs more than an iteration. It is tried when the free estimates say that the tolerance
    is near, at most every 5% more iterations; and, rarely, when they contradict each other, when
    the infeasibility does not fall, or when the problem has a pair of its own to propose.
    """

    kept: ClassVar[tuple[str, ...]] = (
        "lower",
        "w",
        "u",
        "infeasible",
        "separator",
        "_next_look",
        "_next_doubt",
        "_next_proposal",
        "_next_infeasibility",
        "_last_infeasibility",
        "_next_reach",
        "_certified",
        "_of_proposal",
        "_proved_w",
        "_proposed",
    )

    def __init__(
        self, problem: Problem, normalised: Problem, scaling: Scaling, tol: float, seed: int
    ) -> None:
        self.problem, self.normalised, self.scaling = problem, normalised, scaling
        self.tol, self.prover = tol, ProofLedger(problem, seed)
        self.unprovable = why_unprovable(problem.X)
        self.point_seconds = 0.0  # what it took to look at a point
        self.lower = -np.inf  # the best estimate, in normalised units, and the dual behind it,
        self.w: Array | None = None
        self.u: Array | None = None  # and where f had its tangent, if that is not all the same
        self.infeasible: Proof | None = None
        self.separator: Array | None = None  # the normal of K behind that proof
        self._next_look, self._next_doubt, self._next_proposal = 1, 256, 8
        self._next_infeasibility, self._last_infeasibility, self._next_reach = 32, np.inf, 1
        self._reach = 2 * problem.objective_range  # a bound so far above a value is one of nothing
        self._certified: CertifiedPoint | None = None
        self._of_proposal = False  # whether it is of a proposal, and so no point of the method's
        self._proved_w: Array | None = None
        self._proposed = -problem.sense * np.inf, np.zeros(0)  # the best bound, and its dual

    def memory(self) -> dict[str, Any]:
        """All that it has seen, for a checkpoint."""
        own = {name: getattr(self, name) for name in self.kept}
        return {**own, "prover": self.prover.memory()}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from that. What it says is proved is not believed, but proved again."""
        for name in self.kept:
            setattr(self, name, memory[name])
        self.prover.recall(memory["prover"])
        if self._certified is not None:
            self._certified = self.prover.proved_again(self._certified)
        if self.separator is not None:
            self.infeasible = self.prover.apart_again(self.separator)

    def holds(self, ended: Status | None) -> bool:
        """Whether what a checkpoint says it ended with is proved."""
        if ended is Status.SOLVED:
            return self._certified is not None and self.solves(self._certified.certificate)
        return ended is Status.INFEASIBLE and self.infeasible is not None

    def note_lower(self, state: State) -> None:
        """Keep the best dual seen so far."""
        if state.lower > self.lower:
            self.lower, self.w = state.lower, state.w
            if self.problem.f.L > 0:
                self.u = state.Mx if state.u is None else state.u

    def look(self, state: State, row: Row, x: Storage) -> Status | None:
        """SOLVED or INFEASIBLE if that is proved now, STALLED if it seems solved and a proof is
        impossible, else None."""
        if self._looks_infeasible(state, row) and self._separated(state, row):
            return Status.INFEASIBLE
        if state.k >= self._next_doubt and self._crossed(row) and not self.unprovable:
            self._next_doubt = 2 * state.k
            self._settle_doubt(state)
        if self.problem.propose is not None and state.k >= self._next_proposal:
            self._next_proposal = 2 * state.k
            X = self.problem.X
            point, y = self.problem.propose(to_user(X, x.point()))
            if self._proposal_solves(from_user(X, point), y):
                return Status.SOLVED
        feasible = self.problem.repair is not None or row.infeasibility <= 1.05 * self.tol
        if state.k < self._next_look or not (feasible and self._near(state, row)):
            return None
        self._next_look = state.k + 1 + int(0.01 * state.k)
        exact = row.infeasibility <= EXACT  # a repair would change nothing
        if exact and self._missed(row.objective, row) > CLOSE:
            return None
        point, seen, tangent = self._seen(x)
        aim = self.tol * self.problem.gap_unit(seen.objective)
        missed = aim * self._missed(seen.objective, row)
        if missed > CLOSE * aim:
            return None
        self._next_look = state.k + max(4, int(0.05 * state.k))
        if self.unprovable:
            return Status.STALLED
        assert self.w is not None
        room = aim - missed
        certificate = self._certify(point, seen, self.w, aim, room=room, tangent=tangent)
        return Status.SOLVED if self.solves(certificate) else None

    def _missed(self, objective: float, row: Row) -> float:
        """The gap to the estimated bound, as a part of what is asked for."""
        aim = self.tol * self.problem.gap_unit(objective)
        return self.problem.sense * (objective - row.bound) / aim

    def none_is_feasible(self, state: State, row: Row) -> bool:
        """Whether that is proved where a method has ended, infeasible."""
        return self._beyond(row) and self._separated(state, row)

    def last_look(self, state: State, row: Row, ended: Status) -> Status:
        """How a solve has ended; a bound that nothing can reach is not returned without a proof
        that nothing is feasible, if there is one."""
        over = self._above(row) > self._reach and ended not in (Status.SOLVED, Status.INFEASIBLE)
        return Status.INFEASIBLE if over and self._separated(state, row) else ended

    def _looks_infeasible(self, state: State, row: Row) -> bool:
        """Whether the infeasibility does not fall, or the bound is above all that can be reached:
        a proof is tried of the first at k = 64, 128, ..., of the second at once, and then after
        twice as many iterations."""
        if state.k >= self._next_infeasibility:
            self._next_infeasibility = 2 * state.k
            stuck = row.infeasibility > 0.7 * self._last_infeasibility
            self._last_infeasibility = row.infeasibility
            return stuck and self._beyond(row)
        if state.k >= self._next_reach and self._above(row) > self._reach:
            self._next_reach = 2 * state.k
            return True
        return False

    def _beyond(self, row: Row) -> bool:
        """Whether the infeasibility is more than tol forgives; or less, but so that the bound has
        passed the objective by more: no proof that it is solved can come of that."""
        if row.infeasibility > self.tol:
            return True
        aim = self.tol * self.problem.gap_unit(row.objective)
        return row.infeasibility > EXACT and self._above(row) > aim

    def _above(self, row: Row) -> float:
        """How far the bound is above the objective, as one to minimise."""
        return self.problem.sense * (row.bound - row.objective)

    def unproved(self, point: Point | None) -> CertifiedPoint:
        """What was certified last; else the point, of which nothing is known."""
        if self._certified is not None:
            return self._certified
        how = "nothing was computed" if point is None else "nothing could be computed"
        unknown = Certificate(np.nan, -self.problem.sense * np.inf, np.inf, how)
        return CertifiedPoint(point, zeros_of(self.problem.A), unknown)

    def best(self, state: State, x: Storage, status: Status) -> CertifiedPoint:
        """The point, dual and certificate to return, with what a sketch has lost of the point."""
        found = self._best(state, x, status)
        if found.x is None or (found is self._certified and self._of_proposal):
            return found
        lost = reconstruction(x, self.normalised, state.Mx, state.Ax)
        return replace(found, reconstruction=lost)

    def _best(self, state: State, x: Storage, status: Status) -> CertifiedPoint:
        if self._certified is not None and status is Status.SOLVED:
            return self._certified
        sense = self.problem.sense
        if state.k == 0 or not np.isfinite(state.value):
            return self.unproved(None)
        w = self.w if self.w is not None else state.y
        point, seen, tangent = self._seen(x)
        aim = self.tol * self.problem.gap_unit(seen.objective)
        missed = abs(seen.objective - sense * self.lower / self.scaling.c)
        try:
            gap = max(aim, missed) if missed < np.inf else aim
            certificate = self._certify(point, seen, w, gap, tangent=tangent)
        except (FloatingPointError, Cancelled):  # what ended the solve may let nothing be proved
            certificate = Certificate(
                seen.objective, -sense * np.inf, seen.infeasibility, "no proof"
            )
        bound, y = self._proposed
        if sense * (bound - certificate.bound) > 0:
            return CertifiedPoint(point, y, self.prover.certificate(seen, y, aim), self.prover.last)
        y = self.scaling.dual(w)
        return CertifiedPoint(point, y, certificate, self.prover.last, tangent=tangent)

    def _near(self, state: State, row: Row) -> bool:
        missed = abs(row.objective - row.bound)
        if self.problem.repair is not None:
            # The objective with infeasibility at its price, less the bound, is the Frank-Wolfe gap.
            missed = min(missed, abs(state.gap) / self.scaling.c)
        return missed <= 1.5 * self.tol * self.problem.gap_unit(row.objective)

    def _crossed(self, row: Row) -> bool:
        """Whether the bound passes the objective: by infeasibility, or because it is false."""
        return self._above(row) > 0 and self.w is not self._proved_w

    def better(self, a: CertifiedPoint | None, b: CertifiedPoint) -> CertifiedPoint:
        """The one of the smaller gap and infeasibility; b, if it solves or there is no a."""
        if a is None or a.x is None or self.solves(b.certificate):
            return b
        return b if b.x is not None and b.error <= a.error else a

    def solves(self, certificate: Certificate, *, times: float = 1.0) -> bool:
        """Whether the certificate proves what was asked for, or so many times as much."""
        tol = times * self.tol
        aim = tol * self.problem.gap_unit(certificate.objective)
        member = certificate.distance_to_X <= min(1e-6, tol) * self.problem.X.max_norm
        within = abs(certificate.bound - certificate.objective) <= aim
        return member and within and certificate.infeasibility <= tol

    def _proposal_solves(self, point: Point, y: Array) -> bool:
        """Whether the proposed pair is proved to solve; the dual of the best bound is kept."""
        seen = EvaluatedPoint.of(self.problem, point)
        aim = self.tol * self.problem.gap_unit(seen.objective)
        certificate = self.prover.certificate(seen, y, aim)
        if self.problem.sense * (certificate.bound - self._proposed[0]) > 0:
            self._proposed = certificate.bound, y
        solves = self.solves(certificate)
        if solves:
            self._certified = CertifiedPoint(point, y, certificate, self.prover.last)
            self._of_proposal = True
        return solves

    def _seen(self, x: Storage) -> tuple[Point, EvaluatedPoint, Array | None]:
        """The point, repaired, and its images; of a sketch, which has lost a part of x and so of
        the bound that f has by its tangent there, where that is taken instead."""
        began, X = time.perf_counter(), self.problem.X
        point, lost = reconstructed(x)
        if self.problem.repair is not None:
            point = from_user(X, self.problem.repair(to_user(X, point)))
        seen = EvaluatedPoint.of(self.problem, point)
        self.point_seconds = time.perf_counter() - began
        return point, seen, None if lost is None else self.u

    def _settle_doubt(self, state: State) -> None:
        """Prove the best bound, so that one that an inexact oracle made too good is put right."""
        assert self.w is not None
        slack = 0.1 * max(abs(state.value), abs(self.lower))
        u = state.Mx if self.u is None else self.u
        lower = self.prover.lower(self.normalised, u, self.w, slack)
        self._proved_w, self.lower = self.w, min(self.lower, lower)

    def _certify(
        self,
        point: Point,
        seen: EvaluatedPoint,
        w: Array,
        gap: float,
        *,
        room: float = np.inf,
        tangent: Array | None,
    ) -> Certificate:
        """The certificate, by a proof that loses little against an (absolute) gap of that size.

        `room` is how much the gap that is expected may grow: a proof may lose a part of it.
        """
        y = self.scaling.dual(w)
        enough = self.problem.sense * seen.objective - gap + KEPT * room
        certificate = self.prover.certificate(seen, y, gap, enough=enough, tangent=tangent)
        self._certified = CertifiedPoint(point, y, certificate, self.prover.last, tangent=tangent)
        self._of_proposal, self._proved_w = False, w
        # Where the estimate was too good, the oracle being inexact, another dual takes its place.
        self.lower = min(self.lower, self.problem.sense * certificate.bound * self.scaling.c)
        return certificate

    def _separated(self, state: State, row: Row) -> bool:
        """Whether A(X) is proved to be apart from K, by a normal of K at Ax or by the best dual.

        A bound that is above a value of f + g by more than these can vary owes the rest to the part
        of its dual that is a normal of K: that part separates, by as much.
        """
        Ax, h = self.scaling.image(state.Ax), self.problem.h
        w = state.w if self.w is None else self.w
        owed = self._above(row) - 0.5 * self._reach
        for d in (h.normal_residual(Ax), normal_part(h, self.scaling.dual(w))):
            room = float(d @ Ax) - h.support(d)  # no separation is wider: Ax is a point of A(X)
            if not room > 0:
                continue
            slack = 0.1 * (min(max(owed, 1e-3 * room), room) if owed > 0 else room)
            self.infeasible = self.prover.apart(d, slack)
            if self.infeasible is not None:
                self.separator = d
                return True
        return False
