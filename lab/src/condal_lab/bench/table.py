"""The tables of a set: times, memory, ratios and what is proved, for the terminal and a file.

A set of many small instances has a summary, and a row per instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from statistics import median

import numpy as np

from condal_lab.bench.cases import Quality, Set
from condal_lab.bench.peers import PEERS, YARDSTICKS
from condal_lab.bench.results import MAX_DISTANCE, OURS, BenchRun, Outcome, Results
from condal_lab.markdown import markdown

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
        cells = (_cell(results.peer(name, solver)) for solver in names)
        values = (ratio(benchmark, results, name, time) for time in times.values())
        compared = ("" if value is None else f"{value:.3g}" for value in values)
        rows.append((name, benchmark.case(name).title, *cells, *compared))
    return ("instance", "what", *names, *times), rows


def _cell(run: BenchRun | None) -> str:
    """Return the CPU seconds and, unless it is right, the verdict of a run."""
    if run is None:
        return "-"
    if run.outcome == "time":
        return f"> {run.max_seconds:g}"
    word = WORDS[run.outcome]
    said = f" ({run.reason})" if word == "no verdict" and run.reason else ""
    return _seconds(run.cpu) + ("right" if word == "right" else f"**{word}**{said}")


def _seconds(cpu: float | None) -> str:
    """Return two digits of a time of milliseconds, three of others, and a blank."""
    if cpu is None:
        return ""
    return f"{cpu:.2g} " if cpu < 0.01 else f"{cpu:.3f} " if cpu < 1 else f"{cpu:.3g} "


def compact_notes(benchmark: Set, results: Results) -> list[str]:
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


HEAD = (
    *("solver", "CPU s", "wall s", "MB", "xCPU", "xwall", "xMB"),
    *("gap", "infeas.", "price", "proved of"),
)
TOO_WIDE = ("xwall",)  # columns that a terminal of 80 columns has no room for
RATIOS = "xCPU, xwall, xMB: condal's value over the solver's; values below 1 favour condal"
PROVED = (
    "gap, infeas. and its price come from condal's certificate of the solver's x and y, or of its "
    "x and a y computed from it. A solver that returns no point has only its own claim. * marks a "
    "gap above the tolerance."
)


def rows(results: Results, case: str) -> list[tuple[str, ...]]:
    """Return the table of an instance, one row per run."""
    ours = results.ours(case)
    return [row(run, ours) for run in results.of(case)]


def row(run: BenchRun, ours: BenchRun | None) -> tuple[str, ...]:
    """Return the cells of a run; without an answer, the outcome stands in place of the time."""
    is_condal = run.solver == OURS
    name = (
        f"{run.solver} {power(run.tol)}" if ours is not None and run.tol != ours.tol else run.solver
    )
    if not run.answered:
        word = f"> {run.max_seconds:g}" if run.outcome == "time" else run.outcome
        bound = _ratio(ours.cpu if ours else None, run.max_seconds) if run.outcome == "time" else ""
        ratio = f"<{bound}" if bound else ""
        return (name, word, "", "", ratio, "", "", "", "", "", run.outcome)
    other = None if is_condal else ours
    return (
        name,
        seconds(run.cpu),
        seconds(run.wall),
        "" if run.memory is None else f"{run.memory / 1e6:,.0f}",
        _ratio(other.cpu if other else None, run.cpu),
        _ratio(other.wall if other else None, run.wall),
        _ratio(other.memory if other else None, run.memory),
        _small(run.gap) + ("*" if run.outcome == "short" else ""),
        _small(run.infeasibility, digits=0),
        "" if run.price is None else power(run.price),
        run.certified,
    )


def notes(runs: Iterable[BenchRun], quality: Quality | None = None) -> list[str]:
    """Say why a solver gave no answer, at which tolerance it ran, and what else was measured."""
    lines = []
    for run in runs:
        if run.solver == OURS and run.answered and run.reason:
            lines.append(f"{run.solver} to {power(run.tol)}: {run.reason}")
        if quality is not None and run.quality is not None:
            lines.append(f"{run.solver}: {quality.name} {run.quality:.4g}")
        if not run.answered:
            lines.append(f"{run.solver}: {run.outcome}, {run.reason}")
        elif run.eps != run.tol:
            lines.append(f"{run.solver} ran at {power(run.eps)} to reach {power(run.tol)}")
        elif run.outcome == "unproved" and run.objective is not None:
            lines.append(f"{run.solver} claims {run.objective:.8g}; nothing is proved about it")
        if run.outside is not None and run.outside > MAX_DISTANCE:
            lines.append(f"{run.solver} is outside X by {power(run.outside)} of the size of X")
        lines += [f"{run.solver}: a repeat that does not count: {how}" for how in run.spoilt]
    return lines


def heading(benchmark: Set, results: Results, case: str) -> str:
    """Return the title of an instance, its tolerance and optimum, and whether it is a stand-in."""
    known, ours = benchmark.case(case), results.ours(case)
    stand_in = ", a generated stand-in" if any(run.stand_in for run in results.of(case)) else ""
    tol = known.tol if ours is None else ours.tol
    optimum = "" if known.optimum is None else f", optimum {known.optimum:.8g}"
    return f"{known.name}: {known.title}, to {power(tol)}{optimum}{stand_in}"


def growth(benchmark: Set, results: Results) -> list[str]:
    """Say how condal's CPU time grows with n, where two sizes or more are solved."""
    runs = [(benchmark.case(name).n, results.ours(name)) for name in benchmark.growing]
    solved = [(n, run.cpu) for n, run in runs if run and run.cpu and run.outcome == "solved"]
    if len(solved) < 2:
        return []
    sizes, seconds_of = np.log(np.array(solved)).T
    slope = np.polyfit(sizes, seconds_of, 1)[0]
    low, high = min(solved)[0], max(solved)[0]
    return [f"condal's CPU time grows like n^{slope:.2f} from n = {low:,} to {high:,}."]


