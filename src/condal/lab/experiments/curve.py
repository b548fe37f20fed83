"""Curves over oracle calls: residuals, merits, and the slope of the tail.

The merit of an iterate is max(|f - f*| / |f*|, infeasibility). Curves dip where f - f* changes
sign, so no quantity depends on a single point: slopes are fitted to the upper envelope (the running
maximum from the right), and scores are medians.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

import numpy as np

from condal.linalg.points import Array

SCORE_WINDOW = 0.5  # a score is the largest merit over the calls in [K/2, K]
SLOPE_WINDOW = (0.1, 0.8)  # a slope is fitted to the calls in [K/10, 0.8 K]
SAMPLES = 40
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


def step_values(calls: Array, values: Array, at: Array) -> Array:
    """Evaluate a step function: the last value at or before each place, inf before the first."""
    index = np.searchsorted(calls, at, side="right") - 1
    return np.asarray(np.where(index < 0, np.inf, values[np.maximum(index, 0)]))


def envelope(values: Array) -> Array:
    """Return max(values[i:]) for each i."""
    return np.asarray(np.maximum.accumulate(values[::-1])[::-1])


def slope(calls: Array, values: Array, floor: float = 0.0) -> float:
    """Fit d log(envelope) / d log(calls) to the tail by least squares; NaN if it is too short.

    The tail is [K/10, 0.8 K], K the last call at which the envelope is above the floor. The
    envelope covers the values up to K, so the tail does not end in a dip.
    """
    high = envelope(values)
    above = np.flatnonzero(high > floor)
    if above.size == 0:
        return float("nan")
    last = int(above[-1])
    low, end = (share * float(calls[last]) for share in SLOPE_WINDOW)
    if np.count_nonzero((calls >= low) & (calls <= end)) < 8 or float(calls[0]) > low:
        return float("nan")
    at = np.geomspace(low, end, SAMPLES)
    y = np.log(step_values(calls[: last + 1], high[: last + 1], at))
    return float(np.polyfit(np.log(at), y, 1)[0])


@dataclass(frozen=True)
class Decay:
    """The decay of a sequence: its last value, the factor per call, and the fit of two laws."""

    last: float
    factor: float
    linear: float  # R^2 of log value against calls: a linear rate
    power: float  # R^2 of log value against log calls: a power of the calls


def decay(calls: Array, values: Array, floor: float = 0.0) -> Decay:
    """Fit both laws to the envelope, from its first value until it reaches the floor."""
    high = envelope(values)
    end = int(np.argmax(high <= floor)) if bool((high <= floor).any()) else high.size
    last = float(np.median(high[-max(1, high.size // 10) :]))
    if end < 8:
        return Decay(last, float("nan"), float("nan"), float("nan"))
    k, y = calls[:end], np.log(np.maximum(high[:end], np.finfo(float).tiny))
    rate, linear = _fit(k, y)
    _, power = _fit(np.log(k), y)
    return Decay(last, float(np.exp(rate)), linear, power)


def _fit(x: Array, y: Array) -> tuple[float, float]:
    """Return the slope of y against x, and R^2."""
    a, b = np.polyfit(x, y, 1)
    spread = float(np.sum((y - y.mean()) ** 2))
    return float(a), 1.0 - float(np.sum((y - a * x - b) ** 2)) / spread if spread > 0 else 0.0


def _plain(value: Any) -> float | None:
    number = float(value)
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
