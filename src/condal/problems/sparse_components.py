"""Sparse principal components by semidefinite programming (DSPCA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.lifting import symmetric
from condal.linalg.points import Array
from condal.maps.triangle import Triangle
from condal.nonsmooth.norms import L1
from condal.problem import Problem
from condal.problems.models import Model, leading_factor, point_of
from condal.result import Result
from condal.runtime.arguments import describe, real_array, require_positive, require_whole
from condal.runtime.limits import require_matrices
from condal.smooth.objectives import Linear

MATRICES = 5  # n x n, at least, that a solve holds: S, its scaled copy, and images of |x|
NEGLIGIBLE = 1e-3  # of the largest entry of a leading eigenvector; smaller entries count as 0


@dataclass(frozen=True, eq=False)
class Component:
    """A sparse principal component.

    Attributes
    ----------
    vector : ndarray
        The unit vector v.
    support : ndarray of int
        The indices of its nonzero entries, in ascending order.
    variance : float
        v'S v.
    explained : float
        The fraction of the total variance.
    objective : float
        The objective of the program at v v'.
    """

    vector: Array
    support: Any
    variance: float
    explained: float
    objective: float

    def __repr__(self) -> str:
        return (
            f"Component({self.support.size} of {self.vector.size} entries, "
            f"variance={self.variance:.6g}, explained={100 * self.explained:.3g}%)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SparsePCA(Model):
    r"""The semidefinite relaxation of sparse PCA [1]_.

    .. math::

        \max_x \; \langle S, x \rangle - \rho \sum_{ij} |x_{ij}|
        \quad \text{subject to} \quad \operatorname{tr} x = 1, \; x \succeq 0,

    with S a covariance. It relaxes: maximise :math:`v^T S v - \rho \|v\|_1^2` over unit vectors v.
    Its dual minimises :math:`\lambda_{\max}(S + U)` over :math:`|U_{ij}| \le \rho`: the largest
    variance if each covariance may be wrong by :math:`\rho`. The optimum bounds the objective of
    every v. `sparse_pca` builds the model.

    Parameters
    ----------
    S : ndarray
        The covariance, n x n.
    rho : float
        The price of :math:`|x_{ij}|`.
    total : float
        The total variance: the trace of S before any deflation.

    References
    ----------
    .. [1] A. d'Aspremont, L. El Ghaoui, M. I. Jordan and G. R. G. Lanckriet, "A direct formulation
       for sparse PCA using semidefinite programming", *SIAM Review* 49, 2007.
    """

    S: Array = field(repr=False)
    rho: float
    total: float
    name: str = "sparse PCA"

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.S)

    @cached_property
    def problem(self) -> Problem:
        """The program; g is the sum of |x_ij|, through the triangle of x."""
        _require_memory(self.n)
        B = Triangle(self.n)
        # sqrt(2) |sqrt(2) x_ij| for both x_ij and x_ji, |x_ii| for x_ii.
        weights = self.rho * B(np.ones((self.n, self.n)))
        return Problem.of(
            f=Linear(self.S),
            X=Spectrahedron(self.n, trace=1.0),
            B=B,
            g=L1(weights),
            maximise=True,
            name=self.name,
        )

    def value(self, v: Any) -> float:
        """Return v'S v - rho |v|_1^2 for v scaled to a unit vector."""
        u = real_array(v, "v", ndim=1)
        if u.size != self.n or not np.any(u):
            raise ProblemError(
                f"v must have {self.n} entries, not all of them 0; got {u.size} of norm "
                f"{np.linalg.norm(u):g}"
            )
        u = u / np.linalg.norm(u)
        return float(u @ self.S @ u - self.rho * np.abs(u).sum() ** 2)

    def component(self, result: Result, *, cardinality: int | None = None) -> Component:
        """Return the sparse direction that x shows.

        Supports are formed from the largest entries of the leading eigenvector. On each support,
        the direction of the largest variance is a candidate.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        cardinality : int, optional
            The size of the support; by default the size with the best objective.

        Returns
        -------
        Component
            The best candidate.
        """
        v = leading_factor(point_of(result, self.n, self.n), 1)[:, 0]
        order = np.argsort(-np.abs(v), kind="stable")
        count = int(np.count_nonzero(np.abs(v) >= NEGLIGIBLE * np.abs(v).max()))
        sizes: Any = range(1, count + 1)
        if cardinality is not None:
            require_whole(cardinality, "cardinality")
            if cardinality > self.n:
                raise ProblemError(f"cardinality is {cardinality}, of only {self.n} variables")
            sizes = (cardinality,)
        # The eigenvector itself is a candidate too: its small entries cost less.
        candidates = [self._on(order[:size]) for size in sizes]
        if cardinality is None:
            candidates += [self._of(np.where(np.isin(np.arange(self.n), order[:count]), v, 0.0))]
        return max(candidates, key=lambda candidate: candidate.objective)

    def deflated(self, component: Component) -> SparsePCA:
        """Return the model for the next component: S with this one projected out on both sides."""
        if not isinstance(component, Component):
            raise ProblemError(
                f"wanted a component, as model.component returns it; got {describe(component)}"
            )
        if component.vector.shape != (self.n,):
            raise ProblemError(
                f"the component has {component.vector.size} entries, and this model {self.n}"
            )
        v = component.vector
        half = self.S - np.multiply.outer(v, v @ self.S)
        S = half - np.multiply.outer(half @ v, v)
        return SparsePCA(np.asarray(0.5 * (S + S.T)), self.rho, self.total, self.name)

    def _on(self, support: Any) -> Component:
        """Return the direction of the largest variance with this support."""
        last = support.size - 1
        block = self.S[np.ix_(support, support)]
        v = np.zeros(self.n)
        v[support] = eigh(block, subset_by_index=[last, last])[1][:, 0]
        return self._of(v)

    def _of(self, v: Array) -> Component:
        v = v / np.linalg.norm(v)
        v = v * np.sign(v[np.argmax(np.abs(v))])
        variance = float(v @ self.S @ v)
        explained = variance / self.total if self.total > 0 else 0.0
        return Component(v, np.flatnonzero(v), variance, explained, self.value(v))


