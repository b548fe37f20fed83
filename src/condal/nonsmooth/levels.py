"""Projections onto the simplex and the l1 ball."""

from __future__ import annotations

import numpy as np

from condal.linalg.points import Array


def level(v: Array, total: float) -> float:
    """Return theta with sum_i max(v_i - theta, 0) = total, for total > 0."""
    top = float(v.max())
    return top + _depth(np.maximum(v - top, -total), total)


def onto_simplex(v: Array, total: float) -> Array:
    """Return the nearest y >= 0 to v with sum y = total > 0."""
    below = np.maximum(v - v.max(), -total)  # of the size of y, however large v is
    y = np.maximum(below - _depth(below, total), 0.0)
    return np.asarray(y * (total / y.sum()))


def onto_l1_ball(v: Array, radius: float) -> Array:
    """Return the nearest y to v with sum |y| = radius, for a v outside of that ball."""
    return np.copysign(onto_simplex(np.abs(v), radius), v)


def _depth(v: Array, total: float) -> float:
    """Return `level` of v, whose largest entry is 0."""
    falling = np.sort(v)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, v.size + 1)
    above = np.flatnonzero(falling > levels)  # a run that begins at the first entry
    return float(levels[above[-1]])
