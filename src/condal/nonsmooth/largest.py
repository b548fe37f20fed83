"""The largest entry, or eigenvalue: g* is the indicator of a simplex, or of a spectrahedron."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.linalg.rounding import NEAR, gamma, one_factor, written
from condal.linalg.triangles import (
    checked_svec,
    smat,
    svec_eigenvalue_error,
    svec_eigh,
    svec_from_spectrum,
    svec_indices,
)
from condal.nonsmooth.finite import Finite, Weighted
from condal.nonsmooth.levels import level, onto_simplex
from condal.runtime.arguments import require_positive, require_whole


class Maximum(Weighted):
    r"""The largest entry :math:`g(z) = t \max_i z_i`.

    Parameters
    ----------
    t : float
        The weight.
    size : int, optional
        The length of z; taken from B if left out.
    """

    def prox(self, z: Array, t: float) -> Array:
        """z, its largest entries cut off at one level."""
        return np.minimum(z, level(z, t * self.t))

    def value(self, z: Array) -> float:
        return self.t * float(z.max())

    def conjugate(self, y: Array) -> float:
        """0 where y >= 0 and sum_i y_i = t, up to rounding, else inf."""
        within = abs(float(y.sum()) - self.t) <= NEAR * self.t
        return 0.0 if within and float(y.min()) >= 0 else inf

    def dual_error(self, y: Array) -> float:
        return abs(float(y.sum()) - self.t) + gamma(y.size + 2) * float(np.abs(y).sum())

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return written(onto_simplex(lam * z, self.t), out)

    def dual_point(self, y: Array) -> Array:
        return y if self.conjugate(y) == 0.0 else onto_simplex(y, self.t)


class MaxEigenvalue(Finite):
    r"""The largest eigenvalue :math:`g(z) = t \lambda_{\max}(x)` of a symmetric matrix.

    The matrix x is stored as :math:`z = (x_{ii}, \sqrt{2}\, x_{ij}` for :math:`i > j)`, the image
    of the map `Triangle(n)`. A prox takes an eigenvalue decomposition, so n should be small.

    Parameters
    ----------
    n : int
        The side of the matrix.
    t : float
        The weight.
    """

    def __init__(self, n: int, t: float = 1.0) -> None:
        require_whole(n, "n")
        require_positive(t, "t")
        super().__init__(n * (n + 1) // 2)
        self.n, self.t = int(n), float(t)

    def vector(self, x: Any) -> Array:
        """Return z for the symmetric matrix x."""
        return checked_svec(x, self.n, "x")

    def matrix(self, z: Array) -> Array:
        """Return the symmetric matrix x for z."""
        return smat(np.asarray(z, dtype=np.float64), self.n)

    @property
    def lipschitz(self) -> float:
        return self.t

    def prox(self, z: Array, t: float) -> Array:
        """The matrix, its largest eigenvalues cut off at one level."""
        values, vectors = svec_eigh(z, self.n)
        excess = np.maximum(values - level(values, t * self.t), 0.0)
        return z - svec_from_spectrum(excess, vectors)

    def value(self, z: Array) -> float:
        return self.t * float(np.linalg.eigvalsh(smat(z, self.n))[-1])

    def _misses(self, y: Array) -> tuple[float, float]:
        """Return how far the smallest eigenvalue is below 0, and the trace from t."""
        i, j, _ = svec_indices(self.n)
        smallest = float(np.linalg.eigvalsh(smat(y, self.n))[0])
        return max(0.0, -smallest), abs(float(y[i == j].sum()) - self.t)

    def conjugate(self, y: Array) -> float:
        """0 where the matrix of y is psd and has trace t, up to rounding, else inf."""
        return 0.0 if max(self._misses(y)) <= NEAR * self.t else inf

    def dual_error(self, y: Array) -> float:
        """The distance to the matrix shifted until it is psd and scaled to trace t."""
        below, trace_error = self._misses(y)
        below += svec_eigenvalue_error(y, self.n)
        return 2 * sqrt(self.n) * self.n * below + trace_error + gamma(self.n + 2) * 2 * self.t

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        return written(self._nearest(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        return y if self.conjugate(y) == 0.0 else self._nearest(y)

    def _nearest(self, y: Array) -> Array:
        values, vectors = svec_eigh(y, self.n)
        return svec_from_spectrum(onto_simplex(values, self.t), vectors)

    def scaled(self, rows: Array, c: float) -> MaxEigenvalue:
        return MaxEigenvalue(self.n, c * self.t / one_factor(rows, "MaxEigenvalue"))
