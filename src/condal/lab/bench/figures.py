"""Target figures: ratios of times in one run, each with its measured value and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from condal.lab.bench.job import BenchRun
from condal.lab.bench.results import Results
from condal.lab.bench.sets import SETS

FACTORED = ("LoRADS", "SDPLR", "mixing")


@dataclass(frozen=True)
class Measured:
    """A measured value with a remark, or None with the reason; `at_most` marks an upper bound."""

    value: float | None
    remark: str = ""
    at_most: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Figure:
    """A target: the quantity `text`, computed by `measure`, shall be at most `limit`."""

    set: str
    text: str
    limit: float
    measure: Callable[[Results], Measured]


@dataclass(frozen=True)
class FigureVerdict:
    """The verdict on a figure: reached, missed by a factor, or not measured."""

    text: str
    limit: float
    value: float | None
    verdict: str
    remark: str = ""

    def record(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


def verdicts(results: Results) -> list[FigureVerdict]:
    """Judge every figure of the set by the results."""
    return [judge(figure, results) for figure in FIGURES if figure.set == results.set]


def judge(figure: Figure, results: Results) -> FigureVerdict:
    """Judge a figure: missed if condal failed, not measured if the peer did not run."""
    measured = figure.measure(results)
    value, limit = measured.value, figure.limit
    if measured.failed:
        verdict = "missed"
    elif value is None or (measured.at_most and value > limit):
        verdict = "not measured"
    elif value <= limit:
        verdict = "reached"
    else:
        verdict = f"missed by {value / limit:.2g}x"
    return FigureVerdict(figure.text, limit, value, verdict, measured.remark)


def against_peer(case: str, peer: str) -> Callable[[Results], Measured]:
    """Measure condal's CPU time over the peer's, or over its time limit if it ran out of time."""

    def measure(results: Results) -> Measured:
        ours, its = results.ours(case), results.peer(case, peer)
        bad = _unsolved(ours)
        if bad is not None:
            return bad
        assert ours is not None
        assert ours.cpu is not None
        if its is None:
            return Measured(None, f"{peer} was not run")
        note = _stand_in_note(ours, its)
        if its.outcome == "time":
            value = ours.cpu / results.limit(its)
            return Measured(value, _join(f"{peer}: {its.reason}", note), at_most=True)
        if its.cpu is None or not its.answered:
            return Measured(None, _join(f"{peer} {its.outcome}: {its.reason}", note))
        short = f"{peer} reached only {its.error:.0e}" if its.outcome == "short" else ""
        claim = f"{peer}'s answer is not proved" if its.outcome == "unproved" else ""
        return Measured(ours.cpu / its.cpu, _join(short, claim, note))

    return measure


def against_ours(
    case: str, other: str, tol: float | None = None, other_tol: float | None = None
) -> Callable[[Results], Measured]:
    """Measure condal's CPU time over its own on another instance or to another tolerance."""

    def measure(results: Results) -> Measured:
        first, second = results.ours(case, tol), results.ours(other, other_tol)
        for run in (first, second):
            bad = _unsolved(run)
            if bad is not None:
                return bad
        assert first is not None
        assert second is not None
        assert first.cpu is not None
        assert second.cpu is not None
        return Measured(first.cpu / second.cpu, _stand_in_note(first, second))

    return measure


def solves(*cases: str) -> Callable[[Results], Measured]:
    """Count the instances that condal did not solve to their tolerance."""

    def measure(results: Results) -> Measured:
        runs = [run for case in cases if (run := results.ours(case)) is not None]
        if len(runs) < len(cases):
            return Measured(None, "not run")
        bad = [f"{run.case}: {_why_unsolved(run)}" for run in runs if run.outcome != "solved"]
        return Measured(float(len(bad)), _join(*bad, _stand_in_note(*runs)), failed=bool(bad))

    return measure


def from_known(results: Results) -> Measured:
    """Measure the largest relative distance of condal's objectives from the known optima."""
    known = {case.name: case.optimum for case in SETS[results.set].cases}
    apart: dict[str, float] = {}
    for name in results.cases:
        run, optimum = results.ours(name), known[name]
        if run is not None and run.objective is not None and optimum is not None:
            apart[name] = abs(run.objective - optimum) / max(1.0, abs(optimum))
    if not apart:
        return Measured(None, "not run")
    worst = max(apart, key=lambda name: apart[name])
    return Measured(apart[worst], f"{worst}, of {len(apart)} instances")


