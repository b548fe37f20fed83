"""Generalised eigenvectors of bounded norm, as a semidefinite program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.eigen import Automatic
from condal.linalg.lifting import symmetric
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.maps.matrices import Cost
from condal.problem import Problem
from condal.problems.answers import Answer, Figures, Picture, Rows
from condal.problems.models import Model, leading_factor, point_of
from condal.result import Result
from condal.runtime.arguments import real_array, require_positive, require_real
from condal.runtime.text import number
from condal.sets.boxes import Equal
from condal.smooth.objectives import Linear

NEGLIGIBLE = 1e-12  # relative size of rounding errors


@dataclass(frozen=True, eq=False)
class Direction(Answer):
    r"""A vector u with :math:`u^T \Psi u = 1` and :math:`\|u\|^2 \le \alpha`.

    Attributes
    ----------
    objective : float
        :math:`u^T \Phi u`.
    vector : ndarray
        u.
    bound : float, optional
        A proved upper bound on the value of every such vector.
    """

    objective: float
    vector: Array
    model: Any = None
    bound: float = np.inf

    bound_is_upper = True
    none_text = "no such vector has a larger value"

    def picture(self) -> Picture:
        from condal.report import pictures

        return pictures.curves([("u", self.vector)], "The vector u, up to its sign.")

    def rows(self) -> Rows:
        squared = float(self.vector @ self.vector)
        return [
            ("value", f"{number(self.objective)}, u' Phi u of a vector with u' Psi u = 1"),
            ("vector", f"{self.vector.size:,} numbers, |u|^2 = {squared:.6g}"),
        ]

    def figures(self) -> Figures:
        return {"value": self.objective}

    def lines(self) -> Iterable[str]:
        return (f"{value:.17g}" for value in self.vector)

    def __repr__(self) -> str:
        size = float(self.vector @ self.vector)
        return f"Direction(objective={self.objective:.10g}, squared_norm={size:.6g})"


@dataclass(frozen=True, eq=False, repr=False)
class GeneralisedEigenvector(Model):
    r"""The semidefinite relaxation of a generalised eigenvector of bounded norm.

    .. math::

        \max_x \; \langle \Phi, x \rangle
        \quad \text{subject to} \quad \langle \Psi, x \rangle = 1,
        \; \operatorname{tr} x \le \alpha, \; x \succeq 0.

    It relaxes: maximise :math:`u^T \Phi u` subject to :math:`u^T \Psi u = 1`,
    :math:`\|u\|^2 \le \alpha`. The relaxation is exact, because two constraints leave a solution of
    rank one [1]_. It is infeasible if and only if :math:`\alpha \lambda_{\max}(\Psi) < 1`.
    `generalised_eigenvector` builds the model.

    Parameters
    ----------
    Phi, Psi : Symmetric
        The matrices.
    alpha : float
        The bound on :math:`\|u\|^2`.

    References
    ----------
    .. [1] J. F. Sturm and S. Zhang, "On cones of nonnegative quadratic functions", *Mathematics of
       Operations Research* 28, 2003.
    """

    Phi: Symmetric = field(repr=False)
    Psi: Symmetric = field(repr=False)
    alpha: float
    name: str = "generalised eigenvector"

    @property
    def n(self) -> int:
        """The length of u."""
        return self.Phi.n

    @cached_property
    def problem(self) -> Problem:
        """The relaxation, over {x psd : tr x <= alpha}."""
        return Problem.of(
            f=Linear(self.Phi),
            X=Spectrahedron(self.n, trace=self.alpha, at_most=True),
            A=Cost(self.Psi),
            K=Equal(np.ones(1)),
            maximise=True,
            name=self.name,
        )

    def bound(self, y: float) -> float:
        r"""Return :math:`y + \alpha \max(0, \lambda_{\max}(\Phi - y \Psi))`, an upper bound.

        It holds for any y, by :math:`u^T \Phi u = y u^T \Psi u + u^T (\Phi - y \Psi) u`. It is
        convex in y, and its minimum is the optimum. The eigenvalue is computed, not proved: the
        proved bound of an answer is that of its `Result`.
        """
        y = float(real_array(y, "y", ndim=0))
        largest = _largest(self.Phi + self.Psi.scaled(-y))[0]
        return y + self.alpha * max(0.0, largest)

    def vector(self, result: Result) -> Direction:
        r"""Return a feasible u with :math:`u^T \Phi u \ge \langle \Phi, x \rangle`.

        x is split into :math:`\sum_i p_i p_i^T` with equal :math:`p_i^T \Psi p_i / \|p_i\|^2`
        (Sturm and Zhang 2003), an average of rank-one points as feasible as x. The best of these is
        returned.

        Raises
        ------
        ProblemError
            If no vector is feasible.
        """
        x = point_of(result, self.Psi.n, self.Psi.n)
        top, p = _largest(self.Psi)
        if self.alpha * top < 1 - NEGLIGIBLE:
            raise ProblemError(
                f"no vector has u' Psi u = 1 and |u|^2 <= {self.alpha:g}: alpha lambda_max(Psi) is "
                f"{self.alpha * top:.6g}, and must be at least 1; raise alpha to {1 / top:.6g}"
                if top > 0
                else "no vector has u' Psi u = 1: Psi has no positive eigenvalue"
            )
        bound, factor = float(result.bound), leading_factor(x)
        sizes = (factor * factor).sum(axis=0)
        factor = factor[:, sizes > NEGLIGIBLE * sizes.max(initial=0.0)]
        if factor.shape[1] == 0:  # x = 0: p is feasible
            factor = p[:, None]
        vectors = [self._feasible(q, p) for q in _even(self.Psi, factor).T]
        return max(
            (Direction(float(u @ (self.Phi @ u)), u, self, bound) for u in vectors),
            key=lambda direction: direction.objective,
        )

    def _feasible(self, q: Array, p: Array) -> Array:
        """Return q with u' Psi u = 1, moved towards the leading p of Psi if necessary."""
        q = q / np.linalg.norm(q)

        def excess(a: Array, b: Array) -> float:
            return float(a @ (self.Psi @ b)) - float(a @ b) / self.alpha

        a = excess(q, q)
        if a < 0:  # q' Psi q < 1 / alpha: the root t > 0 of excess(q + t p) = a + 2 b t + c t^2
            p = p if excess(q, p) >= 0 else -p
            b, c = excess(q, p), excess(p, p)
            root = b + np.sqrt(max(b * b - a * c, 0.0))
            q = q - a / root * p if root > 0 else p
        return np.asarray(q / np.sqrt(q @ (self.Psi @ q)))


