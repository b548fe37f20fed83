"""The one driver: it holds the `for`, and so stops, times, records, reports and certifies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.certify import Certificate, relative_gap
from condal.checks import Checks
from condal.counting import counted
from condal.domains.lifted import shown
from condal.errors import PieceError, ProblemError
from condal.guards import guarded, unguarded
from condal.methods.auto import Choice, Progress, choices
from condal.points import Array, Point, require_whole
from condal.problem import Model, Problem, problem_of
from condal.result import History, Result, Row, Status, unbegun
from condal.scaling import normalise
from condal.state import State, Warm
from condal.stop import Stop
from condal.storage import automatic, require_fit
from condal.types import Method, Storage
from condal.warm import warm_from

Callback = Callable[[Row], Any]
LIMITS = (Status.MAX_ITERS, Status.MAX_SECONDS, Status.STALLED)
RESTS = (Status.STALLED, Status.NUMERICAL_ERROR)  # of a method: another may do more


@dataclass(frozen=True, eq=False)
class Answer:
    """A point, a dual, and what is proved of them."""

    x: Point | None
    y: Array
    certificate: Certificate


def solve(
    problem: Problem | Model,
    method: Method | None = None,
    *,
    tol: float = 1e-3,
    max_iters: int | None = None,
    max_seconds: float | None = None,
    storage: Storage | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    warm_start: Result | None = None,
) -> Result:
    """Minimise f(x) + h(Ax) over x in X to a proved relative gap and infeasibility of tol.

    Parameters
    ----------
    problem : a `Problem`, or a model such as `condal.problems.max_cut(W)`.
    method : a method record; None chooses by the problem and tol, and goes on with another method
        where one comes to rest: `Result.why` says what was done.
    tol : SOLVED means |bound - objective| <= tol max(1, |objective|), proved, and an infeasibility
        of at most tol.
    max_iters, max_seconds : limits; None for none.
    storage : what to keep of x, from `condal.storage`; None chooses by size.
    seed : of all that is random: sketches and probabilistic proofs.
    callback : called with a `Row` after each iteration; a true answer stops the solve. One that is
        a context manager, as `condal.Progress()` is, is entered for the time of the solve.
    warm_start : a `Result` of the same problem, or of one of the same shape, to go on from.

    A piece of your own that raises ends the solve with a `PieceError`, which names it and carries
    the best result so far; one that gives NaN, or the wrong shape, with the status NUMERICAL_ERROR.
    Where that is before there is a point, the result has x = None and no bound.
    """
    stop, whole = Stop(tol, max_iters, max_seconds), problem_of(problem)
    require_whole(seed, "seed", least=0)
    for value, verb, wanted in (
        (method, "iterates", "method takes a record such as condal.CGAL()"),
        (storage, "move", "storage takes an object such as condal.storage.Sketch(n, 10)"),
        (warm_start, "history", "warm_start takes the Result of an earlier solve"),
        (callback, "__call__", "callback takes a function of one Row"),
    ):
        if value is not None and (isinstance(value, type) or not hasattr(value, verb)):
            raise ProblemError(f"{wanted}; got {value!r}")
    if storage is not None:
        require_fit(storage, whole.X)
    try:
        user_problem = guarded(whole)
        if method is None:
            tried = choices(user_problem, tol=stop.tol, free_storage=storage is None)
        else:
            tried = (Choice(method, "it was asked for"),)
        run = _Run(user_problem, stop, storage, seed)
    except PieceError as fault:  # while the problem is looked at and scaled
        fault.result = unbegun(whole, "none" if method is None else method.name, str(fault))
        if fault.__cause__ is not None:
            raise
        return fault.result
    with callback if isinstance(callback, AbstractContextManager) else nullcontext():
        return run.go(tried, callback, warm_start)


class _Run:
    """One solve: the user's problem, the normalised one that the method sees, and the record."""

    def __init__(self, problem: Problem, stop: Stop, storage: Storage | None, seed: int) -> None:
        self.problem, self.stop, self.storage, self.seed = problem, stop, storage, seed
        normalised, self.scaling = normalise(problem)
        self.normalised, self.counts = counted(normalised)
        self.history = History()
        self.checks = Checks(problem, normalised, self.scaling, stop.tol, seed)
        self.first: int | None = None  # the k that the iterations count from
        self.fault: PieceError | None = None
        self.reason = ""
        self.began, self.cpu_began = time.perf_counter(), time.process_time()
        self.uniform = _uniform(self.scaling.rows)

    def go(
        self, tried: Sequence[Choice], callback: Callback | None, result: Result | None
    ) -> Result:
        warm = None
        if result is not None:
            warm = warm_from(result, self.problem, self.scaling)
            self.checks.seed += warm.k  # its duals were chosen after the proofs of that solve
        answer, names, why = None, [], []
        for choice in tried:
            self.x = self._storage(choice.method) if self.storage is None else self.storage
            names.append(choice.method.name)
            why.append(f"{choice.method.name}: {choice.why}")
            more = choice is not tried[-1]
            try:
                state, status = self._follow(choice, callback, warm, more)
            except PieceError as fault:  # before the first state
                status = self._failed(fault)
                break
            answer = self._better(answer, self._answer(state, status))
            if self.fault is not None:
                status = Status.NUMERICAL_ERROR
                break
            if status in LIMITS and self.checks.solves(answer.certificate):
                status = Status.SOLVED  # the free estimates did not see it
            if status not in RESTS or not more:
                break
            if answer.x is not None:
                # A dual that proves next to nothing would be a burden.
                y = answer.y if answer.certificate.gap < 1.0 else np.zeros_like(answer.y)
                warm = Warm(answer.x, self.scaling.normalised_dual(y), state.k)
            why.append(_where(answer.certificate))
        answer = answer or Answer(*self.checks.unproved(None))
        reached = self._result(", then ".join(names), "; ".join(why), answer, status)
        if self.fault is not None and self.fault.__cause__ is not None:
            self.fault.result = reached
            raise self.fault
        return reached

    def _failed(self, fault: PieceError) -> Status:
        """Where a piece of the user's is no use, nothing more is tried."""
        self.fault = self.fault or fault
        self.reason = str(self.fault)
        return Status.NUMERICAL_ERROR

    def _answer(self, state: State, status: Status) -> Answer:
        """What is to be returned of a method; where the pieces do not let us say, without proof."""
        try:
            return Answer(*self.checks.best(state, self.x, status))
        except PieceError as fault:
            self._failed(fault)
            return Answer(*self.checks.unproved(self.x.point() if state.k > 0 else None))

    def _better(self, a: Answer | None, b: Answer) -> Answer:
        """The one of the smaller gap and infeasibility; b, if it solves or there is no a."""
        if a is None or a.x is None or self.checks.solves(b.certificate):
            return b
        return b if b.x is not None and _error(b.certificate) <= _error(a.certificate) else a

    def _follow(
        self, choice: Choice, callback: Callback | None, warm: Warm | None, more: bool
    ) -> tuple[State, Status]:
        """The last state of a method, and why it is the last; if there is `more` to try, a method
        that gets nowhere is left."""
        method = choice.method
        if warm is not None and warm.x is not None:
            self.x.load(warm.x)
        state, status = method.start(self.normalised, warm), Status.STALLED
        progress = Progress(state.k, choice.patience)
        self.first = state.k if self.first is None else self.first
        states = method.iterates(self.normalised, self.x, state)  # no other name keeps the first
        try:
            for state in states:
                if not np.isfinite(state.value) or np.isnan(state.gap):
                    self.reason = f"at iteration {state.k}, f(x) was {state.value / self.scaling.c}"
                    return state, Status.NUMERICAL_ERROR
                row = self._record(state)
                asked = callback is not None and callback(row)
                ended = self.checks.look(state, row, self.x)
                ended = ended or (Status.INTERRUPTED if asked else None)
                ended = ended or self.stop.limit(state.k - self.first, row.seconds)
                if ended is not None:
                    return state, self.checks.last_look(state, row, ended)
                if more and progress.stalls(state.k, max(row.gap, row.infeasibility)):
                    return state, status
            if len(self.history) and self.checks.none_is_feasible(state, self.history.last):
                status = Status.INFEASIBLE
        except PieceError as fault:
            status = self._failed(fault)
        except FloatingPointError as error:
            status, self.reason = Status.NUMERICAL_ERROR, str(error)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return state, status

    def _storage(self, method: Method) -> Storage:
        X, rows = unguarded(self.problem.X), self.problem.A.size + self.problem.f.M.size
        storage = automatic(X, rows, keeps=method.keeps, seed=self.seed)
        require_fit(storage, X)
        return storage

    def _record(self, state: State) -> Row:
        sense, c = self.problem.sense, self.scaling.c
        self.checks.note_lower(state)
        value = state.value + self.normalised.h.value(state.Ax)
        objective, bound = sense * value / c, sense * self.checks.lower / c
        if self.uniform is not None:
            distance = self.normalised.h.distance(state.Ax) / self.uniform
        else:
            distance = self.problem.h.distance(self.scaling.image(state.Ax))
        row = Row(
            state.k,
            objective,
            bound,
            relative_gap(objective, bound),
            distance / self.problem.reach,
            state.lam,
            state.eta,
            state.sigma,
            self.counts.oracle_calls,
            self.counts.matvecs,
            time.perf_counter() - self.began,
        )
        self.history.append(row)
        return row

    def _result(self, method: str, why: str, answer: Answer, status: Status) -> Result:
        return Result(
            x=None if answer.x is None else shown(self.problem.X, answer.x),
            y=answer.y,
            status=status,
            certificate=answer.certificate,
            history=self.history,
            seconds=time.perf_counter() - self.began,
            oracle_calls=self.counts.oracle_calls,
            matvecs=self.counts.matvecs,
            problem_name=self.problem.name,
            method=method,
            why=why,
            reason=self.reason if status is Status.NUMERICAL_ERROR else "",
            infeasible=self.checks.infeasible,
            oracle_cpu_seconds=self.counts.oracle_cpu_seconds,
            cpu_seconds=time.process_time() - self.cpu_began,
            tol=float(self.stop.tol),
            separator=self.checks.separator,
        )


def _error(certificate: Certificate) -> float:
    return max(certificate.gap, certificate.infeasibility)


def _where(certificate: Certificate) -> str:
    gap, infeasibility = certificate.gap, certificate.infeasibility
    return f"it came to rest at a gap of {gap:.1g}, infeasible by {infeasibility:.1g}"


def _uniform(rows: Array) -> float | None:
    """The common factor of the rows, if there is one."""
    if rows.size == 0:
        return 1.0
    return float(rows[0]) if np.all(rows == rows[0]) else None
