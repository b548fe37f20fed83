"""The driver: it holds the loop, so it stops, times, records, proves and writes checkpoints."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates import judge
from condal.certificates.bound import require_deterministic
from condal.certificates.history import Row
from condal.driver.certification import Certifier
from condal.driver.memory import storage_for
from condal.driver.run_record import INACCURATE_TIMES, RunRecord, Stop, StopReasons, normalises
from condal.driver.scaling import Recorder, as_given, counted, normalise
from condal.driver.schedule import Budget
from condal.errors import PieceError
from condal.linalg.eigenvalue_bounds import FLOPS_PER_SECOND
from condal.linalg.points import Array
from condal.methods.state import State, Warm
from condal.problem import Problem
from condal.result import Result, Status
from condal.runtime.limits import SignalHandler, TimeLimit
from condal.runtime.meter import Cancelled, Deadline, Stopper, agreed, decides_alone, work_done
from condal.types import Storage

if TYPE_CHECKING:
    from condal.driver.checkpoint import CheckpointWriter

Callback = Callable[[Row], Any]

LOG = logging.getLogger("condal")
LOG.addHandler(logging.NullHandler())

# Why a method stops without ending the run: another method may do more.
EXHAUSTED = (Status.STALLED, Status.INACCURATE, Status.NUMERICAL_ERROR)


class Run:
    """One solve of the user's problem by methods that see the normalised one, or the user's."""

    def __init__(
        self,
        problem: Problem,
        stop: Stop,
        record: RunRecord,
        *,
        seed: int,
        storage: Storage | None = None,
        writer: CheckpointWriter | None = None,
        stopper: Stopper | None = None,
        max_bytes: int | None = None,
        limit: TimeLimit,
    ) -> None:
        self.problem, self.stop, self.record, self.writer = problem, stop, record, writer
        self.seed, self.storage, self.max_bytes = seed, storage, max_bytes
        scale = normalise if normalises(record.choice.method) else as_given
        normalised, self.scaling = scale(problem)
        self.normalised, self.counts = counted(normalised, record.counts)
        self.recorder = Recorder(problem, normalised, self.scaling)
        self.certifier = Certifier(problem, normalised, self.scaling, stop, seed)
        self.cost = require_deterministic(problem) if stop.failure == 0 else ""
        self.reasons = StopReasons()
        self.fault: PieceError | None = None
        self.refuting: Array | None = None  # what a failed proof gave, for the next step
        self.first_k: int | None = None  # from which the iterations of this run are counted
        self.budget = Budget(limit, spent=record.seconds, cpu_spent=record.cpu_seconds)
        self.signalled = Stopper()
        stoppers = (self.signalled,) if stopper is None else (self.signalled, stopper)
        self.deadline = Deadline(*stoppers, until=self.budget.deadline)

    def start_from(self, warm: Warm, *, seed_offset: int = 0) -> None:
        """Begin where another solve ended; the offset keeps its proofs apart from those here."""
        self.record.warm = warm
        self.certifier.ledger.seed_offset = seed_offset

    def run(self, callback: Callback | None, say: Callable[[str], Any] | None = None) -> Result:
        """Run one method after the other, until one solves the problem or a limit is reached; `say`
        shows a line of text to the user."""
        LOG.info("solve %s to tol = %g", self.problem.name, self.stop.tol)
        if self.cost:
            LOG.info("%s", self.cost)
            (say or str)(self.cost)
        with SignalHandler(self.signalled, say=say) as signals, self.deadline.listening():
            if self.record.ended is not None:  # a checkpoint of a finished solve
                self.reasons.proved = self.record.ended
                self._take_answer()
            while self._has_next_method():
                self._start_method()
                self._run_method(callback, signals)
                self._try_at_end()
                self._take_answer()
            return self._result()

    def _has_next_method(self) -> bool:
        status, unprovable = self.reasons.status, self.certifier.unprovable
        try:
            may = status in EXHAUSTED and not self.fault and not unprovable
            return status is None or (may and self.record.has_more)
        except PieceError as fault:  # while the next method looks at the problem
            self._note_fault(fault)
            return False

    def _start_method(self) -> None:
        """Start the next method; one that a checkpoint holds is already under way."""
        record = self.record
        if self.reasons.status is not None:
            record.hand_over(self.scaling)
            LOG.info("%s", record.why[-1])
        self.reasons = StopReasons()
        try:
            if record.state is None:
                x, method = self.storage, record.choice.method
                if x is None:
                    x = storage_for(self.problem, method, max_bytes=self.max_bytes, seed=self.seed)
                record.begin(self.normalised, x)
                self.certifier.point_seconds = getattr(x, "flops", 0.0) / FLOPS_PER_SECOND
        except PieceError as fault:
            self._note_fault(fault)
        else:
            assert record.state is not None
            LOG.info("method %s", record.why[-1])
            self.first_k = record.state.k if self.first_k is None else self.first_k

    def _run_method(self, callback: Callback | None, signals: SignalHandler) -> None:
        """Iterate the method until something speaks for stopping it, or cuts it short."""
        if self.reasons.status is not None:
            return
        try:
            with self.deadline.on():
                self._iterate(callback)
        except Cancelled as cancelled:  # in an iteration that is given up, before it has touched x
            if cancelled.deadline is not self.deadline:
                raise
            asked = cancelled.asked
            self.reasons = StopReasons(interrupted=asked, out_of_time=not asked)
        except PieceError as fault:
            self._note_fault(fault)
        except FloatingPointError as error:
            self.reasons.error = str(error)
        except KeyboardInterrupt:
            if signals.aborted or not decides_alone():
                raise
            self.reasons.interrupted = True
        whole = not self.reasons.mid_step and self.reasons.error is None
        if self.writer is not None and whole and len(self.record.history):
            self.writer.save(self)

    def _iterate(self, callback: Callback | None) -> None:
        """The main loop: a step of the method, its row, the proofs that are due, a checkpoint."""
        record, reasons = self.record, self.reasons
        assert record.x is not None
        assert self.first_k is not None
        if record.memory is not None:  # a checkpoint written before its proofs were tried
            self._check_state(record.history.last)
        else:
            self._check_progress()
        states = record.choice.method.iterates(self.normalised, record.x, record.state)
        self.refuting = None  # the method has it by its state
        while reasons.status is None:
            state = self._advance(states)
            if state is None:
                self._check_exhausted()
                return
            self._record_state(state)
            self._set_deadline()  # for the proofs of a first iteration, too
            row = record.history.last
            reasons.interrupted = agreed(callback is not None and bool(callback(row)))
            self._check_state(row)
            reasons.at_max_iters = self.stop.at_limit(state.k - self.first_k)
            if self.writer is not None and reasons.status is None and self.writer.due():
                self.writer.save(self)

    def _advance(self, states: Iterator[State]) -> State | None:
        """Return the next state, within its deadline; None if the method can do no more.

        A method that is a generator is told what refuted its last bound.
        """
        if self.record.state is not None and self.record.state.last:
            return None
        self._set_deadline()
        counts_work = getattr(self.record.choice.method, "counts_work", False)
        before = work_done() if counts_work else 0.0
        self.reasons.mid_step = True
        state, refuting, self.refuting = None, self.refuting, None
        with suppress(StopIteration):
            state = states.send(refuting) if isinstance(states, Generator) else next(states)
        self.reasons.mid_step = False
        if counts_work:
            self.certifier.ledger.method_work += work_done() - before
        return state

    def _set_deadline(self) -> None:
        """Set when the next iteration ends; the first has no limit, as nothing precedes it."""
        finish = self.certifier.point_seconds + (self.writer.seconds if self.writer else 0.0)
        proof, call = self.certifier.ledger.seconds, self.counts.longest
        until = self.budget.until(proof, call, finish)
        self.deadline.allow(until, patient=not len(self.record.history))

    def _check_exhausted(self) -> None:
        """Stop where a method can do no more, or prove that no point is feasible."""
        record, self.reasons.stalled = self.record, True
        assert record.state is not None
        if len(record.history):
            now = record.state, record.history.last
            self.reasons.proved = self.certifier.try_infeasible(*now, exhausted=True)

    def _record_state(self, state: State) -> None:
        """Add the state to the record; raise FloatingPointError if it is not finite."""
        record = self.record
        record.state = state
        if not np.isfinite(state.value) or np.isnan(state.gap):
            f = state.value / self.scaling.c
            raise FloatingPointError(f"at iteration {state.k}, f(x) was {f}")
        bounds, seconds = self.certifier.note_bound(state), self.budget.seconds
        record.history.append(self.recorder.row(state, *bounds, self.counts, seconds))
        if self.writer is not None:
            record.memory = self.certifier.memory()

    def _check_state(self, row: Row) -> None:
        """Try the proofs that are due for the last state, and measure the progress."""
        record = self.record
        assert record.state is not None
        assert record.x is not None
        assert record.progress is not None
        self.reasons.proved = self.certifier.try_certify(record.state, row, record.x)
        LOG.debug(
            "k = %d: objective %.7g, bound ~%.7g, gap ~%.1e, infeasibility %.1e, proved %.1e",
            *(row.k, row.objective, row.bound, row.gap, row.infeasibility, row.proved),
        )
        ledger = self.certifier.ledger
        if ledger.refuting is not None and self.reasons.proved is None:
            # The vectors of a failed proof: for the method, in its state and for its next step.
            record.state = replace(record.state, refuting=ledger.refuting)
            self.refuting = ledger.refuting
        ledger.refuting = record.memory = None
        record.progress.note(record.state.k, row.error)
        self._check_progress()
        self.reasons.stalled |= self.certifier.seems_solved

    def _check_progress(self) -> None:
        """Stop a method that makes no progress, if another may, or no proof can be closer."""
        record = self.record
        if record.progress is not None and record.progress.stalled:
            exact = self.stop.at_rounding(self.problem, record.history.last)
            self.reasons.stalled = record.has_more or exact

    def _try_at_end(self) -> None:
        """Set the deadline of the last proofs; try one of infeasibility, where it may hold."""
        record, status, ledger = self.record, self.reasons.status, self.certifier.ledger
        stoppers = [stopper for stopper in self.deadline.stoppers if not stopper.stopped]
        interrupted = status is Status.INTERRUPTED
        until = self.budget.proof_until(self.counts.longest, interrupted)
        ledger.deadline = Deadline(*stoppers, until=until)
        if status in (*EXHAUSTED, *judge.PROVED) or not len(record.history):
            return
        assert record.state is not None
        try:
            now = record.state, record.history.last
            self.reasons.proved = self.certifier.try_infeasible(*now, exhausted=False)
        except PieceError as fault:
            self._note_fault(fault)
        except (FloatingPointError, Cancelled):
            pass

    def _take_answer(self) -> None:
        """Certify the point that the method has reached, and keep the best of all methods."""
        record, reasons, ledger = self.record, self.reasons, self.certifier.ledger
        assert reasons.status is not None
        if record.state is None:  # the method failed before its first state
            return
        assert record.x is not None
        try:
            reached = self.certifier.best(record.state, record.x, reasons.status)
            answer = ledger.best_pair(record.answer, reached)
        except PieceError as fault:
            self._note_fault(fault)
            reached = ledger.last_or_unproved(record.x.point() if record.state.k > 0 else None)
            answer = ledger.better_of(record.answer, reached)
        record.answer = answer
        aim, objective = self.stop.aim, answer.certificate.objective
        ratio = INACCURATE_TIMES * self.stop.rounding_ratio(self.problem, objective)
        reasons.answer = judge.of_point(answer.certificate, aim)
        reasons.answer_is_close = answer.certificate.within(ratio * aim)
        if reasons.proved is Status.SOLVED and reasons.answer is None:  # a point refuted a bound
            ledger.certified = answer
            reasons.proved, reasons.stalled = None, True

    def _note_fault(self, fault: PieceError) -> None:
        """Stop the run where a user-supplied piece failed; the first failure is reported."""
        self.fault = self.fault or fault
        self.reasons.error = str(self.fault)

    def _result(self) -> Result:
        """Return the result; an exception of a user-supplied piece is raised with it."""
        record, status, ledger = self.record, self.reasons.status, self.certifier.ledger
        unprovable, separation = self.certifier.unprovable, ledger.separation
        assert status is not None
        reason = self.reasons.error or ""
        if unprovable and not reason and len(record.history):
            reason = f"the estimated gap is {record.history.last.gap:.1g}, but {unprovable}"
        record.seconds, record.cpu_seconds = self.budget.spent
        result = record.result(
            self.problem,
            record.answer or ledger.last_or_unproved(None),
            status,
            reason=reason,
            infeasible=None if separation is None else separation.proof,
            separator=None if separation is None else separation.normal,
            tol=float(self.stop.tol),
            seed=self.seed,
        )
        if LOG.isEnabledFor(logging.INFO):
            LOG.info(
                "%s: objective %.10g, bound %.10g, gap %.2g, infeasibility %.2g; %d iterations, "
                "%.2f s",
                *(status.name.lower(), result.objective, result.bound, result.gap),
                *(result.infeasibility, result.iterations, result.seconds),
            )
        if self.fault is not None and self.fault.__cause__ is not None:
            self.fault.result = result
            raise self.fault
        return result