def generalised_eigenvector(
    Phi: Any, Psi: Any, alpha: float, *, name: str = "generalised eigenvector"
) -> GeneralisedEigenvector:
    r"""Return the model of a generalised eigenvector of bounded norm.

    .. math::

        \max_u \; u^T \Phi u
        \quad \text{subject to} \quad u^T \Psi u = 1, \; \|u\|^2 \le \alpha

    Parameters
    ----------
    Phi, Psi : array, sparse matrix or LinearOperator
        Symmetric matrices of equal size.
    alpha : float
        The bound on :math:`\|u\|^2`, at least :math:`1 / \lambda_{\max}(\Psi)`.

    Raises
    ------
    ProblemError
        If a matrix is not symmetric and real, or the sizes differ.

    Examples
    --------
    >>> import condal, numpy
    >>> model = condal.problems.generalised_eigenvector(
    ...     numpy.diag([1.0, 2.0]), numpy.diag([1.0, 0.5]), alpha=4.0
    ... )
    >>> direction = model.vector(condal.solve(model, tol=1e-6))
    >>> f"{direction.objective:.3f}"
    '4.000'
    """
    phi, psi = _matrix(Phi, "Phi"), _matrix(Psi, "Psi")
    if phi.n != psi.n:
        raise ProblemError(
            f"Phi and Psi must have the same size; got {phi.n} x {phi.n} and {psi.n} x {psi.n}"
        )
    require_positive(alpha, "alpha")
    return GeneralisedEigenvector(phi, psi, float(alpha), name)


def _matrix(given: Any, name: str) -> Symmetric:
    if isinstance(given, list | tuple):
        given = real_array(given, name, ndim=2)
    require_real(given, name)
    return symmetric(given, name)


def _largest(V: Symmetric) -> tuple[float, Array]:
    """Return the largest eigenvalue of V and its eigenvector."""
    pair = Automatic().smallest(V.scaled(-1.0))
    return -pair.value, pair.vector


def _even(Psi: Symmetric, R: Array) -> Array:
    """Return R Q, Q orthogonal, with equal p' Psi p / |p|^2 for all columns p."""
    image = Psi @ R
    mean = float(np.sum(R * image) / np.sum(R * R))
    R, G = R.copy(), R.T @ image - mean * (R.T @ R)
    for _ in range(R.shape[1] - 1):
        i, j = int(np.argmax(np.diagonal(G))), int(np.argmin(np.diagonal(G)))
        a, b, c = G[i, i], G[i, j], G[j, j]
        if a <= 0 or c >= 0:  # only rounding remains
            break
        # Rotate columns i and j so that a + 2 b t + c t^2 = 0 for column i, which is then done.
        t = (b + np.sqrt(b * b - a * c)) / -c
        rotation = np.array([[1.0, -t], [t, 1.0]]) / np.hypot(1.0, t)
        R[:, [i, j]] = R[:, [i, j]] @ rotation
        G[:, [i, j]] = G[:, [i, j]] @ rotation
        G[[i, j]] = rotation.T @ G[[i, j]]
    return R
