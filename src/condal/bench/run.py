"""A set, run: ours and every peer on every instance, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from condal.bench import memory
from condal.bench.job import Job, Run
from condal.bench.measure import repeated, settled
from condal.bench.peers import OURS
from condal.bench.results import Results, load, machine, save, versions
from condal.bench.sets import Case, Set
from condal.formats.text import PathLike

REPEATS = 3  # of what is short
SHARE = 0.8  # of the memory of the machine that a solver may take


@dataclass(frozen=True)
class Plan:
    """Who is run, how long, and where the results go; `tol` replaces that of every instance."""

    peers: dict[str, str]
    folder: Path
    max_seconds: float = 600.0
    tol: float | None = None
    instances: tuple[str, ...] = ()
    data: PathLike | None = None
    resume: bool = False

    def cases(self, one: Set) -> Sequence[Case]:
        """The instances of the set that are wanted."""
        if not self.instances:
            return one.cases
        mine = {case.name.lower() for case in one.cases}
        return [one.case(name) for name in self.instances if name.lower() in mine]


def run_set(
    one: Set, plan: Plan, *, say: Callable[[str], None], done: Callable[[Run], None]
) -> Results:
    """The results, saved after every run.

    What is short is repeated in turns, an instance's solvers one after the other: what else the
    machine does at the time is shared by all.
    """
    before = load(plan.folder, one.name) if plan.resume else None
    kept = [] if before is None else list(before.runs)
    results = Results(one.name, plan.max_seconds, [], machine(), versions(plan.peers))
    for _, group in groupby(jobs(one, plan), key=lambda job: job.case):
        listed, begin, fresh = list(group), len(results.runs), set()
        for place, job in enumerate(listed):
            found = next((run for run in kept if _same(run, job)), None)
            if found is None:
                say(f"{job.case}: {job.solver} to {job.tol:.0e}")
                found = settled(job, say)
                fresh.add(place)
            done(found)
            results = replace(results, runs=[*results.runs, found])
            save(plan.folder, results)
        for _ in range(REPEATS - 1):
            for place in sorted(fresh):
                runs = list(results.runs)
                runs[begin + place] = repeated(listed[place], runs[begin + place])
                results = replace(results, runs=runs)
                save(plan.folder, results)
    return results


def jobs(one: Set, plan: Plan) -> Iterator[Job]:
    """Ours to its tolerances, then every peer, instance by instance."""
    allowed = int(SHARE * memory.physical())
    for case in plan.cases(one):
        path = case.locate(plan.data)
        tol = case.tol if plan.tol is None else plan.tol
        also = case.also if plan.tol is None else ()
        asked = [(OURS.name, one_tol) for one_tol in (tol, *also)]
        if not case.alone:
            own = case.tols if plan.tol is None else {}
            asked += [(name, own.get(name, tol)) for name in plan.peers]
        for name, wanted in asked:
            yield Job(
                set=one.name,
                case=case.name,
                solver=name,
                tol=wanted,
                eps=wanted,
                seconds=plan.max_seconds,
                memory=allowed,
                path=None if path is None else str(path),
            )


def _same(run: Run, job: Job) -> bool:
    return (run.case, run.solver, run.tol) == (job.case, job.solver, job.tol)
