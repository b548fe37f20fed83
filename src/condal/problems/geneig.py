"""Generalised eigenvectors with a bound on the norm, as a semidefinite program."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.eigen import Automatic
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.linalg.symmetrize import symmetric
from condal.maps.inner import Cost
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.problems.factors import leading
from condal.problems.inputs import real_array, require_real
from condal.result import Result
from condal.runtime.arguments import require_positive
from condal.sets.boxes import Equal
from condal.smooth.linear import Linear

NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class Direction:
    """A vector with u' Psi u = 1 and |u|^2 <= alpha; `objective` is u' Phi u."""

    objective: float
    vector: Array

    def __repr__(self) -> str:
        size = float(self.vector @ self.vector)
        return f"Direction(objective={self.objective:.10g}, squared norm {size:.6g})"


@dataclass(frozen=True, eq=False)
class GeneralizedEigenvector:
    """maximise <Phi, x> subject to <Psi, x> = 1, tr x <= alpha, x psd.

    The relaxation of: maximise u' Phi u subject to u' Psi u = 1, |u|^2 <= alpha. It loses nothing:
    two constraints leave a solution of rank one. It is infeasible if and only if
    alpha lambda_max(Psi) < 1.
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
        """y + alpha max(0, lambda_max(Phi - y Psi)): no u has more, whichever number y is.

        For u' Phi u = y u' Psi u + u' (Phi - y Psi) u, where u' Psi u = 1 and |u|^2 <= alpha. It is
        convex in y, and the least over all y is the optimum. An eigenvalue computed, not proved:
        what is proved of an answer is the bound of its Result.
        """
        y = float(real_array(y, "y", ndim=0))
        largest = _largest(self.Phi + self.Psi.scaled(-y))[0]
        return y + self.alpha * max(0.0, largest)

    def vector(self, result: Result) -> Direction:
        """A feasible u, as good as x is: u' Phi u >= <Phi, x> if x is feasible.

        Sturm and Zhang (2003): x = sum_i p_i p_i' with the same p_i' Psi p_i / |p_i|^2 for all i,
        so that x is an average of rank-one points that are all as feasible as x; the best is taken.
        """
        x = point_of(result, self.Psi.n)
        top, p = _largest(self.Psi)
        if self.alpha * top < 1 - NEGLIGIBLE:
            raise ProblemError(
                f"no vector has u' Psi u = 1 and |u|^2 <= {self.alpha:g}: alpha lambda_max(Psi) is "
                f"{self.alpha * top:.6g}, and must be at least 1; raise alpha to {1 / top:.6g}"
                if top > 0
                else "no vector has u' Psi u = 1: Psi has no positive eigenvalue"
            )
        factor = leading(x)
        sizes = (factor * factor).sum(axis=0)
        factor = factor[:, sizes > NEGLIGIBLE * sizes.max(initial=0.0)]
        if factor.shape[1] == 0:  # x = 0: nothing is known but that p is feasible
            factor = p[:, None]
        found = [self._feasible(q, p) for q in _even(self.Psi, factor).T]
        return max(
            (Direction(float(u @ (self.Phi @ u)), u) for u in found), key=lambda d: d.objective
        )

    def _feasible(self, q: Array, p: Array) -> Array:
        """q, moved towards p, the leading eigenvector of Psi, where it must; u' Psi u = 1."""
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


def generalized_eigenvector(
    Phi: Any, Psi: Any, alpha: float, *, name: str = "generalised eigenvector"
) -> GeneralizedEigenvector:
    """The model of: maximise u' Phi u subject to u' Psi u = 1 and |u|^2 <= alpha.

    Parameters
    ----------
    Phi, Psi : symmetric matrices of one size: NumPy, SciPy sparse, or LinearOperator.
    alpha : how large |u|^2 may be, at least 1 / lambda_max(Psi) for there to be such a u.
    """
    phi, psi = _matrix(Phi, "Phi"), _matrix(Psi, "Psi")
    if phi.n != psi.n:
        raise ProblemError(
            f"Phi and Psi must be of one size; got {phi.n} x {phi.n} and {psi.n} x {psi.n}"
        )
    require_positive(alpha, "alpha")
    return GeneralizedEigenvector(phi, psi, float(alpha), name)


def _matrix(given: Any, name: str) -> Symmetric:
    if isinstance(given, list | tuple):
        given = real_array(given, name, ndim=2)
    require_real(given, name)
    return symmetric(given, name)


def _largest(V: Symmetric) -> tuple[float, Array]:
    """The largest eigenvalue of V and its vector."""
    pair = Automatic().smallest(V.scaled(-1.0))
    return -pair.value, pair.vector


def _even(Psi: Symmetric, R: Array) -> Array:
    """R Q, Q orthogonal, with p' Psi p / |p|^2 the same for all columns p."""
    image = Psi @ R
    mean = float(np.sum(R * image) / np.sum(R * R))
    R, G = R.copy(), R.T @ image - mean * (R.T @ R)
    for _ in range(R.shape[1] - 1):
        i, j = int(np.argmax(np.diagonal(G))), int(np.argmin(np.diagonal(G)))
        a, b, c = G[i, i], G[i, j], G[j, j]
        if a <= 0 or c >= 0:  # what is left is rounding
            break
        # Columns i and j turn so that i gets a + 2 b t + c t^2 = 0: one is done each time.
        t = (b + np.sqrt(b * b - a * c)) / -c
        turn = np.array([[1.0, -t], [t, 1.0]]) / np.hypot(1.0, t)
        R[:, [i, j]] = R[:, [i, j]] @ turn
        G[:, [i, j]] = G[:, [i, j]] @ turn
        G[[i, j]] = turn.T @ G[[i, j]]
    return R
