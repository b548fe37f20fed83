"""Matrix completion: a matrix of low rank from some of its entries, with noise or outliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, sqrt
from time import monotonic
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from condal.domains.lifted import NuclearBall
from condal.driver.solve import solve
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Outer
from condal.linalg.sparse import require_sound
from condal.maps.entries import Entries
from condal.nonsmooth.losses import AbsoluteLoss
from condal.problem import Problem
from condal.problems.answers import rectangle_of
from condal.problems.inputs import array_of, described, require_choice, require_flag
from condal.problems.row_column_effects import Effects, Fit
from condal.problems.tuning import Trial, best_of_growing
from condal.result import Result, Status
from condal.runtime.arguments import finite_array, require_positive, require_whole
from condal.smooth.residuals import Huber, LeastSquares

Watch: TypeAlias = Callable[[float, float], Any]
Loss: TypeAlias = Literal["squares", "huber", "absolute"]
OUTLIER = 1.345  # times a robust standard deviation: where Huber's loss turns (Huber 1964)
SMALLEST = 1e-2  # of the spread of the values: a delta that is as good as absolute values
SHORTEST = 0.1  # seconds of a solve at least, so that there is an answer
DEVIATION = 1.4826  # of normal numbers, times the median of their absolute values
HELD_BACK = 0.1  # of the entries, to choose a radius by
FIRST = 0.25  # of the natural radius: where the choice begins
ROUGH = 1e-2  # the tolerance of the solves that choose


@dataclass(frozen=True, eq=False)
class Completed:
    """A whole matrix: `x` of low rank, on top of the `effects` that were taken out before."""

    x: Outer
    effects: Effects

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.x.shape

    def entries(self, rows: Any, cols: Any) -> Array:
        """The entries at (rows_k, cols_k): predictions where nothing was known."""
        return self.effects.entries(rows, cols) + self.x.entries(rows, cols)

    def rmse(self, rows: Any, cols: Any, values: Any) -> float:
        """The root of the mean squared difference from values at (rows_k, cols_k)."""
        return float(np.sqrt(np.mean((self.entries(rows, cols) - np.asarray(values)) ** 2)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.effects.whole() + np.asarray(self.x), dtype=dtype)

    def __repr__(self) -> str:
        return f"Completed({self.shape[0]} x {self.shape[1]}, rank<={self.x.rank})"


@dataclass(frozen=True, eq=False)
class MatrixCompletion:
    """minimise the mean loss of x_ij - v_ij over the known entries, sum of singular values of x
    <= radius.

    The loss is r^2/2 (`squares`), |r| (`absolute`), or Huber's, which is the first up to `delta`
    and then rises like the second: with outliers among the entries. v are the given values less
    the effects of their rows and columns.
    """

    shape: tuple[int, int]
    rows: Indices = field(repr=False)
    cols: Indices = field(repr=False)
    values: Array = field(repr=False)
    radius: float
    effects: Effects = field(repr=False)
    loss: Loss = "squares"
    delta: float = 1.0
    name: str = "matrix completion"

    @cached_property
    def problem(self) -> Problem:
        """The problem over the nuclear ball."""
        known, v, weight = self._map, self.values, 1.0 / self.values.size
        X = NuclearBall(*self.shape, self.radius)
        if self.loss == "absolute":
            return Problem.of(X=X, B=known, g=AbsoluteLoss(v, weight), name=self.name)
        huber = self.loss == "huber"
        f = Huber(known, v, self.delta, weight) if huber else LeastSquares(known, v, weight)
        return Problem.of(f=f, X=X, name=self.name)

    @cached_property
    def _map(self) -> Entries:
        return Entries.rectangular(self.shape, self.rows, self.cols)

    def complete(self, result: Result) -> Completed:
        """The whole matrix."""
        x = rectangle_of(result, self.shape)
        return Completed(x, self.effects)

    def mean_loss(self, missed: Any) -> float:
        """The mean of the loss over differences from entries."""
        size = np.abs(np.asarray(missed))
        if self.loss == "absolute":
            return float(size.mean())
        near = size if self.loss == "squares" else np.minimum(size, self.delta)
        return float(np.mean(near * (size - near / 2)))

    @property
    def natural_radius(self) -> float:
        """A scale for radii: sqrt(m n) |v| / sqrt(p), the nuclear norm of a matrix of rank one
        whose entries are as large as those that are known."""
        m, n = self.shape
        return sqrt(m * n) * float(np.sqrt(np.mean(self.values**2))) or 1.0


def matrix_completion(
    rows: Any,
    cols: Any,
    values: Any,
    *,
    shape: tuple[int, int] | None = None,
    radius: float | None = None,
    effects: bool = True,
    loss: Loss = "squares",
    delta: float | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    max_seconds: float | None = None,
    name: str = "matrix completion",
) -> MatrixCompletion:
    """The model of a matrix of which values_k at (rows_k, cols_k) are known.

    Parameters
    ----------
    rows, cols, values : the known entries, counted from 0; one that is given twice counts twice.
    shape : (m, n); left out, the smallest that holds them.
    radius : the bound on the sum of singular values; left out, the one that predicts best what is
        held back of the entries (`choose_radius`), which takes some solves.
    effects : whether the mean, and what rows and columns are above it, are taken out first.
    loss : "squares"; or "huber" or "absolute" where some values are wrong altogether.
    delta : of Huber's loss; left out, by the spread of what a first fit leaves of the values.
    seed : of the choice of what is held back.
    watch : called with each radius that is tried, and the mean loss of what was held back.
    max_seconds : for the choice of delta, and for that of the radius: the best by then is taken.
    """
    i, j = _indices(rows, "rows"), _indices(cols, "cols")
    v = finite_array(values, "values", ndim=1)
    if not i.size == j.size == v.size or v.size == 0:
        raise ProblemError(
            "rows, cols and values must have one number for each known entry, and at least one; "
            f"got {i.size}, {j.size} and {v.size}"
        )
    require_choice(loss, "loss", get_args(Loss))
    require_flag(effects, "effects")
    require_whole(seed, "seed", least=0)
    shape = (int(i.max()) + 1, int(j.max()) + 1) if shape is None else shape
    if np.shape(shape) != (2,):
        raise ProblemError(f"shape must be (m, n), two whole numbers; got {described(shape)}")
    m, n = shape
    require_whole(m, "the number of rows", least=int(i.max()) + 1)
    require_whole(n, "the number of columns", least=int(j.max()) + 1)
    fit: Fit = "none" if not effects else "means" if loss == "squares" else "robust"
    taken = Effects.of((m, n), i, j, v, fit)
    left = v - taken.entries(i, j)
    first = _delta(left) if delta is None else delta
    require_positive(first, "delta")
    model = MatrixCompletion((m, n), i, j, left, 1.0, taken, loss, first, name)
    if loss == "huber" and delta is None:
        model = replace(model, delta=choose_delta(model, radius, max_seconds=max_seconds))
    if radius is None:
        radius = choose_radius(model, seed=seed, watch=watch, max_seconds=max_seconds)
    require_positive(radius, "radius")
    return replace(model, radius=float(radius))


def known_entries(matrix: Any) -> tuple[Indices, Indices, Array]:
    """rows, cols and values of what is known of a matrix: all but nan of an array, or what a SciPy
    sparse matrix stores, zeros as well."""
    if sp.issparse(matrix):
        require_sound(matrix, "the matrix")
        stored = matrix.tocoo()
        rows, cols, values = stored.row, stored.col, finite_array(stored.data, "the matrix").copy()
    else:
        full = finite_array(matrix, "the matrix", ndim=2, test=_known)
        rows, cols = np.nonzero(~np.isnan(full))
        values = full[rows, cols]
    if values.size == 0:
        raise ProblemError("no entry of the matrix is known: every one is nan, or none is stored")
    return rows.astype(np.intp), cols.astype(np.intp), values


def choose_delta(
    model: MatrixCompletion, radius: float | None = None, *, max_seconds: float | None = None
) -> float:
    """delta by a robust deviation of the differences from a rough completion, of a radius that is
    given or the natural one; no larger than the model's, nor far smaller."""
    rough = replace(model, radius=model.natural_radius if radius is None else radius)
    result = _roughly(rough, max_seconds)
    fitted = rough.complete(result).x.entries(model.rows, model.cols)
    return min(model.delta, max(_delta(model.values - fitted), SMALLEST * model.delta))


