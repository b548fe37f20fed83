"""Matrix completion: a matrix of low rank from some of its entries, with noise or outliers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from condal.domains import NuclearBall
from condal.errors import ProblemError
from condal.maps import Entries
from condal.nonsmooth import AbsoluteLoss
from condal.points import Array, Indices, Outer, finite_array, require_positive, require_whole
from condal.problem import Problem
from condal.problems.answers import rectangle_of
from condal.problems.effects import Effects
from condal.problems.tuning import best_of_growing
from condal.result import Result
from condal.smooth import Huber, LeastSquares
from condal.solve import solve

Loss: TypeAlias = Literal["squares", "huber", "absolute"]
OUTLIER = 1.345  # times a robust standard deviation: where Huber's loss turns (Huber 1964)
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
    """
    i, j = _indices(rows, "rows"), _indices(cols, "cols")
    v = finite_array(values, "values", ndim=1)
    if not i.size == j.size == v.size or v.size == 0:
        raise ProblemError(
            "rows, cols and values must have one number for each known entry, and at least one; "
            f"got {i.size}, {j.size} and {v.size}"
        )
    if loss not in get_args(Loss):
        raise ProblemError(f"loss must be one of {', '.join(get_args(Loss))}; got {loss!r}")
    shape = (int(i.max()) + 1, int(j.max()) + 1) if shape is None else shape
    m, n = shape
    require_whole(m, "the number of rows", least=int(i.max()) + 1)
    require_whole(n, "the number of columns", least=int(j.max()) + 1)
    taken = (
        Effects.of((m, n), i, j, v, robust=loss != "squares") if effects else Effects.none((m, n))
    )
    left = v - taken.entries(i, j)
    first = _delta(left) if delta is None else delta
    require_positive(first, "delta")
    model = MatrixCompletion((m, n), i, j, left, 1.0, taken, loss, first, name)
    if loss == "huber" and delta is None:
        model = replace(model, delta=choose_delta(model, radius))
    if radius is None:
        radius = choose_radius(model, seed=seed)
    require_positive(radius, "radius")
    return replace(model, radius=float(radius))


def choose_delta(model: MatrixCompletion, radius: float | None = None) -> float:
    """delta by a robust deviation of the differences from a rough completion, of a radius that is
    given or the natural one; no larger than the model's."""
    rough = replace(model, radius=model.natural_radius if radius is None else radius)
    fitted = rough.complete(solve(rough, tol=ROUGH)).x.entries(model.rows, model.cols)
    return min(model.delta, _delta(model.values - fitted))


def _delta(values: Array) -> float:
    """Where Huber's loss turns, for differences of which most are as those values are."""
    return OUTLIER * DEVIATION * float(np.median(np.abs(values))) or 1.0


def choose_radius(model: MatrixCompletion, *, seed: int = 0) -> float:
    """The radius whose completion has the least mean loss on a tenth of the entries, held back.

    Radii grow by a factor of sqrt(2) until predictions get worse; each solve begins at the last
    one's answer.
    """
    back = np.random.default_rng(seed).random(model.values.size) < HELD_BACK
    if not back.any() or back.all():
        return model.natural_radius
    i, j, v = model.rows, model.cols, model.values
    kept = replace(model, rows=i[~back], cols=j[~back], values=v[~back])
    answers: list[Result] = []

    def loss(radius: float) -> float:
        trial = replace(kept, radius=radius)
        last = answers[-1] if answers else None
        answers[:] = [solve(trial, tol=ROUGH, warm_start=last)]
        return model.mean_loss(trial.complete(answers[-1]).x.entries(i[back], j[back]) - v[back])

    return best_of_growing(loss, FIRST * model.natural_radius)


def _indices(given: Any, name: str) -> Indices:
    found = np.asarray(given)
    if found.ndim != 1 or found.dtype.kind not in "iu" or np.any(found < 0):
        raise ProblemError(f"{name} must be whole numbers from 0, one an entry; got {given!r}")
    return found.astype(np.intp)
