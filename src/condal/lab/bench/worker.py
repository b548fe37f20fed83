"""The process of one run: python -m condal.lab.bench.worker JOB ANSWER.

It builds the instance and the peer's data, times the solve and certifies the answer.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from condal.lab.bench import memory
from condal.lab.bench.cases import BenchCase
from condal.lab.bench.certified import CertifiedAnswer, certify_answer
from condal.lab.bench.job import BenchRun, Job
from condal.lab.bench.peers import solver
from condal.lab.bench.peers.peer import (
    Limits,
    PeerAnswer,
    PeerTask,
    Refusal,
    TimeExceeded,
    Usage,
)
from condal.lab.bench.sets import SETS
from condal.problem import Model, Problem


def work(job: Job) -> BenchRun:
    """Do the job; every failure is an outcome of the run."""
    case = SETS[job.set].case(job.case)
    path = None if job.path is None else Path(job.path)
    facts = job.facts()
    with tempfile.TemporaryDirectory(prefix="condal-bench-") as folder:
        model = case.model(path)
        limits = Limits(job.seconds, job.memory, Path(folder))
        try:
            task = solver(job.solver).prepare(model, job.eps, limits)
            usage = measure_solve(task, job.seconds)
            answer = task.answer()
        except Refusal as error:
            return BenchRun(**facts, outcome="refused", reason=str(error))
        except TimeExceeded as error:
            return BenchRun(**facts, outcome="time", reason=str(error))
        except Exception as error:  # any exception of a peer is its failure
            return BenchRun(**facts, outcome="failed", reason=_brief(error))
        return _certified_run(facts, case, model, answer, answer.usage or usage)


def measure_solve(task: PeerTask, seconds: float) -> Usage:
    """Measure what the solve uses; SIGPROF ends this process when its CPU time is over."""
    memory.begin()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    began, cpu = time.perf_counter(), time.process_time()
    task.solve()
    used = Usage(time.process_time() - cpu, time.perf_counter() - began, memory.peak())
    signal.setitimer(signal.ITIMER_PROF, 0)
    return used


def _certified_run(
    facts: dict[str, Any], case: BenchCase, model: Problem | Model, answer: PeerAnswer, usage: Usage
) -> BenchRun:
    facts |= {"cpu": usage.cpu, "wall": usage.wall, "memory": usage.memory, "repeats": [usage.cpu]}
    try:
        proved = certify_answer(model, answer, tol=facts["tol"])
        quality = None if case.quality is None else case.quality.measure(model, answer)
    except Exception as error:  # nan, or a wrong shape
        message = f"its answer cannot be certified: {_brief(error)}"
        return BenchRun(**facts, outcome="failed", reason=message)
    return BenchRun(
        **facts,
        outcome=_outcome(proved, facts["tol"]),
        reason=answer.message,
        objective=proved.objective,
        bound=proved.bound,
        gap=proved.gap,
        infeasibility=proved.infeasibility,
        price=proved.price,
        outside=proved.outside,
        quality=quality,
        certified=proved.basis,
        proof=proved.how,
    )


def _outcome(proved: CertifiedAnswer, tol: float) -> Any:
    if proved.solves(tol):
        return "solved"
    return "unproved" if np.isnan(proved.error) else "short"


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def main(question: str, reply: str) -> None:
    """Read the job, do it, and write the run."""
    record = json.loads(Path(question).read_text(encoding="utf-8"))
    job = Job(**record)
    resource.setrlimit(resource.RLIMIT_AS, (job.memory, job.memory))
    run = work(job)
    Path(reply).write_text(json.dumps(run.record(), allow_nan=False), encoding="utf-8")


__all__ = ["main", "measure_solve", "work"]

if __name__ == "__main__":
    main(*sys.argv[1:])
