"""When a solve stops, and why."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from condal.certificates.certificate import allowed_gap
from condal.certificates.history import Row
from condal.errors import ProblemError
from condal.methods.choice import PATIENCE
from condal.problem import Problem
from condal.result import Status
from condal.runtime.arguments import require_seconds, require_whole
from condal.runtime.time_limit import TimeLimit

INACCURATE_TIMES = 100.0  # times tol: a proof this close is worth returning as INACCURATE
PROOF_ROUNDING = 1e-12  # of the range of f: no proof in double precision loses much less
LEAST_AIM = 1e-100  # of methods and proofs for tol = 0: out of reach, and it does not underflow


@dataclass(frozen=True)
class Stop:
    """When to stop: at a proved gap, an infeasibility and a price of tol, or at a limit.

    A tol of 0 runs to a limit, which it needs.
    """

    tol: float = 1e-3
    max_iters: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        limited = self.max_iters is not None or self.max_seconds is not None
        if not (_is_number(self.tol) and 0 <= self.tol < np.inf and (self.tol > 0 or limited)):
            raise ProblemError(
                f"tol must be a positive number such as 1e-3; got {self.tol!r}"
                + ("" if self.tol != 0 else ": to run to a limit, set max_iters or max_seconds")
            )
        if self.max_iters is not None:
            require_whole(self.max_iters, "max_iters")
        require_seconds(self.max_seconds)

    @property
    def aim(self) -> float:
        """The tolerance that methods and proofs aim at."""
        return max(self.tol, LEAST_AIM)

    def at_limit(self, iterations: int) -> bool:
        """Return whether this many iterations are the limit."""
        return self.max_iters is not None and iterations >= self.max_iters

    def at_rounding(self, problem: Problem, row: Row) -> bool:
        """Return whether the gap is near the rounding of any proof of it, and tol is below that.

        Not for tol = 0, which runs to a limit.
        """
        ratio = self.rounding_ratio(problem, row.objective)
        near = allowed_gap(problem, row.objective, INACCURATE_TIMES * ratio * self.aim)
        return self.tol > 0 and ratio > 1.0 and abs(row.objective - row.bound) <= near

    def rounding_ratio(self, problem: Problem, objective: float) -> float:
        """Return the ratio of the smallest provable gap to the requested gap, at least 1."""
        smallest = PROOF_ROUNDING * problem.objective_range
        return max(1.0, smallest / allowed_gap(problem, objective, self.aim))


@dataclass
class StopReasons:
    """What speaks for stopping a method, as the stages of its run find it.

    `status` is the one place that decides why a run stops.
    """

    error: str | None = None  # a number that is not finite, or a user-supplied piece that failed
    proved: Status | None = None  # SOLVED or INFEASIBLE
    interrupted: bool = False
    out_of_time: bool = False
    at_max_iters: bool = False
    stalled: bool = False  # the method makes no progress, or can do no more
    answer_solves: bool = False  # the certificate of the answer proves tol,
    answer_is_close: bool = False  # or INACCURATE_TIMES that
    mid_step: bool = False  # an iteration was cut short: x is not that of the last state

    @property
    def status(self) -> Status | None:
        """Why the method stops; None while nothing speaks for it."""
        if self.error is not None:
            return Status.NUMERICAL_ERROR
        if self.proved is not None:
            return self.proved
        if self.interrupted:
            return Status.INTERRUPTED
        at_limit = self.out_of_time or self.at_max_iters or self.stalled
        if at_limit and self.answer_solves:
            return Status.SOLVED  # the free estimates did not show it
        if self.out_of_time:
            return Status.MAX_SECONDS
        if self.at_max_iters:
            return Status.MAX_ITERS
        if self.stalled:
            return Status.INACCURATE if self.answer_is_close else Status.STALLED
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


MIN_PROOF_SECONDS, MAX_PROOF_SECONDS = 0.2, 10.0  # of the last proof; in a long solve at most
PROOF_SHARE = 0.3  # of max_seconds, at most, is reserved for the proof,
FINISH_SHARE = 0.5  # and at most this for what must be done in any case
PROOF_GROWTH = 1.5  # times the last proof: the expected time of the next
PROOF_CALLS = 20.0  # times the longest oracle call: the expected time of the first
INTERRUPTED_SHARE = 0.05  # of the time so far, if that is more


class Budget:
    """The time limit of a solve, divided between iterations and proofs.

    Times are those of `time.perf_counter`. `seconds` and `cpu_seconds` count from what an earlier
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
    def cpu_seconds(self) -> float:
        """The processor time spent on the solve."""
        return time.process_time() - self._cpu_zero

    @property
    def deadline(self) -> float:
        """When the time is up."""
        return self._limit.until

    def until(self, proof: float, call: float, finish: float = 0.0) -> float:
        """Return when the iterations end, if the last proof took `proof` seconds, the longest
        oracle call `call`, and what must be done in any case takes `finish`."""
        if self._seconds == inf:
            return inf
        expected = max(MIN_PROOF_SECONDS, _expected(proof, call))
        reserved = min(PROOF_SHARE * self._seconds, expected)
        return self.deadline - reserved - min(FINISH_SHARE * self._seconds, finish)

    def proof_until(self, proof: float, call: float, interrupted: bool) -> float:
        """Return when the last proof ends: within one oracle call, or the time of a small proof,
        after the time is up, and soon after an interrupt."""
        now = time.perf_counter()
        limit = max(self.deadline, now) + max(call, MIN_PROOF_SECONDS)
        if not interrupted:
            return limit
        longest = max(MAX_PROOF_SECONDS, INTERRUPTED_SHARE * self._limit.seconds)
        return min(limit, now + min(max(_expected(proof, call), MIN_PROOF_SECONDS), longest))


def _expected(proof: float, call: float) -> float:
    """Return the seconds that the next proof is expected to take."""
    return PROOF_GROWTH * proof or PROOF_CALLS * call


class StallDetector:
    """Detects a stall: the largest of gap, infeasibility and price has not halved for too long."""

    checkpoint_fields = ("_first", "_halved", "_least", "_patience", "stalled")

    def __init__(self, k: int, patience: int = PATIENCE) -> None:
        self._first = self._halved = k
        self._least, self._patience = inf, patience
        self.stalled = False

    def note(self, k: int, measure: float) -> None:
        """Note the measure of iteration k.

        A method stalls if the patience and half of all iterations have passed since it was halved.
        """
        if measure <= 0.5 * self._least and measure < self._least:
            self._least, self._halved = measure, k
        self.stalled = k - self._halved > max(self._patience, (k - self._first) // 2)
