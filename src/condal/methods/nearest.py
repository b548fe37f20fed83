r"""The nearest psd matrix that satisfies equations: a semismooth Newton method on its dual.

.. math:: \min_X \tfrac12 \|X - C\|_F^2 \quad \text{subject to} \quad A(X) = b,\; X \succeq 0.

The dual is unconstrained and smooth: :math:`X(y)` is the psd part of :math:`C + A^* y`, and the
gradient is :math:`A(X(y)) - b`. Newton directions come from conjugate gradients on an element of
its generalised Jacobian. Nothing here is a proof.

References
----------
H. Qi, D. Sun. A quadratically convergent Newton method for computing the nearest correlation
matrix. SIAM Journal on Matrix Analysis and Applications 28, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh

from condal.linalg.points import Array
from condal.runtime.limits import current_limit
from condal.runtime.meter import check_cancelled

MAX_ITERS, MAX_CG_ITERS, MAX_HALVINGS = 50, 200, 20
CG_ACCURACY = 1e-2
ARMIJO = 1e-4
MIN_WEIGHT = 1e-8  # added to the Jacobian, relative to the residual


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """The point X(y), its complement, and what is missing in the equations.

    `rows` are the equations in CSR, with n^2 columns and symmetric matrices as rows.
    """

    C: Array = field(repr=False)
    rows: Any = field(repr=False)
    b: Array = field(repr=False)
    y: Array = field(repr=False)

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        n = len(self.C)
        full = self.C + (self.rows.T @ self.y).reshape(n, n)
        values, vectors = eigh(full, overwrite_a=True, check_finite=False, driver="evd")
        return np.asarray(values), np.asarray(vectors)

    @cached_property
    def X(self) -> Array:
        """The psd part."""
        values, vectors = self._spectrum
        kept = values > 0
        return np.asarray((vectors[:, kept] * values[kept]) @ vectors[:, kept].T)

    @property
    def complement(self) -> Array:
        """Z = X - C - A*y, which is psd and orthogonal to X."""
        values, vectors = self._spectrum
        kept = values < 0
        return np.asarray((vectors[:, kept] * -values[kept]) @ vectors[:, kept].T)

    @cached_property
    def residual(self) -> Array:
        """b - A(X)."""
        return np.asarray(self.b - self.rows @ self.X.ravel())

    @property
    def error(self) -> float:
        """The residual, relative to 1 + |b|."""
        return float(np.linalg.norm(self.residual) / (1.0 + np.linalg.norm(self.b)))

    @cached_property
    def dual(self) -> float:
        """The negative dual objective, 1/2 |X(y)|^2 - <b, y>."""
        positive = np.maximum(self._spectrum[0], 0.0)
        return 0.5 * float(positive @ positive) - float(self.b @ self.y)

    def newton_direction(self) -> Array:
        """Solve V d = b - A(X) by conjugate gradients, V from the divided differences."""
        values, Q = self._spectrum
        positive = np.maximum(values, 0.0)
        gaps = values[:, None] - values
        same = np.abs(gaps) <= 1e-14 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        differences = positive[:, None] - positive
        weights = np.where(same, (values > 0)[:, None] * 1.0, differences / np.where(same, 1, gaps))
        n, r = len(values), self.residual
        ridge = min(1e-3, MIN_WEIGHT * float(np.linalg.norm(r)))

        def product(d: Array) -> Array:
            H = (self.rows.T @ d).reshape(n, n)
            inner = weights * (Q.T @ H @ Q)
            return np.asarray(self.rows @ (Q @ inner @ Q.T).ravel() + ridge * d)

        scale = self._diagonal(weights, Q) + ridge
        d: Array = np.zeros(r.size)
        rest, z = r.copy(), r / scale
        p, rho = z.copy(), float(r @ (r / scale))
        target = CG_ACCURACY * float(np.linalg.norm(r))
        for _ in range(MAX_CG_ITERS):
            q = product(p)
            step = rho / float(p @ q)
            d, rest = d + step * p, rest - step * q
            if np.linalg.norm(rest) <= target:
                break
            z = rest / scale
            rho, last = float(rest @ z), rho
            p = z + rho / last * p
        return d

    def _diagonal(self, weights: Array, Q: Array) -> Array:
        """About the diagonal of V: exact for rows with one entry on the diagonal."""
        squares = Q**2
        fixed = np.einsum("ij,jk,ik->i", squares, weights, squares)
        size = np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel()
        n = len(Q)
        single = np.diff(self.rows.indptr) == 1  # rows with one entry
        i, j = np.divmod(self.rows.indices[self.rows.indptr[:-1][single]], n)
        mean = float(fixed.mean()) or 1.0
        diagonal = np.full(self.b.size, mean)
        diagonal[single] = np.where(i == j, fixed[i], mean)
        return np.maximum(diagonal, 1e-3) * size


def nearest_psd(
    C: Array, rows: Any, b: Array, accuracy: float, start: Array | None = None
) -> tuple[NearestPoint, int]:
    """Return the point whose residual is that small, relative to 1 + |b|, and the Newton steps.

    It may be less accurate: its error tells. `rows` are the equations, a sparse matrix with n^2
    columns, b their right sides, and `start` the first y, 0 by default.
    """
    at = NearestPoint(C, rows, b, np.zeros(b.size) if start is None else start)
    for k in range(MAX_ITERS):
        check_cancelled()
        if at.error <= accuracy or current_limit().is_over():
            return at, k
        direction = at.newton_direction()
        slope, length = float(at.residual @ direction), 1.0
        for _ in range(MAX_HALVINGS):
            moved = NearestPoint(C, rows, b, at.y + length * direction)
            if moved.dual <= at.dual - ARMIJO * length * slope:
                break
            length *= 0.5
        else:
            return at, k
        at = moved
    return at, MAX_ITERS
