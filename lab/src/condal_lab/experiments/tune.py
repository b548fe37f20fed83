"""Tuning by factors of 10, until a setting beats both neighbours in each of its parameters.

A setting is a tuple of exponents of 10. The search has no state: the next settings follow from the
scores known so far, so an interrupted run can resume.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from condal.errors import ProblemError

Setting = tuple[int, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter with values 10^low, ..., 10^high, searched from 10^start."""

    name: str
    start: int
    low: int
    high: int

    def __post_init__(self) -> None:
        if not self.low <= self.start <= self.high:
            raise ProblemError(
                f"{self.name}: the start must lie in [{self.low}, {self.high}]; got {self.start}"
            )


def next_settings(
    parameters: Sequence[Parameter], scores: Mapping[Setting, float]
) -> list[Setting]:
    """Return the settings to try next; none if the best one beats all its neighbours."""
    centre = best(scores, parameters) if scores else tuple(p.start for p in parameters)
    return [s for s in [centre, *_neighbours(parameters, centre)] if s not in scores]


def best(scores: Mapping[Setting, float], parameters: Sequence[Parameter]) -> Setting:
    """Return the setting of the lowest score; ties go to the one nearest to the start."""

    def order(setting: Setting) -> tuple[float, int, Setting]:
        steps = sum(abs(e - p.start) for e, p in zip(setting, parameters, strict=True))
        return scores[setting], steps, setting

    return min(scores, key=order)


def at_edge(parameters: Sequence[Parameter], setting: Setting) -> tuple[str, ...]:
    """Return the parameters at an end of their range, of which one neighbour was never tried."""
    return tuple(p.name for p, e in zip(parameters, setting, strict=True) if e in (p.low, p.high))


def _neighbours(parameters: Sequence[Parameter], centre: Setting) -> list[Setting]:
    """Return the settings with one parameter times 1/10 or 10, within its range."""
    return [
        (*centre[:i], centre[i] + step, *centre[i + 1 :])
        for i, p in enumerate(parameters)
        for step in (-1, 1)
        if p.low <= centre[i] + step <= p.high
    ]
