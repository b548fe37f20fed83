"""Sparse regression, with coefficients whose sum may have to be 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from condal.domains.vectors import L1Ball
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Point
from condal.maps.user import as_map
from condal.maps.vectors import Matrix
from condal.nonsmooth.losses import AbsoluteLoss
from condal.problem import Problem
from condal.problems.answers import model_text, vector_of
from condal.problems.inputs import real_array, require_choice, require_flag, require_real
from condal.result import Result
from condal.runtime.arguments import require_positive
from condal.sets.boxes import Equal
from condal.smooth.residuals import LeastSquares
from condal.types import LinearMap

Loss: TypeAlias = Literal["squares", "absolute"]
NEGLIGIBLE = 1e-6  # relative to the largest coefficient


@dataclass(frozen=True, eq=False)
class Fit:
    """The coefficients of a regression and their predictions.

    Attributes
    ----------
    loss : float
        The loss of the predictions.
    coefficients : ndarray
        x.
    predictions : ndarray
        M x.
    support : ndarray of int
        The indices of the nonzero coefficients.
    """

    loss: float
    coefficients: Array
    predictions: Array
    support: Indices

    def __repr__(self) -> str:
        return (
            f"Fit(loss={self.loss:.10g}, {self.support.size} of {self.coefficients.size} "
            "nonzero coefficients)"
        )


@dataclass(frozen=True, eq=False)
class L1Regression:
    r"""Regression over an l1 ball.

    .. math::

        \min_x \; \ell(M x - b)
        \quad \text{subject to} \quad \|x\|_1 \le \mathrm{radius}, \; \sum_i x_i = 0.

    The loss is :math:`\|\cdot\|^2/2` ("squares") or :math:`\|\cdot\|_1` ("absolute"), which is
    robust to outliers. With a zero sum and logarithms of proportions in M, the fit does not depend
    on the unit of the proportions: the log-contrast model of compositional data. `l1_regression`
    builds the model.

    Parameters
    ----------
    M : LinearMap
        The observations, one per row.
    b : ndarray
        The observed values.
    radius : float
        The bound on the l1 norm.
    loss : {"squares", "absolute"}, optional
        The loss.
    zero_sum : bool, optional
        Whether the coefficients sum to 0.
    name : str, optional
        The name in results and reports.
    """

    M: LinearMap = field(repr=False)
    b: Array = field(repr=False)
    radius: float
    loss: Loss = "squares"
    zero_sum: bool = True
    name: str = "l1 regression"

    __repr__ = model_text

    @cached_property
    def n(self) -> int:
        """The number of coefficients."""
        return int(np.asarray(self.M.adjoint(np.zeros(self.M.size))).size)

    @cached_property
    def problem(self) -> Problem:
        """The problem over the l1 ball."""
        squares, M = self.loss == "squares", self._centred
        return Problem.of(
            f=LeastSquares(M, self.b) if squares else None,
            X=L1Ball(self.n, self.radius),
            A=Matrix(np.ones((1, self.n))) if self.zero_sum else None,
            K=Equal([0.0]) if self.zero_sum else None,
            B=None if squares else M,
            g=None if squares else AbsoluteLoss(self.b),
            repair=self.repair if self.zero_sum else None,
            name=self.name,
        )

    @property
    def _centred(self) -> LinearMap:
        """M, minus its row means if the coefficients sum to 0.

        The problem is the same and better conditioned: the logarithms in a row are all far from 0.
        """
        if not self.zero_sum or not isinstance(self.M, Matrix) or sp.issparse(self.M.a):
            return self.M
        return Matrix(self.M.a - self.M.a.mean(axis=1, keepdims=True))

    def repair(self, x: Point) -> Point:
        """Return x with its positive and negative parts scaled to equal sums; 0 if one part is 0.

        The scaling keeps |x|_1 and creates no new nonzero coefficients.
        """
        z = np.asarray(x)
        up, down = np.maximum(z, 0.0), np.maximum(-z, 0.0)
        gains, losses = float(up.sum()), float(down.sum())
        if gains == 0.0 or losses == 0.0:
            return np.zeros_like(z)
        half = 0.5 * (gains + losses)
        return np.asarray(up * (half / gains) - down * (half / losses))

    def fit(self, result: Result) -> Fit:
        """Return the fit of a result.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.

        Returns
        -------
        Fit
            The coefficients; those below a millionth of the largest count as 0 in `support`.
        """
        x = vector_of(result, self.n)
        predictions = self.M(x)
        residual = predictions - self.b
        squares = self.loss == "squares"
        loss = 0.5 * float(residual @ residual) if squares else float(np.abs(residual).sum())
        sizes = np.abs(x)
        support = np.flatnonzero(sizes > NEGLIGIBLE * float(sizes.max(initial=0.0)))
        return Fit(loss, x, predictions, support)


def l1_regression(
    M: Any,
    b: Any,
    *,
    radius: float,
    loss: Loss = "squares",
    zero_sum: bool = True,
    name: str = "l1 regression",
) -> L1Regression:
    r"""Return the model of a regression with :math:`\|x\|_1 \le` radius.

    Parameters
    ----------
    M : array, sparse matrix, LinearOperator or map
        One row per observation.
    b : array_like
        The observed values.
    radius : float
        The bound on :math:`\|x\|_1`; a smaller radius gives fewer nonzero coefficients.
    loss : {"squares", "absolute"}, optional
        :math:`\|M x - b\|^2/2` or :math:`\|M x - b\|_1`.
    zero_sum : bool, optional
        Whether the coefficients must sum to 0.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    L1Regression
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If M and b do not fit, M is empty, or an option is not allowed.

    Examples
    --------
    >>> import condal, numpy
    >>> model = condal.problems.l1_regression(numpy.eye(3), [2.0, -2.0, 0.1], radius=2.0)
    >>> model.fit(condal.solve(model, tol=1e-6)).coefficients.round(2).tolist()
    [1.0, -1.0, 0.0]
    """
    require_real(M, "M")
    design, right = as_map(M, "M"), real_array(b, "b", ndim=1).copy()
    if design.size != right.size:
        raise ProblemError(
            f"M has {design.size} rows and b has {right.size} entries: they must agree"
        )
    if design.size == 0:
        raise ProblemError("M has no rows: there is nothing to fit; give an observation or more")
    columns = design.adjoint(np.zeros(design.size))
    if not isinstance(columns, np.ndarray):
        raise ProblemError("M must be a map of vectors, the coefficients; got one of matrices")
    if columns.size == 0:
        raise ProblemError("M has no columns: there are no coefficients to find")
    require_positive(radius, "radius")
    require_choice(loss, "loss", get_args(Loss))
    require_flag(zero_sum, "zero_sum")
    return L1Regression(design, right, float(radius), loss, bool(zero_sum), name)
