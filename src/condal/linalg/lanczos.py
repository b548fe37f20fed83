"""The three-term Lanczos recurrence of a symmetric operator.

There is no reorthogonalisation: lost orthogonality repeats converged Ritz values and does not harm
the extreme ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np
from scipy.linalg.lapack import dstebz, dstein

from condal.linalg.blocked import BLOCK_LENGTH, axpy
from condal.linalg.points import Array, with_rows
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import spend, time_is_up

MAX_BASIS_BYTES = 256 * 2**20  # of a Lanczos basis
MAX_BASIS_STEPS = 2000
# A step on a short vector takes microseconds, so the work is counted for several at once.
STEPS_AT_ONCE, MAX_SHORT = 16, 4096
MAX_LOWEST_DENSE_SIDE = 150  # up to here LAPACK computes several eigenpairs faster than Lanczos


def basis_bytes(n: int) -> int:
    """Return the most bytes that a Lanczos basis of vectors of length n takes."""
    return min(MAX_BASIS_BYTES, 8 * n * min(n, MAX_BASIS_STEPS))


@dataclass(frozen=True, eq=False)
class Eigenpair:
    r"""An approximate eigenpair, :math:`V u \approx \theta u` with :math:`|u| = 1`.

    Parameters
    ----------
    value : float
        The Rayleigh quotient :math:`\theta`.
    vector : ndarray
        The unit vector u.
    residual : float
        An estimate of :math:`|V u - \theta u|`.
    error : float
        An estimate of :math:`\theta - \lambda_{\min}(V)`.
    """

    value: float
    vector: Array
    residual: float
    error: float


@dataclass(frozen=True, eq=False)
class Ritz:
    """The smallest Ritz pair: its value, its coefficients in Q and estimates of its errors."""

    value: float
    coefficients: Array
    residual: float
    error: float
    rounding: float
    converged: bool


class Recurrence:
    """V Q = Q T + beta q e': the tridiagonal T, and the first `keep` columns of Q."""

    def __init__(self, V: Symmetric, start: Array, keep: int) -> None:
        self.V = V
        self.alpha: list[float] = []
        self.beta: list[float] = []
        self.steps = 0  # the dimension of the Krylov space
        self.ended = False  # an invariant subspace was found: the Ritz values are exact, or hurried
        self._keep = keep
        self._basis = np.empty((min(keep, 32), start.size))  # the rows of this process
        self._q = start
        self._before = np.zeros(0)
        self._product: Callable[[Array], Array] = V.__matmul__
        self._flops = 0.0  # per product, where products do not count their work themselves
        if isinstance(V, Symmetric) and V.n <= MAX_SHORT and not V.operators:
            self._product, self._flops = V.product, V.flops

    def grow_to(self, steps: int, *, hurried: bool = False) -> None:
        """Take steps until there are `steps`, the space is invariant or, `hurried`, time is up."""
        while self.steps < steps and not self.ended:
            first = self.steps
            for j in range(first, min(steps, first + (STEPS_AT_ONCE if self._flops else 1))):
                if self._step(j):
                    break
            if self._flops:
                spend(self._flops * (self.steps - first), self.steps - first)
            self.ended |= hurried and time_is_up()

    def _step(self, j: int) -> bool:
        """Add a column to T; return whether it is the last one."""
        q = self._q
        if j < self._keep:
            if j >= len(self._basis):
                grown = np.empty((min(2 * len(self._basis), self._keep), q.size))
                grown[:j] = self._basis[:j]
                self._basis = grown
            self._basis[j] = getattr(q, "local", q)  # the rows of this process
        u = self._product(q)
        # Not in place: an operator may return memory of its own.
        short, before = q.size <= BLOCK_LENGTH, self._before
        if j:
            u = u - self.beta[-1] * before if short else axpy(u, before, -self.beta[-1])
        a = float(q @ u)
        u = u - a * q if short else axpy(u, q, -a)
        b = sqrt(u @ u)
        if not isfinite(b):
            raise FloatingPointError("a product with the gradient gave NaN or infinity")
        self.alpha.append(a)
        self.beta.append(b)
        self.steps = j + 1
        scale = max(abs(a), abs(self.alpha[j - 1])) + self.beta[j - 1] if j else abs(a)
        self.ended = b <= 1e-14 * scale or b == 0.0
        if not self.ended:
            self._before, self._q = q, u / b
        return self.ended

    @property
    def spread(self) -> float:
        """A rough estimate of lambda_max - lambda_min: at most twice the largest row sum of T."""
        return max(self.alpha) - min(self.alpha) + 2 * max(self.beta)

    def least(self, within: float = 0.0) -> float:
        """Return the smallest Ritz value; 0 is to rounding."""
        m = self.steps  # of 1, LAPACK's wrappers refuse it
        return float(self._values(m, 1, 1, within)[0][0]) if m > 1 else self.alpha[0]

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest Ritz value."""
        if (m := self.steps) == 1:  # LAPACK's wrappers refuse this
            return self.alpha[0], self.alpha[0]
        return self.least(), float(self._values(m, m, m)[0][0])

    def _values(self, m: int, first: int, last: int, within: float = 0.0) -> tuple[Any, ...]:
        """Eigenvalues first..last, counted from 1, of the leading m x m block of T by bisection,
        and the blocks that they belong to."""
        T, by_index = (self.alpha[:m], self.beta[: m - 1]), (2, 0.0, 0.0)
        count, values, *blocks, failed = dstebz(*T, *by_index, first, last, within, "B")
        if failed:
            raise FloatingPointError("LAPACK found no Ritz values")
        return values[:count], *blocks

    def _ritz(self, m: int, first: int, last: int) -> tuple[Array, Array]:
        """Eigenvalues first..last of that block, and their vectors by inverse iteration."""
        values, *blocks = self._values(m, first, last)
        vectors, unfinished = dstein(self.alpha[:m], self.beta[: m - 1], values, *blocks)
        if unfinished:
            raise FloatingPointError("LAPACK found no Ritz vectors")
        order = np.argsort(values)
        return values[order], vectors[:, order]

    def smallest(self, tol: float) -> Ritz:
        """Return the smallest Ritz pair; it has converged if its estimated error is within tol."""
        m = self.steps
        if m == 1:
            return Ritz(self.alpha[0], np.ones(1), self.beta[0], self.beta[0], 0.0, self.ended)
        values, vectors = self._ritz(m, 1, 2)
        residual = self.beta[-1] * abs(float(vectors[-1, 0]))
        separation = float(values[1] - values[0])
        # Kato and Temple: the error is at most residual^2 / separation.
        error = min(residual, residual**2 / separation) if separation > 0 else residual
        rounding = 4e-16 * m * max(abs(values[0]), max(map(abs, self.alpha)))
        done = self.ended or error <= max(tol, rounding)
        return Ritz(float(values[0]), vectors[:, 0], residual, error, rounding, done)

    def settled(self, before: float, tol: float) -> bool:
        """Return whether the smallest Ritz pair has converged and its value, `before` at an earlier
        look, has settled: a small residual alone may belong to another eigenvalue."""
        ritz = self.smallest(tol)
        return ritz.converged and 3 * (before - ritz.value) <= max(tol, ritz.rounding)

    def kept_vectors(self, count: int) -> Array:
        """Return the smallest Ritz vectors of the steps with a stored basis, as columns."""
        m = min(self.steps, self._keep)
        if m == 1:
            return with_rows(self._q, self._basis[:1].T)
        _, coefficients = self._ritz(m, 1, min(count, m))
        return with_rows(self._q, self._basis[:m].T @ coefficients)

    def combine(self, coefficients: Array) -> Array:
        """Return Q c; beyond the stored basis the recurrence is run a second time."""
        m, stored = coefficients.size, self._keep
        if m <= stored:
            return with_rows(self._q, coefficients @ self._basis[:m])
        total, before, q = (
            with_rows(self._q, rows)
            for rows in (
                coefficients[:stored] @ self._basis[:stored],
                self._basis[stored - 2],
                self._basis[stored - 1],
            )
        )
        for j in range(stored, m):
            u = self.V @ q - self.beta[j - 2] * before - self.alpha[j - 1] * q
            before, q = q, u / self.beta[j - 1]
            total += coefficients[j] * q
        return total


def missed_share(n: float, steps: int, failure: float) -> float:
    """Return (log(1.648 sqrt(n) / failure) / (2k - 1))^2 for k steps from a random start.

    The extreme Ritz value misses the extreme eigenvalue by at most this share of the spread of the
    spectrum, but for a probability of `failure` (Kuczynski and Wozniakowski 1992).
    """
    return float((np.log(1.648 * np.sqrt(n) / failure) / (2 * steps - 1)) ** 2)
