"""The one driver: it holds the loop, and so it stops, times, records, checks and keeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from condal.certificates.ledger import CertifiedPoint
from condal.driver.budget import Budget
from condal.driver.certification import CertificationSchedule
from condal.driver.checkpoint_writer import CheckpointWriter
from condal.driver.counting import counted
from condal.driver.pieces.guards import unguarded
from condal.driver.recorder import Recorder
from condal.driver.run_record import RunRecord
from condal.driver.scaling import normalise
from condal.driver.stop import ALMOST, Stop
from condal.errors import PieceError
from condal.linalg.eigenvalue_bounds import FLOPS_PER_SECOND
from condal.methods.choice import StallDetector
from condal.methods.state import State, Warm
from condal.problem import Problem
from condal.result import Result, Row, Status
from condal.runtime.cancellation import Cancelled, Deadline, Stopper
from condal.runtime.consensus import is_distributed, root_value
from condal.runtime.signals import SignalHandler
from condal.storage import automatic, require_fit
from condal.types import Method, Storage

Callback = Callable[[Row], Any]
LIMITS = (Status.MAX_ITERS, Status.MAX_SECONDS, Status.STALLED)
RESTS = (Status.STALLED, Status.NUMERICAL_ERROR)  # of a method: another may do more
PROVED = (Status.SOLVED, Status.INFEASIBLE)


class Run:
    """One solve: the user's problem, the normalised one that the method sees, and the log."""

    def __init__(
        self,
        problem: Problem,
        stop: Stop,
        log: RunRecord,
        *,
        seed: int,
        storage: Storage | None = None,
        keeper: CheckpointWriter | None = None,
        stopper: Stopper | None = None,
        max_bytes: int | None = None,
    ) -> None:
        self.problem, self.stop, self.log, self.keeper = problem, stop, log, keeper
        self.seed, self.storage, self.max_bytes = seed, storage, max_bytes
        normalised, self.scaling = normalise(problem)
        self.normalised, self.counts = counted(normalised, log.counts)
        self.recorder = Recorder(problem, normalised, self.scaling)
        self.checks = CertificationSchedule(problem, normalised, self.scaling, stop.tol, seed)
        self.first: int | None = None  # the k that the iterations count from
        self.fault: PieceError | None = None
        self.reason = ""
        self.began = time.perf_counter() - log.seconds
        self.cpu_began = time.process_time() - log.cpu_seconds
        self.signalled, self.budget = Stopper(), Budget(stop.max_seconds)
        given = [] if stopper is None else [stopper]
        self.alarm = Deadline(self.signalled, *given, until=self.budget.deadline)

    def warm(self, warm: Warm) -> None:
        """Begin where another solve ended."""
        self.log.warm = warm
        self.checks.prover.seed += warm.k  # its duals were chosen after the proofs of that solve

    def recall(self, checks: Any) -> None:
        """Go on from what a checkpoint says the checks have seen."""
        log = self.log
        self.checks.recall(checks)
        if log.answer is not None:
            log.answer = self.checks.prover.proved_again(log.answer)
        if not self.checks.holds(log.ended):
            log.ended = None

    def go(self, callback: Callback | None) -> Result:
        """Follow the methods, one after the other, until one solves it or a limit is met."""
        say = getattr(callback, "note", None)  # as that of a Progress
        with SignalHandler(self.signalled, say=say) as interrupts, self.alarm.listening():
            log, status, more = self.log, self.log.ended, True
            if status is not None:  # of a checkpoint
                log.answer = self.checks.better(log.answer, self._answer(status))
            while status is None or (status in RESTS and more):
                if status is not None:
                    self._hand_over()
                more = log.at + 1 < len(log.tried)
                try:
                    self._begin(log.tried[log.at].method)
                    status = self._follow(callback, interrupts, more=more)
                except PieceError as fault:  # before the first state
                    status = self._failed(fault)
                    break
                log.answer = self.checks.better(log.answer, self._answer(status))
                if self.fault is not None:
                    status = Status.NUMERICAL_ERROR
                    break
                if status in LIMITS and self.checks.solves(log.answer.certificate):
                    status = Status.SOLVED  # the free estimates did not see it
                if status is Status.STALLED and self.checks.unprovable:
                    break
            return self._concluded(status)

    def _hand_over(self) -> None:
        """The next method begins where this one has come to rest."""
        log, answer = self.log, self.log.answer
        assert log.state is not None
        assert answer is not None
        if answer.x is not None:
            # A dual that proves next to nothing would be a burden.
            y = answer.y if answer.certificate.gap < 1.0 else np.zeros_like(answer.y)
            log.warm = Warm(answer.x, self.scaling.normalised_dual(y), log.state.k)
        log.why.append(answer.rest)
        log.at, log.state, log.x = log.at + 1, None, None

    def _begin(self, method: Method) -> None:
        """Begin a method; the one that a checkpoint holds is under way."""
        log = self.log
        if log.state is None:
            log.x = self._storage(method) if self.storage is None else self.storage
            log.names.append(method.name)
            log.why.append(f"{method.name}: {log.tried[log.at].why}")
            if log.warm is not None and log.warm.x is not None:
                log.x.load(log.warm.x)
            log.state = method.start(self.normalised, log.warm)
            self.checks.point_seconds = getattr(log.x, "flops", 0.0) / FLOPS_PER_SECOND
            log.progress = StallDetector(log.state.k, log.tried[log.at].patience)
        self.first = log.state.k if self.first is None else self.first

    def _follow(
        self, callback: Callback | None, interrupts: SignalHandler, *, more: bool
    ) -> Status:
        """Why the method ends; if there is `more` to try, one that gets nowhere is left."""
        log = self.log
        assert log.state is not None
        assert log.x is not None
        states = log.tried[log.at].method.iterates(self.normalised, log.x, log.state)
        self.whole = True  # x is that of the last state
        try:
            with self.alarm.on():
                ended = self._looked(more) if log.memory is not None else self._stalled(more)
                while ended is None:
                    self._set_alarm()
                    self.whole = False
                    state = next(states, None)
                    self.whole = True
                    ended = self._rested() if state is None else self._step(state, callback, more)
        except Cancelled as halt:  # in an iteration that is given up, before it has touched x
            if halt.alarm is not self.alarm:
                raise
            ended, self.whole = Status.INTERRUPTED if halt.asked else Status.MAX_SECONDS, True
        except PieceError as fault:
            ended = self._failed(fault)
        except FloatingPointError as error:
            ended, self.reason = Status.NUMERICAL_ERROR, str(error)
        except KeyboardInterrupt:
            if interrupts.aborted or is_distributed():
                raise
            ended = Status.INTERRUPTED
        if self.whole and ended is not Status.NUMERICAL_ERROR and len(log.history):
            self._keep(ended)
        return self._last_look(ended)

    def _set_alarm(self) -> None:
        """For the next iteration; the first is not cut short, as there is nothing before it."""
        self.alarm.patient = not len(self.log.history)
        written = 0.0 if self.keeper is None else self.keeper.seconds
        seconds = self.checks.prover.seconds, self.counts.longest
        self.alarm.until = self.budget.until(*seconds, self.checks.point_seconds + written)

    def _step(self, state: State, callback: Callback | None, more: bool) -> Status | None:
        """Take note of a state, and look at it; why it is the last, if it is."""
        log = self.log
        log.state = state
        if not np.isfinite(state.value) or np.isnan(state.gap):
            self.reason = f"at iteration {state.k}, f(x) was {state.value / self.scaling.c}"
            return Status.NUMERICAL_ERROR
        self.checks.note_lower(state)
        seconds = time.perf_counter() - self.began
        row = self.recorder.row(state, self.checks.lower, self.counts, seconds)
        log.history.append(row)
        log.memory = self.checks.memory()
        asked = root_value(callback is not None and bool(callback(row)))
        ended = self._looked(more)
        if ended in PROVED:
            return ended
        assert self.first is not None
        limit = Status.INTERRUPTED if asked else self.stop.limit(state.k - self.first)
        ended = limit or ended
        if ended is None and self.keeper is not None and self.keeper.due():
            self._keep(None)
        return ended

    def _looked(self, more: bool) -> Status | None:
        """What the checks say of the last state, or whether the method gets nowhere."""
        log = self.log
        assert log.state is not None
        assert log.x is not None
        assert log.progress is not None
        row = log.history.last
        ended = self.checks.look(log.state, row, log.x)
        log.memory = None
        log.progress.note(log.state.k, max(row.gap, row.infeasibility))
        return ended or self._stalled(more)

    def _stalled(self, more: bool) -> Status | None:
        progress = self.log.progress
        if progress is None or not progress.stalled:
            return None
        ends = more or self.stop.is_spent(self.problem, self.log.history.last)
        return Status.STALLED if ends else None

    def _rested(self) -> Status:
        """Where a method can do no more."""
        log = self.log
        assert log.state is not None
        none = len(log.history) and self.checks.none_is_feasible(log.state, log.history.last)
        return Status.INFEASIBLE if none else Status.STALLED

    def _keep(self, ended: Status | None) -> None:
        """Write the checkpoint, if one is asked for."""
        log = self.log
        if self.keeper is None:
            return
        log.ended = ended if ended in PROVED else None
        self._clock()
        checks = self.checks.memory() if log.memory is None else log.memory
        row = log.history.last
        # Without what was asked of the oracle in an iteration that was given up.
        counts = replace(self.counts, oracle_calls=row.oracle_calls, matvecs=row.matvecs)
        self.keeper.write({**log.packed(), "counts": counts, "checks": checks}, row)

    def _clock(self) -> None:
        self.log.seconds = time.perf_counter() - self.began
        self.log.cpu_seconds = time.process_time() - self.cpu_began

    def _last_look(self, ended: Status) -> Status:
        """How it has ended, with what may be proved in the time that is left."""
        log, stoppers = self.log, [one for one in self.alarm.stoppers if not one.stopped]
        seconds = self.checks.prover.seconds, self.counts.longest
        until = self.budget.proof_until(*seconds, ended is Status.INTERRUPTED)
        self.checks.prover.alarm = Deadline(*stoppers, until=until)
        if ended in (Status.NUMERICAL_ERROR, Status.STALLED) or not len(log.history):
            return ended
        assert log.state is not None
        try:
            return self.checks.last_look(log.state, log.history.last, ended)
        except PieceError as fault:
            return self._failed(fault)
        except (FloatingPointError, Cancelled):
            return ended

    def _failed(self, fault: PieceError) -> Status:
        """Where a piece of the user's is no use, nothing more is tried."""
        self.fault = self.fault or fault
        self.reason = str(self.fault)
        return Status.NUMERICAL_ERROR

    def _answer(self, status: Status) -> CertifiedPoint:
        """What is to be returned of a method; where the pieces do not let us say, without proof."""
        state, x = self.log.state, self.log.x
        assert state is not None
        assert x is not None
        try:
            return self.checks.best(state, x, status)
        except PieceError as fault:
            self._failed(fault)
            return self.checks.unproved(x.point() if state.k > 0 else None)

    def _storage(self, method: Method) -> Storage:
        X, rows = unguarded(self.problem.X), self.problem.A.size + self.problem.f.M.size
        storage = automatic(X, rows, keeps=method.keeps, seed=self.seed, max_bytes=self.max_bytes)
        require_fit(storage, X)
        return storage

    def _reason(self, status: Status) -> str:
        """What went wrong, or why nothing could be proved."""
        if status is Status.NUMERICAL_ERROR:
            return self.reason
        if not self.checks.unprovable or not len(self.log.history):
            return ""
        return f"the estimated gap is {self.log.history.last.gap:.1g}, but {self.checks.unprovable}"

    def _concluded(self, status: Status) -> Result:
        """The result; a fault of the user's own piece is raised with it."""
        log = self.log
        answer = log.answer or self.checks.unproved(None)
        found = answer.certificate
        almost = ALMOST * self.stop.times_too_fine(self.problem, found.objective)
        if status is Status.STALLED and self.checks.solves(found, times=almost):
            status = Status.INACCURATE
        self._clock()
        reached = log.result(
            self.problem,
            answer,
            status,
            reason=self._reason(status),
            infeasible=self.checks.infeasible,
            separator=self.checks.separator,
            tol=float(self.stop.tol),
        )
        if self.fault is not None and self.fault.__cause__ is not None:
            self.fault.result = reached
            raise self.fault
        return reached
