"""min <D, x> : x1 = 1, x >= 0, tr x = k, x psd, by the splitting method, feasible at every look.

x1 = 1 makes 1 an eigenvector: x = 11'/n + z with z1 = 0, z psd, tr z = k - 1. A point of the method
is brought there by centring, and then towards the middle until x >= 0. Of its dual the multiplier W
of x >= 0 is kept; the best one of x1 = 1 follows from it.
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
LOOK = 10  # steps from one pair to the next


@dataclass(frozen=True, eq=False)
class PrimalDualPair:
    """x, feasible but for rounding, and the multipliers u of x1 = 1 and W <= 0 of x >= 0."""

    x: Array
    u: Array
    W: Array


def splitting(D: Array, k: int) -> Iterator[PrimalDualPair]:
    """Primal and dual points that converge to a solution, one pair in every `LOOK` steps."""
    n = D.shape[0]
    if k == 1 or n == 1:  # one point is feasible
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
    while last := deque(islice(states, LOOK), maxlen=1):  # of fewer where the method ends
        W = entries.adjoint(scaling.dual(last[0].y)[n:]).to_dense()
        yield PrimalDualPair(_inside(_exactly(dense(x.point()), k), k), _row_multipliers(D + W), W)


def _exactly(x: Array, k: int) -> Array:
    """x with x1 = 1 and the trace k, psd as it was: 11'/n and its part across 1, scaled."""
    z = _centred(x)
    return (k - 1) / float(np.trace(z)) * z + 1.0 / len(x)


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
