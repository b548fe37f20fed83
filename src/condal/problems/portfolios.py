"""Portfolios: risk against expected return (Markowitz 1952)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.domains.vectors import Simplex
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.maps.vectors import Matrix
from condal.nonsmooth.losses import AbsoluteLoss
from condal.problem import Problem
from condal.problems.answers import model_text, vector_of
from condal.problems.inputs import real_array, require_real
from condal.result import Result
from condal.runtime.arguments import finite_array, require_positive
from condal.sets.boxes import Box
from condal.smooth.quadratic import FactoredQuadratic, Quadratic


@dataclass(frozen=True, eq=False)
class Allocation:
    """An allocation of wealth to assets, with its expected return and risk.

    Attributes
    ----------
    weights : ndarray
        The fraction of wealth in each asset.
    expected : float
        The expected return.
    risk : float
        The standard deviation of the return.
    turnover : float
        The sum of absolute changes of the holdings; 0 if none are given.
    exposures : ndarray
        The bounded exposures.
    """

    weights: Array
    expected: float
    risk: float
    turnover: float
    exposures: Array

    def __repr__(self) -> str:
        held = int(np.count_nonzero(self.weights > 1e-6))
        return (
            f"Allocation({held} of {self.weights.size} assets, expected={self.expected:.6g}, "
            f"risk={self.risk:.6g}, turnover={self.turnover:.6g})"
        )


@dataclass(frozen=True, eq=False)
class Portfolio:
    r"""The mean-variance portfolio problem [1]_.

    .. math::

        \min_x \; \tfrac{\gamma}{2} x^T Q x - \langle r, x \rangle + \kappa \|x - x_0\|_1
        \quad \text{subject to} \quad x \ge 0, \; \sum_i x_i = 1, \; l \le S x \le u,

    with aversion :math:`\gamma`, expected returns r, trading cost :math:`\kappa` and holdings
    :math:`x_0`. `portfolio` builds the model.

    Parameters
    ----------
    expected : ndarray
        The expected returns.
    risk : Quadratic or FactoredQuadratic
        x'Qx / 2, from Q or from factors F'F + Diag(d), which are never multiplied out.
    aversion : float, optional
        The price of variance.
    exposures : Matrix, optional
        The map S.
    bounds : Box, optional
        The bounds on S x.
    holdings : ndarray, optional
        The current holdings.
    cost : float, optional
        The cost of trading one unit.
    name : str, optional
        The name in results and reports.

    References
    ----------
    .. [1] H. Markowitz, "Portfolio selection", *J. Finance* 7, 1952.
    """

    expected: Array = field(repr=False)
    risk: Quadratic | FactoredQuadratic = field(repr=False)
    aversion: float = 1.0
    exposures: Matrix | None = field(default=None, repr=False)
    bounds: Box | None = field(default=None, repr=False)
    holdings: Array | None = field(default=None, repr=False)
    cost: float = 0.0
    name: str = "portfolio"

    __repr__ = model_text

    @property
    def n(self) -> int:
        """The number of assets."""
        return int(self.expected.size)

    @cached_property
    def problem(self) -> Problem:
        """The problem over the simplex."""
        linear = -self.expected / self.aversion
        if isinstance(self.risk, Quadratic):
            f: Any = Quadratic(self.risk.Q, linear, self.aversion)
        else:
            f = FactoredQuadratic(self.risk.F, self.risk.d, linear, self.aversion)
        trades = self.holdings is not None and self.cost > 0
        return Problem.of(
            f=f,
            X=Simplex(self.n),
            A=self.exposures,
            K=self.bounds,
            g=AbsoluteLoss(self.holdings, self.cost) if trades else None,
            name=self.name,
        )

    def allocation(self, result: Result) -> Allocation:
        """Return the allocation of a result.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.

        Returns
        -------
        Allocation
            The weights, their expected return, risk, turnover and exposures.
        """
        x = vector_of(result, self.n)
        variance = 2.0 * self.risk.value(self.risk.M(x))
        return Allocation(
            weights=x,
            expected=float(self.expected @ x),
            risk=float(np.sqrt(max(variance, 0.0))),
            turnover=0.0 if self.holdings is None else float(np.abs(x - self.holdings).sum()),
            exposures=np.zeros(0) if self.exposures is None else self.exposures(x),
        )


def portfolio(
    expected: Any,
    *,
    Q: Any = None,
    F: Any = None,
    d: Any = None,
    aversion: float = 1.0,
    exposures: Any = None,
    low: Any = None,
    high: Any = None,
    holdings: Any = None,
    cost: float = 0.0,
    name: str = "portfolio",
) -> Portfolio:
    """Return the model of a long-only, fully invested portfolio of n assets.

    Parameters
    ----------
    expected : array_like
        The expected return of each asset.
    Q : array_like, n x n, optional
        The covariance of the returns. Give Q or F.
    F : array_like, k x n, optional
        Factors of the covariance, Q = F'F + Diag(d).
    d : array_like, optional
        The specific variance of each asset, with F.
    aversion : float, optional
        The price of variance: larger values mean less risk.
    exposures : array_like, optional
        Rows S with bounds low <= S x <= high, such as 1 for the assets of a sector.
    low, high : float or array_like, optional
        The bounds; one of them may be omitted.
    holdings : array_like, optional
        The current holdings.
    cost : float, optional
        The cost of trading one unit.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    Portfolio
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If the sizes do not fit, or an argument lacks the one it belongs to.

    Examples
    --------
    >>> import condal
    >>> model = condal.problems.portfolio([0.1, 0.2], Q=[[0.1, 0.0], [0.0, 0.4]], aversion=2.0)
    >>> model.allocation(condal.solve(model, tol=1e-6)).weights.round(2).tolist()
    [0.7, 0.3]
    """
    mean = real_array(expected, "expected", ndim=1).copy()
    require_positive(aversion, "aversion")
    if (Q is None) == (F is None):
        raise ProblemError("give the covariance as Q, or as factors F (and d): one of the two")
    if Q is not None and d is not None:
        raise ProblemError("d goes with the factors F; got Q and d: add d to the diagonal of Q")
    require_real(F if Q is None else Q, "F" if Q is None else "Q")
    risk = Quadratic(Q) if Q is not None else FactoredQuadratic(F, d)
    n = int(np.asarray(risk.M.adjoint(np.zeros(risk.M.size))).size)
    if n != mean.size:
        raise ProblemError(
            f"expected is for {mean.size} assets, and {'Q' if F is None else 'F'} for {n}: they "
            "must agree"
        )
    rows, bounds = _bounds(exposures, low, high, n)
    held = None if holdings is None else real_array(holdings, "holdings", ndim=1).copy()
    if held is not None and held.size != n:
        raise ProblemError(f"holdings is for {held.size} assets, and expected for {n}")
    if np.ndim(cost) > 0 or cost != 0.0:
        require_positive(cost, "cost")
        if held is None:
            raise ProblemError("cost is that of changing the holdings: give holdings too")
    return Portfolio(mean, risk, float(aversion), rows, bounds, held, float(cost), name)


def _bounds(exposures: Any, low: Any, high: Any, n: int) -> tuple[Matrix | None, Box | None]:
    if exposures is None:
        if low is not None or high is not None:
            raise ProblemError("low and high are bounds of exposures: give exposures too")
        return None, None
    if low is None and high is None:
        raise ProblemError("exposures need bounds: give low, high or both")
    require_real(exposures, "exposures")
    rows = Matrix(exposures)
    if rows.a.shape[1] != n:
        raise ProblemError(f"exposures is for {rows.a.shape[1]} assets, and expected for {n}")
    least = _side(-np.inf if low is None else low, "low", rows.size)
    most = _side(np.inf if high is None else high, "high", rows.size)
    return rows, Box(least, most)


def _side(given: Any, name: str, rows: int) -> Array:
    """Return one bound per row; a single number applies to all rows."""
    require_real(given, name)
    side = finite_array(given, name, test=lambda values: ~np.isnan(values))
    return np.full(rows, float(side)) if side.ndim == 0 else side
