"""The proximal point of h(Ax), if Ax are the row sums and all entries of x, and h: x 1 = b, x >= 0.

    z = max(u - (t 1' + 1 t'), 0),    t such that z 1 = b.

t is n numbers instead of one multiplier per entry: semismooth Newton on z 1 - b, whose derivative
is Diag(M 1) + M with M the 0-1 pattern of z. It is never factored: M nearly consists of one block
per cluster, so a few conjugate gradient steps with its diagonal solve for a step of t. No entry of
x has a row of a sparse matrix here, which is what `composite` would make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array
from condal.methods.projection.composite import MAX_RIDGE, MAX_STEPS, RIDGE, ProximalPoint
from condal.types import LinearMap

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_CG_STEPS = 60
CG_ERROR = 0.05  # of the right-hand side
MAX_HALVINGS = 8


@dataclass(frozen=True, eq=False)
class NonNegativeRows:
    """A = (sums * row sums, entries * an isometry of the lower triangle), h = {b} x {z >= 0}."""

    A: LinearMap
    n: int
    sums: float
    entries: float
    b: Array

    @classmethod
    def of(cls, problem: Problem, n: int) -> NonNegativeRows | None:
        """Return h(A .) of a problem; None if it has another form."""
        maps: Any = getattr(problem.A, "maps", ())
        parts: Any = getattr(problem.h, "parts", ())
        if len(maps) != 2 or len(parts) != 2 or parts[0].fixed is None:
            return None
        sums = getattr(maps[0], "row_sums_factor", None)
        entries = getattr(maps[1], "isometry_factor", None)
        orthant = getattr(parts[1], "sign", 0.0)  # of the coordinates
        if not sums or not entries or entries * orthant <= 0:
            return None
        return cls(problem.A, n, sums, entries, parts[0].fixed / sums)

    def start(self, x: Array, y: Array, rho: float) -> tuple[Array, Array]:
        """Return a point with proximal point near x and multiplier near y, and its y_L."""
        if not y.any():
            return x, np.zeros(self.n)
        force: Any = self.A.adjoint(y)
        return x + force.to_dense().ravel() / rho, 0.5 * self.sums * y[: self.n]

    def prox(self, u: Array, rho: float, tied: Array, *, tol: float) -> ProximalPoint:
        """Return the proximal point of u, with |z 1 - b| <= tol sqrt(n/2); `tied` is rho t."""
        u = u.reshape(self.n, self.n)
        at = self._at(u, tied / rho)
        for _ in range(MAX_STEPS):
            if at.error <= tol * self._row_norm:
                break
            following = self._along(u, at, self._newton(at))
            if following is None:
                break
            at = following
        return ProximalPoint(at.z.ravel(), self._dual(u, at, rho), rho * at.t)

    def images(self, x: Array) -> Array:
        """Ax."""
        return self.A(x.reshape(self.n, self.n))

    def adjoint(self, y: Array) -> Array:
        """Return A'y as n^2 numbers."""
        gradient: Any = self.A.adjoint(y)
        return np.asarray(gradient.to_dense().ravel())

    @property
    def _row_norm(self) -> float:
        """|A_i| of the row sums, as `Composite` scales them."""
        return sqrt((self.n + 1) / 2)

    def _at(self, u: Array, t: Array) -> _Trial:
        z, sums = np.empty_like(u), np.empty(self.n)
        for rows in block_slices(self.n, self.n):
            block = np.add(t[rows, None], t, out=z[rows])
            np.subtract(u[rows], block, out=block)
            np.maximum(block, 0.0, out=block)
            block.sum(axis=1, out=sums[rows])
        return _Trial(t, z, sums - self.b)

    def _along(self, u: Array, at: _Trial, step: Array) -> _Trial | None:
        """The first of shorter and shorter steps that decreases the error; None if none does."""
        for halvings in range(MAX_HALVINGS):
            trial = self._at(u, at.t + 0.5**halvings * step)
            if trial.error < at.error:
                return trial
        return None

    def _newton(self, at: _Trial) -> Array:
        """(Diag(M 1) + M + a ridge)^-1 (z 1 - b), by conjugate gradients; the ridge is as in
        `Composite`."""
        M = (at.z > 0).astype(np.float32)
        size = max(float(np.linalg.norm(at.z)), np.finfo(float).tiny)
        ridge = RIDGE + min(MAX_RIDGE, at.error / (self._row_norm * size))
        diagonal = M.sum(axis=1, dtype=np.float64) + 2 * self._row_norm**2 * ridge
        precondition = 1.0 / (diagonal + np.diagonal(M))
        step, r = np.zeros(self.n), at.gradient
        z = d = precondition * r
        rz = float(r @ z)
        for _ in range(MAX_CG_STEPS):
            image = diagonal * d + M @ d.astype(np.float32)
            length = rz / float(d @ image)
            step, r = step + length * d, r - length * image
            if np.linalg.norm(r) <= CG_ERROR * at.error:
                break
            z = precondition * r
            rz, before = float(r @ z), rz
            d = z + rz / before * d
        return step

    def _dual(self, u: Array, at: _Trial, rho: float) -> Array:
        """The multiplier: of the row sums, and W = rho min(u - t 1' - 1 t', 0) of the entries."""
        W = np.empty_like(u)
        for rows in block_slices(self.n, self.n):
            block = np.add(at.t[rows, None], at.t, out=W[rows])
            np.subtract(u[rows], block, out=block)
            np.minimum(block, 0.0, out=block)
        y = self.A(W)
        y *= rho / self.entries**2
        y[: self.n] = 2 * rho * at.t / self.sums
        return y


@dataclass(frozen=True, eq=False)
class _Trial:
    """z at t, and z 1 - b."""

    t: Array
    z: Array
    gradient: Array

    @cached_property
    def error(self) -> float:
        return float(np.linalg.norm(self.gradient))
