"""The time of a solve: what was spent, and what is left for the next iteration and the proof."""

from __future__ import annotations

import time
from math import inf

PROOF_SHARE = 0.3  # of max_seconds, at most, is reserved for the proof,
FINISH_SHARE = 0.5  # and at most this for what must be done in any case
PROOF_GROWTH = 1.5  # times the last proof: the expected time of the next
PROOF_CALLS = 20.0  # times the longest oracle call: the expected time of the first
MIN_PROOF_SECONDS, MAX_PROOF_SECONDS = 0.2, 10.0  # after an interrupt; in a long solve at most
INTERRUPTED_SHARE = 0.05  # of the time so far, if that is more


class Budget:
    """max_seconds from now on, or no limit; times are those of `time.perf_counter`.

    `seconds` and `cpu_seconds` count from what an earlier part of the solve has spent.
    """

    def __init__(
        self, max_seconds: float | None, *, spent: float = 0.0, cpu_spent: float = 0.0
    ) -> None:
        self._began, self._spent = time.perf_counter(), spent
        self._cpu_zero = time.process_time() - cpu_spent
        self._seconds = inf if max_seconds is None else float(max_seconds)

    @property
    def seconds(self) -> float:
        """The wall time spent on the solve."""
        return self._spent + time.perf_counter() - self._began

    @property
    def cpu_seconds(self) -> float:
        """The processor time spent on the solve."""
        return time.process_time() - self._cpu_zero

    @property
    def deadline(self) -> float:
        """When the time is up."""
        return self._began + self._seconds

    def until(self, proof: float, call: float, finish: float = 0.0) -> float:
        """Return when the iterations end, if the last proof took `proof` seconds, the longest
        oracle call `call`, and what must be done in any case takes `finish`."""
        if self._seconds == inf:
            return inf
        reserved = min(PROOF_SHARE * self._seconds, _expected(proof, call))
        return self.deadline - reserved - min(FINISH_SHARE * self._seconds, finish)

    def proof_until(self, proof: float, call: float, interrupted: bool) -> float:
        """Return when the last proof ends: within one oracle call after the time is up, and soon
        after an interrupt."""
        now = time.perf_counter()
        limit = max(self.deadline, now) + call
        if not interrupted:
            return limit
        longest = max(MAX_PROOF_SECONDS, INTERRUPTED_SHARE * (now - self._began))
        return min(limit, now + min(max(_expected(proof, call), MIN_PROOF_SECONDS), longest))


def _expected(proof: float, call: float) -> float:
    """Return the seconds that the next proof is expected to take."""
    return PROOF_GROWTH * proof or PROOF_CALLS * call
