"""Regression with few coefficients, whose sum may have to be 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from condal.domains.vectors import L1Ball
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, Point
from condal.maps.operator import as_map
from condal.maps.vectors import Matrix
from condal.nonsmooth.losses import AbsoluteLoss
from condal.problem import Problem
from condal.problems.answers import vector_of
from condal.problems.inputs import real_array, require_choice, require_flag, require_real
from condal.result import Result
from condal.runtime.arguments import require_positive
from condal.sets.boxes import Equal
from condal.smooth.residuals import LeastSquares
from condal.types import LinearMap

Loss: TypeAlias = Literal["squares", "absolute"]
NEGLIGIBLE = 1e-6  # of the largest coefficient


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients, what they predict, how badly that misses, and which of them are not 0."""

    loss: float
    coefficients: Array
    predictions: Array
    support: Indices

    def __repr__(self) -> str:
        return (
            f"Fit(loss={self.loss:.10g}, {self.support.size} of {self.coefficients.size} "
            "coefficients not 0)"
        )


@dataclass(frozen=True, eq=False)
class L1Regression:
    """minimise loss(Mx - b) subject to |x|_1 <= radius, and sum x = 0 if `zero_sum`.

    The loss is |.|^2 / 2 ("squares") or |.|_1 ("absolute"), which outliers do not move. With the
    sum at 0 and logarithms of proportions in M, the fit does not depend on the unit that the
    proportions are of: the log-contrast model of compositional data.
    """

    M: LinearMap = field(repr=False)
    b: Array = field(repr=False)
    radius: float
    loss: Loss = "squares"
    zero_sum: bool = True
    name: str = "l1 regression"

    @cached_property
    def n(self) -> int:
        """How many coefficients."""
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
        """M, or M less the means of its rows: the same where sum x = 0, and better conditioned,
        for all entries of a row of logarithms are far from 0 on one side."""
        if not self.zero_sum or not isinstance(self.M, Matrix) or sp.issparse(self.M.a):
            return self.M
        return Matrix(self.M.a - self.M.a.mean(axis=1, keepdims=True))

    def repair(self, x: Point) -> Point:
        """x with its positive and its negative part scaled to the same sum: no other coefficient
        becomes more than 0, and |x|_1 stays what it is; 0 where one part is 0."""
        z = np.asarray(x)
        up, down = np.maximum(z, 0.0), np.maximum(-z, 0.0)
        gains, losses = float(up.sum()), float(down.sum())
        if gains == 0.0 or losses == 0.0:
            return np.zeros_like(z)
        half = 0.5 * (gains + losses)
        return np.asarray(up * (half / gains) - down * (half / losses))

    def fit(self, result: Result) -> Fit:
        """The coefficients of a result; those below a millionth of the largest count as 0."""
        x = vector_of(result, self.n)
        predictions = self.M(x)
        missed = predictions - self.b
        squares = self.loss == "squares"
        loss = 0.5 * float(missed @ missed) if squares else float(np.abs(missed).sum())
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
    """The model of a regression with |x|_1 <= radius and, if `zero_sum`, coefficients of sum 0.

    Parameters
    ----------
    M : a row for each observation: a dense or sparse matrix, a LinearOperator, or a map.
    b : what was observed.
    radius : how large |x|_1 may be: the smaller, the fewer coefficients are not 0.
    loss : "squares" for |Mx - b|^2 / 2, "absolute" for |Mx - b|_1.
    zero_sum : whether the coefficients must add up to 0.
    """
    require_real(M, "M")
    found, right = as_map(M, "M"), real_array(b, "b", ndim=1).copy()
    if found.size != right.size:
        raise ProblemError(
            f"M has {found.size} rows and b has {right.size} entries: they must agree"
        )
    if found.size == 0:
        raise ProblemError("M has no rows: there is nothing to fit; give an observation or more")
    columns = found.adjoint(np.zeros(found.size))
    if not isinstance(columns, np.ndarray):
        raise ProblemError("M must be a map of vectors, the coefficients; got one of matrices")
    if columns.size == 0:
        raise ProblemError("M has no columns: there are no coefficients to find")
    require_positive(radius, "radius")
    require_choice(loss, "loss", get_args(Loss))
    require_flag(zero_sum, "zero_sum")
    return L1Regression(found, right, float(radius), loss, bool(zero_sum), name)
