"""Runs to a tolerance, in separate processes, and their repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

from condal_lab.bench.job import BenchRun, Job
from condal_lab.bench.peers.packages import OURS
from condal_lab.bench.process import run_alone
from condal_lab.bench.worker import perform

SHORT_SECONDS = 5.0  # of CPU time: shorter runs are repeated
TIGHTENINGS = (2, 5, 10, 100)  # divide the tolerance of a peer that falls short, in turn
WALL_PER_CPU = 10  # wall time over CPU time, for a busy machine and the certificate
BEST_FIRST = ("solved", "short", "unproved", "wrong")


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
    wall = WALL_PER_CPU * job.seconds + 600
    ended = run_alone(perform, asdict(job), wall=wall, memory=job.memory)
    if ended.outcome == "done":
        return BenchRun(**ended.reply)
    late = ended.outcome == "time"
    reason = f"no answer within {job.seconds:g} s" if late else ended.reason
    return BenchRun(**job.facts(), outcome=ended.outcome, reason=reason)
