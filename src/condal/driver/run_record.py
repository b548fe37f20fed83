"""Where a run is: what it has tried, seen and reached, which is what a checkpoint holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from condal.certificates.ledger import CertifiedPoint
from condal.domains.lifted import to_user
from condal.driver.counting import Counts
from condal.errors import FormatError
from condal.methods.choice import Choice, StallDetector
from condal.methods.registry import joined_names
from condal.methods.state import State, Warm
from condal.problem import Problem
from condal.result import History, Result, Status
from condal.types import Storage


@dataclass(eq=False)
class RunRecord:
    """The methods that are `tried`, the number `at` of the one that is under way, and what is known
    of it: where it began, its last state (None before the first), x, and whether it gets anywhere.

    `memory` is what the checks had seen before they looked at that state; None once they have.
    """

    tried: Sequence[Choice]
    warm: Warm | None = None
    at: int = 0
    names: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    answer: CertifiedPoint | None = None
    x: Storage | None = None
    state: State | None = None
    progress: StallDetector | None = None
    memory: dict[str, Any] | None = None
    history: History = field(default_factory=History)
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    ended: Status | None = None

    def result(
        self, problem: Problem, answer: CertifiedPoint, status: Status, **more: Any
    ) -> Result:
        """What is returned of it."""
        return Result(
            x=None if answer.x is None else to_user(problem.X, answer.x),
            y=answer.y,
            status=status,
            certificate=answer.certificate,
            history=self.history,
            seconds=self.seconds,
            oracle_calls=self.counts.oracle_calls,
            matvecs=self.counts.matvecs,
            problem_name=problem.name,
            method=joined_names(self.names),
            why="; ".join(self.why),
            oracle_cpu_seconds=self.counts.oracle_cpu_seconds,
            cpu_seconds=self.cpu_seconds,
            reconstruction=answer.reconstruction,
            tangent=answer.tangent,
            **more,
        )

    def packed(self) -> dict[str, Any]:
        """Its fields, made of what a checkpoint knows."""
        known = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**known, "tried": tuple(self.tried)}

    @classmethod
    def unpacked(cls, known: Any, path: str) -> RunRecord:
        """The log of such fields; FormatError where they are others."""
        if not isinstance(known, dict) or set(known) != set(FIELD_TYPES):
            raise FormatError("holds no solve; give another, or begin anew", path=path)
        for name, kind in FIELD_TYPES.items():
            if not isinstance(known[name], kind):
                raise FormatError(
                    f"has {type(known[name]).__name__} for {name}; give another, or begin anew",
                    path=path,
                )
        log = cls(**known)
        if not all(isinstance(choice, Choice) for choice in log.tried):
            raise FormatError("holds no methods; give another, or begin anew", path=path)
        if not 0 <= log.at < len(log.tried) or log.x is None or not hasattr(log.x, "move"):
            raise FormatError("holds no x; give another, or begin anew", path=path)
        return log


FIELD_TYPES: dict[str, Any] = {
    "tried": tuple,
    "warm": Warm | None,
    "at": int,
    "names": list,
    "why": list,
    "answer": CertifiedPoint | None,
    "x": object,
    "state": State,
    "progress": StallDetector,
    "memory": dict | None,
    "history": History,
    "counts": Counts,
    "seconds": float,
    "cpu_seconds": float,
    "ended": Status | None,
}
