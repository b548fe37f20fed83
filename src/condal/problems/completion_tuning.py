"""The radius of a matrix completion by held-back entries, and the threshold of Huber's loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from condal.driver.solve import solve
from condal.linalg.points import Array, Outer
from condal.problems.nuclear_fit import NuclearFits
from condal.problems.row_column_effects import Effects
from condal.problems.tuning import Trial, best_of_growing
from condal.result import Status
from condal.runtime.time_limit import TimeLimit

if TYPE_CHECKING:
    from condal.problems.completion import MatrixCompletion

Watch: TypeAlias = Callable[[float, float], Any]
RoughFit: TypeAlias = Callable[[float], Outer]

HUBER_CONSTANT = 1.345  # standard deviations (Huber 1964)
MIN_DELTA = 1e-2  # of the spread of the values; smaller is the absolute loss in effect
DEVIATION_PER_MEDIAN = 1.4826  # of the absolute values of normal numbers
HELD_BACK = 0.1  # fraction of the entries that chooses the radius
FIRST_RADIUS = 0.25  # times the natural radius
ROUGH_TOL = 1e-2  # tolerance of the solves for the absolute loss, and of a fit without residuals
SIGNIFICANT = 1e-2  # of the largest singular value: smaller ones of a rough fit may be its error
RANK_ROOM = 1.25  # the rank at which a solve begins, over the significant rank of the rough fit


def choose_delta(
    model: MatrixCompletion, radius: float | None = None, *, max_seconds: float | None = None
) -> float:
    """Return delta from a robust deviation of the residuals of a rough completion.

    The completion uses the given radius, or the natural one. delta is at most the model's, and not
    far smaller.
    """
    fit = _rough_fits(model, TimeLimit(max_seconds))
    fitted = fit(model.natural_radius if radius is None else radius)
    missed = model.values - fitted.entries(model.rows, model.cols)
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
    fitted = ROUGH_TOL * training.mean_loss(training.values)
    fit, ranks = _rough_fits(training, limit), {}

    def try_radius(radius: float) -> Trial:
        x = fit(radius)
        ranks[radius] = np.count_nonzero(x.weights > SIGNIFICANT * x.weights.max(initial=0.0))
        loss = model.mean_loss(x.entries(i[held_back], j[held_back]) - v[held_back])
        if watch is not None:
            watch(radius, loss)
        left = training.mean_loss(x.entries(training.rows, training.cols) - training.values)
        return Trial(loss, last=left <= fitted or limit.is_over())

    radius = best_of_growing(try_radius, FIRST_RADIUS * model.natural_radius)
    return replace(model, radius=radius, rank=1 + ceil(RANK_ROOM * ranks[radius]))


def _rough_fits(model: MatrixCompletion, limit: TimeLimit) -> RoughFit:
    """Return a function from a radius to a rough solution; growing radii are fastest.

    It raises KeyboardInterrupt if a solve was interrupted.
    """
    if model.loss != "absolute":
        fits = NuclearFits(
            model.shape,
            model.rows,
            model.cols,
            model.values,
            loss=model.mean_loss,
            slope=model.slope,
        )
        return lambda radius: fits.fit(radius, limit).x

    def solved(radius: float) -> Outer:
        trial = replace(model, radius=radius)
        result = solve(trial, tol=ROUGH_TOL, max_seconds=limit.max_seconds)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return trial.complete(result).x

    return solved
