"""Positive definite matrices, with the HKM direction (Helmberg, Kojima, Monteiro)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpotrf, dpotri, dsygst

from condal.linalg.points import Array
from condal.methods.interior.cone_point import Aim, Step
from condal.methods.interior.schur import Schur
from condal.methods.interior.standard import Cone


@dataclass(frozen=True, eq=False)
class Psd:
    """X and Z with their Cholesky factors L and G, and W, the inverse of Z."""

    cone: Cone
    schur: Schur
    X: Array
    Z: Array
    L: Array
    G: Array

    @classmethod
    def of(cls, cone: Cone, schur: Schur, X: Array, Z: Array) -> Psd | None:
        """Factor X and Z; None unless both are positive definite."""
        L, G = _cholesky(X), _cholesky(Z)
        return None if L is None or G is None else cls(cone, schur, X, Z, L, G)

    @cached_property
    def W(self) -> Array:
        """The inverse of Z."""
        lower = np.tril(dpotri(self.G, lower=1)[0])
        return np.asarray(lower + np.tril(lower, -1).T)

    @property
    def gap(self) -> float:
        """<X, Z>."""
        return float(np.vdot(self.X, self.Z))

    @property
    def degree(self) -> float:
        return float(self.cone.n)

    @property
    def point(self) -> Array:
        return self.L

    @property
    def flat(self) -> Array:
        return self.X.ravel()

    def price(self) -> float:
        return 0.0

    def add_to(self, M: Array) -> None:
        """<A_i, X A_j W>."""
        self.schur.add(M, self.X, self.W)

    def aim(self, mu: float, past: Step | None) -> Aim:
        """mu W - X, minus dX dZ W of the predictor step."""
        r = mu * self.W - self.X
        if past is not None:
            r -= _symmetric(past.u @ past.z @ self.W)
        return Aim(r.ravel())

    def step(self, aim: Aim, dz: Array) -> Step:
        """dX = r - X dZ W."""
        n = self.cone.n
        dZ = dz.reshape(n, n)
        return Step(aim.r.reshape(n, n) - _symmetric(self.X @ dZ @ self.W), dZ)

    def longest(self, step: Step) -> tuple[float, float]:
        return _longest(self.L, step.u), _longest(self.G, step.z)

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """<X + primal dX, Z + dual dZ>."""
        return float(np.vdot(self.X + primal * step.u, self.Z + dual * step.z))

    def moved(self, step: Step, primal: float, dual: float, y: Array) -> Psd | None:
        n, cone = self.cone.n, self.cone
        X = self.X + primal * step.u
        return Psd.of(cone, self.schur, X, cone.reduced(y).reshape(n, n))


def _symmetric(a: Array) -> Array:
    return np.asarray(0.5 * (a + a.T))


def _cholesky(a: Array) -> Array | None:
    factor, failed = dpotrf(a, lower=1, clean=1)
    return None if failed or not np.isfinite(factor).all() else np.asarray(factor)


def _longest(factor: Array, d: Array) -> float:
    """The largest t with a + t d psd, a = factor factor'."""
    least = float(eigvalsh(dsygst(d, factor, lower=1)[0], lower=True, subset_by_index=[0, 0])[0])
    return inf if least >= 0 else -1.0 / least