def _require_memory(n: int) -> None:
    advice = "drop variables of little variance, or use a larger machine"
    require_matrices(MATRICES, n, f"sparse PCA of {n} variables", advice=advice)


def sparse_pca(
    covariance: Any = None, rho: Any = None, *, data: Any = None, name: str = "sparse PCA"
) -> SparsePCA:
    """Return the sparse PCA model of a covariance matrix, or of data.

    Parameters
    ----------
    covariance : array_like, n x n, optional
        A symmetric covariance. Give covariance or data.
    rho : float
        The price of :math:`|x_{ij}|`, positive. From the largest absolute off-diagonal covariance
        on, a component has a single variable.
    data : array_like, m x n, optional
        One observation per row; its covariance about the mean is used.

    Raises
    ------
    ProblemError
        If both or neither of covariance and data are given, or one is not valid.

    Examples
    --------
    >>> import condal
    >>> covariance = [[2.0, 1.8, 0.1], [1.8, 2.0, 0.0], [0.1, 0.0, 1.0]]
    >>> model = condal.problems.sparse_pca(covariance, 0.2)
    >>> model.component(condal.solve(model)).support.tolist()
    [0, 1]
    """
    if (covariance is None) == (data is None):
        raise ProblemError(
            "sparse_pca takes either a covariance or data; got "
            + ("neither" if data is None else "both")
        )
    if data is not None:
        rows = real_array(data, "data", ndim=2)
        if len(rows) < 2 or rows.shape[1] == 0:
            raise ProblemError(
                f"data must have at least two observations, a row each; got shape {rows.shape}"
            )
        _require_memory(rows.shape[1])
        centred = rows - rows.mean(axis=0)
        covariance = centred.T @ centred / (len(rows) - 1)
    require_positive(rho, "rho")
    checked = symmetric(real_array(covariance, "covariance", ndim=2), "covariance").dense
    assert checked is not None
    return SparsePCA(checked, float(rho), float(np.trace(checked)), name)
