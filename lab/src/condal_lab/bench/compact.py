"""The page of a set of many small instances: a summary, and a row per instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from statistics import median

from condal_lab.bench.cases import Set
from condal_lab.bench.job import BenchRun, Outcome
from condal_lab.bench.peers import PEERS, YARDSTICKS
from condal_lab.bench.results import OURS, Results

WORDS: dict[Outcome, str] = {
    "solved": "right",
    "short": "short",
    "unproved": "no verdict",
    "wrong": "wrong",
    "time": "no verdict",
    "refused": "refused",
    "failed": "no verdict",
}
COUNTED = ("right", "short", "no verdict", "wrong")
SUMMARY = ("group", "solver", "run", *COUNTED, "median x", "worst x")
Time = Callable[[BenchRun], float | None]
CPU_TIME: Time = attrgetter("cpu")  # of the solver alone
WHOLE_TIME: Time = attrgetter("whole")


def groups(benchmark: Set, results: Results) -> dict[str, list[str]]:
    """Return the instances that were run, by group."""
    found: dict[str, list[str]] = {}
    for case in benchmark.cases:
        if case.name in results.cases:
            found.setdefault(case.group, []).append(case.name)
    return found


def solvers(results: Results, cases: Sequence[str]) -> list[str]:
    """Return the solvers that were run on these instances, condal first."""
    ran = {run.solver for case in cases for run in results.of(case)}
    return [name for name in (OURS, *PEERS, *YARDSTICKS) if name in ran]


def ratio(benchmark: Set, results: Results, case: str, time: Time = CPU_TIME) -> float | None:
    """Return condal's time over the least of a rival that is right, if condal is right."""
    ours, rivals = results.ours(case), benchmark.case(case).rivals or (*PEERS, *YARDSTICKS)
    right = [run for run in results.of(case) if run.outcome == "solved"]
    times = [spent for run in right if run.solver in rivals and (spent := time(run))]
    spent = None if ours is None or ours.outcome != "solved" else time(ours)
    return None if spent is None or not times else spent / min(times)


def ratios(
    benchmark: Set, results: Results, cases: Sequence[str], time: Time = CPU_TIME
) -> list[float]:
    """Return the ratios of the instances that have one."""
    values = (ratio(benchmark, results, case, time) for case in cases)
    return [value for value in values if value is not None]


def summary(benchmark: Set, results: Results) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the summary: a solver in a group."""
    for group, cases in groups(benchmark, results).items():
        for solver in solvers(results, cases):
            runs = [run for case in cases if (run := results.peer(case, solver)) is not None]
            said = [WORDS[run.outcome] for run in runs]
            values = ratios(benchmark, results, cases) if solver == OURS else []
            times = (f"{median(values):.3g}", f"{max(values):.3g}") if values else ("", "")
            counts = (str(said.count(word)) for word in COUNTED)
            yield (group if solver == OURS else "", solver, str(len(runs)), *counts, *times)


def group_table(
    benchmark: Set, results: Results, cases: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of a group: CPU seconds and verdict of each solver."""
    names = solvers(results, cases)
    times = {"x": CPU_TIME, "whole x": WHOLE_TIME}
    if not ratios(benchmark, results, cases, WHOLE_TIME):
        del times["whole x"]
    rows = []
    for name in cases:
        cells = (_cell(results, results.peer(name, solver)) for solver in names)
        values = (ratio(benchmark, results, name, time) for time in times.values())
        compared = ("" if value is None else f"{value:.3g}" for value in values)
        rows.append((name, benchmark.case(name).title, *cells, *compared))
    return ("instance", "what", *names, *times), rows


def _cell(results: Results, run: BenchRun | None) -> str:
    """Return the CPU seconds and, unless it is right, the verdict of a run."""
    if run is None:
        return "-"
    if run.outcome == "time":
        return f"> {results.limit(run):g}"
    word = WORDS[run.outcome]
    said = f" ({run.reason})" if word == "no verdict" and run.reason else ""
    return _seconds(run.cpu) + ("right" if word == "right" else f"**{word}**{said}")


def _seconds(cpu: float | None) -> str:
    """Return two digits of a time of milliseconds, three of others, and a blank."""
    if cpu is None:
        return ""
    return f"{cpu:.2g} " if cpu < 0.01 else f"{cpu:.3f} " if cpu < 1 else f"{cpu:.3g} "


def notes(benchmark: Set, results: Results) -> list[str]:
    """Say which peers are absent, which ran at another tolerance, and how far wrong runs are."""
    wanted = {name for case in benchmark.cases for name in case.peers or ()}
    lines = [
        f"{name} is absent: {PEERS[name].install}"
        for name in PEERS
        if name in wanted and name not in results.versions
    ]
    for run in results.runs:
        quality = benchmark.case(run.case).quality
        if run.quality is not None and quality is not None:
            lines.append(f"{run.case}: {run.solver}, {quality.name} {run.quality:.4g}")
        if run.outcome == "refused":
            lines.append(f"{run.case}: {run.solver} {run.outcome}, {run.reason}")
        if run.outcome in ("wrong", "short"):
            off = "" if run.error != run.error else f", off by {run.error:.1e}"
            lines.append(f"{run.case}: {run.solver} says {run.reason}{off}")
        elif run.answered and run.eps != run.tol:
            lines.append(f"{run.case}: {run.solver} ran at {run.eps:.0e} to reach {run.tol:.0e}")
    return lines
