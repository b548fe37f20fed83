"""Minimise <D, x> subject to x1 = 1, x >= 0, tr x = k, x psd, by the splitting method.

1 is an eigenvector of x: x = 11'/n + z with z1 = 0, z psd, tr z = k - 1. Each yielded point is
feasible: it is centred, then moved towards the centre of the set until x >= 0. The dual consists of
the method's multiplier W of x >= 0 and the best multiplier of x1 = 1 for this W.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.linalg import eigh

from condal.domains import Spectrahedron
from condal.driver.scaling import normalise
from condal.linalg.points import Array, dense
from condal.maps import RowSums, Stack, Triangle
from condal.methods import Splitting
from condal.problem import Problem
from condal.sets import Equal, NonNegative, Separable
from condal.smooth import Linear
from condal.storage import Factor

MAX_STEPS = 6000
STEPS_PER_PAIR = 10


@dataclass(frozen=True, eq=False)
class PrimalDualPair:
    """x, feasible up to rounding, and the multipliers u of x1 = 1 and W <= 0 of x >= 0."""

    x: Array
    u: Array
    W: Array


def splitting(D: Array, k: int) -> Iterator[PrimalDualPair]:
    """Yield primal and dual points that converge to a solution, one pair per 10 steps."""
    n = D.shape[0]
    if k == 1 or n == 1:  # a single point is feasible
        yield PrimalDualPair(np.full((n, n), 1.0 / n), _row_multipliers(D), np.zeros((n, n)))
        return
    entries = Triangle(n)
    problem, scaling = normalise(
        Problem.of(
            f=Linear(D),
            X=Spectrahedron(n, trace=float(k)),
            A=Stack(RowSums(n), entries),
            K=Separable(Equal(np.ones(n)), NonNegative(entries.size)),
        )
    )
    x = Factor()
    states = islice(Splitting().iterates(problem, x), MAX_STEPS)
    while last := deque(islice(states, STEPS_PER_PAIR), maxlen=1):  # fewer at the end
        W = entries.adjoint(scaling.dual(last[0].y)[n:]).to_dense()
        feasible = _make_nonnegative(_meet_equalities(dense(x.point()), k), k)
        yield PrimalDualPair(feasible, _row_multipliers(D + W), W)


def _meet_equalities(x: Array, k: int) -> Array:
    """Move x to x1 = 1 and tr x = k: 11'/n plus a multiple of the part of x orthogonal to 1."""
    z = _centred(x)
    return (k - 1) / float(np.trace(z)) * z + 1.0 / len(x)


def _make_nonnegative(x: Array, k: int) -> Array:
    """Mix x with the centre of the feasible set, just enough for x >= 0."""
    n = x.shape[0]
    spread = (k - 1) / (n - 1)
    centre = (1.0 - spread) / n  # the entries of the centre off its diagonal
    below = max(0.0, -float(x.min()))
    if below == 0.0:
        return x
    t = min(1.0, (1 + 1e-6) * below / (centre + below))
    mixed = (1 - t) * x + t * centre
    mixed[np.diag_indices(n)] += t * spread
    return np.asarray(mixed)


def _row_multipliers(S: Array) -> Array:
    """Return u with (S + (u1' + 1u')/2) 1 = m 1, m the smallest eigenvalue of S orthogonal to 1.

    The bound -sum u + k lambda_min is then 1'S1/n + (k - 1) m.
    """
    n = S.shape[0]
    least = float(eigh(_centred(S), eigvals_only=True, subset_by_index=[0, 0])[0])
    sums = S.sum(axis=1)
    total = least - float(sums.mean())
    return np.asarray((2 * (least - sums) - total) / n)


def _centred(S: Array) -> Array:
    """Return P S P with P = I - 11'/n."""
    means = S.mean(axis=0)
    return S - means[None, :] - means[:, None] + means.mean()
