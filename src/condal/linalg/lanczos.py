"""Krylov spaces of a symmetric operator, by the three-term recurrence of Lanczos.

Without reorthogonalisation: lost orthogonality repeats Ritz values that have converged and does not
harm the extreme ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from condal.linalg.blocked import axpy
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric


@dataclass(frozen=True, eq=False)
class Ritz:
    """The smallest Ritz pair: its value, its coefficients in Q, and estimates of its errors."""

    value: float
    coefficients: Array
    residual: float
    error: float
    rounding: float
    converged: bool


class Recurrence:
    """V Q = Q T + beta q e': the Lanczos recurrence, its tridiagonal and, while it fits, its Q."""

    def __init__(self, V: Symmetric, start: Array, keep: int) -> None:
        self.V = V
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.ended = False  # an invariant subspace was found: the Ritz values are exact
        self._keep = keep
        self._basis = np.empty((min(keep, 32), start.size))
        self._q = start
        self._before = np.zeros(0)

    @property
    def steps(self) -> int:
        """The dimension of the Krylov space."""
        return len(self.alpha)

    def grow_to(self, steps: int) -> None:
        """Step until there are that many, or the space is invariant."""
        while self.steps < steps and not self.ended:
            self._step()

    def _step(self) -> None:
        q, j = self._q, self.steps
        if j < self._keep:
            if j >= len(self._basis):
                grown = np.empty((min(2 * len(self._basis), self._keep), q.size))
                grown[:j] = self._basis[:j]
                self._basis = grown
            self._basis[j] = q
        u = self.V @ q
        if j:
            u = axpy(u, self._before, -self.beta[-1])
        a = float(q @ u)
        u = axpy(u, q, -a)  # not in place: an operator may hand out memory of its own
        b = float(np.sqrt(u @ u))
        if not np.isfinite(b):
            raise FloatingPointError("a product with the gradient gave NaN or infinity")
        self.alpha.append(a)
        self.beta.append(b)
        scale = max(map(abs, self.alpha[-2:])) + (self.beta[-2] if j else 0.0)
        self.ended = b <= 1e-14 * scale or b == 0.0
        if not self.ended:
            self._before, self._q = q, u / b

    @property
    def spread(self) -> float:
        """lambda_max - lambda_min, roughly: twice the largest row sum of T at most."""
        return max(self.alpha) - min(self.alpha) + 2 * max(self.beta)

    def values(self) -> Array:
        """All Ritz values, in rising order."""
        return np.asarray(
            eigh_tridiagonal(
                self.alpha, self.beta[: self.steps - 1], eigvals_only=True, check_finite=False
            )
        )

    def ends(self) -> tuple[float, float]:
        """The smallest and the largest Ritz value."""
        m = self.steps
        if m == 1:  # which older LAPACK wrappers refuse
            return self.alpha[0], self.alpha[0]
        least, most = (
            eigh_tridiagonal(
                self.alpha,
                self.beta[: m - 1],
                eigvals_only=True,
                select="i",
                select_range=(i, i),
                check_finite=False,
            )
            for i in (0, m - 1)
        )
        return float(least[0]), float(most[0])

    def smallest(self, tol: float) -> Ritz:
        """The smallest Ritz pair; converged if its value is within tol, as far as it can tell."""
        m = self.steps
        if m == 1:
            residual = self.beta[0]
            return Ritz(self.alpha[0], np.ones(1), residual, residual, 0.0, self.ended)
        values, vectors = eigh_tridiagonal(
            self.alpha, self.beta[: m - 1], select="i", select_range=(0, 1), check_finite=False
        )
        residual = self.beta[-1] * abs(float(vectors[-1, 0]))
        separation = float(values[1] - values[0])
        # Kato and Temple: the error is at most residual^2 / separation.
        error = min(residual, residual**2 / separation) if separation > 0 else residual
        rounding = 4e-16 * m * max(abs(values[0]), max(map(abs, self.alpha)))
        done = self.ended or error <= max(tol, rounding)
        return Ritz(float(values[0]), vectors[:, 0], residual, error, rounding, done)

    def kept_vectors(self, count: int) -> Array:
        """The smallest Ritz vectors of the steps whose basis is kept, a column each."""
        m = min(self.steps, self._keep)
        if m == 1:
            return np.asarray(self._basis[:1].T)
        _, coefficients = eigh_tridiagonal(
            self.alpha[:m],
            self.beta[: m - 1],
            select="i",
            select_range=(0, min(count, m) - 1),
            check_finite=False,
        )
        return np.asarray(self._basis[:m].T @ coefficients)

    def combine(self, coefficients: Array) -> Array:
        """Q c; where the basis did not fit, the recurrence is run again and summed as it goes."""
        m = coefficients.size
        if m <= self._keep:
            return coefficients @ self._basis[:m]
        kept = self._keep
        total = coefficients[:kept] @ self._basis[:kept]
        before, q = self._basis[kept - 2], self._basis[kept - 1]
        for j in range(kept, m):
            u = self.V @ q - self.beta[j - 2] * before - self.alpha[j - 1] * q
            before, q = q, u / self.beta[j - 1]
            total += coefficients[j] * q
        return np.asarray(total)
