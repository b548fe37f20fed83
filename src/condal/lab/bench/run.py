"""A set, run: ours and every peer on every instance, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from condal.errors import CondalError
from condal.io.safe_files import PathLike
from condal.lab.bench import memory
from condal.lab.bench.cases import Case, Set
from condal.lab.bench.job import Job, Run
from condal.lab.bench.measure import repeated, settled
from condal.lab.bench.peers import OURS, PEERS
from condal.lab.bench.results import (
    Results,
    all_versions,
    file_name,
    load,
    machine,
    save,
    versions,
    versions_of,
)

REPEATS = 3  # of what is short
SHARE = 0.8  # of the memory of the machine that a solver may take
MACHINE = ("cpu", "memory_gb", "system")  # what times and refusals depend on


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
    """The results, saved after every run: those that the folder had, with the new ones in.

    A run takes the place of one of the same instance, solver and tolerance, and of no other; to
    resume is to leave out those that were made as they would be now. What is short is repeated in
    turns, an instance's solvers one after the other: what else the machine does at the time is
    shared by all.
    """
    today = versions(plan.peers)
    results = _begun(one, plan, today)

    def keep(run: Run) -> Results:
        others = [other for other in results.runs if other.key != run.key]
        runs = sorted([*others, run], key=lambda run: _place(one, run))
        new = replace(results, runs=runs, versions=all_versions(runs, today))
        save(plan.folder, new)
        return new

    for _, group in groupby(jobs(one, plan, say), key=lambda job: job.case):
        listed = list(group)
        for job in listed:
            found = results.find(job.key) if plan.resume else None
            if found is None or not found.like(job):
                say(f"{job.case}: {job.solver} to {job.tol:.0e}")
                found = settled(job, say)
                results = keep(found)
            done(found)
        for _ in range(REPEATS - 1):
            for job in listed:
                run = results.find(job.key)
                if run is None or len(run.repeats) + len(run.spoilt) >= REPEATS:
                    continue
                if (more := repeated(job, run)) is not run:
                    results = keep(more)
    return results


def jobs(one: Set, plan: Plan, say: Callable[[str], None] = lambda _: None) -> Iterator[Job]:
    """Ours to its tolerances, then every peer, instance by instance; those without a file for which
    nothing stands in are left out, and said to be."""
    allowed, known = int(SHARE * memory.physical()), versions(plan.peers)
    for case in plan.cases(one):
        path = case.locate(plan.data)
        if case.missing(path):
            say(f"{case.name}: left out, its file is not in --data and cannot be downloaded")
            continue
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
                stand_in=case.stands_in(path),
                versions=versions_of(name, known),
            )


def _begun(one: Set, plan: Plan, today: dict[str, str]) -> Results:
    """What the folder has of the set, if it can be gone on with."""
    here = machine()
    before = load(plan.folder, one.name)
    if before is None:
        return Results(one.name, plan.max_seconds, [], here, today)
    path, instead = plan.folder / file_name(one.name), "name another folder by --out, or delete it"
    if any(before.machine.get(name) != here[name] for name in MACHINE):
        was, now = (", ".join(str(on.get(k)) for k in MACHINE) for on in (before.machine, here))
        raise CondalError(
            f"{path} has results of another machine ({was}; this is {now}): {instead}"
        )
    cases, solvers = {case.name for case in one.cases}, {OURS.name, *PEERS}
    for run in before.runs:
        if run.case not in cases or run.solver not in solvers:
            raise CondalError(
                f"{path} has a run of {run.solver} on {run.case}, and there is no such solver or "
                f"instance here: {instead}"
            )
    known = all_versions(before.runs, today)
    return replace(before, max_seconds=plan.max_seconds, versions=known)


def _place(one: Set, run: Run) -> tuple[int, int, float]:
    """The order of the set and of the peers, whatever was run first."""
    cases, solvers = [case.name for case in one.cases], [OURS.name, *PEERS]
    return cases.index(run.case), solvers.index(run.solver), run.tol
