"""Target figures: ratios of times in one run, each with its measured value and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from condal_lab.bench.compact import WHOLE_TIME
from condal_lab.bench.conic.instances import EVERYDAY, FILES, TITLES, family_group
from condal_lab.bench.general import GENERAL, GROWING
from condal_lab.bench.job import BenchRun
from condal_lab.bench.measures import (
    Measured,
    against_ours,
    against_peer,
    from_known,
    group_count,
    group_ratio,
    quality_against_peer,
    quantity_of,
    slope,
    solves,
)
from condal_lab.bench.results import Results
from condal_lab.bench.sets import SETS

FACTORED = ("LoRADS", "SDPLR", "mixing")
CONIC_GROUPS = (  # with the largest median and worst ratio
    (EVERYDAY, 1.0, 10.0),
    *((group, 1.5, 10.0) for group in (FILES, *map(family_group, TITLES))),
)


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
        verdict = f"missed by {value / limit:.2g}x" if limit else "missed"
    return FigureVerdict(figure.text, limit, value, verdict, measured.remark)


def _cpu(run: BenchRun) -> float | None:
    return run.cpu


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
        for group in ("gset", "rough", "tori")
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
        Figure("clusters", f"{case}: CPU seconds", limit, quantity_of(case, _cpu))
        for case, limit in (
            ("overlapping-2000", 15.0),
            ("overlapping-5000", 240.0),
            ("separated-20000", 30.0),
        )
    ),
    *(
        Figure(group, text, limit, measure)
        for group, tol in (("sdplib", 1e-4), ("dimacs", 1e-5))
        for text, limit, measure in (
            ("failures of condal", 0.0, solves(*(case.name for case in SETS[group].cases))),
            ("objectives of condal, relative distance from the known optima", tol, from_known),
        )
    ),
    Figure(
        "growth",
        "slope of log CPU time against log n",
        1.15,
        slope(*(case.name for case in SETS["growth"].cases)),
    ),
    Figure(
        "growth",
        "n = 10^6: wall-clock seconds",
        600.0,
        quantity_of("random-1000000", lambda run: run.wall),
    ),
    Figure("growth", "n = 10^6: bytes", 4e9, quantity_of("random-1000000", lambda run: run.memory)),
    Figure("growth", "n = 10^6: CPU seconds", 78.0, quantity_of("random-1000000", _cpu)),
    *(
        Figure("hubs", f"{case.name}: CPU seconds", 120.0, quantity_of(case.name, _cpu))
        for case in SETS["hubs"].cases
    ),
    Figure("hubs", "failures of condal", 0, solves(*(case.name for case in SETS["hubs"].cases))),
    Figure("general", "failures of condal", 0, solves(*(case.name for case in GENERAL.cases))),
    *(
        Figure("general", f"{case}: CPU time, condal / CSDP", limit, against_peer(case, "CSDP"))
        for case, limit in (
            ("theta-1000", 0.25),
            ("thetaG11", 0.2),
            ("theta-G51", 0.2),
            ("gpp500-1", 0.05),
        )
    ),
    *(
        Figure(
            "general",
            f"bisection-G1 to {tol:.0e}: CPU time, condal / its max-cut",
            3.0,
            against_ours("bisection-G1", "cut-G1", tol, tol),
        )
        for tol in (1e-3, 1e-6)
    ),
    *(
        Figure(
            "general",
            f"theta-2000 to {tol:.0e}: CPU time, condal / eigh",
            limit,
            against_peer("theta-2000", "eigh", tol),
        )
        for tol, limit in ((1e-4, 6.0), (1e-6, 10.0))
    ),
    *(
        Figure("general", f"{case}: CPU seconds", limit, quantity_of(case, _cpu))
        for case, limit in (("theta-20000", 600.0), ("completion-5000", 300.0))
    ),
    Figure(
        "general",
        "ratings: CPU time, condal / soft-impute",
        2.0,
        against_peer("ratings", "soft-impute"),
    ),
    Figure(
        "general",
        "ratings: test RMSE, condal / soft-impute",
        1.0,
        quality_against_peer("ratings", "soft-impute"),
    ),
    *(
        Figure("general", f"phase-1000000: {text}", limit, quantity_of("phase-1000000", quantity))
        for text, limit, quantity in (
            ("wall-clock seconds", 900.0, lambda run: run.wall),
            ("bytes", 4e9, lambda run: run.memory),
            ("distance from the signal", 1e-2, lambda run: run.quality),
        )
    ),
    Figure(
        "general",
        "slope of log CPU time against log n, theta",
        1.5,
        slope(*(f"grown-{n}" for n in GROWING)),
    ),
    *(
        Figure("conic", f"{group}: {text}", limit, measure)
        for group, median_limit, worst_limit in CONIC_GROUPS
        for text, limit, measure in (
            ("wrong answers", 0.0, group_count(group, "wrong")),
            ("answers not right", 0.0, group_count(group, "wrong", "short", "no verdict")),
            ("median CPU time, condal / best rival", median_limit, group_ratio(group, median)),
            ("worst CPU time, condal / best rival", worst_limit, group_ratio(group, max)),
        )
    ),
    *(
        Figure("conic", f"{EVERYDAY}: {text}", limit, group_ratio(EVERYDAY, of, WHOLE_TIME))
        for text, limit, of in (
            ("median CPU time of problem.solve(), condal / best rival", 1.0, median),
            ("worst CPU time of problem.solve(), condal / best rival", 10.0, max),
        )
    ),
    Figure(
        "conic",
        "re-solve: CPU time of a later solve / the first",
        0.3,
        quantity_of("re-solve", lambda run: run.quality),
    ),
    Figure(
        "conic",
        "correlation-400: CPU time, condal / SCS",
        1.5,
        against_peer("correlation-400", "SCS"),
    ),
    Figure("conic", "correlation: CPU time, condal / SCS", 1.5, against_peer("correlation", "SCS")),
)
