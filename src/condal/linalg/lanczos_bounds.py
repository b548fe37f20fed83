"""Lower bounds on the smallest eigenvalue by Lanczos from a random start.

After k steps the Ritz values are the zeros of a polynomial p of degree k and leading coefficient 1,
and the product of the betas is |p(V) q|, for the start q. With c the component of q in a lowest
eigenvector, it is at least |c| |p(lambda_min)|. For q uniform on the sphere, |c| <= t has a
probability of at most t sqrt(2n/pi). So but for that probability,

    |p(lambda_min)| < beta_1 ... beta_k / t.

Below the Ritz values |p| falls as its argument rises: lambda_min lies above every tau there with
|p(tau)| = det(T - tau I) >= beta_1 ... beta_k / t. This is one event for all k and all tau, so a
run may be looked at after any step. On no spectrum does it take many more steps than the bound of
Kuczynski and Wozniakowski (1992); where few eigenvalues are far from the others, such as those of
hubs, it takes fewer. It needs no bound on lambda_max.

Rounded Lanczos behaves as exact Lanczos on a larger matrix with its eigenvalues in tiny clusters
around those of V, and the start has about the component c in the cluster of lambda_min (Greenbaum
1989). ROUNDED_PART covers this.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf, log, pi, sqrt

import numpy as np
from scipy.linalg.lapack import dpttrf

from condal.linalg.lanczos import Recurrence
from condal.linalg.points import Array
from condal.linalg.rounding import Proof
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import Cancelled, agreed, check_cancelled

MAX_PROOF_STEPS = 20_000  # of Lanczos
ROUNDED_PART = 0.25  # of c: what rounding leaves of it at least
INVARIANT_ROUNDING = 1e-14  # relative to the spectrum: what rounding may make of a beta
MIN_LOOK = 16  # steps before the first look at the Ritz values
LOOK_GROWTH = 1.03  # of the steps between two looks at a bound that is enough
SLACK_GROWTH = 1.2  # of the steps between two looks at the smallest Ritz value
HALVINGS = 60  # of an interval that contains a bound


def probabilistic(
    V: Symmetric,
    *,
    slack: float,
    failure: float,
    seed: int,
    enough: float = inf,
    max_steps: int = MAX_PROOF_STEPS,
) -> Proof:
    """Prove a bound by Lanczos from a fresh random start; it is wrong with probability `failure`.

    The steps end where `enough` is proved or refuted, or the bound is within `slack` of the
    smallest Ritz value.
    """
    start = np.random.default_rng([seed, V.n]).standard_normal(V.n)
    # The start is equally random in any order of the rows.
    V = V.reordered()[0]
    return from_random_start(
        V, start, slack=slack, failure=failure, enough=enough, max_steps=max_steps
    )


def from_random_start(
    V: Symmetric,
    start: Array,
    *,
    slack: float,
    failure: float,
    enough: float = inf,
    max_steps: int = MAX_PROOF_STEPS,
) -> Proof:
    """`probabilistic` from n standard normal numbers that V does not depend on."""
    run = Recurrence(V, start / np.linalg.norm(start), keep=0)
    in_time, next_least = True, MIN_LOOK
    for steps in _looks(max_steps, LOOK_GROWTH if enough < inf else SLACK_GROWTH):
        try:
            check_cancelled()  # short steps ask once for several
            run.grow_to(steps)
        except Cancelled:  # fewer steps prove less
            in_time = False
        if run.steps == 0:
            return Proof(-inf, "no time for a proof")
        done = run.ended or not in_time or steps == max_steps
        if enough < inf:
            excess = _excess(run, enough, failure)
            done = done or excess >= 0 or excess == -inf  # Ritz values only fall
        if not done and steps >= next_least:
            done = _excess(run, run.ends()[0] - slack, failure) >= 0
            next_least = ceil(SLACK_GROWTH * steps)
        if agreed(done):
            break
    value = enough if enough < inf and _excess(run, enough, failure) >= 0 else -inf
    value = max(value, _largest_bound(run, failure))
    how = f"Lanczos from a random start, {run.steps} steps"
    return Proof(agreed(value), how, failure)


def steps_for(n: int, share: float, failure: float) -> int:
    """Return how many steps prove a bound that loses this share of the spread of any spectrum."""
    if not share > 0:
        return MAX_PROOF_STEPS
    # Chebyshev's polynomials grow like exp(2 k sqrt(share)) / 2 outside of the spectrum.
    steps = (_needed(n, failure) + log(2)) / (2 * np.arcsinh(sqrt(share)))
    return int(min(MAX_PROOF_STEPS, max(MIN_LOOK, ceil(steps))))


def _needed(n: int, failure: float) -> float:
    """The logarithm of 1/t."""
    return 0.5 * log(2 * n / pi) - log(failure * ROUNDED_PART)


def _excess(run: Recurrence, tau: float, failure: float) -> float:
    """log(|p(tau)| t / (beta_1 ... beta_k)): tau is proved if it is at least 0; -inf for a tau that
    is not below the Ritz values."""
    alpha, beta = np.array(run.alpha), np.array(run.beta)
    # Where the space is invariant, the last beta is rounding.
    beta[-1] = max(beta[-1], INVARIANT_ROUNDING * max(np.abs(alpha).max(), beta.max()))
    shifted = alpha - tau
    if shifted.size == 1:  # LAPACK's wrapper wants an entry beside the diagonal
        pivots, below = shifted, bool(shifted[0] > 0)
    else:
        pivots, _, info = dpttrf(shifted, beta[:-1])
        below = info == 0
    if not below:
        return -inf
    if beta[-1] == 0.0:  # V = 0
        return inf
    return float(np.log(pivots / beta).sum()) - _needed(run.V.n, failure)


def _largest_bound(run: Recurrence, failure: float) -> float:
    """The largest tau that the steps prove."""
    high = run.ends()[0]
    step = max(run.spread, abs(high), np.finfo(float).tiny)
    low = high - step
    while _excess(run, low, failure) < 0:
        step *= 8
        low = high - step
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _excess(run, middle, failure) >= 0:
            low = middle
        else:
            high = middle
    return low


def _looks(last: int, growth: float) -> Iterator[int]:
    """Yield growing numbers of steps, up to `last`."""
    steps = min(MIN_LOOK, last)
    while True:
        yield steps
        steps = min(ceil(growth * steps), last)
