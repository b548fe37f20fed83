"""Sparse principal components by semidefinite programming (d'Aspremont, El Ghaoui, Jordan and
Lanckriet 2007: DSPCA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.linalg.symmetrize import symmetric
from condal.maps.triangle import Triangle
from condal.nonsmooth.norms import L1
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.problems.factors import leading
from condal.problems.inputs import described, real_array
from condal.result import Result
from condal.runtime.arguments import require_positive, require_whole
from condal.smooth.linear import Linear

NEGLIGIBLE = 1e-3  # of the largest entry of a leading eigenvector: what a solution leaves of 0


@dataclass(frozen=True, eq=False)
class Component:
    """A unit vector with few entries that are not 0: those of `support`, in rising order.

    `variance` is v'S v, `explained` its share of all variance, and `objective` what the program
    makes of v v'.
    """

    vector: Array
    support: Any
    variance: float
    explained: float
    objective: float

    def __repr__(self) -> str:
        return (
            f"Component({self.support.size} of {self.vector.size} entries, variance="
            f"{self.variance:.6g}, {100 * self.explained:.3g}% of all)"
        )


@dataclass(frozen=True, eq=False)
class SparsePCA:
    """maximise <S, x> - rho sum_ij |x_ij| subject to tr x = 1, x psd: S a covariance.

    The relaxation of: maximise v'S v - rho |v|_1^2 over unit vectors v, where x = v v'. Its dual is
    to minimise lambda_max(S + U) over |U_ij| <= rho: the largest variance that is left if every
    covariance may be wrong by rho. Its value bounds the objective of every v.
    """

    S: Array = field(repr=False)
    rho: float
    total: float  # the variance that shares are of: the trace of S before any deflation
    name: str = "sparse PCA"

    @property
    def n(self) -> int:
        """How many variables."""
        return len(self.S)

    @cached_property
    def problem(self) -> Problem:
        """The program: g is the sum of |x_ij|, through the triangle of x."""
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
        """v'S v - rho |v|_1^2 of a unit vector, or of v / |v|."""
        u = real_array(v, "v", ndim=1)
        if u.size != self.n or not np.any(u):
            raise ProblemError(
                f"v must have {self.n} entries, not all of them 0; got {u.size} of norm "
                f"{np.linalg.norm(u):g}"
            )
        u = u / np.linalg.norm(u)
        return float(u @ self.S @ u - self.rho * np.abs(u).sum() ** 2)

    def component(self, result: Result, *, cardinality: int | None = None) -> Component:
        """The sparse direction that x shows: where its leading eigenvector is largest.

        On each of the supports that the order of its entries gives, the direction of most variance
        is taken; of these the one of the best objective, or that of `cardinality` entries.
        """
        v = leading(point_of(result, self.n), 1)[:, 0]
        order = np.argsort(-np.abs(v), kind="stable")
        most = int(np.count_nonzero(np.abs(v) >= NEGLIGIBLE * np.abs(v).max()))
        sizes: Any = range(1, most + 1)
        if cardinality is not None:
            require_whole(cardinality, "cardinality")
            if cardinality > self.n:
                raise ProblemError(f"cardinality is {cardinality}, of only {self.n} variables")
            sizes = (cardinality,)
        # The eigenvector itself is tried too: its small entries are smaller, and cost less.
        found = [self._on(order[:size]) for size in sizes]
        if cardinality is None:
            found += [self._of(np.where(np.isin(np.arange(self.n), order[:most]), v, 0.0))]
        return max(found, key=lambda one: one.objective)

    def deflated(self, component: Component) -> SparsePCA:
        """The model of what a component leaves: S with its direction projected out on both sides.

        Solve it for the next component.
        """
        if not isinstance(component, Component):
            raise ProblemError(
                f"wanted a component, as model.component returns it; got {described(component)}"
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
        """The direction of most variance among those that are 0 elsewhere."""
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


def sparse_pca(
    covariance: Any = None, rho: Any = None, *, data: Any = None, name: str = "sparse PCA"
) -> SparsePCA:
    """The sparse PCA model of a covariance matrix, or of data, a row an observation.

    Parameters
    ----------
    covariance : a symmetric n x n array.
    rho : the price of |x_ij|, positive; from the largest |covariance| off the diagonal on, a
        component has one variable.
    data : an m x n array instead, of which the covariance is taken about the mean.
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
        centred = rows - rows.mean(axis=0)
        covariance = centred.T @ centred / (len(rows) - 1)
    require_positive(rho, "rho")
    checked = symmetric(real_array(covariance, "covariance", ndim=2), "covariance").dense
    assert checked is not None
    return SparsePCA(checked, float(rho), float(np.trace(checked)), name)
