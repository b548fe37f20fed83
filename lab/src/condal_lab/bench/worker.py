"""One run: build the instance and the peer's data, time the solve and certify the answer.

The certificate of any solver's answer is condal's, of its point and its dual.
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.certificates.certificate import Certificate
from condal.certificates.verification import certify
from condal.errors import CondalError
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.problem import Model, Problem, problem_of
from condal.result import Result
from condal.smooth import Linear
from condal.types import Spectral, from_user, to_user
from condal_lab.bench.cases import BenchCase, Written
from condal_lab.bench.conic.through_file import ConicAnswer, Question, Truth, judge
from condal_lab.bench.peers import solver
from condal_lab.bench.peers.executables import ProgramTask
from condal_lab.bench.peers.peer import (
    CallTask,
    Limits,
    PeerAnswer,
    PeerTask,
    Refusal,
    TimeExceeded,
    Usage,
)
from condal_lab.bench.process import begin_peak, peak
from condal_lab.bench.results import MAX_DISTANCE, BenchRun, Job
from condal_lab.bench.sets import SETS

OWN_DUAL, OUR_DUAL, ALONE, CLAIM = "x, y", "x, our y", "x alone", "own claim"
KNOWN = "x, optimum"
PROOF_SHARE = 0.01  # the share of the tolerance that the proof may lose to save time


@dataclass(frozen=True)
class CertifiedAnswer:
    """Objective, bound, gap, infeasibility and its price, in the user's sense.

    `outside` is the distance of the point from X over the size of X, `how` describes the proof.

    `basis` is "x, y" for the solver's point and dual, "x, our y" for its point and a dual computed
    from it, "x, optimum" for its point and the known optimum, "x alone" if there is no bound, and
    "own claim" if the solver returned no point: the
    objective is then its claim, and nothing is proved.
    """

    basis: str
    objective: float = float("nan")
    bound: float = float("nan")
    gap: float = float("nan")
    infeasibility: float = float("nan")
    how: str = ""
    outside: float = 0.0
    price: float = float("nan")

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility, its price and `outside`; nan if any is nan."""
        return float(np.max([self.gap, self.infeasibility, self.price, self.outside]))

    def solves(self, tol: float) -> bool:
        """Return whether the point lies in X and the error is at most tol."""
        return self.error <= tol and self.outside <= MAX_DISTANCE


def certify_answer(
    model: Problem | Model, answer: PeerAnswer, *, tol: float, optimum: float | None = None
) -> CertifiedAnswer:
    """Certify the answer after moving its x to the domain and repairing it, where possible.

    If the answer has no dual, or its dual proves too little, a dual is computed from x where
    possible, and else the known optimum takes the place of the bound. The proof may lose a
    hundredth of tol: it then takes seconds instead of hours.
    """
    problem = problem_of(model)
    if answer.certificate is not None:
        return _from_certificate(problem, answer.certificate, OWN_DUAL)
    if answer.x is None:
        claim = float("nan") if answer.claim is None else answer.claim
        return CertifiedAnswer(CLAIM, objective=claim)
    x = make_feasible(problem, answer.x)
    slack = PROOF_SHARE * tol * problem.gap_unit(problem.objective(x))
    best = CertifiedAnswer(
        ALONE,
        objective=problem.objective(x),
        infeasibility=problem.infeasibility(x),
        outside=problem.X.distance(x) / problem.X.max_norm,
    )
    if answer.y is not None and np.isfinite(answer.y).all():
        best = _from_certificate(problem, certify(problem, x, answer.y, slack=slack), OWN_DUAL)
    if not best.gap <= tol and (y := recover_dual(problem, x)) is not None:
        ours = _from_certificate(problem, certify(problem, x, y, slack=slack), OUR_DUAL)
        best = best if best.gap <= ours.gap else ours
    if best.basis == ALONE and optimum is not None:
        apart = abs(best.objective - optimum) / problem.gap_unit(optimum)
        return replace(best, basis=KNOWN, bound=optimum, gap=apart, price=0.0)
    return best


