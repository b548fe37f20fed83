"""The radius of a matrix completion by held-back entries, and the threshold of Huber's loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from condal.linalg.points import Array, LowRank, Outer
from condal.maps.entries import PairEntries, summed_places
from condal.problems.completed import Effects
from condal.runtime.limits import TimeLimit

if TYPE_CHECKING:
    from condal.problems.completion import MatrixCompletion

Watch: TypeAlias = Callable[[float, float], Any]

HUBER_CONSTANT = 1.345  # standard deviations (Huber 1964)
MIN_DELTA = 1e-2  # of the spread of the values; smaller is the absolute loss in effect
DEVIATION_PER_MEDIAN = 1.4826  # of the absolute values of normal numbers
HELD_BACK = 0.1  # fraction of the entries that chooses the radius
FIRST_RADIUS = 0.25  # times the natural radius
ROUGH_FIT = 1e-2  # of the loss of 0: a fit without residuals
ROUNDED_KINK = 0.15  # of Huber's threshold: a rough fit of the absolute loss is quadratic below
SIGNIFICANT = 1e-2  # of the largest singular value: smaller ones of a rough fit may be its error
RANK_ROOM = 1.25  # the rank at which a solve begins, over the significant rank of the rough fit
GROWTH = 2**0.5
IMPROVEMENT = 0.999  # a loss must fall below this fraction of the least to count as better
MAX_FAILURES = 2  # consecutive values without improvement that end the search
MAX_VALUES = 24
SPARE = 6  # singular vectors beyond the rank of the fit
MAX_STEPS = 500
FITTED = 1e-4  # relative decrease per step; less does not change predictions
TINY = 1e-14  # of the largest squared singular value: smaller ones are rounding
SLOW_STEPS = 2  # consecutive steps of a smaller decrease that end a fit


def choose_delta(
    model: MatrixCompletion, radius: float | None = None, *, max_seconds: float | None = None
) -> float:
    """Return delta from a robust deviation of the residuals of a rough completion.

    The completion uses the given radius, or the natural one. delta is at most the model's, and not
    far smaller.
    """
    radius = model.natural_radius if radius is None else radius
    missed = model.values - NuclearFits(model).fit(radius, TimeLimit(max_seconds)).known
    return min(model.delta, max(robust_delta(missed), MIN_DELTA * model.delta))


def robust_delta(values: Array) -> float:
    """Return Huber's threshold for residuals that are mostly distributed like these values."""
    return HUBER_CONSTANT * DEVIATION_PER_MEDIAN * float(np.median(np.abs(values))) or 1.0


def with_best_radius(
    model: MatrixCompletion,
    *,
    seed: int = 0,
    watch: Watch | None = None,
    max_seconds: float | None = None,
) -> MatrixCompletion:
    """Return the model with the radius of the least mean loss on a tenth of the entries, held back.

    Radii grow by a factor of sqrt(2) until predictions worsen, all known entries fit, or
    max_seconds have passed. The model also gets the rank of the best fit.
    """
    limit = TimeLimit(max_seconds)
    held_back = np.random.default_rng(seed).random(model.values.size) < HELD_BACK
    if not held_back.any() or held_back.all():
        return replace(model, radius=model.natural_radius)
    i, j = model.rows, model.cols
    v = model.values + model.effects.entries(i, j)
    known, effects = ~held_back, model.effects
    effects = Effects.of(model.shape, i[known], j[known], v[known], effects.fit)
    v = v - effects.entries(i, j)
    training = replace(model, rows=i[known], cols=j[known], values=v[known], effects=effects)
    fitted = ROUGH_FIT * training.mean_loss(training.values)
    smooth = training
    if model.loss == "absolute":
        smooth = replace(training, loss="huber")
        delta = choose_delta(smooth, max_seconds=limit.max_seconds)
        smooth = replace(smooth, delta=ROUNDED_KINK * delta)
    fits, ranks = NuclearFits(smooth), {}

    def try_radius(radius: float) -> Trial:
        fit = fits.fit(radius, limit)
        x = fit.x
        ranks[radius] = np.count_nonzero(x.weights > SIGNIFICANT * x.weights.max(initial=0.0))
        loss = model.mean_loss(x.entries(i[held_back], j[held_back]) - v[held_back])
        if watch is not None:
            watch(radius, loss)
        left = training.mean_loss(fit.known - training.values)
        return Trial(loss, last=left <= fitted or limit.is_over())

    radius = best_of_growing(try_radius, FIRST_RADIUS * model.natural_radius)
    return replace(model, radius=radius, rank=1 + ceil(RANK_ROOM * ranks[radius]))


@dataclass(frozen=True)
class Trial:
    """The loss at a value, and whether larger values should not be tried."""

    loss: float
    last: bool = False


