"""The process that makes one run: python -m condal.lab.bench.worker JOB ANSWER.

The instance and the peer's data are made, the solve is timed, and its answer certified.
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
from condal.lab.bench.certified import Certified, certified
from condal.lab.bench.job import Job, Run
from condal.lab.bench.peers import Limits, PeerAnswer, Refusal, Task, TimeExceeded, Usage, solver
from condal.lab.bench.sets import SETS
from condal.problem import Model, Problem


def work(job: Job) -> Run:
    """The run; every failure is one of its outcomes."""
    case = SETS[job.set].case(job.case)
    path = None if job.path is None else Path(job.path)
    blank = job.facts()
    with tempfile.TemporaryDirectory(prefix="condal-bench-") as folder:
        model = case.model(path)
        limits = Limits(job.seconds, job.memory, Path(folder))
        try:
            task = solver(job.solver).prepare(model, job.eps, limits)
            usage = measured(task, job.seconds)
            answer = task.answer()
        except Refusal as error:
            return Run(**blank, outcome="refused", reason=str(error))
        except TimeExceeded as error:
            return Run(**blank, outcome="time", reason=str(error))
        except Exception as error:  # whatever a peer may raise is its failure, not ours
            return Run(**blank, outcome="failed", reason=_brief(error))
        return _told(blank, model, answer, answer.usage or usage)


def measured(task: Task, seconds: float) -> Usage:
    """What the solve uses; SIGPROF ends this process when its CPU time is over."""
    memory.begin()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    began, cpu = time.perf_counter(), time.process_time()
    task.solve()
    used = Usage(time.process_time() - cpu, time.perf_counter() - began, memory.peak())
    signal.setitimer(signal.ITIMER_PROF, 0)
    return used


def _told(blank: dict[str, Any], model: Problem | Model, answer: PeerAnswer, usage: Usage) -> Run:
    facts: dict[str, Any] = {"cpu": usage.cpu, "wall": usage.wall, "memory": usage.memory}
    facts["repeats"] = [usage.cpu]
    try:
        found = certified(model, answer, tol=blank["tol"])
    except Exception as error:  # an answer that is no answer: nan, a wrong shape
        said = f"its answer cannot be certified: {_brief(error)}"
        return Run(**blank, **facts, outcome="failed", reason=said)
    return Run(
        **blank,
        **facts,
        outcome=_outcome(found, blank["tol"]),
        reason=answer.said,
        objective=found.objective,
        bound=found.bound,
        gap=found.gap,
        infeasibility=found.infeasibility,
        outside=found.outside,
        certified=found.what,
        proof=found.how,
    )


def _outcome(found: Certified, tol: float) -> Any:
    if found.solves(tol):
        return "solved"
    return "unproved" if np.isnan(found.error) else "short"


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def main(question: str, reply: str) -> None:
    """Read the job, do it, and write the run."""
    record = json.loads(Path(question).read_text(encoding="utf-8"))
    job = Job(**record)
    resource.setrlimit(resource.RLIMIT_AS, (job.memory, job.memory))
    run = work(job)
    Path(reply).write_text(json.dumps(run.record(), allow_nan=False), encoding="utf-8")


__all__ = ["main", "measured", "work"]

if __name__ == "__main__":
    main(*sys.argv[1:])
