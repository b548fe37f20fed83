"""min <D, x> : x1 = 1, x >= 0, tr x = k, x psd, by alternating directions (Boyd et al. 2011).

x1 = 1 makes 1 an eigenvector: x = 11'/n + z with z1 = 0, z psd, tr z = k - 1. A projection onto
these x needs the few largest eigenvalues of a centred matrix; one onto W >= 0 is entrywise. The
multiplier of x = W is never positive, which is what a lower bound needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from condal.points import Array

MAX_STEPS = 6000
LOOK = 25  # steps from one pair to the next
RELAXATION = 1.6
SPARE = 12  # eigenvalues asked for beyond those that were positive last time


@dataclass(frozen=True, eq=False)
class Pair:
    """x, feasible but for rounding, and the multipliers u of x1 = 1 and W <= 0 of x >= 0."""

    x: Array
    u: Array
    W: Array


def splitting(D: Array, k: int) -> Iterator[Pair]:
    """Primal and dual points that converge to a solution, one pair in every `LOOK` steps."""
    n = D.shape[0]
    if k == 1 or n == 1:  # one point is feasible
        yield Pair(np.full((n, n), 1.0 / n), _row_multipliers(D), np.zeros((n, n)))
        return
    scale = float(np.linalg.norm(D)) / np.sqrt(k) or 1.0  # |D / scale| = sqrt(k), the size of |x|
    C = D / scale
    rank = min(n, 4 * k)
    W, L, rho = np.full((n, n), 1.0 / n), np.zeros((n, n)), 1.0
    for step in range(1, MAX_STEPS + 1):
        x, rank = _projection(_centred(W - (C + L) / rho), k - 1, rank)
        x += 1.0 / n
        over = RELAXATION * x + (1 - RELAXATION) * W
        before, W = W, np.maximum(over + L / rho, 0.0)
        L += rho * (over - W)
        if step % LOOK:
            continue
        # The multiplier is L = rho min(over + L/rho, 0): the W of the bound is scale L.
        yield Pair(_inside(x, k), _row_multipliers(D + scale * L), scale * L)
        primal, dual = np.linalg.norm(x - W), rho * np.linalg.norm(W - before)
        if primal > 5 * dual:
            rho *= 1.5
        elif dual > 5 * primal:
            rho /= 1.5


def _projection(S: Array, trace: float, rank: int) -> tuple[Array, int]:
    """The nearest psd matrix of the given trace, and its rank.

    Its eigenvalues are max(v - t, 0), so that those of S below t are not needed.
    """
    n = S.shape[0]
    wanted = min(n, rank + SPARE)
    while True:
        values, vectors = eigh(S, subset_by_index=[n - wanted, n - 1])
        values, vectors = values[::-1], vectors[:, ::-1]
        thresholds = (np.cumsum(values) - trace) / np.arange(1, wanted + 1)
        kept = int(np.flatnonzero(values > thresholds)[-1]) + 1
        if kept < wanted or wanted == n:
            break
        wanted = min(n, 2 * wanted)
    parts = values[:kept] - thresholds[kept - 1]
    return (vectors[:, :kept] * parts) @ vectors[:, :kept].T, kept


def _inside(x: Array, k: int) -> Array:
    """x mixed with the centre of the feasible set, just enough for x >= 0."""
    n = x.shape[0]
    spread = (k - 1) / (n - 1)
    apart = (1.0 - spread) / n  # the entries of the centre off its diagonal
    below = max(0.0, -float(x.min()))
    if below == 0.0:
        return x
    t = min(1.0, (1 + 1e-6) * below / (apart + below))
    mixed = (1 - t) * x + t * apart
    mixed[np.diag_indices(n)] += t * spread
    return np.asarray(mixed)


def _row_multipliers(S: Array) -> Array:
    """u with (S + (u1' + 1u')/2) 1 = m 1, m the smallest eigenvalue of S across 1.

    Then the bound -sum u + k lambda_min is 1'S1/n + (k - 1) m: what the constraints are worth.
    """
    n = S.shape[0]
    least = float(eigh(_centred(S), eigvals_only=True, subset_by_index=[0, 0])[0])
    sums = S.sum(axis=1)
    total = least - float(sums.mean())
    return np.asarray((2 * (least - sums) - total) / n)


def _centred(S: Array) -> Array:
    """P S P with P = I - 11'/n."""
    means = S.mean(axis=0)
    return S - means[None, :] - means[:, None] + means.mean()
