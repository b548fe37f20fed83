"""Balanced signs s in {-1, 1}^n: splits at a median, and moves that make a cut lighter."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.runtime.time_limit import UNLIMITED, TimeLimit

MAX_IDLE_MOVES = 200  # of a pass, after the lightest cut so far
GAIN_ROUNDING = 1e-12  # relative to the largest weight


def median_split(values: Array) -> Array:
    """Return +1 for the larger half of the values, rounded up, and -1 for the others."""
    signs = np.ones(values.size)
    signs[np.argpartition(values, values.size // 2)[: values.size // 2]] = -1.0
    return signs


def improve_balanced(
    W: Any, signs: Array, imbalance: int, *, limit: TimeLimit = UNLIMITED
) -> Array:
    """Move vertices between the sides while this decreases the cut and |sum s| <= imbalance.

    W is a CSR array with an empty diagonal. In a pass (Fiduccia and Mattheyses 1982) each vertex
    moves at most once, the best one first, even if the cut grows; the lightest balanced cut on the
    way is the start of the next pass. A pass ends after some moves without a lighter cut.
    """
    least = GAIN_ROUNDING * float(np.abs(W.data).max(initial=0.0))
    while not limit.is_over():
        moves, gain = _best_moves(W, signs, imbalance, limit)
        if not gain > least:
            break
        signs = signs.copy()
        signs[moves] *= -1.0
    return signs


def _best_moves(W: Any, signs: Array, imbalance: int, limit: TimeLimit) -> tuple[list[int], float]:
    """The moves of a pass up to the lightest balanced cut, and how much lighter it is."""
    s, total, reach = signs.copy(), int(signs.sum()), max(imbalance, 2)
    gains = -s * (W @ s)  # of the move of each vertex
    # A vertex that has moved is in neither list: its gain is -inf.
    sides = {side: np.where(s == side, gains, -np.inf) for side in (1, -1)}
    moves: list[int] = []
    gain, best, length = 0.0, 0.0, 0
    while len(moves) - length < MAX_IDLE_MOVES and not limit.is_over():
        allowed = [side for side in (1, -1) if abs(total - 2 * side) <= reach]
        ahead = [(int(np.argmax(sides[side])), side) for side in allowed]
        i, side = max(ahead, key=lambda move: float(sides[move[1]][move[0]]))
        if sides[side][i] == -np.inf:
            break
        gain += float(sides[side][i])
        sides[side][i] = -np.inf
        near = slice(W.indptr[i], W.indptr[i + 1])
        change = 2 * side * W.data[near] * s[W.indices[near]]
        for values in sides.values():
            values[W.indices[near]] += change
        s[i], total = -side, total - 2 * side
        moves.append(i)
        if abs(total) <= imbalance and gain > best:
            best, length = gain, len(moves)
    return moves[:length], best
