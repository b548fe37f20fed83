"""Points of vector cones: positive vectors, some entries with caps, and second-order cones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array
from condal.methods.interior.standard import Aim, Cone, ConePoint, Step


@dataclass(frozen=True, eq=False)
class Orthant(ConePoint):
    """u, z > 0, and w = cap - u > 0, v > 0 for capped entries; v = 0 for the others."""

    cone: Cone
    u: Array
    w: Array
    z: Array
    v: Array

    @classmethod
    def first(cls, cone: Cone, u: Array, z: Array) -> Orthant | None:
        """Return the pair of two vectors without caps; None unless both are inside."""
        inside = min(u.min(initial=1.0), z.min(initial=1.0)) > 0
        return cls(cone, u, np.full(u.size, inf), z, np.zeros(u.size)) if inside else None

    @cached_property
    def capped(self) -> Any:
        """The mask of the capped entries."""
        return self.cone.cap < inf

    @property
    def gap(self) -> float:
        """<u, z> + <w, v>."""
        return float(self.u @ self.z + self.w[self.capped] @ self.v[self.capped])

    @property
    def degree(self) -> float:
        return float(self.u.size + np.count_nonzero(self.capped))

    @property
    def flat(self) -> Array:
        return self.u

    @property
    def dual(self) -> Array:
        return self.z

    def price(self) -> float:
        return float(self.cone.cap[self.capped] @ self.v[self.capped])

    @cached_property
    def H(self) -> Array:
        """1 / (z/u + v/w)."""
        return np.asarray(1.0 / (self.z / self.u + self.v / self.w))

    def add_to(self, M: Array) -> None:
        """A H A'."""
        self.cone.gram.add(M, self.H)

    def aim(self, mu: float, past: Step | None) -> Aim:
        """H (uz/u - z - wv/w + v), with the target products uz and wv."""
        uz = np.full(self.u.size, mu)
        wv = np.where(self.capped, mu, 0.0)
        if past is not None:
            uz -= past.u * past.z
            if past.v is not None:
                wv += past.u * past.v
        return Aim(self.H * (uz / self.u - self.z - wv / self.w + self.v), uz, wv)

    def scaled(self, dz: Array) -> Array:
        """H dz."""
        return self.H * dz

    def step(self, aim: Aim, dz: Array) -> Step:
        """du = r - H dz; the steps of z and v differ by dz."""
        assert aim.uz is not None
        assert aim.wv is not None
        du = aim.r - self.scaled(dz)
        return Step(
            du,
            aim.uz / self.u - self.z - self.z / self.u * du,
            aim.wv / self.w - self.v + self.v / self.w * du,
        )

    def longest(self, step: Step) -> tuple[float, float]:
        primal = min(_ratio(self.u, step.u), _ratio(self.w, -step.u))
        capped = inf if step.v is None else _ratio(self.v, step.v)
        return primal, min(_ratio(self.z, step.z), capped)

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        assert step.v is not None
        gap = float((self.u + primal * step.u) @ (self.z + dual * step.z))
        capped = self.capped
        w, v = self.w[capped] - primal * step.u[capped], self.v[capped] + dual * step.v[capped]
        return gap + float(w @ v)

    def moved(self, step: Step, primal: float, dual: float, cost: Array | None) -> Orthant | None:
        """Move each; with a cost, the larger of z and v follows from it and the smaller."""
        u, w = self.u + primal * step.u, self.w - primal * step.u
        z, v = self.z + dual * step.z, self.v
        if step.v is not None:
            v = v + dual * step.v
        if cost is not None:
            by_z = z >= v
            z, v = np.where(by_z, cost + v, z), np.where(by_z, v, z - cost)
        inside = min(part.min(initial=1.0) for part in (u, w, z, v[self.capped])) > 0
        return Orthant(self.cone, u, w, z, v) if inside else None


def _ratio(u: Array, du: Array) -> float:
    """The largest t with u + t du >= 0."""
    falling = du < 0
    return float(np.min(-u[falling] / du[falling], initial=inf))


@dataclass(frozen=True, eq=False)
class SecondOrder(ConePoint):
    """Stacks of u and z with |(u_2, ...)| < u_1, and the Nesterov-Todd scalings N z = N^-1 u."""

    cone: Cone
    u: Array
    z: Array

    @classmethod
    def first(cls, cone: Cone, u: Array, z: Array) -> SecondOrder | None:
        """Return the pair of two vectors; None unless both are inside."""
        stacks = u.reshape(-1, cone.n), z.reshape(-1, cone.n)
        return cls(cone, *stacks) if all(map(_inside, stacks)) else None

    @property
    def degree(self) -> float:
        return float(len(self.u))

    @property
    def point(self) -> Array:
        return self.u

    @property
    def flat(self) -> Array:
        return self.u.ravel()

    @property
    def dual(self) -> Array:
        return self.z.ravel()

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

    def aim(self, mu: float, past: Step | None) -> Aim:
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
        return Aim((self._times(self.N, divided) - self.u).ravel())

    def scaled(self, dz: Array) -> Array:
        """N N dz."""
        return self._times(self.N, self._times(self.N, dz)).ravel()

    def longest(self, step: Step) -> tuple[float, float]:
        shape = self.u.shape
        return _until_flat(self.u, step.u.reshape(shape)), _until_flat(
            self.z, step.z.reshape(shape)
        )

    def moved(
        self, step: Step, primal: float, dual: float, cost: Array | None
    ) -> SecondOrder | None:
        z = self.dual + dual * step.z if cost is None else cost
        return SecondOrder.first(self.cone, self.flat + primal * step.u, z)


def _determinant(u: Array) -> Array:
    width = np.linalg.norm(u[:, 1:], axis=1)
    return np.asarray((u[:, 0] - width) * (u[:, 0] + width))


def _inside(u: Array) -> bool:
    return bool(np.all(u[:, 0] > 0) and np.all(_determinant(u) > 0))


def _until_flat(u: Array, d: Array) -> float:
    """The largest t with every u + t d in the cone."""
    a = d[:, 0] ** 2 - np.einsum("kj,kj->k", d[:, 1:], d[:, 1:])
    b = u[:, 0] * d[:, 0] - np.einsum("kj,kj->k", u[:, 1:], d[:, 1:])
    c = _determinant(u)  # det(u + t d) = c + 2 b t + a t^2
    below = np.sqrt(np.maximum(b * b - a * c, 0.0)) - b
    ends = (below > 0) & (b * b >= a * c)
    return float(np.min(c[ends] / below[ends], initial=inf))
