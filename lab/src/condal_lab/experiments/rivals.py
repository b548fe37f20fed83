"""The paper's claims about the rivals: FW-AL, IAL, UPD and AUPD."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite, log10

import numpy as np

from condal.linalg.points import Array
from condal_lab.experiments.claims import Measured, Study, claim
from condal_lab.experiments.curve import LEVEL_DECADES, Curve, Slope, slope
from condal_lab.experiments.paper import (
    FALLING_SLOPE,
    FLAT_SLOPE,
    MUCH_WORSE,
    SIMILAR_SLOPES,
    SUDDEN_DROP,
)

NEARBY_ROWS = 15  # of a curve: a third more or fewer calls


@claim("5.1, B", "UPD converges only up to eps: its objective residual saturates")
def upd_saturates(study: Study) -> Measured:
    """Test whether the objective residual of UPD levels off, at eps or below."""
    tuned = study.tuned["upd"]
    levels = []
    for setting, trial in tuned.trials.items():
        curve = trial.curve.iterates
        if _late_slope(study, curve) > FLAT_SLOPE:
            eps = tuned.contender.values(setting)["eps"] / (abs(study.optimum) * trial.c)
            levels.append(_level(curve, study) / eps)
    if not levels:
        return "no trial saturated within its budget", None
    said = (
        f"{len(levels)} of {len(tuned.trials)} trials saturated, at {min(levels):.2g} to "
        f"{max(levels):.2g} times eps"
    )
    return said, max(levels) <= 1


@claim(
    "5.1", "A sudden drop of UPD's objective residual is a sign flip of f - f*, not a faster rate"
)
def upd_drops_by_sign(study: Study) -> Measured:
    """Test whether f - f* changes sign where |f - f*| of UPD dips."""
    flips = []
    for trial in study.tuned["upd"].trials.values():
        signed = trial.curve.iterates.signed(study.optimum)
        dip = _deepest_dip(np.abs(signed))
        if dip is not None:
            near = np.sign(signed[max(0, dip - 2) : dip + 3])
            flips.append(bool(near.min() < near.max()))
    if not flips:
        return "no trial showed a sudden drop", None
    return f"{sum(flips)} of {len(flips)} sudden drops are sign flips", all(flips)


@claim("B", "AUPD and UPD have similar rates")
def aupd_is_alike(study: Study) -> Measured:
    """Test whether the slopes of UPD and AUPD are similar."""
    slopes = [_merit_slope(study, study.tuned[name].curve) for name in ("upd", "aupd")]
    apart = abs(slopes[0].value - slopes[1].value)
    said = f"slopes of the merit {slopes[0]} (UPD) and {slopes[1]} (AUPD)"
    return said, apart < SIMILAR_SLOPES if isfinite(apart) else None


@claim("B", "AUPD does not saturate, in contrast with its guarantees")
def aupd_goes_on(study: Study) -> Measured:
    """Test whether AUPD does not saturate at an eps at which UPD does."""
    upd, aupd = study.tuned["upd"], study.tuned["aupd"]
    slopes = {}
    for setting in sorted(set(upd.trials) & set(aupd.trials)):
        a, b = (_late_slope(study, tuned.trials[setting].curve.iterates) for tuned in (upd, aupd))
        if a > FLAT_SLOPE and isfinite(b):
            slopes[setting] = b
    if not slopes:
        return "UPD did not saturate at any eps tried with AUPD", None
    setting = max(slopes)
    at, late = upd.contender.describe(setting), slopes[setting]
    return f"at {at}, where UPD is flat, AUPD's slope is {late:.2f}", late < FALLING_SLOPE


@claim("B", "AUPD gets stuck in its line search on problems of medium size")
def aupd_gets_stuck(study: Study) -> Measured:
    """Test whether AUPD's line search gets stuck in some trial."""
    trials = study.tuned["aupd"].trials.values()
    stuck = sum(trial.ended == "stalled" for trial in trials)
    return f"{stuck} of {len(trials)} trials ended stuck", stuck > 0


@claim("4", "The best eps of UPD is about |f*|/10 to |f*|/100")
def upd_needs_the_optimum(study: Study) -> Measured:
    """Test whether the best eps of UPD is |f*|/10 to |f*|/100."""
    tuned = study.tuned["upd"]
    eps = tuned.contender.values(tuned.setting)["eps"] / (abs(study.optimum) * tuned.trial.c)
    return f"|f*| times {eps:.2g}, on a grid of factors of 10", -2.5 <= log10(eps) <= -0.5


