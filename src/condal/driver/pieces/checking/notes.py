"""The errors of the laws that were checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.linalg.guarded import NAMES

Law: TypeAlias = Callable[..., None]


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

    def laws_of(self, piece: str, tol: float) -> Law:
        """Return a function that notes the error of a law of the piece, over the largest of some
        sizes, and raises ProblemError if it is above `most` (tol by default)."""

        def law(name: str, error: float, *sizes: float, wrong: str, most: float = tol) -> None:
            self.note(piece, name, relative(error, *sizes), most=most, wrong=wrong)

        return law

    def note(self, piece: str, law: str, error: float, *, most: float, wrong: str) -> None:
        """Note a relative error of a law; raise ProblemError if it is above `most`."""
        if not error <= most:  # true of nan, too
            raise broken(piece, f"{wrong} (by {error:.2g})")
        before = self.worst.get((piece, law), 0.0)
        self.worst[piece, law] = float(max(before, np.maximum(error, 0.0)))

    def report(self, name: str) -> Report:
        """Return the worst error of each law."""
        return Report(name, tuple(Check(*key, error) for key, error in self.worst.items()))


def broken(piece: str, wrong: str) -> ProblemError:
    """Return the error that says what is wrong with a piece."""
    return ProblemError(f"{NAMES[piece]} is wrong: {wrong}")


def relative(error: float, *sizes: float) -> float:
    """Return the error over the largest of the sizes; 0 where both are 0."""
    return error / max(*sizes, np.finfo(float).tiny) if error else 0.0
