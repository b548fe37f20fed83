"""Values of the opaque pieces of a problem, which tell problems of one fingerprint apart.

Each function or operator is evaluated once, at a vector that is the same in every process. The
values are compared up to rounding, which may depend on the number of threads: a small change of one
number among many can pass unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.guarded import is_ours
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.types import LinearMap

PROBE_TOLERANCE = 1e-9  # relative to the larger of two values


def probes(problem: Problem) -> list[float]:
    """Evaluate f, M, A and h, and X if it is not condal's; NaN where a piece raises."""
    f, X, A, h = problem.f, problem.X, problem.A, problem.h
    evaluations: list[Callable[[], float]] = [
        lambda: _of_map(f.M),
        lambda: _of_map(A),
        lambda: f.value(_positive(f.M.size)),
        lambda: _across(f.gradient(_positive(f.M.size))),
        lambda: _across(h.prox(wave(h.size), 1.0)),
        lambda: X.max_norm,
        lambda: X.diameter,
        lambda: A.norm,
    ]
    if hasattr(X, "of_user") or not is_ours(X):
        evaluations.append(lambda: _across(np.asarray(X.lmo(_direction(f.M)))))
    with np.errstate(all="ignore"):
        return [_number(evaluate) for evaluate in evaluations]


def agree(before: Sequence[float], now: Sequence[float]) -> bool:
    """Whether the values are the same up to rounding."""
    return len(before) == len(now) and all(map(_close, before, now))


def wave(n: int) -> Array:
    """Return (cos 1, cos 2, ..., cos n) / sqrt(n): a vector of about unit length, no pattern."""
    return np.asarray(np.cos(np.arange(1.0, n + 1.0)) / sqrt(max(n, 1)))


def _positive(n: int) -> Array:
    return np.asarray(1.5 + np.cos(np.arange(1.0, n + 1.0)))


def _direction(M: LinearMap) -> Any:
    return M.adjoint(wave(M.size))


def _of_map(M: LinearMap) -> float:
    """Return the inner product of M'y with a fixed vector."""
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


def _number(evaluate: Callable[[], float]) -> float:
    try:
        return float(evaluate())
    except Exception:  # the solve will meet it, and name the piece
        return nan


def _close(a: float, b: float) -> bool:
    if not (isfinite(a) and isfinite(b)):
        return a == b or (isnan(a) and isnan(b))
    return abs(a - b) <= PROBE_TOLERANCE * max(abs(a), abs(b), 1e-6)
