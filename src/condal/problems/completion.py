"""Matrix completion: a low-rank matrix from some of its entries, with noise or outliers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from condal.domains.lifted import NuclearBall
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.sparse import require_sound
from condal.maps.entries import Entries
from condal.nonsmooth.losses import AbsoluteLoss
from condal.problem import Problem
from condal.problems.completed import Completed, Effects, Fit
from condal.problems.completion_tuning import Watch, choose_delta, robust_delta, with_best_radius
from condal.problems.models import Model, point_of
from condal.result import Result
from condal.runtime.arguments import (
    describe,
    finite_array,
    is_masked,
    is_table,
    require_choice,
    require_flag,
    require_positive,
    require_seconds,
    require_whole,
    whole_numbers,
)
from condal.runtime.limits import TimeLimit
from condal.smooth.losses import Huber, LeastSquares

Loss: TypeAlias = Literal["squares", "huber", "absolute"]
DELTA_SHARE = 0.25  # of max_seconds, at most, for delta, if the radius is chosen, too


@dataclass(frozen=True, eq=False, repr=False)
class MatrixCompletion(Model):
    r"""Matrix completion over a nuclear-norm ball.

    .. math::

        \min_x \; \frac1p \sum_{(i,j) \text{ known}} \ell(x_{ij} - v_{ij})
        \quad \text{subject to} \quad \|x\|_* \le \mathrm{radius}.

    The loss :math:`\ell(r)` is :math:`r^2/2` ("squares"), :math:`|r|` ("absolute"), or Huber's
    ("huber"), which is quadratic up to `delta` and linear beyond, for outliers. v are the given
    values minus the row and column effects. `matrix_completion` builds the model.

    Parameters
    ----------
    shape : tuple of int
        (m, n).
    rows, cols : ndarray of int
        The positions of the known entries.
    values : ndarray
        The known values minus the effects.
    radius : float
        The bound on the sum of singular values.
    effects : Effects
        The removed effects.
    loss : {"squares", "huber", "absolute"}, optional
        The loss.
    delta : float, optional
        The threshold of Huber's loss.
    rank : int, optional
        The expected rank of a solution, at which a low-rank method begins.
    names : tuple, optional
        The index and the columns, if the matrix was a DataFrame.
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
    rank: int | None = None
    names: tuple[Any, Any] | None = field(default=None, repr=False)

    @cached_property
    def problem(self) -> Problem:
        """The problem over the nuclear ball."""
        known = Entries.rectangular(self.shape, self.rows, self.cols)
        v, weight = self.values, 1.0 / self.values.size
        X = NuclearBall(*self.shape, self.radius)
        if self.loss == "absolute":
            g = AbsoluteLoss(v, weight)
            return Problem.of(X=X, B=known, g=g, name=self.name, rank=self.rank)
        huber = self.loss == "huber"
        f = Huber(known, v, self.delta, weight) if huber else LeastSquares(known, v, weight)
        return Problem.of(f=f, X=X, name=self.name, rank=self.rank)

    def complete(self, result: Result) -> Completed:
        """Return the completed matrix of a result."""
        x = point_of(result, *self.shape)
        return Completed(x, self.effects, self, float(result.bound))

    def mean_loss(self, missed: Any) -> float:
        """Return the mean loss of residuals."""
        size = np.abs(np.asarray(missed))
        if self.loss == "absolute":
            return float(size.mean())
        near = size if self.loss == "squares" else np.minimum(size, self.delta)
        return float(np.mean(near * (size - near / 2)))

    def slope(self, missed: Array) -> Array:
        """Return the derivatives of the losses of residuals; the absolute loss has none."""
        return missed if self.loss == "squares" else np.clip(missed, -self.delta, self.delta)

    @property
    def natural_radius(self) -> float:
        """A scale for radii: sqrt(m n) |v| / sqrt(p).

        It is the nuclear norm of a rank-one matrix whose entries are as large as the known ones.
        """
        m, n = self.shape
        return sqrt(m * n) * float(np.sqrt(np.mean(self.values**2))) or 1.0