def best_of_growing(trial: Callable[[float], Trial], first: float) -> float:
    """Return the value of least loss among first, sqrt(2) first, 2 first, ...

    The search ends after two values in turn that do not improve on the best, when a trial says so,
    or after 24 values. It suits losses that fall and then rise as a model gains freedom.
    """
    value = best = first
    least, failures = inf, 0
    for _ in range(MAX_VALUES):
        outcome = trial(value)
        if outcome.loss < IMPROVEMENT * least:
            best, least, failures = value, outcome.loss, 0
        else:
            failures += 1
        if failures >= MAX_FAILURES or outcome.last:
            break
        value *= GROWTH
    return best


@dataclass(frozen=True, eq=False)
class Fit:
    """x and its values at the known entries."""

    x: Outer
    known: Array


class NuclearFits:
    """Fits of a model over |x|_* <= radius; each starts from the last. The loss must be smooth.

    They are accelerated projected gradients: a choice of the radius needs predictions, not proofs,
    and some ten steps per radius suffice. A step projects x - gradient onto the ball. Its leading
    singular vectors come from one subspace iteration on those of the last step.
    """

    def __init__(self, model: MatrixCompletion) -> None:
        m, n = model.shape
        rows, cols = model.rows, model.cols
        self.model = model
        self.change, self.sums = summed_places((m, n), rows, cols)
        # An entry given k times has k times the curvature.
        self.step = 1.0 / float(np.diff(self.sums.indptr).max())
        self.entries = PairEntries(m + n, rows, cols + m)
        self.rng = np.random.default_rng(0)
        self.basis = self._random(n)
        zero = Outer(np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
        self.last = Fit(zero, np.zeros(rows.size))

    def fit(self, radius: float, limit: TimeLimit) -> Fit:
        """Fit until the loss hardly falls; the momentum restarts when it rises."""
        x = old = self.last
        value, t, slow = self._loss(x), 1.0, 0
        for _ in range(MAX_STEPS):
            longer = 0.5 + (0.25 + t * t) ** 0.5
            beta = (t - 1.0) / longer
            new = self._projected(x, old, beta, radius)
            reached = self._loss(new)
            if reached > value and beta > 0:
                old, t = x, 1.0
                continue
            slow = slow + 1 if value - reached <= FITTED * reached else 0
            x, old, t, value = new, x, longer, reached
            if slow >= SLOW_STEPS or limit.is_over():
                break
        self.last = x
        return x

    def _loss(self, x: Fit) -> float:
        return self.model.mean_loss(x.known - self.model.values)

    def _projected(self, x: Fit, old: Fit, beta: float, radius: float) -> Fit:
        """Project z = y - step * gradient(y) onto the ball, for y = x + beta (x - old)."""
        known = x.known + beta * (x.known - old.known)
        self.change.data[:] = -self.step * (self.sums @ self.model.slope(known - self.model.values))
        left = np.hstack([(1 + beta) * x.x.weights * x.x.U, -beta * old.x.weights * old.x.U])
        right = np.hstack([x.x.V, old.x.V])
        Q = np.linalg.qr(left @ (right.T @ self.basis) + self.change @ self.basis)[0]
        image = right @ (left.T @ Q) + self.change.T @ Q  # z'Q
        V, s, turned = _leading_svd(image)
        weights = project_to_l1_ball(s, radius)
        rank = int(np.count_nonzero(weights))
        self.basis = np.hstack([V[:, : rank + SPARE], self._random(self.model.shape[1])])
        return self._evaluated(Outer(Q @ turned[:, :rank], weights[:rank], V[:, :rank]))

    def _evaluated(self, x: Outer) -> Fit:
        stacked = LowRank(np.vstack([x.weights * x.U, x.V]), np.ones(x.rank))
        return Fit(x, self.entries(stacked))

    def _random(self, n: int) -> Array:
        """New directions, by which the rank may grow."""
        return self.rng.standard_normal((n, min(SPARE, n))) / n**0.5


def _leading_svd(image: Array) -> tuple[Array, Array, Array]:
    """Return V, s and T with image = V diag(s) T', without tiny singular values.

    Their squares are the eigenvalues of a small matrix, which is faster than an SVD and accurate
    enough for a rough fit.
    """
    squares, T = np.linalg.eigh(image.T @ image)
    large = np.flatnonzero(squares > TINY * squares[-1])[::-1]
    s = np.sqrt(squares[large])
    return (image @ T[:, large]) / s, s, T[:, large]


def project_to_l1_ball(s: Array, radius: float) -> Array:
    """Return the nearest point to s >= 0, in descending order, whose sum is at most radius."""
    if s.sum() <= radius:
        return s
    excess = (np.cumsum(s) - radius) / np.arange(1, s.size + 1)
    return np.maximum(s - excess[np.count_nonzero(s > excess) - 1], 0.0)
