"""The table of a set: times, memory, ratios and what is proved, for a terminal and for a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condal.lab.bench.cases import Set
from condal.lab.bench.figures import FigureVerdict
from condal.lab.bench.job import MEMBER, Run
from condal.lab.bench.results import OURS, Results

HEAD = ("solver", "CPU s", "wall s", "MB", "xCPU", "xwall", "xMB", "gap", "infeas.", "proved of")
RATIOS = "xCPU, xwall, xMB: condal's over the solver's; less than 1 is in condal's favour"
UNTOLD = "Not measured: {} of the figures, whose instances or peers were not run."
PROVED = (
    "gap and infeasibility are those of condal's certificate: of a solver's x and y, of its x and "
    "a y made of it, or, where it gives no point, nothing but its own claim. * is more than asked."
)


def rows(results: Results, case: str) -> list[tuple[str, ...]]:
    """A row a solver."""
    ours = results.ours(case)
    return [row(run, ours, results.limit(run)) for run in results.of(case)]


def row(run: Run, ours: Run | None, limit: float) -> tuple[str, ...]:
    """The cells of a run; what gave no answer says so in the place of its time."""
    mine = run.solver == OURS
    name = (
        f"{run.solver} {power(run.tol)}" if ours is not None and run.tol != ours.tol else run.solver
    )
    if not run.answered:
        word = f"> {limit:g}" if run.outcome == "time" else run.outcome
        bound = _ratio(ours.cpu if ours else None, limit) if run.outcome == "time" else ""
        return (name, word, "", "", f"<{bound}" if bound else "", "", "", "", "", run.outcome)
    other = None if mine else ours
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
        run.certified,
    )


def notes(runs: Iterable[Run]) -> list[str]:
    """What the cells do not say: why there is no answer, and what a solver was asked for."""
    said = []
    for run in runs:
        if not run.answered:
            said.append(f"{run.solver}: {run.outcome}, {run.reason}")
        elif run.eps != run.tol:
            said.append(f"{run.solver} was asked for {power(run.eps)} to come to {power(run.tol)}")
        elif run.outcome == "unproved" and run.objective is not None:
            said.append(f"{run.solver} claims {run.objective:.8g}; nothing is proved of it")
        if run.outside is not None and run.outside > MEMBER:
            said.append(f"{run.solver}: {power(run.outside)} of the size of X outside of it")
        said += [f"{run.solver}: a repeat that does not count: {how}" for how in run.spoilt]
    return said


def heading(one: Set, results: Results, case: str) -> str:
    """The instance, its tolerance, and whether it stands in for another."""
    known, ours = one.case(case), results.ours(case)
    drawn = ", a generated stand-in" if any(run.stand_in for run in results.of(case)) else ""
    tol = known.tol if ours is None else ours.tol
    optimum = "" if known.optimum is None else f", optimum {known.optimum:.8g}"
    return f"{known.name}: {known.title}, to {power(tol)}{optimum}{drawn}"


def judged(verdict: FigureVerdict) -> tuple[str, str, str, str]:
    """The cells of a figure."""
    value = "-" if verdict.value is None else f"{verdict.value:.3g}"
    text = verdict.text + (f" ({verdict.remark})" if verdict.remark else "")
    return text, f"{verdict.limit:g}", value, verdict.verdict


def page(one: Set, results: Results, found: Sequence[FigureVerdict]) -> str:
    """The tables, the figures and what they were made on, in Markdown."""
    blocks = [f"# {one.name}: {one.title}"]
    for case in results.cases:
        blocks += [f"## {heading(one, results, case)}", markdown(HEAD, rows(results, case))]
        blocks += [f"* {note}" for note in notes(results.of(case))]
    told, rest = shown(found)
    if told:
        judgements = [judged(verdict) for verdict in told]
        head = ("figure", "at most", "measured", "verdict")
        blocks += ["## Figures", markdown(head, judgements)]
    if rest:
        blocks.append(UNTOLD.format(rest))
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    versions = ", ".join(f"{name} {value}" for name, value in results.versions.items())
    had = sorted({results.limit(run) for run in results.runs} or {results.max_seconds})
    limit = f"A solver had {' or '.join(f'{one:g}' for one in had)} s of CPU time."
    blocks += ["## How", f"{RATIOS}. {PROVED} {limit}", f"Machine: {machine}.", f"{versions}."]
    return "\n\n".join(blocks) + "\n"


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def seconds(value: float | None) -> str:
    """Three digits."""
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
    """1e-6 and not 1e-06: columns are dear."""
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def shown(found: Iterable[FigureVerdict]) -> tuple[list[FigureVerdict], int]:
    """The verdicts that there is something to say of, and how many others there are."""
    listed = list(found)
    told = [one for one in listed if one.verdict != "not measured" or one.value is not None]
    return told, len(listed) - len(told)
