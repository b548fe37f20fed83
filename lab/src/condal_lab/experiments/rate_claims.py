"""What was expected of the rates, and whether the runs agree.

The expectations were written before the runs. Those about one lam0 are about the middle of the
grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite, nan
from statistics import median

import numpy as np

from condal_lab.experiments.claims import ClaimVerdict, Measured, PaperClaim, claim, label
from condal_lab.experiments.paper import (
    FLAT_SLOPE,
    HALF_SLOPE,
    NEARLY_ONE_SLOPE,
    SIMILAR_SLOPES,
)
from condal_lab.experiments.rates import RateRun

MIDDLE = 1.0  # of the grid of lam0
MOST, FEW = 0.75, 0.25  # of the slopes that comply: an expectation holds, or does not
SIGNIFICANT = 0.05
NOT_SLOWER = (-inf, HALF_SLOPE[1])
FLAT = (FLAT_SLOPE, inf)

CRITERIA = (
    "A slope is fitted to log(residual) against log(k) over the last two decades of k, to the "
    "peaks of eight equal parts, as for the paper's claims; residuals below 1e-12 of the largest "
    "one of a run are rounding errors and end the window.",
    f"About -1/2 means in [{HALF_SLOPE[0]}, {HALF_SLOPE[1]}]; about -1 or faster means at most "
    f"{NEARLY_ONE_SLOPE[1]}; not slower than 1/sqrt(k) means at most {HALF_SLOPE[1]}; flat means "
    f"above {FLAT_SLOPE}; similar slopes differ by less than {SIMILAR_SLOPES}.",
    f"An expectation about slopes holds if at least {MOST:.0%} of them comply, does not hold if at "
    f"most {FEW:.0%} do, and is undecided otherwise.",
    "A difference between strict and not strict is the difference of the slopes of a pair; its "
    "p-value is of the Wilcoxon signed-rank test, one-sided for steeper slopes with strict "
    f"complementarity, and significant below {SIGNIFICANT}.",
    f"Unless lam0 is mentioned, lam0 = {MIDDLE:g} in units of |y*| / (D_X |A|).",
)


@dataclass(frozen=True)
class PairedDifference:
    """The median of slope(not strict) - slope(strict) over the pairs, and its p-value."""

    median: float
    p: float
    pairs: int


def select(runs: Sequence[RateRun], method: str, lam0: float = MIDDLE) -> list[RateRun]:
    """Return the runs of a method with one lam0."""
    return [run for run in runs if run.method == method and run.lam0 == lam0]


def slopes(runs: Sequence[RateRun], residual: str, *, strict: bool | None = None) -> list[float]:
    """Return the slopes of a residual that are known, of both twins if `strict` is None."""
    values = [run.slopes[residual].value for run in runs if strict in (None, run.strict)]
    return [value for value in values if isfinite(value)]


def paired_difference(runs: Sequence[RateRun], residual: str) -> PairedDifference:
    """Compare the twins of each pair, in runs of one method and one lam0."""
    by_twin = {(run.pair, run.strict): run.slopes[residual].value for run in runs}
    pairs = sorted({run.pair for run in runs})
    differences = [by_twin[pair, False] - by_twin[pair, True] for pair in pairs]
    known = [value for value in differences if isfinite(value)]
    if not any(known):
        return PairedDifference(nan, nan, len(known))
    return PairedDifference(median(known), signed_rank_pvalue(known), len(known))


def signed_rank_pvalue(differences: Sequence[float]) -> float:
    """Return the exact one-sided p-value of the Wilcoxon signed-rank test, for a median above 0.

    Zeros do not count, and ties share their mean rank. SciPy has other approximations for these
    from one release to the next.
    """
    values = np.array([value for value in differences if value != 0.0])
    _, group, sizes = np.unique(np.abs(values), return_inverse=True, return_counts=True)
    twice = (2 * np.cumsum(sizes) - sizes + 1)[group]  # the ranks, which may be halves
    chances = np.ones(1)  # of twice the sum of the positive ranks, if the signs are random
    for rank in twice:
        chances = 0.5 * (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0)))
    return float(chances[twice[values > 0].sum() :].sum())


def spread(values: Sequence[float]) -> str:
    """Return the median and the range as text."""
    if not values:
        return "unknown"
    return f"{median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


Expectation = Callable[[Sequence[RateRun]], PaperClaim]


def within(
    text: str,
    band: tuple[float, float],
    methods: Sequence[str],
    residuals: Sequence[str],
    *,
    strict: bool | None = None,
    kinds: Sequence[str] = (),
    lam0: Sequence[float] = (MIDDLE,),
) -> Expectation:
    """Expect the slopes to lie in a band."""

    @claim("6", text)
    def test(runs: Sequence[RateRun]) -> Measured:
        chosen = [run for run in runs if not kinds or run.kind in kinds]
        parts = {
            (name, residual): [
                value
                for each in lam0
                for value in slopes(select(chosen, name, each), residual, strict=strict)
            ]
            for name, residual in product(methods, residuals)
        }
        pooled = [value for values in parts.values() for value in values]
        measured = "; ".join(
            f"{RESIDUAL_LABELS[residual]}{f' of {label(name)}' if len(methods) > 1 else ''}: "
            f"{spread(values)}"
            for (name, residual), values in parts.items()
        )
        return _judged(measured, [band[0] <= value <= band[1] for value in pooled])

    return test


def similar(text: str, first: tuple[str, str], second: tuple[str, str]) -> Expectation:
    """Expect two slopes, each of a method and a residual, to be similar on each strict instance."""

    @claim("6", text)
    def test(runs: Sequence[RateRun]) -> Measured:
        a, b = (
            {run.pair: run.slopes[residual].value for run in select(runs, name) if run.strict}
            for name, residual in (first, second)
        )
        differences = [a[pair] - b[pair] for pair in a if isfinite(a[pair] - b[pair])]
        measured = f"differences {spread(differences)}"
        return _judged(measured, [abs(value) < SIMILAR_SLOPES for value in differences])

    return test


def strictness_matters(method: str, *, matters: bool) -> Expectation:
    """Expect the slopes of the feasibility gap to be flatter without strict complementarity."""
    verb = "is slower" if matters else "is not slower"

    @claim("6", f"{label(method)} {verb} without strict complementarity")
    def test(runs: Sequence[RateRun]) -> Measured:
        difference = paired_difference(select(runs, method), "gap")
        said = (
            f"median difference {difference.median:+.2f} of the slopes of the gap over "
            f"{difference.pairs} pairs, p = {difference.p:.2g}"
        )
        return said, (difference.p < SIGNIFICANT) == matters

    return test


@claim("6", "lam0 changes the level, not the rate, of CGAL (const.) with strict complementarity")
def lam0_does_not_matter(runs: Sequence[RateRun]) -> Measured:
    """Expect the same rate of CGAL (const.) with every lam0, with strict complementarity."""
    grid = sorted({run.lam0 for run in runs})
    gaps = {lam0: median(slopes(select(runs, "cgal", lam0), "gap", strict=True)) for lam0 in grid}
    listed = ", ".join(f"{value:.2f} at lam0 = {lam0:g}" for lam0, value in gaps.items())
    apart = max(gaps.values()) - min(gaps.values())
    truth = apart < SIMILAR_SLOPES if len(grid) > 1 else None
    return f"median slopes of the gap {listed}", truth


def expectations(runs: Sequence[RateRun]) -> list[PaperClaim]:
    """Return every expectation with its verdict."""
    return [expect(runs) for expect in EXPECTATIONS]


def _judged(measured: str, complies: Sequence[bool]) -> Measured:
    said = f"{sum(complies)} of {len(complies)} slopes; {measured}"
    if not complies:
        return said, None
    share = sum(complies) / len(complies)
    return said, share >= MOST if share >= MOST or share <= FEW else ClaimVerdict.UNDECIDED


RESIDUAL_LABELS = {
    "objective": "|f - f*|",
    "gap": "gap",
    "dual": "|y - y*|",
    "multiplier": "|w - y*|",
    "atoms": "distance of the atoms",
}
BOTH = ("objective", "gap")
DEFICIENT = ("diagonal", "inner", "nuclear")  # the kinds whose slack loses rank

EXPECTATIONS: tuple[Expectation, ...] = (
    within(
        "No method is slower than 1/sqrt(k), at any lam0",
        NOT_SLOWER,
        ("cgal", "cgal-decr", "cgal-ls", "hcgm"),
        BOTH,
        lam0=(0.1, 1.0, 10.0),
    ),
    within("HCGM is not faster than 1/sqrt(k)", HALF_SLOPE, ("hcgm",), ("gap",)),
    within(
        "CGAL (const.) converges like 1/k or faster with strict complementarity",
        NEARLY_ONE_SLOPE,
        ("cgal",),
        BOTH,
        strict=True,
    ),
    within(
        "The gap of CGAL (decr.) falls like 1/k or faster with strict complementarity",
        NEARLY_ONE_SLOPE,
        ("cgal-decr",),
        ("gap",),
        strict=True,
    ),
    similar(
        "A line search does not change the rate, with strict complementarity",
        ("cgal-ls", "gap"),
        ("cgal", "gap"),
    ),
    strictness_matters("cgal", matters=True),
    strictness_matters("cgal-ls", matters=True),
    strictness_matters("hcgm", matters=False),
    within("y converges like 1/sqrt(k) under decr.", HALF_SLOPE, ("cgal-decr",), ("dual",)),
    within(
        "y converges like 1/sqrt(k) or faster under const. with strict complementarity",
        NOT_SLOWER,
        ("cgal",),
        ("dual",),
        strict=True,
    ),
    similar(
        "With strict complementarity the atoms of CGAL (const.) approach the face like w does y*",
        ("cgal", "atoms"),
        ("cgal", "multiplier"),
    ),
    within(
        "If the slack lacks rank, the atoms of CGAL (const.) do not approach the face",
        FLAT,
        ("cgal",),
        ("atoms",),
        strict=False,
        kinds=DEFICIENT,
    ),
    lam0_does_not_matter,
)
