"""Points of vector cones: positive vectors, and second-order cones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array
from condal.methods.interior.standard import Cone, ConePoint, Step


@dataclass(frozen=True, eq=False)
class Orthant(ConePoint):
    """u, z > 0."""

    @classmethod
    def of(cls, cone: Cone, u: Array, z: Array) -> Orthant | None:
        inside = min(u.min(initial=1.0), z.min(initial=1.0)) > 0
        return cls(cone, u, z) if inside else None

    @property
    def degree(self) -> float:
        return float(self.u.size)

    def add_to(self, M: Array) -> None:
        """A H A'."""
        self.cone.gram.add(M, self.u / self.z)

    def aim(self, mu: float, past: Step | None) -> Array:
        """(mu - du dz of the predictor step) / z - u."""
        target = mu if past is None else mu - past.u * past.z
        return target / self.z - self.u

    def scaled(self, dz: Array) -> Array:
        """u dz / z."""
        return self.u / self.z * dz

    def longest(self, step: Step) -> tuple[float, float]:
        return _ratio(self.u, step.u), _ratio(self.z, step.z)


def _ratio(u: Array, du: Array) -> float:
    """The largest t with u + t du >= 0."""
    falling = du < 0
    return float(np.min(-u[falling] / du[falling], initial=inf))


@dataclass(frozen=True, eq=False)
class SecondOrder(ConePoint):
    """Stacks of u and z with |(u_2, ...)| < u_1, and the Nesterov-Todd scalings N z = N^-1 u."""

    @classmethod
    def of(cls, cone: Cone, u: Array, z: Array) -> SecondOrder | None:
        stacks = u.reshape(-1, cone.n), z.reshape(-1, cone.n)
        inside = all((v[:, 0] > 0).all() and (_determinant(v) > 0).all() for v in stacks)
        return cls(cone, *stacks) if inside else None

    @property
    def degree(self) -> float:
        return float(len(self.u))

    @cached_property
    def _roots(self) -> tuple[Array, Array]:
        """The square roots of the determinants of u and z."""
        return np.sqrt(_determinant(self.u)), np.sqrt(_determinant(self.z))

    @cached_property
    def N(self) -> Array:
        """eta (2 q q' - J)^(1/2), with q on the hyperboloid between u and J z."""
        du, dz = self._roots
        u, z = self.u / du[:, None], self.z / dz[:, None]
        z[:, 1:] *= -1.0
        cosine = u[:, 0] * z[:, 0] - np.einsum("kj,kj->k", u[:, 1:], z[:, 1:])
        q = (u + z) / (2.0 * np.sqrt(0.5 * (1.0 + cosine)))[:, None]
        N = np.tile(np.eye(self.cone.n), (len(q), 1, 1))
        N[:, 1:, 1:] += q[:, 1:, None] * q[:, None, 1:] / (1.0 + q[:, :1, None])
        N[:, 0], N[:, :, 0] = q, q
        return np.asarray(np.sqrt(du / dz)[:, None, None] * N)

    @cached_property
    def lam(self) -> Array:
        """N z."""
        return self._times(self.N, self.z)

    def _times(self, N: Array, v: Array) -> Array:
        """N v, cone by cone."""
        return np.asarray((N @ v.reshape(-1, self.cone.n, 1))[:, :, 0])

    def _unscaled(self, v: Array) -> Array:
        """N^-1 v = J N J v / eta^2: N / eta leaves the form <v, J v> as it is."""
        J = np.ones(self.cone.n)
        J[1:] = -1.0
        du, dz = self._roots
        return np.asarray(J * self._times(self.N, J * v) / (du / dz)[:, None])

    def add_to(self, M: Array) -> None:
        """A N N A'."""
        A, k = self.cone.A, len(self.u)
        rows = np.flatnonzero(np.diff(A.indptr))
        if k == 1:
            image = A[rows] @ self.N[0]
            M[np.ix_(rows, rows)] += image @ image.T
            return
        N = sp.bsr_array((self.N, np.arange(k), np.arange(k + 1)), (A.shape[1], A.shape[1]))
        image = sp.csr_array(A @ N)
        M += (image @ image.T).toarray()

    def aim(self, mu: float, past: Step | None) -> Array:
        """mu z^-1 - u, minus N of the second-order term of the predictor step divided by lam."""
        target = np.zeros(self.u.shape)
        target[:, 0] = mu
        if past is not None:
            a = self._unscaled(past.u.reshape(self.u.shape))
            b = self._times(self.N, past.z)
            target[:, 0] -= np.einsum("kj,kj->k", a, b)
            target[:, 1:] -= a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:]
        lam, (du, dz) = self.lam, self._roots
        # det lam, which rounding may destroy if computed from lam
        inner = np.einsum("kj,kj->k", lam[:, 1:], target[:, 1:])
        head = ((lam[:, 0] * target[:, 0] - inner) / (du * dz))[:, None]
        divided = np.hstack([head, (target[:, 1:] - head * lam[:, 1:]) / lam[:, :1]])
        return (self._times(self.N, divided) - self.u).ravel()

    def scaled(self, dz: Array) -> Array:
        """N N dz."""
        return self._times(self.N, self._times(self.N, dz)).ravel()

    def longest(self, step: Step) -> tuple[float, float]:
        shape = self.u.shape
        return _until_flat(self.u, step.u.reshape(shape)), _until_flat(
            self.z, step.z.reshape(shape)
        )


def _determinant(u: Array) -> Array:
    width = np.linalg.norm(u[:, 1:], axis=1)
    return np.asarray((u[:, 0] - width) * (u[:, 0] + width))


def _until_flat(u: Array, d: Array) -> float:
    """The largest t with every u + t d in the cone."""
    a = d[:, 0] ** 2 - np.einsum("kj,kj->k", d[:, 1:], d[:, 1:])
    b = u[:, 0] * d[:, 0] - np.einsum("kj,kj->k", u[:, 1:], d[:, 1:])
    c = _determinant(u)  # det(u + t d) = c + 2 b t + a t^2
    below = np.sqrt(np.maximum(b * b - a * c, 0.0)) - b
    ends = (below > 0) & (b * b >= a * c)
    return float(np.min(c[ends] / below[ends], initial=inf))
