"""Second-order cones, with the Nesterov-Todd scaling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from condal.linalg.points import Array
from condal.methods.interior.cone_point import Aim, Step
from condal.methods.interior.standard import Cone


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """u and z with |(u_2, ...)| < u_1, and the Nesterov-Todd scaling N z = N^-1 u."""

    cone: Cone
    u: Array
    z: Array

    @property
    def gap(self) -> float:
        """<u, z>."""
        return float(self.u @ self.z)

    @property
    def degree(self) -> float:
        return 1.0

    @property
    def point(self) -> Array:
        return self.u

    @property
    def flat(self) -> Array:
        return self.u

    def price(self) -> float:
        return 0.0

    @cached_property
    def N(self) -> Array:
        """eta (2 q q' - J)^(1/2), with q on the hyperboloid between u and J z."""
        du, dz = sqrt(_determinant(self.u)), sqrt(_determinant(self.z))
        u, z = self.u / du, self.z / dz
        z[1:] *= -1.0
        q = (u + z) / (2.0 * sqrt(0.5 * (1.0 + u[0] * z[0] - u[1:] @ z[1:])))
        N = np.eye(q.size)
        N[1:, 1:] += np.outer(q[1:], q[1:]) / (1.0 + q[0])
        N[0], N[:, 0] = q, q
        return np.asarray(sqrt(du / dz) * N)

    @cached_property
    def lam(self) -> Array:
        """N z."""
        return np.asarray(self.N @ self.z)

    def _unscaled(self, v: Array) -> Array:
        """N^-1 v = J N J v / eta^2: N / eta leaves the form <v, J v> as it is."""
        J = np.ones(v.size)
        J[1:] = -1.0
        eta_squared = sqrt(_determinant(self.u)) / sqrt(_determinant(self.z))
        return np.asarray(J * (self.N @ (J * v)) / eta_squared)

    def add_to(self, M: Array) -> None:
        """A N N A'."""
        A = self.cone.A
        rows = np.flatnonzero(np.diff(A.indptr))
        image = A[rows] @ self.N
        M[np.ix_(rows, rows)] += image @ image.T

    def aim(self, mu: float, past: Step | None) -> Aim:
        """mu z^-1 - u, minus N of the second-order term of the predictor step divided by lam."""
        target = np.zeros(self.u.size)
        target[0] = mu
        if past is not None:
            a, b = self._unscaled(past.u), self.N @ past.z
            target[0] -= a @ b
            target[1:] -= a[0] * b[1:] + b[0] * a[1:]
        lam = self.lam
        # det lam, which rounding may destroy if computed from lam
        determinant = sqrt(_determinant(self.u)) * sqrt(_determinant(self.z))
        head = (lam[0] * target[0] - lam[1:] @ target[1:]) / determinant
        divided = np.concatenate([[head], (target[1:] - head * lam[1:]) / lam[0]])
        return Aim(self.N @ divided - self.u)

    def step(self, aim: Aim, dz: Array) -> Step:
        """du = r - N N dz."""
        return Step(aim.r - self.N @ (self.N @ dz), dz)

    def longest(self, step: Step) -> tuple[float, float]:
        return _until_flat(self.u, step.u), _until_flat(self.z, step.z)

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """<u + primal du, z + dual dz>."""
        return float((self.u + primal * step.u) @ (self.z + dual * step.z))

    def moved(self, step: Step, primal: float, dual: float, y: Array) -> SecondOrder | None:
        u, z = self.u + primal * step.u, self.cone.reduced(y)
        return SecondOrder(self.cone, u, z) if _inside(u) and _inside(z) else None


def _determinant(u: Array) -> float:
    width = float(np.linalg.norm(u[1:]))
    return (float(u[0]) - width) * (float(u[0]) + width)


def _inside(u: Array) -> bool:
    return bool(u[0] > 0) and _determinant(u) > 0


def _until_flat(u: Array, d: Array) -> float:
    """The largest t with u + t d in the cone."""
    a, b = float(d[0] ** 2 - d[1:] @ d[1:]), float(u[0] * d[0] - u[1:] @ d[1:])
    c = _determinant(u)  # det(u + t d) = c + 2 b t + a t^2
    below = sqrt(max(b * b - a * c, 0.0)) - b
    return c / below if below > 0 and b * b >= a * c else inf