def slope(results: Results) -> Measured:
    """Fit the slope of the logarithm of condal's CPU time against the logarithm of n."""
    sizes = {case.name: case.n for case in SETS["growth"].cases}
    runs = [run for case in results.cases if (run := results.ours(case)) is not None]
    bad = [run for run in runs if run.outcome != "solved"]
    if bad:
        return Measured(None, f"{bad[0].case}: {_why_unsolved(bad[0])}", failed=True)
    if len(runs) < 2:
        return Measured(None, "fewer than two sizes were run")
    n, cpu = [sizes[run.case] for run in runs], [run.cpu or np.nan for run in runs]
    value = float(np.polyfit(np.log(n), np.log(cpu), 1)[0])
    return Measured(value, f"n = {min(n):,} to {max(n):,}")


def largest(quantity: Callable[[BenchRun], float | None]) -> Callable[[Results], Measured]:
    """Measure a quantity of the run of n = 10^6."""

    def measure(results: Results) -> Measured:
        run = results.ours("random-1000000")
        return _unsolved(run) or Measured(quantity(run) if run else None)

    return measure


def _unsolved(run: BenchRun | None) -> Measured | None:
    if run is None:
        return Measured(None, "not run")
    if run.outcome != "solved" or run.cpu is None:
        remark = _join(f"{run.case}: {_why_unsolved(run)}", _stand_in_note(run))
        return Measured(None, remark, failed=True)
    return None


def _stand_in_note(*runs: BenchRun) -> str:
    return "stand-in data" if any(run.stand_in for run in runs) else ""


def _join(*remarks: str) -> str:
    return "; ".join(remark for remark in remarks if remark)


def _why_unsolved(run: BenchRun) -> str:
    if run.outcome == "short":
        return f"condal reached {run.error:.1e}, not {run.tol:.0e}"
    return f"condal {run.outcome}: {run.reason}"


def _ratio(group: str, case: str, limit: float, text: str = "Pymanopt") -> Figure:
    return Figure(
        group, f"{case}: CPU time, condal / {text}", limit, against_peer(case, "Pymanopt")
    )


FIGURES: tuple[Figure, ...] = (
    *(
        _ratio("gset", case, limit, "Pymanopt, both to 1e-6")
        for case, limit in (("G1", 0.5), ("G43", 0.5), ("G22", 0.35), ("G40", 0.15))
    ),
    *(
        Figure(
            "gset",
            f"{case}: CPU time, condal to 1e-3 / to 1e-6",
            0.4,
            against_ours(case, case, 1e-3, 1e-6),
        )
        for case in ("G1", "G43", "G22", "G40")
    ),
    _ratio("tori", "G67", 0.15, "Pymanopt, 1e-5 against 1e-3"),
    Figure("tori", "CPU time, condal on G81 / on G67", 4.0, against_ours("G81", "G67")),
    *(
        Figure(group, f"{case}: CPU time, condal / {peer}", 1.0, against_peer(case, peer))
        for group in ("gset", "tori")
        for case in (case.name for case in SETS[group].cases)
        for peer in FACTORED
    ),
    Figure(
        "theta",
        "theta-200: CPU time, condal / SCS at the same error",
        2.0,
        against_peer("theta-200", "SCS"),
    ),
    Figure("theta", "failures of condal", 0, solves("theta-200", "theta-1000")),
    Figure("kmeans", "failures of condal", 0, solves("kmeans-200", "kmeans-1000")),
    *(
        Figure(group, text, limit, measure)
        for group, tol in (("sdplib", 1e-4), ("dimacs", 1e-5))
        for text, limit, measure in (
            ("failures of condal", 0.0, solves(*(case.name for case in SETS[group].cases))),
            ("objectives of condal, relative distance from the known optima", tol, from_known),
        )
    ),
    Figure("growth", "slope of log CPU time against log n", 1.2, slope),
    Figure("growth", "n = 10^6: wall-clock seconds", 600.0, largest(lambda run: run.wall)),
    Figure("growth", "n = 10^6: bytes", 4e9, largest(lambda run: run.memory)),
)
