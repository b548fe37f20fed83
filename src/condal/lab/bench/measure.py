"""Runs in processes of their own: one thread, so much CPU time, so much memory, and no more."""

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

from condal.lab.bench.job import Job, Run
from condal.lab.bench.peers import OURS
from condal.sweeps.processes import ONE_THREAD

SHORT = 5.0  # seconds of CPU: what takes less is repeated
TIGHTER = (2, 5, 10, 100)  # times as much is asked of a peer that falls short, in turn
PATIENCE = 10  # times the CPU time on the clock, for a loaded machine and the certificate
BEST = ("solved", "short", "unproved")
LOG = 300  # characters of what a process that crashed has left


def settled(job: Job, say: Callable[[str], None] = lambda _: None) -> Run:
    """A run to a tolerance that its certificate meets.

    A peer measures its error in its own way. Where our certificate finds more than tol, it is asked
    again for a half, a fifth, a tenth and a hundredth, until it is not: what counts is its time to
    the error that everyone is held to, and steps that are too large would make that time too long.
    """
    run, eps = once(job), job.eps
    for times in TIGHTER:
        if run.outcome != "short" or job.solver == OURS.name:
            break
        job = replace(job, eps=eps / times)
        say(f"{job.solver}: certified to {run.error:.0e} only; again, asked for {job.eps:.0e}")
        tighter = once(job)
        if not tighter.answered:
            break  # what was reached before is more than nothing
        run = tighter
    return run


def repeated(job: Job, run: Run) -> Run:
    """The faster of the run and one more like it, if it is short and both are as good.

    Of two that are not as good the better one counts, and not the time of the other.
    """
    if not run.answered or run.cpu is None or (run.repeats or [run.cpu])[0] >= SHORT:
        return run
    more = once(replace(job, eps=run.eps))
    if more.cpu is None or not more.answered:
        return replace(run, spoilt=[*run.spoilt, f"{more.outcome}, {more.reason}"])
    ahead = BEST.index(run.outcome) - BEST.index(more.outcome)
    if ahead < 0:
        return replace(run, spoilt=[*run.spoilt, more.outcome])
    if ahead > 0:
        return replace(more, spoilt=[*run.spoilt, *[run.outcome] * len(run.repeats)])
    best = min(run, more, key=lambda one: one.cpu or float("inf"))
    return replace(best, repeats=[*run.repeats, more.cpu], spoilt=run.spoilt)


def once(job: Job) -> Run:
    """One run in one process."""
    with tempfile.TemporaryDirectory(prefix="condal-bench-") as folder:
        question, reply = Path(folder, "job.json"), Path(folder, "run.json")
        question.write_text(json.dumps(asdict(job)), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "condal.lab.bench.worker", str(question), str(reply)],
            env={**os.environ, **ONE_THREAD, "TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=PATIENCE * job.seconds + 600)
        except subprocess.TimeoutExpired:
            return _none(job, "time", "the process hangs")
        finally:
            _end(process)
        if reply.is_file():
            return Run(**json.loads(reply.read_text(encoding="utf-8")))
    code = process.returncode
    if code in (-signal.SIGPROF, -signal.SIGXCPU):
        return _none(job, "time", f"no answer within {job.seconds:g} s")
    last = " ".join(printed.decode(errors="replace").split())[-LOG:]
    ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return _none(job, "failed", f"{ended} {last}".strip())


def _none(job: Job, outcome: Any, reason: str) -> Run:
    return Run(**job.facts(), outcome=outcome, reason=reason)


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and all that it has started: they are a group of their own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
