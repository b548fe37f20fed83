"""What is left of the time: for the next iteration, and for the proof of what was reached."""

from __future__ import annotations

import time
from math import inf

SHARE = 0.3  # of max_seconds, at most, is kept for the proof
MOST = 0.5  # of it, for what must be done
LONGER = 1.5  # times the last proof: what the next may take
CALLS = 20.0  # times the longest call of the oracle: what the first proof may take
SHORTEST, LONGEST = 0.2, 10.0  # seconds of a proof after an interrupt; if it was long before,
PART = 0.05  # of the time so far


class Budget:
    """max_seconds from now on, or no limit. Times are those of `time.perf_counter`."""

    def __init__(self, max_seconds: float | None) -> None:
        self._began = time.perf_counter()
        self._seconds = inf if max_seconds is None else float(max_seconds)

    @property
    def deadline(self) -> float:
        """When the time is up."""
        return self._began + self._seconds

    def until(self, proof: float, call: float, finish: float = 0.0) -> float:
        """When the iterations end, if the last proof and the longest call took so many seconds, and
        what must be done in any case takes `finish`."""
        if self._seconds == inf:
            return inf
        kept = min(SHARE * self._seconds, _expected(proof, call))
        return self.deadline - kept - min(MOST * self._seconds, finish)

    def proof_until(self, proof: float, call: float, interrupted: bool) -> float:
        """When the last proof ends: within one call of the oracle after the time is up, and soon
        if somebody waits for it."""
        now = time.perf_counter()
        limit = max(self.deadline, now) + call
        if not interrupted:
            return limit
        longest = max(LONGEST, PART * (now - self._began))
        return min(limit, now + min(max(_expected(proof, call), SHORTEST), longest))


def _expected(proof: float, call: float) -> float:
    return LONGER * proof or CALLS * call
