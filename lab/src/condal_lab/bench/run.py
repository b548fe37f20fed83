"""Run a set: condal and every peer on every instance, one after the other, each run to a tolerance
in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path

from condal.errors import CondalError
from condal.io.safe_files import PathLike
from condal.runtime.limits import physical
from condal_lab.bench.cases import BenchCase, Set
from condal_lab.bench.peers import PEERS, YARDSTICKS
from condal_lab.bench.peers.packages import OURS
from condal_lab.bench.process import run_alone
from condal_lab.bench.results import (
    BenchRun,
    Job,
    Results,
    all_versions,
    file_name,
    load,
    machine,
    save,
    versions,
    versions_of,
)
from condal_lab.bench.worker import perform

SHORT_SECONDS = 5.0  # of CPU time: shorter runs are repeated
TIGHTENINGS = (2, 5, 10, 100)  # divide the tolerance of a peer that falls short, in turn
WALL_PER_CPU = 10  # wall time over CPU time, for a busy machine and the certificate
BEST_FIRST = ("solved", "short", "unproved", "wrong")
MAX_RUNS = 3  # of a job that is short
MEMORY_SHARE = 0.8  # of the machine's memory that a solver may use
MACHINE_FIELDS = ("cpu", "memory_gb", "system")  # times and refusals depend on these


@dataclass(frozen=True)
class BenchPlan:
    """Peers, limits and the folder of the results; `tol` replaces each instance's tolerance."""

    peers: dict[str, str]
    folder: Path
    max_seconds: float = 600.0
    tol: float | None = None
    instances: tuple[str, ...] = ()
    data: PathLike | None = None
    resume: bool = False

    def cases(self, benchmark: Set) -> Sequence[BenchCase]:
        """Return the selected instances of the set."""
        if not self.instances:
            return benchmark.cases
        names = {case.name.lower() for case in benchmark.cases}
        return [benchmark.case(name) for name in self.instances if name.lower() in names]


def run_set(
    benchmark: Set, plan: BenchPlan, *, say: Callable[[str], None], done: Callable[[BenchRun], None]
) -> Results:
    """Run the set and return the folder's results with the new runs, saved after every run.

    A run replaces only the run of the same instance, solver and tolerance. Resuming skips runs that
    were made with the same data, limits and versions. Short runs are repeated, alternating between
    the solvers of an instance, so other load on the machine affects all of them.
    """
    today = versions(plan.peers)
    results = _load_or_begin(benchmark, plan, today)

    def keep(run: BenchRun) -> Results:
        others = [other for other in results.runs if other.key != run.key]
        runs = sorted([*others, run], key=lambda run: _order(benchmark, run))
        new = replace(results, runs=runs, versions=all_versions(runs, today))
        save(plan.folder, new)
        return new

    for _, group in groupby(jobs(benchmark, plan, say), key=lambda job: job.case):
        listed = list(group)
        for job in listed:
            run = results.find(job.key) if plan.resume else None
            if run is None or not run.like(job):
                say(f"{job.case}: {job.solver} to {job.tol:.0e}")
                run = run_to_tolerance(job, say)
                results = keep(run)
            done(run)
        for _ in range(MAX_RUNS - 1):
            for job in listed:
                run = results.find(job.key)
                if run is None or len(run.repeats) + len(run.spoilt) >= MAX_RUNS:
                    continue
                if (more := repeat_run(job, run)) is not run:
                    results = keep(more)
    return results


def jobs(
    benchmark: Set, plan: BenchPlan, say: Callable[[str], None] = lambda _: None
) -> Iterator[Job]:
    """Yield the jobs of each instance: condal at its tolerances, then peers and yardsticks.

    An instance with neither a file nor a stand-in is left out with a message.
    """
    allowed, known = int(MEMORY_SHARE * (physical() or 0)), versions(plan.peers)
    for case in plan.cases(benchmark):
        path = case.locate(plan.data)
        if case.missing(path):
            say(f"{case.name}: left out, its file is not in --data and cannot be downloaded")
            continue
        tol = case.tol if plan.tol is None else plan.tol
        also = case.also if plan.tol is None else ()
        asked = [(OURS.name, our_tol) for our_tol in (tol, *also)]
        own = case.tols if plan.tol is None else {}
        peers = [name for name in plan.peers if case.peers is None or name in case.peers]
        asked += [(name, own.get(name, tol)) for name in (*peers, *case.yardsticks)]
        for name, wanted in asked:
            yield Job(
                set=benchmark.name,
                case=case.name,
                solver=name,
                tol=wanted,
                eps=wanted,
                seconds=plan.max_seconds,
                memory=allowed,
                path=None if path is None else str(path),
                stand_in=case.stands_in(path),
                versions=versions_of(name, known),
            )


def _load_or_begin(benchmark: Set, plan: BenchPlan, today: dict[str, str]) -> Results:
    """Load the set's results from the folder, refuse those of another machine, or begin."""
    this_machine = machine()
    before = load(plan.folder, benchmark.name)
    if before is None:
        return Results(benchmark.name, plan.max_seconds, [], this_machine, today)
    path = plan.folder / file_name(benchmark.name)
    instead = "name another folder with --out, or delete it"
    was, now = (
        ", ".join(str(facts.get(name)) for name in MACHINE_FIELDS)
        for facts in (before.machine, this_machine)
    )
    if was != now:
        raise CondalError(
            f"{path} has results of another machine ({was}; this is {now}): {instead}"
        )
    cases, solvers = {case.name for case in benchmark.cases}, {OURS.name, *PEERS, *YARDSTICKS}
    for run in before.runs:
        if run.case not in cases or run.solver not in solvers:
            raise CondalError(
                f"{path} has a run of {run.solver} on {run.case}, an unknown solver or instance: "
                f"{instead}"
            )
    known = all_versions(before.runs, today)
    return replace(before, max_seconds=plan.max_seconds, versions=known)


def _order(benchmark: Set, run: BenchRun) -> tuple[int, int, float]:
    """Sort key: the order of the set, then of the peers."""
    cases, solvers = [case.name for case in benchmark.cases], [OURS.name, *PEERS, *YARDSTICKS]
    return cases.index(run.case), solvers.index(run.solver), run.tol


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
