"""When to try a proof, by the free estimates and the proofs before, and how long it may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from condal.certificates.evaluation import EXACT_INFEASIBILITY
from condal.runtime.limits import TimeLimit

FEASIBILITY_MARGIN = 1.05  # times tol: a larger infeasibility or price is not worth a proof
NEAR_GAP = 1.5  # times the requested gap: a larger estimate is not worth a look at the point
CLOSE_GAP = 0.95  # times the requested gap: a smaller estimate is worth a proof
STUCK_RATIO = 0.7  # infeasibility over that of half as many iterations: no progress above this

LOOK_GROWTH = 0.01  # of k: iterations between two looks at a point
PROOF_GROWTH = 0.05  # of k: iterations between two proofs of a gap,
MIN_PROOF_SPACING = 4  # and at least this many
ROOM_GROWTH = 2.0  # since the last proof: a gap with so much more room is not kept waiting
FIRST_PROPOSAL = 8  # the iteration at which a pair is proposed, unless the solve began at one
MAX_FAILED_WORK = 0.5  # of the work of the method: proofs that fail take no more of it

MIN_PROOF_SECONDS, INTERRUPTED_SECONDS = 0.2, 0.5  # of the last proof; after an interrupt
PROOF_SHARE = 0.3  # of max_seconds, at most, is reserved for the proof,
FINISH_SHARE = 0.5  # and at most this for what must be done in any case
EXPECTED_GROWTH = 1.5  # times the last proof: the expected time of the next
PROOF_CALLS = 20.0  # times the longest oracle call: the expected time of the first
FIRST_SHARE = 0.1  # of max_seconds is reserved before there was a call
LATE_SHARE, LATE_SECONDS = 0.05, 0.5  # of max_seconds, and more: how late a proof may end


class Estimates(NamedTuple):
    """The free estimates after iteration k, in the user's units and as of a minimisation.

    `rise` is bound - objective, `missed` the estimated gap (the smaller Frank-Wolfe gap, where a
    repair removes the infeasibility), `price` that of the infeasibility, `allowed` the requested
    absolute gap and price, and `max_rise` more than any feasible problem has. `repairs` says that x
    can be repaired, and `costly` that this takes long. `doubtful` says that the bound is not proved
    yet.
    """

    k: int
    rise: float
    missed: float
    infeasibility: float
    price: float
    tol: float
    allowed: float
    max_rise: float
    repairs: bool = False
    costly: bool = False
    doubtful: bool = True

    @property
    def beyond_tol(self) -> bool:
        """Whether x is too infeasible, or the bound has passed the objective at an infeasible x:
        neither can become a proof that x solves the problem."""
        if self.infeasibility > self.tol:
            return True
        return self.infeasibility > EXACT_INFEASIBILITY and self.rise > self.allowed

    @property
    def nearly_solved(self) -> bool:
        """Whether the estimates say that the tolerance is near."""
        return self._feasible and self.missed <= NEAR_GAP * self.allowed

    @property
    def _feasible(self) -> bool:
        """Whether the infeasibility and its price are near the tolerance, or can be repaired."""
        near = self.infeasibility <= FEASIBILITY_MARGIN * self.tol
        return self.repairs or (near and self.price <= FEASIBILITY_MARGIN * self.allowed)

    @property
    def room(self) -> float:
        """What a proof may lose, of the requested gap."""
        return 1.0 - self.missed / self.allowed

    @property
    def hopeless(self) -> bool:
        """Whether a look at the point cannot help: nothing is to be repaired, and the gap is too
        large."""
        exact = self.infeasibility <= EXACT_INFEASIBILITY
        return exact and -self.rise / self.allowed > CLOSE_GAP


class Attempts(NamedTuple):
    """The proofs to try after one iteration."""

    infeasibility: bool  # that no point is feasible
    bound: bool  # of the best bound, which an inexact oracle may have made too good
    proposal: bool  # of a pair that the problem proposes
    gap: bool  # of the gap at the current point


@dataclass(frozen=True)
class CertificationSchedule:
    """The first iteration at which each kind of proof may be tried.

    A proof costs more than an iteration. The gap is proved when the free estimates are near the
    tolerance, at most every 5% more iterations, or as soon as the room for the proof has doubled.
    The other proofs are tried at doubling k: of infeasibility when the infeasibility does not fall
    or the bound rises above all that can be reached, of the bound when it passes the objective, and
    of a proposed pair.
    """

    next_look: int = 1
    next_bound: int = 256
    next_proposal: int = FIRST_PROPOSAL
    next_infeasibility: int = 32
    next_rise: int = 1
    last_infeasibility: float = inf
    last_proof: int = 0
    last_room: float = inf

    def due(self, seen: Estimates) -> tuple[Attempts, CertificationSchedule]:
        """Return the proofs to try now, and the schedule after them."""
        k, infeasible = seen.k, False
        changes: dict[str, Any] = {}
        if k >= self.next_infeasibility:
            stuck = seen.infeasibility > STUCK_RATIO * self.last_infeasibility
            infeasible = stuck and seen.beyond_tol
            changes |= {"next_infeasibility": 2 * k, "last_infeasibility": seen.infeasibility}
        elif k >= self.next_rise and seen.rise > seen.max_rise:
            infeasible = True
            changes["next_rise"] = 2 * k
        bound = k >= self.next_bound and seen.rise > 0 and seen.doubtful
        if bound:
            changes["next_bound"] = 2 * k
        proposal = k >= self.next_proposal
        if proposal:
            changes["next_proposal"] = max(FIRST_PROPOSAL, 2 * k)
        roomy = seen.room >= ROOM_GROWTH * max(self.last_room, 1.0 - CLOSE_GAP)
        gap = seen.nearly_solved and (roomy or k >= self.next_look)
        if gap:
            changes["last_room"] = seen.room
            changes["next_look"] = _after_proof(k) if seen.costly else k + 1 + int(LOOK_GROWTH * k)
        attempts = Attempts(infeasible, bound, proposal, gap and not seen.hopeless)
        return attempts, replace(self, **changes) if changes else self

    def affords(self, k: int, failed: float, method: float) -> bool:
        """Return whether a proof of the gap may be tried, by the work of the proofs that failed and
        that of the method (0 if it is not counted). It may be at twice the k of the last."""
        return method == 0 or failed <= MAX_FAILED_WORK * method or k >= 2 * self.last_proof

    def after_proof(self, k: int, room: float = inf) -> CertificationSchedule:
        """Return the schedule after a proof of the gap at iteration k, with this room."""
        return replace(self, next_look=_after_proof(k), last_proof=k, last_room=room)


def _after_proof(k: int) -> int:
    """Return when the next proof of a gap, or costly repair, may be tried."""
    return k + max(MIN_PROOF_SPACING, int(PROOF_GROWTH * k))


class Budget:
    """The time limit of a solve, divided between iterations and proofs.

    Times are those of `time.perf_counter`. `seconds` and `spent` count from what an earlier
    part of the solve has spent.
    """

    def __init__(self, limit: TimeLimit, *, spent: float = 0.0, cpu_spent: float = 0.0) -> None:
        self._limit, self._spent = limit, spent
        self._cpu_zero = time.process_time() - cpu_spent
        self._seconds = limit.until - limit.began

    @property
    def seconds(self) -> float:
        """The wall time spent on the solve."""
        return self._spent + self._limit.seconds

    @property
    def spent(self) -> tuple[float, float]:
        """The wall time and the processor time spent on the solve."""
        return self.seconds, time.process_time() - self._cpu_zero

    @property
    def deadline(self) -> float:
        """When the time is up."""
        return self._limit.until

    def until(self, proof: float, call: float, finish: float = 0.0) -> float:
        """Return when the iterations end, if the last proof took `proof` seconds, the longest
        oracle call `call`, and what must be done in any case takes `finish`."""
        if self._seconds == inf:
            return inf
        expected = EXPECTED_GROWTH * proof or PROOF_CALLS * call or FIRST_SHARE * self._seconds
        reserved = min(PROOF_SHARE * self._seconds, max(MIN_PROOF_SECONDS, expected))
        return self.deadline - reserved - min(FINISH_SHARE * self._seconds, finish)

    def proof_until(self, call: float, interrupted: bool) -> float:
        """Return when the last proof ends: an oracle call, or the time of a small proof, after the
        time is up, and half a second after an interrupt."""
        now = time.perf_counter()
        if interrupted:
            return now + INTERRUPTED_SECONDS
        late = LATE_SHARE * self._seconds + LATE_SECONDS
        return max(self.deadline, now) + min(max(call, MIN_PROOF_SECONDS), late)
