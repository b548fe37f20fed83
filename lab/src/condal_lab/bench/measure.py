"""Runs in separate processes, each with one thread and limits on CPU time and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from condal_lab.bench.job import BenchRun, Job
from condal_lab.bench.peers import OURS
from condal_lab.sweeps.processes import ONE_THREAD

SHORT_SECONDS = 5.0  # of CPU time: shorter runs are repeated
TIGHTENINGS = (2, 5, 10, 100)  # divide the tolerance of a peer that falls short, in turn
WALL_PER_CPU = 10  # wall time over CPU time, for a busy machine and the certificate
BEST_FIRST = ("solved", "short", "unproved", "wrong")
LOG_CHARACTERS = 300  # quoted from the output of a process that crashed


def run_to_tolerance(job: Job, say: Callable[[str], None] = lambda _: None) -> BenchRun:
    """Run the solver, and tighten its tolerance until the certified error is at most tol.

    A peer measures its error by its own criteria. If the certified error exceeds tol, the peer runs
    again at a half, a fifth, a tenth and a hundredth of tol, until it suffices. What counts is the
    time to the error that all solvers have to reach; larger steps would make that time too long.
    """
    run, eps = run_once(job), job.eps
    for divisor in TIGHTENINGS:
        if run.outcome != "short" or job.solver == OURS.name:
            break
        job = replace(job, eps=eps / divisor)
        say(f"{job.solver}: certified only to {run.error:.0e}; running again at {job.eps:.0e}")
        tighter = run_once(job)
        if not tighter.answered:
            break  # keep the answer there was
        run = tighter
    return run


def repeat_run(job: Job, run: BenchRun) -> BenchRun:
    """Repeat a short run, and return the faster of the two if both have the same outcome.

    If the outcomes differ, only the better run counts.
    """
    if not run.answered or run.cpu is None or (run.repeats or [run.cpu])[0] >= SHORT_SECONDS:
        return run
    more = run_once(replace(job, eps=run.eps))
    if more.cpu is None or not more.answered:
        return replace(run, spoilt=[*run.spoilt, f"{more.outcome}, {more.reason}"])
    ahead = BEST_FIRST.index(run.outcome) - BEST_FIRST.index(more.outcome)
    if ahead < 0:
        return replace(run, spoilt=[*run.spoilt, more.outcome])
    if ahead > 0:
        return replace(more, spoilt=[*run.spoilt, *[run.outcome] * len(run.repeats)])
    best = min(run, more, key=lambda timed: timed.cpu or float("inf"))
    return replace(best, repeats=[*run.repeats, more.cpu], spoilt=run.spoilt)


def run_once(job: Job) -> BenchRun:
    """Run the job in its own process."""
    with tempfile.TemporaryDirectory(prefix="condal-bench-") as folder:
        question, reply = Path(folder, "job.json"), Path(folder, "run.json")
        question.write_text(json.dumps(asdict(job)), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "condal_lab.bench.worker", str(question), str(reply)],
            env={**os.environ, **ONE_THREAD, "TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=WALL_PER_CPU * job.seconds + 600)
        except subprocess.TimeoutExpired:
            return _no_answer(job, "time", "the process hangs")
        finally:
            _end(process)
        if reply.is_file():
            return BenchRun(**json.loads(reply.read_text(encoding="utf-8")))
    code = process.returncode
    if code in (-signal.SIGPROF, -signal.SIGXCPU):
        return _no_answer(job, "time", f"no answer within {job.seconds:g} s")
    last = " ".join(printed.decode(errors="replace").split())[-LOG_CHARACTERS:]
    ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return _no_answer(job, "failed", f"{ended} {last}".strip())


def _no_answer(job: Job, outcome: Any, reason: str) -> BenchRun:
    return BenchRun(**job.facts(), outcome=outcome, reason=reason)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children, which form a process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
