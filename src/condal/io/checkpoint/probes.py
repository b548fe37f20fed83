"""Numbers that the pieces of a problem compute, to tell two problems apart that look the same.

A function or an operator of the user's own shows nothing of itself but what it gives: it is asked
once, at a vector that is the same in every process. The answers are compared up to rounding, which
may differ with the number of threads; so a small change of one number among many can go unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.types import LinearMap

ROUNDING = 1e-9  # of the larger of two numbers: what they may differ by


def probes(problem: Problem) -> list[float]:
    """A few numbers of f, M, A and h, and of X if it is not condal's; NaN where a piece raises."""
    f, X, A, h = problem.f, problem.X, problem.A, problem.h
    asked: list[Callable[[], float]] = [
        lambda: _of_map(f.M),
        lambda: _of_map(A),
        lambda: f.value(_positive(f.M.size)),
        lambda: _across(f.gradient(_positive(f.M.size))),
        lambda: _across(h.prox(wave(h.size), 1.0)),
        lambda: X.max_norm,
        lambda: X.diameter,
        lambda: A.norm,
    ]
    if hasattr(X, "of_user") or type(X).__module__.partition(".")[0] != "condal":
        asked.append(lambda: _across(np.asarray(X.lmo(_direction(f.M)))))
    with np.errstate(all="ignore"):
        return [_number(each) for each in asked]


def agree(before: Sequence[float], now: Sequence[float]) -> bool:
    """Whether the numbers are the same, up to rounding."""
    return len(before) == len(now) and all(map(_close, before, now))


def wave(n: int) -> Array:
    """cos 1, cos 2, ..., cos n, over sqrt(n): a vector of about unit length and of no pattern."""
    return np.asarray(np.cos(np.arange(1.0, n + 1.0)) / sqrt(max(n, 1)))


def _positive(n: int) -> Array:
    return np.asarray(1.5 + np.cos(np.arange(1.0, n + 1.0)))


def _direction(M: LinearMap) -> Any:
    return M.adjoint(wave(M.size))


def _of_map(M: LinearMap) -> float:
    """A'y, seen along one vector."""
    return _along(M.adjoint(wave(M.size)))


def _along(v: Gradient | None) -> float:
    if v is None:
        return 0.0
    if isinstance(v, tuple):
        return sum((i + 1) * _along(part) for i, part in enumerate(v))
    if isinstance(v, Symmetric):
        return float(np.flip(wave(v.n)) @ (v @ wave(v.n)))
    return _across(v)


def _across(values: Any) -> float:
    flat = np.asarray(values, dtype=np.float64).ravel()
    return float(flat @ np.flip(wave(flat.size)))


def _number(asked: Callable[[], float]) -> float:
    try:
        return float(asked())
    except Exception:  # whatever it is: the solve will meet it, and say whose fault it is
        return nan


def _close(a: float, b: float) -> bool:
    if not (isfinite(a) and isfinite(b)):
        return a == b or (isnan(a) and isnan(b))
    return abs(a - b) <= ROUNDING * max(abs(a), abs(b), 1e-6)
