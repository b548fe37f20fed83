"""Regression of several responses at once, with coefficients of low rank."""

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
from condal.problems.models import Model, point_of
from condal.result import Result
from condal.runtime.arguments import real_array, require_positive, require_real
from condal.smooth.losses import LeastSquares

NEGLIGIBLE = 1e-3  # of the largest singular value, below the accuracy of an answer


@dataclass(frozen=True, eq=False)
class Coefficients:
    r"""The coefficients of a regression of n responses on m features.

    Attributes
    ----------
    loss : float
        :math:`\|a x - Y\|_F^2 / 2`.
    x : Outer
        The coefficients, m x n, one column per response.
    """

    loss: float
    x: Outer

    @cached_property
    def singular_values(self) -> Array:
        """The singular values of x, in descending order."""
        return self.x.singular_values()

    @property
    def rank(self) -> int:
        """The number of singular values that are not negligible."""
        largest = float(self.singular_values.max(initial=0.0))
        return int(np.count_nonzero(self.singular_values > NEGLIGIBLE * largest))

    def predict(self, a: Any) -> Array:
        """Return the predictions a x for other observations, a row of m features each."""
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


@dataclass(frozen=True, eq=False, repr=False)
class TraceRegression(Model):
    r"""Regression over a nuclear-norm ball.

    .. math::

        \min_x \; \tfrac12 \|a x - Y\|_F^2
        \quad \text{subject to} \quad \|x\|_* \le \mathrm{radius}.

    The n responses, tasks or classes are regressed on the same m features. A smaller radius means
    that their coefficients share fewer directions. `trace_regression` builds the model.

    Parameters
    ----------
    map : LeftProduct
        The map x -> a x.
    Y : ndarray
        The observed responses, p x n.
    radius : float
        The bound on the sum of singular values.
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
        """Return the coefficients of a result."""
        x = point_of(result, *self.shape)
        coefficients = Coefficients(0.0, x)
        residual = coefficients.predict(self.map.a) - self.Y
        return Coefficients(0.5 * float(np.vdot(residual, residual)), x)


def trace_regression(
    a: Any, Y: Any, *, radius: float, name: str = "trace-norm regression"
) -> TraceRegression:
    """Return the model of a regression with coefficients of small nuclear norm.

    Parameters
    ----------
    a : array or sparse matrix, p x m
        The features, one row per observation.
    Y : array_like, p x n
        The observed responses; for classes, 1 in the column of the class and 0 elsewhere.
    radius : float
        The bound on the sum of singular values of the coefficients.

    Raises
    ------
    ProblemError
        If a and Y do not fit or are not real, or radius is not positive.

    Examples
    --------
    >>> import condal, numpy
    >>> Y = numpy.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    >>> model = condal.problems.trace_regression(numpy.eye(3), Y, radius=10.0)
    >>> model.fit(condal.solve(model, tol=1e-6)).rank
    1
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
    """Return the map and data of the same loss with m + 1 rows, if a is dense and has more.

    With a = Q R, |a x - Y|^2 = |R x - Q'Y|^2 + |Y - Q Q'Y|^2; a zero row of a keeps the last term.
    """
    a = product.a
    if sp.issparse(a) or a.shape[0] <= a.shape[1] + 1:
        return product, Y.ravel()
    Q, R = np.linalg.qr(a)
    projected = Q.T @ Y
    rest = np.linalg.norm(Y - Q @ projected, axis=0)
    rows = np.vstack([R, np.zeros(a.shape[1])])
    return LeftProduct(rows, product.n), np.vstack([projected, rest]).ravel()