def _from_certificate(problem: Problem, proved: Certificate, basis: str) -> CertifiedAnswer:
    return CertifiedAnswer(
        basis,
        proved.objective,
        proved.bound,
        proved.gap,
        proved.infeasibility,
        proved.because,
        proved.distance_to_X / problem.X.max_norm,
        proved.price,
    )


def make_feasible(problem: Problem, x: Point) -> Point:
    """Drop the negative part of x, correct its trace and repair it."""
    X = problem.X
    if isinstance(X, Spectral) and not isinstance(x, tuple):
        x = _psd(x)
        trace = x.trace
        if trace > 0 and (not X.at_most or trace > X.trace):
            x = LowRank(x.U, x.weights * (X.trace / trace))
    return x if problem.repair is None else from_user(X, problem.repair(to_user(X, x)))


def recover_dual(problem: Problem, x: Point) -> Array | None:
    """Return y_i = -<(C R)_i, R_i> / (d_i x_ii) for x = R R' and A x = d * diag(x), else None.

    Row i of (C + A'y) R is then orthogonal to row i of R. At a stationary x, y is the multiplier.
    """
    rows, f = problem.A.diagonal_rows, problem.f
    if rows is None or not isinstance(f, Linear) or not isinstance(f.C, Symmetric):
        return None
    R = _psd(x).factor() if not isinstance(x, tuple) else None
    if R is None or len(R) != rows.size:  # several blocks, or the real form of a complex x
        return None
    diagonal = np.einsum("ij,ij->i", R, R)
    slope = np.einsum("ij,ij->i", f.C @ R, R)
    return np.asarray(-slope / (rows * np.where(diagonal > 0, diagonal, 1.0)))


def _psd(x: Array | LowRank) -> LowRank:
    """Return the positive semidefinite part of x as a factor."""
    if isinstance(x, LowRank) and not (x.weights < 0).any():
        return x
    full = np.asarray(dense(x))
    values, vectors = eigh(0.5 * (full + full.T))
    keep = values > 0
    return LowRank(np.ascontiguousarray(vectors[:, keep]), values[keep])


SHORT_SECONDS = 2.0  # of CPU time: shorter solves of a question are repeated
BATCH_SECONDS, MAX_TIMES, REPEATS = 0.3, 300, 3  # of a batch of solves, and batches in a process


def perform(job: dict[str, Any]) -> dict[str, Any]:
    """Do a job in a process of its own, and return the fields of its run."""
    return asdict(work(Job(**job)))


def work(job: Job) -> BenchRun:
    """Do the job; every failure is an outcome of the run."""
    case = SETS[job.set].case(job.case)
    path = None if job.path is None else Path(job.path)
    facts = job.facts()
    with tempfile.TemporaryDirectory(prefix="condal-bench-") as folder:
        model = case.model(path)
        limits = Limits(job.seconds, job.memory, Path(folder))
        try:
            answer, usages = _solve(job, model, limits)
        except Refusal as error:
            return BenchRun(**facts, outcome="refused", reason=str(error))
        except TimeExceeded as error:
            return BenchRun(**facts, outcome="time", reason=str(error))
        except Exception as error:  # any exception of a peer is its failure
            return BenchRun(**facts, outcome="failed", reason=_brief(error))
        facts |= _used(usages)
        if isinstance(model, Question):
            return _judged_run(facts, case, model.truth, answer)
        own: Any = model.model if isinstance(model, Written) else model
        return _certified_run(facts, case, own, answer)


def _solve(
    job: Job, model: Problem | Model | Question | Written, limits: Limits
) -> tuple[PeerAnswer, list[Usage]]:
    """Solve the instance; a short solve of a question is repeated.

    CPU clocks are too coarse for the milliseconds that a question takes, so batches are timed.
    """
    task = _prepare(job, model, limits)
    usage = measure_solve(task, job.seconds)
    answer = task.answer()
    if answer.is_empty:  # the time of a run that ends at once must not look like a result
        reason = f": {answer.message}" if answer.message else ""
        raise CondalError(f"ended without an answer{reason}")
    first = answer.usage or usage
    if not isinstance(model, Question) or first.cpu >= SHORT_SECONDS:
        return answer, [first]
    times = min(max(round(BATCH_SECONDS / max(first.wall, 1e-4)), 1), MAX_TIMES)
    usages = [first] if times == 1 else []
    while len(usages) < REPEATS:
        usages.append(measure_solve(_prepare(job, model, limits), job.seconds, times))
    return answer, usages