def _roughly(model: MatrixCompletion, max_seconds: float | None) -> Result:
    """A rough solution; an interrupt goes on to whoever asked for it."""
    result = solve(model, tol=ROUGH, max_seconds=max_seconds)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _delta(values: Array) -> float:
    """Where Huber's loss turns, for differences of which most are as those values are."""
    return OUTLIER * DEVIATION * float(np.median(np.abs(values))) or 1.0


def choose_radius(
    model: MatrixCompletion,
    *,
    seed: int = 0,
    watch: Watch | None = None,
    max_seconds: float | None = None,
) -> float:
    """The radius whose completion has the least mean loss on a tenth of the entries, held back.

    Radii grow by a factor of sqrt(2) until predictions get worse, until all that is known fits, or
    for max_seconds. Each solve begins afresh, as that of the model will: where many matrices fit,
    the one that is found depends on the beginning.
    """
    back = np.random.default_rng(seed).random(model.values.size) < HELD_BACK
    if not back.any() or back.all():
        return model.natural_radius
    i, j = model.rows, model.cols
    v = model.values + model.effects.entries(i, j)
    effects = Effects.of(model.shape, i[~back], j[~back], v[~back], model.effects.fit)
    v = v - effects.entries(i, j)
    kept = replace(model, rows=i[~back], cols=j[~back], values=v[~back], effects=effects)
    fitted = ROUGH * kept.mean_loss(kept.values)
    ends = inf if max_seconds is None else monotonic() + max_seconds

    def tried(radius: float) -> Trial:
        trial = replace(kept, radius=radius)
        left = None if ends == inf else max(ends - monotonic(), SHORTEST)
        result = _roughly(trial, left)
        predicted = trial.complete(result).x.entries(i[back], j[back])
        found = model.mean_loss(predicted - v[back])
        if watch is not None:
            watch(radius, found)
        return Trial(found, last=result.objective <= fitted or monotonic() >= ends)

    return best_of_growing(tried, FIRST * model.natural_radius)


def _indices(given: Any, name: str) -> Indices:
    found = array_of(given, name, "whole numbers from 0, one an entry")
    if found.ndim != 1 or found.dtype.kind not in "iu" or np.any(found < 0):
        raise ProblemError(
            f"{name} must be whole numbers from 0, one an entry; got {described(given)}"
        )
    return found.astype(np.intp)


def _known(z: Array) -> Any:
    return ~np.isinf(z)  # nan is what is not known
