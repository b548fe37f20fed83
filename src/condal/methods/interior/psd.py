"""Positive definite matrices, with the HKM direction (Helmberg, Kojima, Monteiro)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotri, dtrtri

from condal.linalg.points import Array
from condal.methods.interior.standard import Cone, ConePoint, Step

MIN_LANCZOS_SIDE = 60  # of a matrix whose longest step is found by the Lanczos method
MAX_LANCZOS_STEPS = 30
EIGENVALUE_ERROR = 0.05  # of the least eigenvalue, which its error bound makes smaller


@dataclass(frozen=True, eq=False)
class Psd(ConePoint):
    """Stacks u of X and z of Z, both in `pair`, with the Cholesky `factors` of it."""

    pair: Array
    factors: Array

    @classmethod
    def of(cls, cone: Cone, u: Array, z: Array) -> Psd | None:
        pair = _symmetric(np.concatenate([u, z]).reshape(-1, cone.n, cone.n))
        factors, count = _cholesky(pair), len(pair) // 2
        return None if factors is None else cls(cone, pair[:count], pair[count:], pair, factors)

    @property
    def count(self) -> int:
        """The number of matrices X."""
        return len(self.u)

    @cached_property
    def inverses(self) -> Array:
        """The inverses of the factors, which have positive diagonals."""
        if _is_large(self.pair):
            return np.stack([np.tril(dtrtri(factor, lower=1)[0]) for factor in self.factors])
        return np.asarray(np.linalg.inv(self.factors), dtype=np.float64)

    @cached_property
    def W(self) -> Array:
        """The inverses of Z."""
        if _is_large(self.pair):
            lower = np.tril(dpotri(self.factors[1], lower=1)[0])
            return np.asarray((lower + np.tril(lower, -1).T)[None])
        inverse = self.inverses[self.count :]
        return np.asarray(inverse.swapaxes(1, 2) @ inverse, dtype=np.float64)

    @property
    def degree(self) -> float:
        return float(self.cone.n * self.count)

    def add_to(self, M: Array) -> None:
        """<A_i, X A_j W>."""
        if self.cone.schur.groups:
            self.cone.schur.add_groups(M, self.factors[: self.count], self.inverses[self.count :])
        if self.cone.schur.alone:
            self.cone.schur.add_alone(M, self.u, self.W)

    def aim(self, mu: float, past: Step | None) -> Array:
        """mu W - X, minus dX dZ W of the predictor step."""
        r = mu * self.W - self.u
        if past is not None:
            r -= _symmetric(self._stack(past.u) @ self._stack(past.z) @ self.W)
        return r.ravel()

    def scaled(self, dz: Array) -> Array:
        """X dZ W."""
        return _symmetric(self.u @ self._stack(dz) @ self.W).ravel()

    def longest(self, step: Step) -> tuple[float, float]:
        """The largest t with every X + t dX psd, and every Z + t dZ; a little less for large n."""
        d = np.concatenate([step.u, step.z]).reshape(self.pair.shape)
        if not np.isfinite(d).all():
            return 0.0, 0.0
        if _is_large(self.pair):
            least = np.array([_least(*both) for both in zip(self.factors, d, strict=True)])
        else:
            scaled = self.inverses @ d @ self.inverses.swapaxes(1, 2)
            if not np.isfinite(scaled).all():
                return 0.0, 0.0
            least = _least_eigenvalues(scaled)
        below = np.minimum(least.reshape(2, -1).min(axis=1), 0.0)
        primal, dual = (inf if value == 0 else -1.0 / value for value in below.tolist())
        return primal, dual

    def _stack(self, v: Array) -> Array:
        """The matrices of a vector."""
        return v.reshape(-1, self.cone.n, self.cone.n)


def _symmetric(a: Array) -> Array:
    return np.asarray(0.5 * (a + a.swapaxes(1, 2)))


def _is_large(pair: Array) -> bool:
    """Whether X and Z are single matrices, and large."""
    return len(pair) == 2 and pair.shape[1] >= MIN_LANCZOS_SIDE


def _cholesky(a: Array) -> Array | None:
    try:
        factors = np.asarray(np.linalg.cholesky(a), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return factors if np.isfinite(factors).all() else None


def _least_eigenvalues(a: Array) -> Array:
    """The least eigenvalue of each matrix."""
    if a.shape[1] == 2:
        p, q, r = a[:, 0, 0], a[:, 1, 1], a[:, 1, 0]
        return np.asarray(0.5 * (p + q) - np.hypot(0.5 * (p - q), r))
    return np.asarray(np.linalg.eigvalsh(a)[:, 0])


def _least(L: Array, d: Array) -> float:
    """About the least eigenvalue of L^-1 d L^-T, rather below it, by the Lanczos method."""
    n = len(d)
    Q = np.empty((MAX_LANCZOS_STEPS + 1, n))
    start = np.random.default_rng(n).standard_normal(n)
    Q[0] = start / np.linalg.norm(start)
    diagonal, beside = np.empty(MAX_LANCZOS_STEPS), np.empty(MAX_LANCZOS_STEPS)
    least = inf
    for k in range(MAX_LANCZOS_STEPS):
        v = dtrsv(L, d @ dtrsv(L, Q[k], lower=1, trans=1), lower=1)
        diagonal[k] = v @ Q[k]
        for _ in range(2):
            v -= Q[: k + 1].T @ (Q[: k + 1] @ v)
        beside[k] = np.linalg.norm(v)
        values, vectors = diagonal[:1], np.ones((1, 1))
        if k:  # older LAPACK wrappers refuse one row
            values, vectors = eigh_tridiagonal(
                diagonal[: k + 1], beside[:k], select="i", select_range=(0, 0)
            )
        error = beside[k] * abs(float(vectors[-1, 0]))
        least = float(values[0]) - error
        if error <= EIGENVALUE_ERROR * abs(float(values[0])) or not beside[k]:
            break
        Q[k + 1] = v / beside[k]
    return least
