"""Positive definite matrices, with the HKM direction (Helmberg, Kojima, Monteiro)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotri

from condal.linalg.points import Array
from condal.methods.interior.cone_point import Aim, Step
from condal.methods.interior.schur import Schur
from condal.methods.interior.standard import Cone

MIN_LANCZOS_SIDE = 60  # of a matrix whose longest step is found by the Lanczos method
MAX_LANCZOS_STEPS = 30
EIGENVALUE_ERROR = 0.05  # of the least eigenvalue, which its error bound makes smaller


@dataclass(frozen=True, eq=False)
class Psd:
    """Stacks of X and Z with their Cholesky factors L and G, and W, the inverses of Z."""

    cone: Cone
    schur: tuple[Schur, ...]
    X: Array
    Z: Array
    L: Array
    G: Array

    @classmethod
    def of(cls, cone: Cone, schur: tuple[Schur, ...], X: Array, Z: Array) -> Psd | None:
        """Factor X and Z; None unless all are positive definite."""
        L, G = _cholesky(X), _cholesky(Z)
        return None if L is None or G is None else cls(cone, schur, X, Z, L, G)

    @classmethod
    def first(cls, cone: Cone, u: Array, z: Array) -> Psd | None:
        """Return the pair of two vectors; None unless both are inside."""
        return cls.of(cone, Schur.each(cone.A, cone.n), _stack(cone, u), _stack(cone, z))

    @cached_property
    def W(self) -> Array:
        """The inverses of Z."""
        if len(self.Z) > 1:  # the factors have positive diagonals, so they have inverses
            inverse = np.linalg.inv(self.G)
            return np.asarray(inverse.swapaxes(1, 2) @ inverse, dtype=np.float64)
        lower = np.tril(dpotri(self.G[0], lower=1)[0])
        return np.asarray((lower + np.tril(lower, -1).T)[None])

    @property
    def gap(self) -> float:
        """<X, Z>."""
        return float(np.vdot(self.X, self.Z))

    @property
    def degree(self) -> float:
        return float(self.cone.n * len(self.X))

    @property
    def point(self) -> Array:
        return self.L

    @property
    def flat(self) -> Array:
        return self.X.ravel()

    @property
    def dual(self) -> Array:
        return self.Z.ravel()

    @property
    def depth(self) -> float:
        """1 / |W|."""
        return float(1.0 / np.max(np.linalg.norm(self.W, axis=(1, 2))))

    def price(self) -> float:
        return 0.0

    def add_to(self, M: Array) -> None:
        """<A_i, X A_j W>."""
        for schur, X, W in zip(self.schur, self.X, self.W, strict=True):
            schur.add(M, X, W)

    def aim(self, mu: float, past: Step | None) -> Aim:
        """mu W - X, minus dX dZ W of the predictor step."""
        r = mu * self.W - self.X
        if past is not None:
            r -= _symmetric(_stack(self.cone, past.u) @ _stack(self.cone, past.z) @ self.W)
        return Aim(r.ravel())

    def scaled(self, dz: Array) -> Array:
        """X dZ W."""
        return _symmetric(self.X @ _stack(self.cone, dz) @ self.W).ravel()

    def step(self, aim: Aim, dz: Array) -> Step:
        """dX = r - X dZ W."""
        return Step(aim.r - self.scaled(dz), dz)

    def longest(self, step: Step) -> tuple[float, float]:
        dX, dZ = _stack(self.cone, step.u), _stack(self.cone, step.z)
        return _longest(self.L, dX), _longest(self.G, dZ)

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """<X + primal dX, Z + dual dZ>."""
        return float(np.vdot(self.flat + primal * step.u, self.dual + dual * step.z))

    def moved(self, step: Step, primal: float, dual: float, cost: Array | None) -> Psd | None:
        X = self.flat + primal * step.u
        Z = self.dual + dual * step.z if cost is None else cost
        X, Z = (_symmetric(_stack(self.cone, part)) for part in (X, Z))
        return Psd.of(self.cone, self.schur, X, Z)


def _stack(cone: Cone, v: Array) -> Array:
    """The matrices of a vector."""
    return v.reshape(-1, cone.n, cone.n)


def _symmetric(a: Array) -> Array:
    return np.asarray(0.5 * (a + a.swapaxes(1, 2)))


def _cholesky(a: Array) -> Array | None:
    if len(a) == 1:
        factor, failed = dpotrf(a[0], lower=1, clean=1)
        return None if failed or not np.isfinite(factor).all() else np.asarray(factor[None])
    try:
        factors = np.asarray(np.linalg.cholesky(a), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return factors if np.isfinite(factors).all() else None


def _longest(factor: Array, d: Array) -> float:
    """The largest t with every a + t d psd, a = factor factor'; a little less for large ones."""
    if not np.isfinite(d).all():
        return 0.0
    if len(d) == 1 and d.shape[1] >= MIN_LANCZOS_SIDE:
        least = _least(factor[0], d[0])
    else:
        inverse = np.linalg.inv(factor)
        scaled = inverse @ d @ inverse.swapaxes(1, 2)
        if not np.isfinite(scaled).all():
            return 0.0
        least = float(np.linalg.eigvalsh(scaled).min())
    return inf if least >= 0 else -1.0 / least


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
        values, vectors = eigh_tridiagonal(
            diagonal[: k + 1], beside[:k], select="i", select_range=(0, 0)
        )
        error = beside[k] * abs(float(vectors[-1, 0]))
        least = float(values[0]) - error
        if error <= EIGENVALUE_ERROR * abs(float(values[0])) or not beside[k]:
            break
        Q[k + 1] = v / beside[k]
    return least
