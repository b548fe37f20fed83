"""The record of a run: what it has tried, seen and reached, as a checkpoint holds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any

import numpy as np

from condal.certificates.history import History
from condal.certificates.ledger import CertifiedPoint
from condal.driver.counting import Counts
from condal.driver.scaling import Scaling
from condal.driver.stop import StallDetector
from condal.errors import FormatError
from condal.methods.choice import Choice
from condal.methods.state import LEAST_WARM_K, State, Warm
from condal.problem import Problem
from condal.result import Result, Status
from condal.types import Method, Storage, to_user

HANDOVER = ", then "  # between the names of methods that follow each other
UNITS_AS_GIVEN = " (not normalised)"  # after the name of a method
ADVICE = "give another file, or start a new solve"


@dataclass(eq=False)
class RunRecord:
    """The methods that are `tried`, the index `at` of the current one, and where it is: its warm
    start, its last state (None before the first), x, and its progress.

    `first_k` is the k of the warm start of the whole run, 0 without one.
    `memory` is that of the certifier before it has checked the last state; None afterwards.
    """

    tried: Iterable[Choice]
    warm: Warm | None = None
    at: int = 0
    first_k: int | None = None
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

    @property
    def choice(self) -> Choice:
        """The current method, and why it was chosen."""
        return next(islice(self.tried, self.at, None))

    @property
    def has_more(self) -> bool:
        """Whether another method can follow."""
        return any(True for _ in islice(self.tried, self.at + 1, None))

    def begin(self, problem: Problem, x: Storage) -> None:
        """Begin the current method from the warm start, with x in this storage."""
        method = self.choice.method
        self.x = x
        self.names.append(method.name + ("" if normalises(method) else UNITS_AS_GIVEN))
        self.why.append(f"{method.name}: {self.choice.why}")
        if self.warm is not None and self.warm.x is not None:
            x.load(self.warm.x)
        self.state = method.start(problem, self.warm)
        self.first_k = self.state.k if self.first_k is None else self.first_k
        self.progress = StallDetector(self.state.k, self.choice.patience)

    def hand_over(self, scaling: Scaling) -> None:
        """Let the next method begin where the current one stopped."""
        answer = self.answer
        assert self.state is not None
        assert answer is not None
        gap, infeasibility = answer.certificate.gap, answer.certificate.infeasibility
        price = answer.certificate.price
        if answer.x is not None:
            # A dual that proves next to nothing would be a burden.
            y = answer.y if gap < 1.0 else np.zeros_like(answer.y)
            k = max(self.state.k, LEAST_WARM_K)
            self.warm = Warm(answer.x, scaling.normalised_dual(y), k)
        text = f"it stopped at a gap of {gap:.1g}, infeasible by {infeasibility:.1g}"
        self.why.append(f"{text} at a price of {price:.1g}" if price > 0 else text)
        self.at, self.state, self.x = self.at + 1, None, None

    def aim_at(self, aim: float, *, before: float) -> None:
        """Let the methods that aim at `before` aim at another relative gap.

        A method with an aim of the user's own, or with none, keeps it.
        """
        self.tried = tuple(_aimed(choice, aim, before) for choice in self.tried)

    @property
    def method(self) -> str:
        """The names of the methods that were tried."""
        return HANDOVER.join(self.names)

    def result(
        self, problem: Problem, answer: CertifiedPoint, status: Status, **more: Any
    ) -> Result:
        """Return the result."""
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
            method=self.method,
            why="; ".join(self.why),
            oracle_cpu_seconds=self.counts.oracle_cpu_seconds,
            cpu_seconds=self.cpu_seconds,
            reconstruction=answer.reconstruction,
            tangent=answer.tangent,
            maximise=problem.maximise,
            first_k=self.first_k or 0,
            **more,
        )

    def packed(self) -> dict[str, Any]:
        """Return the fields as a checkpoint holds them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "tried": tuple(self.tried)}

    @classmethod
    def unpacked(cls, values: Any, path: str) -> RunRecord:
        """Return the record of such fields; raise FormatError if they are not those of a record."""
        if not isinstance(values, dict) or set(values) != set(FIELD_TYPES):
            raise FormatError(f"does not hold a solve; {ADVICE}", path=path)
        for name, kind in FIELD_TYPES.items():
            if not isinstance(values[name], kind):
                got = type(values[name]).__name__
                raise FormatError(f"has {got} for {name}; {ADVICE}", path=path)
        record = cls(**values)
        if not all(isinstance(choice, Choice) for choice in values["tried"]):
            raise FormatError(f"does not hold methods; {ADVICE}", path=path)
        if not 0 <= record.at < len(values["tried"]) or not hasattr(record.x, "move"):
            raise FormatError(f"does not hold x; {ADVICE}", path=path)
        return record


def _aimed(choice: Choice, aim: float, before: float) -> Choice:
    method: Any = choice.method
    if getattr(method, "aim", None) != before:
        return choice
    return replace(choice, method=replace(method, aim=aim))


def normalises(method: Method) -> bool:
    """Whether a method sees the normalised problem, in whose units its parameters are."""
    return bool(getattr(method, "normalise", True))


FIELD_TYPES: dict[str, Any] = {
    "tried": tuple,
    "warm": Warm | None,
    "at": int,
    "first_k": int,
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
