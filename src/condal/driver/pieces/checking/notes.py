"""What was checked, and how far off it was."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from condal.errors import ProblemError
from condal.linalg.guarded import NAMES


@dataclass(frozen=True)
class Check:
    """One law of one piece: its worst error on all that it was tried with, relative."""

    piece: str
    law: str
    error: float


@dataclass(frozen=True)
class Report:
    """The laws that the pieces of a problem obey, with the worst error of each."""

    name: str
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        width = max(len(NAMES[check.piece]) for check in self.checks)
        laws = max(len(check.law) for check in self.checks)
        lines = [
            f"  {NAMES[check.piece]:<{width}}  {check.law:<{laws}}  {check.error:.1e}"
            for check in self.checks
        ]
        return "\n".join([f"{self.name}: no fault found; worst errors", *lines])

    __repr__ = __str__


@dataclass
class Notes:
    """The errors so far; one above what is allowed ends the check."""

    worst: dict[tuple[str, str], float] = field(default_factory=dict)

    def note(self, piece: str, law: str, error: float, *, most: float, wrong: str) -> None:
        """One more error of a law; ProblemError says what is `wrong` if it is above `most`."""
        if not error <= most:  # nan among them
            raise ProblemError(f"{NAMES[piece]} is wrong: {wrong} (by {error:.2g})")
        before = self.worst.get((piece, law), 0.0)
        self.worst[piece, law] = float(max(before, np.maximum(error, 0.0)))

    def report(self, name: str) -> Report:
        """All that was noted."""
        return Report(name, tuple(Check(*key, error) for key, error in self.worst.items()))