@claim("5.2", "UPD cannot be tuned by eps: its best is much worse than CGAL's")
def upd_cannot_be_tuned(study: Study) -> Measured:
    """Test whether the best UPD is much worse than the best CGAL."""
    return _much_worse(study, "upd")


@claim("B", "IAL moves in stairs: its iterates jump away at the start of each subproblem")
def ial_has_stairs(study: Study) -> Measured:
    """Test whether the merit of IAL jumps up within each subproblem."""
    curve = study.tuned["ial"].trial.curve
    steps, jumps = _stairs(curve, study.optimum)
    if steps < 3 or not jumps:
        return f"{steps} subproblems within the budget", None
    jump = float(np.median(jumps))
    said = f"{steps} subproblems; the merit jumps by a factor of {jump:.2g} (median)"
    return said, jump >= MUCH_WORSE


@claim("5, B", "FW-AL is hard to tune: no good parameters were found")
def fwal_is_hard(study: Study) -> Measured:
    """Test whether the best FW-AL is much worse than the best CGAL."""
    fwal = study.tuned["fwal"]
    near = sum(value <= MUCH_WORSE * fwal.score for value in fwal.scores.values())
    measured, truth = _much_worse(study, "fwal")
    return f"{measured}; {near} of them within a factor of {MUCH_WORSE:g}", truth


@claim("5", "FW-AL and IAL have two parameters each and take much more tuning")
def two_parameters_cost(study: Study) -> Measured:
    """Test whether methods with two parameters take more trials to tune."""
    tuned = study.tuned
    two_parameters = [len(tuned[name].trials) for name in ("fwal", "ial")]
    one_parameter = [len(t.trials) for t in tuned.values() if len(t.contender.parameters) == 1]
    said = (
        f"{max(two_parameters)} and {min(two_parameters)} trials against "
        f"{np.mean(one_parameter):.1f} on average"
    )
    return said, min(two_parameters) > max(one_parameter)


def _much_worse(study: Study, name: str) -> tuple[str, bool]:
    """Compare the best score of a method with CGAL's: the text, and whether it is much worse."""
    method, cgal = study.tuned[name], study.tuned["cgal"]
    text = (
        f"best of {len(method.scores)} settings {method.score:.1e}, "
        f"{method.score / cgal.score:.2g} times CGAL's {cgal.score:.1e}"
    )
    return text, method.score >= MUCH_WORSE * cgal.score


def _merit_slope(study: Study, curve: Curve) -> Slope:
    return slope(curve.calls, curve.merit(study.optimum), study.floor)


def _late_slope(study: Study, curve: Curve) -> float:
    """Return the slope of |f - f*| over the last decade, where saturation shows."""
    residual = curve.residual(study.optimum)
    return slope(curve.calls, residual, study.floor, decades=LEVEL_DECADES).value


def _level(curve: Curve, study: Study) -> float:
    """Return the median residual over the last half of the calls."""
    late = curve.calls >= 0.5 * curve.calls[-1]
    return float(np.median(curve.residual(study.optimum)[late]))


def _deepest_dip(values: Array) -> int | None:
    """Return where the values are furthest below the nearby maxima on both sides.

    None if the deepest dip is not a sudden drop.
    """
    depths = np.zeros(values.size)
    for i in range(2, values.size - 2):
        left = values[max(0, i - NEARBY_ROWS) : i].max()
        right = values[i + 1 : i + 1 + NEARBY_ROWS].max()
        depths[i] = min(left, right) / max(values[i], 1e-300)
    deepest = int(np.argmax(depths)) if depths.size else 0
    return deepest if depths.size and depths[deepest] >= SUDDEN_DROP else None


def _stairs(curve: Curve, optimum: float) -> tuple[int, list[float]]:
    """Return the number of finished subproblems, and the factors by which the merit rose after."""
    merit, outer = curve.merit(optimum), np.flatnonzero(curve.outer > 0)
    jumps = []
    for begin, end in pairwise(outer):
        inner = merit[begin + 1 : end]
        if inner.size and merit[begin] > 0:
            jumps.append(float(inner.max() / merit[begin]))
    return outer.size, jumps
