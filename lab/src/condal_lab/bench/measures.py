"""Quantities measured on the runs of a set: ratios of times, slopes, failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from condal_lab.bench import compact
from condal_lab.bench.job import BenchRun
from condal_lab.bench.peers import YARDSTICKS
from condal_lab.bench.results import Results
from condal_lab.bench.sets import SETS


@dataclass(frozen=True)
class Measured:
    """A measured value with a remark, or None with the reason; `at_most` marks an upper bound."""

    value: float | None
    remark: str = ""
    at_most: bool = False
    failed: bool = False


def against_peer(case: str, peer: str, tol: float | None = None) -> Callable[[Results], Measured]:
    """Measure condal's CPU time, to tol or the tightest tolerance, over the peer's.

    If the peer ran out of time, its time limit bounds the ratio.
    """

    def measure(results: Results) -> Measured:
        ours, its = results.ours(case, tol), results.peer(case, peer)
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
        unproved = its.outcome == "unproved" and peer not in YARDSTICKS
        claim = f"{peer}'s answer is not proved" if unproved else ""
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


def slope(*cases: str) -> Callable[[Results], Measured]:
    """Fit the slope of the logarithm of condal's CPU time against the logarithm of n."""

    def measure(results: Results) -> Measured:
        sizes = {case.name: case.n for case in SETS[results.set].cases if case.name in cases}
        runs = [run for case in sizes if (run := results.ours(case)) is not None]
        bad = [run for run in runs if run.outcome != "solved"]
        if bad:
            return Measured(None, f"{bad[0].case}: {_why_unsolved(bad[0])}", failed=True)
        if len(runs) < 2:
            return Measured(None, "fewer than two sizes were run")
        n, cpu = [sizes[run.case] for run in runs], [run.cpu or np.nan for run in runs]
        value = float(np.polyfit(np.log(n), np.log(cpu), 1)[0])
        return Measured(value, f"n = {min(n):,} to {max(n):,}")

    return measure


def quantity_of(
    case: str, quantity: Callable[[BenchRun], float | None]
) -> Callable[[Results], Measured]:
    """Measure a quantity of condal's run of an instance."""

    def measure(results: Results) -> Measured:
        run = results.ours(case)
        return _unsolved(run) or Measured(quantity(run) if run else None)

    return measure


def quality_against_peer(case: str, peer: str) -> Callable[[Results], Measured]:
    """Measure the quality of condal's answer over the quality of the peer's."""

    def measure(results: Results) -> Measured:
        ours, its = results.ours(case), results.peer(case, peer)
        bad = _unsolved(ours)
        if bad is not None:
            return bad
        assert ours is not None
        if its is None or not its.quality or ours.quality is None:
            return Measured(None, f"{peer} was not run")
        return Measured(ours.quality / its.quality, f"{ours.quality:.4f} / {its.quality:.4f}")

    return measure


def group_ratio(
    group: str, of: Callable[[list[float]], float], time: compact.Time = compact.CPU_TIME
) -> Callable[[Results], Measured]:
    """Measure a statistic of the ratios of a group: condal's CPU time over the best rival's."""

    def measure(results: Results) -> Measured:
        benchmark = SETS[results.set]
        cases = compact.groups(benchmark, results).get(group, [])
        values = compact.ratios(benchmark, results, cases, time)
        if not values:
            return Measured(None, "not run")
        return Measured(of(values), f"{len(values)} of {len(cases)} instances")

    return measure


def group_count(group: str, *words: str) -> Callable[[Results], Measured]:
    """Count the answers of condal in a group whose verdict is one of these words."""

    def measure(results: Results) -> Measured:
        cases = compact.groups(SETS[results.set], results).get(group, [])
        runs = [run for case in cases if (run := results.ours(case)) is not None]
        if not runs:
            return Measured(None, "not run")
        bad = [run.case for run in runs if compact.WORDS[run.outcome] in words]
        return Measured(float(len(bad)), ", ".join(bad), failed=bool(bad))

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