def page(benchmark: Set, results: Results) -> str:
    """Return the page of a set in Markdown: tables, machine and versions."""
    blocks = [f"# {benchmark.name}: {benchmark.title}"]
    blocks += _compact(benchmark, results) if benchmark.compact else _by_case(benchmark, results)
    blocks += growth(benchmark, results)
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    versions = ", ".join(f"{name} {value}" for name, value in results.versions.items())
    limits = sorted({run.max_seconds for run in results.runs} or {results.max_seconds})
    limit = f"The limit per run was {' or '.join(f'{each:g}' for each in limits)} s of CPU time."
    how = benchmark.compact or f"{RATIOS}. {PROVED}"
    blocks += ["## How", f"{how} {limit}", f"Machine: {machine}.", f"{versions}."]
    return "\n\n".join(blocks) + "\n"


def _by_case(benchmark: Set, results: Results) -> list[str]:
    """Return a table per instance, with its notes."""
    blocks = []
    for case in results.cases:
        blocks += [f"## {heading(benchmark, results, case)}", markdown(HEAD, rows(results, case))]
        blocks += [f"* {note}" for note in notes(results.of(case), benchmark.case(case).quality)]
    return blocks


def _compact(benchmark: Set, results: Results) -> list[str]:
    """Return the summary, a table per group, and the notes of all runs."""
    blocks = ["## Summary", markdown(SUMMARY, summary(benchmark, results))]
    for group, cases in groups(benchmark, results).items():
        blocks += [f"## {group}", markdown(*group_table(benchmark, results, cases))]
    lines = compact_notes(benchmark, results)
    return [*blocks, "## Notes", "\n".join(f"* {line}" for line in lines)] if lines else blocks


def seconds(value: float | None) -> str:
    """Format seconds with three digits."""
    if value is None:
        return ""
    return f"{value:.3f}" if value < 1 else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _ratio(ours: float | None, its: float | None) -> str:
    if ours is None or its is None or its <= 0:
        return ""
    value = ours / its
    return (
        f"{value:.2f}" if 0.095 <= value < 10 else f"{value:.0f}" if value >= 10 else f"{value:.1g}"
    )


def _small(value: float | None, digits: int = 1) -> str:
    return "none" if value is None else power(value, digits)


def power(value: float, digits: int = 0) -> str:
    """Format a number as 1e-6, not 1e-06, to save columns."""
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