def _prepare(job: Job, model: Problem | Model | Question | Written, limits: Limits) -> PeerTask:
    if isinstance(model, Question):
        return model.prepare(job.solver, job.eps, limits)
    given: Any = model
    if isinstance(model, Written):
        given, own = model.model, model.solvers.get(job.solver)
        if own is not None:
            return CallTask(lambda: own(given, job.eps), partial(_answer, model))
    return solver(job.solver).prepare(given, job.eps, limits)


def _answer(model: Written, found: Any) -> PeerAnswer:
    """Return the answer of a solver that an instance brings."""
    if isinstance(found, Result):
        return PeerAnswer(found.x, found.y, certificate=found.certificate)
    if isinstance(found, float):
        return PeerAnswer(claim=found)
    if found is None:
        return PeerAnswer()
    if model.recovers:
        return PeerAnswer(recovered=found)
    X: Any = model.problem.X
    whole = dense(from_user(X, found)) if isinstance(X, Spectral) else np.asarray(found).ravel()
    return PeerAnswer(X.project(whole))


def measure_solve(task: PeerTask, seconds: float, times: int = 1) -> Usage:
    """Measure a solve, the mean of `times`; SIGPROF ends this process when its CPU time is over."""
    begin_peak()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    began, cpu, programs = time.perf_counter(), time.process_time(), []
    for _ in range(times):
        task.solve()
        if isinstance(task, ProgramTask) and task.usage is not None:
            programs.append(task.usage)  # it ran in a process of its own
    used, wall = time.process_time() - cpu, time.perf_counter() - began
    signal.setitimer(signal.ITIMER_PROF, 0)
    if programs:
        total = sum(usage.cpu for usage in programs)
        return Usage(total / times, wall / times, max(usage.memory for usage in programs))
    return Usage(used / times, wall / times, peak())


def _judged_run(
    facts: dict[str, Any], case: BenchCase, truth: Truth, answer: PeerAnswer
) -> BenchRun:
    """Judge an answer by what is known about the instance."""
    found: ConicAnswer = answer.recovered
    optimal = truth.status == found.status == "optimal"
    return BenchRun(
        **facts,
        outcome=judge(truth, found, facts["tol"]),
        reason=found.status,
        objective=found.value,
        gap=found.distance(truth) if optimal else None,
        infeasibility=found.violation if optimal else None,
        setup=found.setup,
        quality=None if case.quality is None else case.quality.measure(truth, answer),
        certified="known answer",
    )


def _used(usages: Sequence[Usage]) -> dict[str, Any]:
    """Return the fields of the fastest solve, and the CPU times of all."""
    best = min(usages, key=lambda usage: usage.cpu)
    used: dict[str, Any] = {"cpu": best.cpu, "wall": best.wall, "memory": best.memory}
    return {**used, "repeats": [usage.cpu for usage in usages]}


def _certified_run(
    facts: dict[str, Any], case: BenchCase, model: Problem | Model, answer: PeerAnswer
) -> BenchRun:
    try:
        proved = certify_answer(model, answer, tol=facts["tol"], optimum=case.optimum)
        quality = None if case.quality is None else case.quality.measure(model, answer)
    except Exception as error:  # nan, or a wrong shape
        message = f"its answer cannot be certified: {_brief(error)}"
        return BenchRun(**facts, outcome="failed", reason=message)
    measured = asdict(proved)
    return BenchRun(
        **facts,
        outcome=_outcome(proved, facts["tol"]),
        reason=answer.message,
        quality=quality,
        certified=measured.pop("basis"),
        proof=measured.pop("how"),
        **measured,
    )


def _outcome(proved: CertifiedAnswer, tol: float) -> Any:
    if proved.solves(tol):
        return "solved"
    return "unproved" if np.isnan(proved.error) else "short"


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split())[:200]
    return text if isinstance(error, CondalError) else f"{type(error).__name__}: {text}"
