"""Where the checkpoint of a solve is, and how often it is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from condal.errors import ProblemError
from condal.io.safe_files import PathLike

EVERY_SECONDS = 60.0


@dataclass(frozen=True)
class Checkpoint:
    """A file that a solve writes at intervals.

    Parameters
    ----------
    path : str or path
        The file.
    every_seconds : float
        The time between two writes; 0 writes after each iteration.
    options : mapping
        Plain JSON that is stored with it.
    say : callable, optional
        Called with a text when something goes wrong; by default a warning is issued.
    """

    path: PathLike
    every_seconds: float = EVERY_SECONDS
    options: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | bytes | os.PathLike):
            raise ProblemError(
                f"checkpoint takes the path of a file, such as 'run.checkpoint'; got {self.path!r}"
            )
        if isinstance(self.every_seconds, bool) or not (
            isinstance(self.every_seconds, int | float) and 0 <= self.every_seconds < inf
        ):
            raise ProblemError(
                f"every_seconds must be a number of seconds, such as 60; got {self.every_seconds!r}"
            )

    @classmethod
    def of(cls, given: PathLike | Checkpoint, every_seconds: float) -> Checkpoint:
        """Return the checkpoint at a path, or the one that is given."""
        return given if isinstance(given, Checkpoint) else cls(given, every_seconds)
