"""What a run is asked for, why it stops, and its record, as a checkpoint holds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from math import inf
from typing import Any

import numpy as np

from condal.certificates.bound import DEFAULT_FAILURE, require_failure
from condal.certificates.history import History, Row
from condal.certificates.ledger import CertifiedPoint
from condal.driver.scaling import Counts, Scaling
from condal.errors import ProblemError
from condal.methods.choice import PATIENCE, Choice
from condal.methods.state import LEAST_WARM_K, State, Warm
from condal.problem import Problem
from condal.result import Result, Status
from condal.runtime.arguments import require_seconds, require_whole
from condal.types import Method, Storage, to_user

EVERY_SECONDS = 60.0  # between two checkpoints
INACCURATE_TIMES = 100.0  # times tol: a proof this close is worth returning as INACCURATE
PROOF_ROUNDING = 1e-12  # of the range of f: no proof in double precision loses much less
LEAST_AIM = 1e-100  # of methods and proofs for tol = 0: out of reach, and it does not underflow
HANDOVER = ", then "  # between the names of methods that follow each other
UNITS_AS_GIVEN = " (not normalised)"  # after the name of a method


@dataclass(frozen=True)
class Stop:
    """When to stop: at a proved gap, an infeasibility and a price of tol, or at a limit.

    A tol of 0 runs to a limit, which it needs.
    """

    tol: float = 1e-3
    max_iters: int | None = None
    max_seconds: float | None = None
    failure: float = DEFAULT_FAILURE

    def __post_init__(self) -> None:
        require_failure(self.failure)
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
        near = INACCURATE_TIMES * ratio * self.aim * problem.gap_unit(row.objective)
        return self.tol > 0 and ratio > 1.0 and abs(row.objective - row.bound) <= near

    def rounding_ratio(self, problem: Problem, objective: float) -> float:
        """Return the ratio of the smallest provable gap to the requested gap, at least 1."""
        smallest = PROOF_ROUNDING * problem.objective_range
        return max(1.0, smallest / (self.aim * problem.gap_unit(objective)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


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
    answer: Status | None = None  # SOLVED if the certificate of the answer proves tol,
    answer_is_close: bool = False  # whether it proves INACCURATE_TIMES that
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
        if at_limit and self.answer is not None:
            return self.answer  # the free estimates did not show it
        if self.out_of_time:
            return Status.MAX_SECONDS
        if self.at_max_iters:
            return Status.MAX_ITERS
        if self.stalled:
            return Status.INACCURATE if self.answer_is_close else Status.STALLED
        return None


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


def _aimed(choice: Choice, aim: float, before: float) -> Choice:
    method: Any = choice.method
    if getattr(method, "aim", None) != before:
        return choice
    return replace(choice, method=replace(method, aim=aim))


def normalises(method: Method) -> bool:
    """Whether a method sees the normalised problem, in whose units its parameters are."""
    return bool(getattr(method, "normalise", True))
