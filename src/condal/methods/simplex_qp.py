"""A small quadratic program over a product of simplices, by a primal active-set method.

minimise (1/2) t'Ht + c't  subject to  t >= 0,  sum of t over each block = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.linalg.points import Array, Indices

RIDGE = 1e-14  # of the largest entry of H and c: makes the minimiser unique


def minimise(H: Array, c: Array, blocks: Indices, t: Array) -> Array:
    """Return the minimiser, from the feasible point t; `blocks` is the block of each entry.

    Each step solves the equations of the free entries. If the solution is positive, it is accepted
    and the entry of the most negative multiplier becomes free. Otherwise t moves towards it until
    an entry vanishes, which then stays at 0. The value falls, so no active set repeats.
    """
    m = c.size
    size = max(float(np.abs(np.diagonal(H)).max(initial=0.0)), float(np.abs(c).max(initial=0.0)))
    H = H + RIDGE * (size or 1.0) * np.eye(m)
    sums = (blocks[None, :] == np.unique(blocks)[:, None]).astype(np.float64)
    noise = 1e-12 * (float(np.abs(c).max(initial=0.0)) + float(np.abs(H @ t).max(initial=0.0)))
    t = t.copy()
    free = t > 0
    for _ in range(20 * m + 20):
        solution, prices = _equality(H, c, sums, free)
        falling = free & (solution < 0)
        if falling.any():
            ratio = t[falling] / (t[falling] - solution[falling])
            first = int(np.argmin(ratio))
            t = t + float(ratio[first]) * (solution - t)
            vanished = np.flatnonzero(falling)[first]
            t[vanished] = 0.0
            free[vanished] = False
            t = np.maximum(t, 0.0)
            continue
        t = solution
        reduced = np.where(free, 0.0, H @ t + c + sums.T @ prices)
        entering = int(np.argmin(reduced))
        if reduced[entering] >= -noise:
            break
        free[entering] = True
    return np.asarray(t / (sums.T @ (sums @ t)))


def _equality(H: Array, c: Array, sums: Array, free: Any) -> tuple[Array, Array]:
    """The minimiser over the free entries with fixed sums, and the multipliers of the sums."""
    index = np.flatnonzero(free)
    f, b = index.size, sums.shape[0]
    system = np.zeros((f + b, f + b))
    system[:f, :f] = H[np.ix_(index, index)]
    system[:f, f:] = sums[:, index].T
    system[f:, :f] = sums[:, index]
    # Weights and prices differ in scale: the scale of H is divided out of both halves.
    scale = max(float(np.abs(np.diagonal(system)[:f]).max(initial=0.0)), 1e-300)
    system[:f, :f] /= scale
    right = np.concatenate([-c[index] / scale, np.ones(b)])
    try:
        solved = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solved = np.linalg.lstsq(system, right, rcond=None)[0]
    t = np.zeros(c.size)
    t[index] = solved[:f]
    return t, solved[f:] * scale
