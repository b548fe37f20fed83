"""Curves over oracle calls: residuals, merits, and the slope of the tail.

The merit of an iterate is max(|f - f*| / |f*|, infeasibility). Curves dip where f - f* changes
sign, so every quantity is made of maxima: slopes are fitted to the peaks of the curve, and scores
are the largest merit of a window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np

from condal.linalg.points import Array

SCORE_WINDOW = 0.5  # a score is the largest merit over the calls in [K/2, K]
RATE_DECADES, LEVEL_DECADES = 2.0, 1.0  # the windows of a rate and of saturation
BINS, MIN_PEAKS = 8, 5  # of the window of a slope
STUDENT_95 = {3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447}  # two-sided, by degrees of freedom
SAMPLES = 100
FLOOR_MARGIN = 10.0  # residuals below 10 times the reference's own gap are meaningless


@dataclass(frozen=True, eq=False)
class Curve:
    """A trial at increasing numbers of oracle calls.

    `atom_*` describe the oracle's last answer s_k. `outer` marks the iterates of the method: all
    rows, except for a method with inner loops.
    """

    calls: Array
    objective: Array
    infeasibility: Array
    outer: Array
    atom_objective: Array
    atom_infeasibility: Array

    @classmethod
    def of(cls, columns: dict[str, list[Any]]) -> Curve:
        """Build a curve from lists of numbers by name; None becomes NaN."""
        return cls(**{f.name: np.array(columns[f.name], dtype=np.float64) for f in fields(cls)})

    def columns(self) -> dict[str, list[float | None]]:
        """Return lists of numbers by name, with None for numbers that are not finite."""
        return {f.name: [_plain(value) for value in getattr(self, f.name)] for f in fields(self)}

    @property
    def iterates(self) -> Curve:
        """The outer rows only: the points that the method would return if it stopped there."""
        rows = self.outer > 0
        return Curve(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def residual(self, optimum: float) -> Array:
        """|f - f*| / |f*|."""
        return np.abs(self.signed(optimum))

    def signed(self, optimum: float) -> Array:
        """(f - f*) / |f*|."""
        return np.asarray((self.objective - optimum) / (abs(optimum) or 1.0))

    def merit(self, optimum: float) -> Array:
        """The maximum of residual and infeasibility."""
        return np.maximum(self.residual(optimum), self.infeasibility)

    def atom_residual(self, optimum: float) -> Array:
        """|f(s) - f*| / |f*|."""
        return np.asarray(np.abs(self.atom_objective - optimum) / (abs(optimum) or 1.0))

    def atom_merit(self, optimum: float) -> Array:
        """The maximum of residual and infeasibility of the atoms."""
        return np.maximum(self.atom_residual(optimum), self.atom_infeasibility)


class Thinning:
    """Which rows of a curve are kept: those at calls that grow by a factor, and of iterates and
    the rows between them apart."""

    def __init__(self, growth: float) -> None:
        self.growth = growth
        self._due = {True: 0.0, False: 0.0}

    def keeps(self, calls: float, *, outer: bool, last: bool) -> bool:
        """Whether a row is kept, as the last one always is."""
        kept = last or calls >= self._due[outer]
        if kept:
            self._due[outer] = max(calls + 1, self.growth * calls)
        return kept


def score(curve: Curve, optimum: float, calls: int) -> float:
    """Return the largest merit of the outer iterates over [calls/2, calls]; inf if there are none.

    A dip where f - f* changes sign does not lower a maximum. The curve is a step function: the
    window starts with the last iterate before it.
    """
    iterates = curve.iterates
    first = int(np.searchsorted(iterates.calls, SCORE_WINDOW * calls, side="right")) - 1
    if first < 0:
        return float("inf")
    value = float(np.max(iterates.merit(optimum)[first:]))
    return value if isfinite(value) else float("inf")


def envelope(values: Array) -> Array:
    """Return max(values[i:]) for each i."""
    return np.asarray(np.maximum.accumulate(values[::-1])[::-1])


@dataclass(frozen=True)
class Slope:
    """A fitted d log(value) / d log(calls), with its 95% confidence interval."""

    value: float
    low: float = nan
    high: float = nan

    def __str__(self) -> str:
        if not isfinite(self.value):
            return "unknown"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    def complies(self, low: float, high: float) -> bool | None:
        """Return whether the interval lies in [low, high]; None if it lies in and outside."""
        if not isfinite(self.value):
            return None
        if low <= self.low and self.high <= high:
            return True
        return False if self.high < low or high < self.low else None


def slope(
    calls: Array, values: Array, floor: float = 0.0, *, decades: float = RATE_DECADES
) -> Slope:
    """Fit a line to the peaks of the last decades of calls; NaN if they are too few.

    The last call K is the last one at which the envelope is above the floor. The window is cut into
    `BINS` parts of equal length in log(calls), and each part is represented by its largest value,
    where it is attained: the dip of a sign change is narrower than a part.
    """
    above = np.flatnonzero(envelope(values) > floor)
    if above.size == 0:
        return Slope(nan)
    last = int(above[-1])
    peaks = _peaks(calls[: last + 1], values[: last + 1], decades)
    if len(peaks) < MIN_PEAKS:
        return Slope(nan)
    return _fit(np.log(calls[peaks]), np.log(values[peaks]))[0]


def _peaks(calls: Array, values: Array, decades: float) -> list[int]:
    """Return the row of the largest positive value of each part of the window."""
    position = BINS * (1 + np.log10(calls / calls[-1]) / decades)  # 0 to BINS within the window
    part = np.minimum(np.floor(position + 1e-9), BINS - 1)
    peaks = []
    for number in range(BINS):
        rows = np.flatnonzero((part == number) & (values > 0))
        if rows.size:
            peaks.append(int(rows[np.argmax(values[rows])]))
    return peaks


@dataclass(frozen=True)
class Decay:
    """The decay of a sequence: its last value, and R^2 of each law."""

    last: float
    fits: dict[str, float]

    @property
    def law(self) -> str:
        """The law that fits best; "none" if nothing could be fitted."""
        return max(self.fits, key=lambda name: self.fits[name], default="none")


LAWS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda k: k,
    "exp(-c sqrt k)": np.sqrt,
    "power": np.log,
}


def decay(calls: Array, values: Array, floor: float = 0.0) -> Decay:
    """Fit each law to the logarithm of the envelope, from its first value to the floor.

    The points are evenly spaced in the calls, so every iteration has the same weight.
    """
    high = envelope(values)
    end = int(np.argmax(high <= floor)) if bool((high <= floor).any()) else high.size
    last = float(np.median(high[-max(1, high.size // 10) :]))
    if end < 8:
        return Decay(last, {})
    k = np.linspace(calls[0], calls[end - 1], SAMPLES)
    rows = np.searchsorted(calls[:end], k, side="right") - 1
    y = np.log(np.maximum(high[rows], np.finfo(float).tiny))
    return Decay(last, {name: _fit(law(k), y)[1] for name, law in LAWS.items()})


def _fit(x: Array, y: Array) -> tuple[Slope, float]:
    """Return the slope of the least-squares line, with Student's interval, and R^2."""
    dx, dy = x - x.mean(), y - y.mean()
    a = float(dx @ dy) / float(dx @ dx)
    rest, total = float(np.sum((dy - a * dx) ** 2)), float(dy @ dy)
    degrees = x.size - 2
    half = STUDENT_95.get(degrees, 1.96) * sqrt(rest / degrees / float(dx @ dx))
    return Slope(a, a - half, a + half), 1.0 - rest / total if total > 0 else 0.0


def _plain(value: Any) -> float | None:
    number = float(value)
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
