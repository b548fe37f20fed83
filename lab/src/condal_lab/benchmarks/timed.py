"""Run one solver once in its own process, with limits on CPU time and memory and one thread.

`python -m condal_lab.benchmarks.timed JOB REPLY`, both JSON files. Crashes, time-outs and lack of
memory are reported as outcomes.
"""

from __future__ import annotations

import resource
import signal
import time
from functools import partial
from typing import Any

from condal_lab.bench.memory import peak
from condal_lab.bench.process import run_alone

MEMORY = 8 * 10**9  # bytes
REFERENCE = "reference"
PATIENCE = 6  # wall-time limit over the CPU-time limit: the machine may be busy
STARVED = ("MemoryError", "memory allocation", "bad_alloc", "Unable to allocate", "SIGKILL")


def run(case: str, solver: str, eps: float, seconds: float) -> dict[str, Any]:
    """Return the outcome: `solved` with its figures, or `time`, `memory`, `refused`, `failed`."""
    wall = PATIENCE * seconds + 60
    ended = run_alone(work, case, solver, eps, seconds, wall=wall, memory=MEMORY)
    if ended.outcome == "done":
        return dict(ended.reply)
    starved = any(word in ended.reason for word in STARVED)
    return {"outcome": "memory" if starved else ended.outcome, "said": ended.reason}


def work(case: str, solver: str, eps: float, seconds: float) -> dict[str, Any]:
    """Build the instance, time the solver and judge its answer; 0 seconds means no limit."""
    from condal_lab.benchmarks.instances import INSTANCES

    instance = INSTANCES[case]()
    ours = solver in ("condal", REFERENCE)
    # The reference returns the best bound within the limit, so it must not be killed.
    limit = 0.8 * seconds if solver == REFERENCE and seconds else None
    call = partial(instance.ours, max_seconds=limit) if ours else instance.rivals[solver]
    if not ours and solver in ("SCS", "Clarabel", "HiGHS"):
        import cvxpy  # noqa: F401 - the import is not timed
    signal.setitimer(signal.ITIMER_PROF, seconds)
    wall, cpu = time.perf_counter(), _cpu()
    try:
        answer = call(eps)
    except Exception as error:  # any failure of a rival is a row of the table
        return _raised(error)
    cpu, wall = _cpu() - cpu, time.perf_counter() - wall
    memory = max(peak(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    signal.setitimer(signal.ITIMER_PROF, 0)
    record = {"outcome": "solved", "cpu": cpu, "wall": wall, "mb": memory / 1e6, "said": ""}
    if ours:
        x, result = answer
        record |= {"bound": result.bound, "gap": result.gap, "method": result.method}
        record |= {"said": result.status.name, "iterations": result.iterations}
        record |= {"oracle_calls": result.oracle_calls, "matvecs": result.matvecs}
    elif isinstance(answer, tuple):
        x, record["said"], record["engine_seconds"] = answer
    else:
        x = answer
    if x is None:
        return {**record, "outcome": "failed"}
    return {**record, **instance.judge(x)}


def _cpu() -> float:
    """Return the CPU seconds of this process and of the programs that it ran."""
    own, others = (resource.getrusage(k) for k in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _raised(error: Exception) -> dict[str, Any]:
    said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    if type(error).__name__ == "Refusal":
        return {"outcome": "refused", "said": str(error)}
    return {"outcome": "memory" if any(w in said for w in STARVED) else "failed", "said": said}