def matrix_completion(
    rows: Any,
    cols: Any = None,
    values: Any = None,
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
    """Return the model of a matrix with known entries values_k at (rows_k, cols_k).

    A matrix in place of these three, such as ``matrix_completion(table)``, has its known entries
    as `known_entries` reads them: all but nan in an array or a DataFrame.

    Parameters
    ----------
    rows, cols : array_like of int
        The positions of the known entries, counted from 0; an entry given twice counts twice.
    values : array_like
        The known values.
    shape : tuple of int, optional
        (m, n); by default the smallest shape that holds the entries.
    radius : float, optional
        The bound on the sum of singular values. By default a few solves choose the radius that best
        predicts held-back entries.
    effects : bool, optional
        Whether the mean and the row and column effects are removed first.
    loss : {"squares", "huber", "absolute"}, optional
        Use "huber" or "absolute" if some values are gross errors.
    delta : float, optional
        The threshold of Huber's loss; by default from the spread of the residuals of a first fit.
    seed : int, optional
        The seed of the choice of held-back entries.
    watch : callable, optional
        Called with each radius that is tried and the mean loss of the held-back entries.
    max_seconds : float, optional
        A time limit for the choice of delta, and for that of the radius.

    Raises
    ------
    ProblemError
        If the entries do not fit each other or the shape, or an option is not allowed.

    Examples
    --------
    A matrix of rank one with an unknown entry:

    >>> import condal, numpy
    >>> full = numpy.outer([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 3.0])
    >>> full[1, 2] = numpy.nan
    >>> model = condal.problems.matrix_completion(full, radius=21.2, effects=False)
    >>> completed = model.complete(condal.solve(model, tol=1e-5))
    >>> completed.entries([1], [2]).round(1).tolist()
    [4.0]
    """
    names = None
    if cols is None and values is None:
        if shape is not None:
            raise ProblemError("a matrix has a shape of its own: leave out shape")
        matrix = rows
        rows, cols, values = known_entries(matrix)
        shape = np.shape(matrix)
        names = (matrix.index, matrix.columns) if is_table(matrix) else None
    wanted = "whole numbers from 0, one per entry"
    i = whole_numbers(rows, "rows", wanted, below=np.inf)
    j = whole_numbers(cols, "cols", wanted, below=np.inf)
    v = finite_array(values, "values", ndim=1, squared=True)
    if not i.size == j.size == v.size or v.size == 0:
        raise ProblemError(
            "rows, cols and values must have one number for each known entry, and at least one; "
            f"got {i.size}, {j.size} and {v.size}"
        )
    require_choice(loss, "loss", get_args(Loss))
    require_flag(effects, "effects")
    require_whole(seed, "seed", least=0)
    require_seconds(max_seconds)
    limit = TimeLimit(max_seconds)
    shape = (int(i.max()) + 1, int(j.max()) + 1) if shape is None else shape
    if np.shape(shape) != (2,):
        raise ProblemError(f"shape must be (m, n), two whole numbers; got {describe(shape)}")
    m, n = shape
    require_whole(m, "the number of rows", least=int(i.max()) + 1)
    require_whole(n, "the number of columns", least=int(j.max()) + 1)
    fit: Fit = "none" if not effects else "means" if loss == "squares" else "robust"
    fitted = Effects.of((m, n), i, j, v, fit)
    residual = v - fitted.entries(i, j)
    start_delta = robust_delta(residual) if delta is None else delta
    require_positive(start_delta, "delta")
    model = MatrixCompletion(
        (m, n), i, j, residual, 1.0, fitted, loss, start_delta, name, names=names
    )
    if loss == "huber" and delta is None:
        rough = limit.share(DELTA_SHARE if radius is None else 1.0)
        model = replace(model, delta=choose_delta(model, radius, max_seconds=rough.max_seconds))
    if radius is None:
        return with_best_radius(model, seed=seed, watch=watch, max_seconds=limit.max_seconds)
    require_positive(radius, "radius")
    return replace(model, radius=float(radius))


def known_entries(matrix: Any) -> tuple[Indices, Indices, Array]:
    """Return the positions and values of the known entries of a matrix.

    Parameters
    ----------
    matrix : array_like or sparse matrix
        The known entries are all entries of an array but nan and masked ones, or the stored entries
        of a sparse matrix, zeros included.

    Returns
    -------
    rows, cols : ndarray of int
        The positions.
    values : ndarray
        The values.

    Raises
    ------
    ProblemError
        If no entry is known.

    Examples
    --------
    >>> from condal.problems import known_entries
    >>> rows, cols, values = known_entries([[1.0, float("nan")], [float("nan"), 4.0]])
    >>> rows.tolist(), cols.tolist(), values.tolist()
    ([0, 1], [0, 1], [1.0, 4.0])
    """
    if sp.issparse(matrix):
        require_sound(matrix, "the matrix")
        stored = matrix.tocoo()
        rows, cols, values = stored.row, stored.col, finite_array(stored.data, "the matrix").copy()
    else:
        if is_masked(matrix):
            matrix = matrix.astype(np.float64).filled(np.nan)
        full = finite_array(matrix, "the matrix", ndim=2, test=_known)
        rows, cols = np.nonzero(~np.isnan(full))
        values = full[rows, cols]
    if values.size == 0:
        raise ProblemError("no entry of the matrix is known: every one is nan, or none is stored")
    return rows.astype(np.intp), cols.astype(np.intp), values


def _known(z: Array) -> Any:
    return ~np.isinf(z)  # nan marks an unknown entry
