"""Permutations p of 0, ..., n - 1, and exchanges that reduce sum_ij A_ij B_{p_i p_j}."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.inputs import array_of, describe
from condal.runtime.time_limit import UNLIMITED, TimeLimit


def checked_permutation(permutation: Any, n: int) -> Any:
    """Return p as an array; raise ProblemError unless it is a permutation of n."""
    wanted = f"permutation must hold each of 0, ..., {n - 1} once, as whole numbers"
    p = array_of(permutation, "permutation", f"{n} whole numbers")
    if p.shape != (n,) or p.dtype.kind not in "iu":
        wrong = np.full(p.shape, p.dtype.kind not in "iu")
        raise ProblemError(f"{wanted}; got {describe(permutation, wrong)}")
    first = np.unique(p, return_index=True)[1]
    wrong = (p < 0) | (p >= n) | ~np.isin(np.arange(n), first)
    if wrong.any():
        raise ProblemError(f"{wanted}; got {describe(permutation, wrong)}")
    return p


def improve_by_exchanges(A: Array, B: Array, p: Any, limit: TimeLimit = UNLIMITED) -> Any:
    """Return p after greedy exchanges of two values, the largest saving first, in time."""
    p = np.array(p)
    rounding = 1e-12 * float(np.abs(A).sum() * np.abs(B).max(initial=0.0))
    while not limit.is_over():
        change = exchange_costs(A, B[np.ix_(p, p)])
        r, s = np.unravel_index(int(np.argmin(change)), change.shape)
        if change[r, s] >= -rounding:
            return p
        p[r], p[s] = p[s], p[r]
    return p


def exchange_costs(A: Array, D: Array) -> Array:
    """Return the change of sum_ij A_ij D_ij when rows r and s of D, and its columns, are swapped.

    All pairs r, s are computed at once.
    """
    P, Q = A.T @ D, A @ D.T
    own = np.diagonal(P) + np.diagonal(Q)
    a, d, both = np.diagonal(A), np.diagonal(D), D + D.T
    total = P + P.T + Q + Q.T - own[:, None] - own
    # The sums above run over all k; correct the terms k = r and k = s.
    mixed = A * (d[:, None] + d - 2 * D)
    total -= a[:, None] * (both - 2 * d[:, None]) + a * (both - 2 * d) + mixed + mixed.T
    return np.asarray(total + (a[:, None] - a) * (d - d[:, None]) + (A - A.T) * (D.T - D))
