"""Lower bounds on the smallest eigenvalue by Lanczos from a random start.

The steps compute vectors q_1, ..., q_k, a tridiagonal T and a rest r with V Q = Q T + r e_k' + F,
where F is rounding. Let z be a unit eigenvector of lambda = lambda_min(V), below the Ritz values.
Multiply by z' from the left and by x = (T - lambda I)^-1 e_1 from the right:

    |<z, q_1>| = |<z, r> x_k + <z, F x>| <= |r| |x_k| + sum_j |F e_j| |x_j|.

With the signs of its off-diagonal entries changed, T - lambda I is an M-matrix: the inverse has no
negative entry, and none falls as lambda rises. So if lambda <= tau below the Ritz values, the right
side at tau bounds it, too. For q_1 uniform on the sphere, |<z, q_1>| <= t has a probability of at
most t sqrt(2n/pi). Every tau at which the right side is at most t is therefore a bound, but for
that probability. This is one event for all k and all tau, so a run may be looked at after any step.

Rounding costs about |F e_j| / t. Where that is too much, another start is drawn: the components of
k independent starts are all at most t only with the product of their probabilities, so t may be the
k-th root of what it was, and the least of their bounds holds. A share of `failure` is set aside for
each number of starts.

Nothing is assumed of the orthogonality of Q, which rounding destroys. F is bounded column by column
by the rounding of one step, and the pivots of T - tau I are those of a T that differs by a few
roundings, which are counted with F.

On no spectrum does this take many more steps than the bound of Kuczynski and Wozniakowski (1992).
Where few eigenvalues are far from the others, such as those of hubs, it takes fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, inf, log, pi, sqrt

import numpy as np
from scipy.linalg.lapack import dpttrf, dpttrs

from condal.linalg.lanczos import Recurrence
from condal.linalg.points import Array
from condal.linalg.rounding import UNDERFLOW, UNIT_ROUNDOFF, Proof, gamma
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import Cancelled, agreed, check_cancelled

MAX_PROOF_STEPS = 20_000  # of Lanczos
STEP_ROUNDINGS = 12  # of max |alpha| + |tau| + max beta: of a step beside its product, and of T
TRUSTED_ROUNDINGS = 64  # the same, of a product of an operator, whose products are trusted
SHARES = (0.85, 0.05, 0.05, 0.05)  # of `failure`, for one start, for two, ...
SUMS = 1.01  # times a sum of positive numbers: more than its rounding
MIN_LOOK = 16  # steps before the first look at the Ritz values
LOOK_GROWTH = 1.03  # of the steps between two looks at a bound that is enough
SLACK_GROWTH = 1.2  # of the steps between two looks at the smallest Ritz value
TEST_GROWTH = 1.1, 1.5  # of the steps between two looks of the oracle: at least and at most
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
    smallest Ritz value, or rounding is all that it loses.
    """
    rng = np.random.default_rng([seed, V.n])
    light = [term for term in V.terms if term.is_sparse]  # which are added up to one matrix
    lost = Symmetric(V.n, light).assembly_error() if len(light) > 1 else 0.0
    # The start is equally random in any order of the rows.
    V = V.reordered()[0].in_pieces()
    proof = from_random_starts(
        V,
        lambda: rng.standard_normal(V.n),
        slack=slack,
        failure=failure,
        enough=enough + lost,
        max_steps=max_steps,
    )
    return replace(proof, value=proof.value - lost)


def from_random_starts(
    V: Symmetric,
    draw: Callable[[], Array],
    *,
    slack: float,
    failure: float,
    enough: float = inf,
    max_steps: int = MAX_PROOF_STEPS,
) -> Proof:
    """`probabilistic` from n standard normal numbers that V does not depend on, drawn anew for
    each start."""
    error, best, runs = V.product_error(), -inf, []
    for k, share in enumerate(SHARES, start=1):
        t = _component((share * failure) ** (1 / k), V.n)
        start = draw()
        runs.append(Recurrence(V, start / np.linalg.norm(start), keep=0))  # t pays for rounding
        if t <= 0:
            continue
        tried = [Run(steps, error, t) for steps in runs]
        proved = min(_bound(run, slack=slack, enough=enough, max_steps=max_steps) for run in tried)
        best = max(best, proved)
        if best >= enough or not agreed(any(run.starved(slack) for run in tried)):
            break
    if best == -inf:
        return Proof(-inf, "no time for a proof" if t > 0 else "no Lanczos proof is so sure")
    from_ = "a random start" if len(runs) == 1 else f"{len(runs)} random starts"
    return Proof(best, f"Lanczos from {from_}, {sum(run.steps for run in runs)} steps", failure)


