"""Regression of several responses at once, whose coefficients share few directions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.lifted import NuclearBall
from condal.errors import ProblemError
from condal.linalg.points import Array, Outer
from condal.maps.products import LeftProduct
from condal.problem import Problem
from condal.problems.answers import rectangle_of
from condal.problems.inputs import real_array, require_real
from condal.result import Result
from condal.runtime.arguments import require_positive
from condal.smooth.residuals import LeastSquares

NEGLIGIBLE = 1e-3  # of the largest singular value: an answer is not more exact than that


@dataclass(frozen=True, eq=False)
class Coefficients:
    """x, m x n: a column of coefficients for each response; `loss` is |a x - Y|^2 / 2."""

    loss: float
    x: Outer

    @cached_property
    def singular_values(self) -> Array:
        """Those of x, in falling order."""
        return self.x.singular_values()

    @property
    def rank(self) -> int:
        """How many singular values are not negligible: the directions that the responses share."""
        largest = float(self.singular_values.max(initial=0.0))
        return int(np.count_nonzero(self.singular_values > NEGLIGIBLE * largest))

    def predict(self, a: Any) -> Array:
        """a x, for other observations: rows of a with a number for each of the m features."""
        if not sp.issparse(a):
            a = real_array(a, "a")
        if a.ndim != 2 or a.shape[1] != self.x.shape[0]:
            raise ProblemError(
                f"a must have a column for each of the {self.x.shape[0]} features; "
                f"got shape {a.shape}"
            )
        return np.asarray(((a @ self.x.U) * self.x.weights) @ self.x.V.T)

    def __repr__(self) -> str:
        m, n = self.x.shape
        return f"Coefficients({m} x {n}, rank {self.rank}, loss={self.loss:.10g})"


@dataclass(frozen=True, eq=False)
class TraceRegression:
    """minimise |a x - Y|^2 / 2 subject to the sum of singular values of x <= radius.

    The n responses, or tasks, or classes, are regressed on the same m features at once. The smaller
    the radius, the fewer directions of the features their coefficients share.
    """

    map: LeftProduct = field(repr=False)
    Y: Array = field(repr=False)
    radius: float
    name: str = "trace-norm regression"

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n) of the coefficients."""
        return (self.map.m, self.map.n)

    @cached_property
    def problem(self) -> Problem:
        """The problem over the nuclear ball."""
        return Problem.of(
            f=LeastSquares(*_reduced(self.map, self.Y)),
            X=NuclearBall(*self.shape, self.radius),
            name=self.name,
        )

    def fit(self, result: Result) -> Coefficients:
        """The coefficients of a result."""
        x = rectangle_of(result, self.shape)
        found = Coefficients(0.0, x)
        missed = found.predict(self.map.a) - self.Y
        return Coefficients(0.5 * float(np.vdot(missed, missed)), x)


def trace_regression(
    a: Any, Y: Any, *, radius: float, name: str = "trace-norm regression"
) -> TraceRegression:
    """The model of a regression of several responses with coefficients of small nuclear norm.

    Parameters
    ----------
    a : a row for each of p observations, with m features: a dense or sparse matrix.
    Y : p x n, what was observed; for classes, 1 in the column of the class and 0 in the others.
    radius : how large the sum of singular values of the m x n coefficients may be.
    """
    observed = real_array(Y, "Y", ndim=2).copy()
    if 0 in observed.shape:
        raise ProblemError(f"Y must be at least 1 x 1; got shape {observed.shape}")
    require_positive(radius, "radius")
    require_real(a, "a")
    product = LeftProduct(a, observed.shape[1])
    if product.a.shape[0] != observed.shape[0]:
        raise ProblemError(
            f"a has {product.a.shape[0]} rows and Y has {observed.shape[0]}: they must agree, a "
            "row for each observation"
        )
    return TraceRegression(product, observed, float(radius), name)


def _reduced(product: LeftProduct, Y: Array) -> tuple[LeftProduct, Array]:
    """The map and the data of the same loss with m + 1 rows, if a is dense and has more.

    With a = Q R, |a x - Y|^2 = |R x - Q'Y|^2 and what of Y is across Q, which a row of zeros
    of a keeps.
    """
    a = product.a
    if sp.issparse(a) or a.shape[0] <= a.shape[1] + 1:
        return product, Y.ravel()
    Q, R = np.linalg.qr(a)
    seen = Q.T @ Y
    across = np.linalg.norm(Y - Q @ seen, axis=0)
    rows = np.vstack([R, np.zeros(a.shape[1])])
    return LeftProduct(rows, product.n), np.vstack([seen, across]).ravel()
