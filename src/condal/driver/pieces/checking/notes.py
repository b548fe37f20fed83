"""The errors of the laws that were checked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from condal.errors import ProblemError
from condal.linalg.guarded import NAMES


@dataclass(frozen=True)
class Check:
    """One law of one piece, with its worst relative error over all trials."""

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
    """The worst errors so far; one that is too large ends the check."""

    worst: dict[tuple[str, str], float] = field(default_factory=dict)

    def note(self, piece: str, law: str, error: float, *, most: float, wrong: str) -> None:
        """Note the error of a law; raise ProblemError that says `wrong`, if it is above `most`."""
        if not error <= most:  # true of nan, too
            raise ProblemError(f"{NAMES[piece]} is wrong: {wrong} (by {error:.2g})")
        before = self.worst.get((piece, law), 0.0)
        self.worst[piece, law] = float(max(before, np.maximum(error, 0.0)))

    def report(self, name: str) -> Report:
        """Return the worst error of each law."""
        return Report(name, tuple(Check(*key, error) for key, error in self.worst.items()))