def _bound(run: Run, *, slack: float, enough: float, max_steps: int) -> float:
    """Return the bound that one of the starts proves; -inf if there is no time."""
    in_time, next_least = True, MIN_LOOK
    for steps in _looks(max_steps, LOOK_GROWTH if enough < inf else SLACK_GROWTH):
        try:
            check_cancelled()  # short steps ask once for several
            run.steps.grow_to(steps)
        except Cancelled:  # fewer steps prove less
            in_time = False
        if run.steps.steps == 0:
            return -inf
        done = run.steps.ended or not in_time or steps == max_steps
        if enough < inf:
            done = done or run.decides(enough)  # Ritz values only fall
        if not done and steps >= next_least:
            done = run.suffices(slack)
            next_least = ceil(SLACK_GROWTH * steps)
        if agreed(done):
            break
    value = enough if enough < inf and sum(run.loss(enough)) <= 1 else -inf
    return agreed(max(value, run.largest_bound()))


def steps_for(n: int, share: float, failure: float) -> int:
    """Return how many steps prove a bound that loses this share of the spread of any spectrum."""
    if not share > 0:
        return MAX_PROOF_STEPS
    # Chebyshev's polynomials grow like exp(2 k sqrt(share)) / 2 outside of the spectrum.
    steps = (log(2) - log(failure * sqrt(pi / (2 * n)))) / (2 * np.arcsinh(sqrt(share)))
    return int(min(MAX_PROOF_STEPS, max(MIN_LOOK, ceil(steps))))


def _component(failure: float, n: int) -> float:
    """Return the t that a component of a start does not exceed with this probability at most."""
    return failure * sqrt(pi / (2 * n)) * (1 - gamma(n + 8)) - 2 * UNIT_ROUNDOFF


@dataclass(frozen=True, eq=False)
class Run:
    """The steps of a proof, a bound on the rounding of a product in one of them, and t."""

    steps: Recurrence
    rounding: float
    t: float

    def loss(self, tau: float) -> tuple[float, float]:
        """Return |r| |x_k| / t and the sum of |F e_j| |x_j| / t: if they add up to at most 1, tau
        is proved. They are inf where tau is not below the Ritz values."""
        alpha, beta = np.array(self.steps.alpha), np.array(self.steps.beta)
        x = _first_column(alpha - tau, beta[:-1])
        if x is None:
            return inf, inf
        size = float(np.abs(alpha).max()) + abs(tau) + float(beta.max())
        relative = STEP_ROUNDINGS + (TRUSTED_ROUNDINGS if self.steps.V.operators else 0)
        rounding = self.rounding + relative * UNIT_ROUNDOFF * size + UNDERFLOW
        parts = float(beta[-1] * x[-1]), rounding * float(x.sum())
        rest, rounded = (SUMS * part / self.t for part in parts)
        return (rest, rounded) if rest + rounded < inf else (inf, inf)

    def growth(self, loss: float) -> float:
        """Return by what factor the steps may grow before another look, if what a bound loses
        falls as it fell."""
        fallen = log(self.t * max(loss, 1.0)) / log(self.t)  # of 1 in all
        least, most = TEST_GROWTH
        return min(max(1 / fallen, least), most) if fallen > 0 else most

    def decides(self, tau: float) -> bool:
        """Return whether tau is proved or refuted."""
        loss = sum(self.loss(tau))
        return loss <= 1 or loss == inf

    def suffices(self, slack: float) -> bool:
        """Return whether the bound is within `slack` of the smallest Ritz value, or further steps
        would leave it where it is, as most of what it loses is rounding."""
        rest, rounded = self.loss(self.steps.least() - slack)
        if rest + rounded > 1 and rounded > 1:
            rest, rounded = self.loss(self.largest_bound())
            return rest <= rounded
        return rest + rounded <= 1

    def starved(self, slack: float) -> bool:
        """Return whether rounding is most of what the bound loses, and more than `slack`."""
        if not self.steps.steps:
            return False
        bound = self.largest_bound()
        rest, rounded = self.loss(bound)
        return self.steps.least() - bound > slack and rest <= rounded

    def largest_bound(self) -> float:
        """Return the largest tau that the steps prove; -inf for none."""
        high = self.steps.least()
        step = max(self.steps.spread, abs(high), np.finfo(float).tiny)
        lows = (high - step * 8.0**k for k in range(HALVINGS))
        low = next((low for low in lows if sum(self.loss(low)) <= 1), -inf)
        for _ in range(HALVINGS if low > -inf else 0):
            middle = 0.5 * (low + high)
            if sum(self.loss(middle)) <= 1:
                low = middle
            else:
                high = middle
        return low


def _first_column(diagonal: Array, beta: Array) -> Array | None:
    """Return |x| for T x = e_1, with few roundings in each entry; None unless T is definite.

    With -beta beside the diagonal, no difference occurs after the pivots.
    """
    first = np.zeros((diagonal.size, 1))
    first[0] = 1.0
    if diagonal.size == 1:  # LAPACK's wrapper wants an entry beside the diagonal
        return first[0] / diagonal if diagonal[0] > 0 else None
    pivots, below, info = dpttrf(diagonal, -beta)
    if info != 0 or not np.all(pivots > 0):
        return None
    x: Array = dpttrs(pivots, below, first)[0][:, 0]
    return x


def _looks(last: int, growth: float) -> Iterator[int]:
    """Yield growing numbers of steps, up to `last`."""
    steps = min(MIN_LOOK, last)
    while True:
        yield steps
        steps = min(ceil(growth * steps), last)
