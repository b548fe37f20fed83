"""The largest of all: g* is the indicator of a simplex, or of matrices of trace t."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from condal.linalg.points import Array
from condal.linalg.rounding import NEAR, one_factor, written
from condal.linalg.roundoff import gamma
from condal.linalg.svec import (
    checked_svec,
    smat,
    svec_eigenvalue_error,
    svec_eigh,
    svec_from_spectrum,
    svec_indices,
)
from condal.nonsmooth.finite import Finite, Unsized
from condal.nonsmooth.levels import level, onto_simplex
from condal.runtime.arguments import require_positive, require_whole


class Maximum(Unsized):
    """g(z) = t max_i z_i."""

    def __init__(self, t: float = 1.0, size: int | None = None) -> None:
        super().__init__(size)
        require_positive(t, "t")
        self.t = float(t)

    def _of_size(self, size: int) -> Maximum:
        return Maximum(self.t, size)

    @property
    def lipschitz(self) -> float:
        """t."""
        return self.t

    def prox(self, z: Array, t: float) -> Array:
        """z, its largest entries cut off at one level."""
        return np.minimum(z, level(z, t * self.t))

    def value(self, z: Array) -> float:
        """t max_i z_i."""
        return self.t * float(z.max())

    def conjugate(self, y: Array) -> float:
        """0 where y >= 0 and sum_i y_i = t, up to rounding, else inf."""
        within = abs(float(y.sum()) - self.t) <= NEAR * self.t
        return 0.0 if within and float(y.min()) >= 0 else inf

    def dual_error(self, y: Array) -> float:
        """By how much sum_i y_i may miss t."""
        return abs(float(y.sum()) - self.t) + gamma(y.size + 2) * float(np.abs(y).sum())

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """The nearest point of the simplex to lam z."""
        return written(onto_simplex(lam * z, self.t), out)

    def dual_point(self, y: Array) -> Array:
        """The nearest point of the simplex."""
        return y if self.conjugate(y) == 0.0 else onto_simplex(y, self.t)

    def scaled(self, rows: Array, c: float) -> Maximum:
        """Another weight."""
        return Maximum(c * self.t / one_factor(rows, "Maximum"), rows.size)


class MaxEigenvalue(Finite):
    """g(z) = t lambda_max(x), z = (x_ii, and sqrt(2) x_ij for i > j), x symmetric n x n.

    z is what the map `Triangle(n)` makes of x; `vector` and `matrix` go there and back. A prox is
    an eigenvalue decomposition: n should be small.
    """

    def __init__(self, n: int, t: float = 1.0) -> None:
        require_whole(n, "n")
        require_positive(t, "t")
        super().__init__(n * (n + 1) // 2)
        self.n, self.t = int(n), float(t)

    def vector(self, x: Any) -> Array:
        """z, from the symmetric matrix x."""
        return checked_svec(x, self.n, "x")

    def matrix(self, z: Array) -> Array:
        """x, from z."""
        return smat(np.asarray(z, dtype=np.float64), self.n)

    @property
    def lipschitz(self) -> float:
        """t."""
        return self.t

    def prox(self, z: Array, t: float) -> Array:
        """The matrix, its largest eigenvalues cut off at one level."""
        values, vectors = svec_eigh(z, self.n)
        more = np.maximum(values - level(values, t * self.t), 0.0)
        return z - svec_from_spectrum(more, vectors)

    def value(self, z: Array) -> float:
        """t lambda_max."""
        return self.t * float(np.linalg.eigvalsh(smat(z, self.n))[-1])

    def _missed(self, y: Array) -> tuple[float, float]:
        """By how much the smallest eigenvalue misses 0 from below, and the trace t."""
        i, j, _ = svec_indices(self.n)
        smallest = float(np.linalg.eigvalsh(smat(y, self.n))[0])
        return max(0.0, -smallest), abs(float(y[i == j].sum()) - self.t)

    def conjugate(self, y: Array) -> float:
        """0 where the matrix of y is psd and its trace t, up to rounding, else inf."""
        return 0.0 if max(self._missed(y)) <= NEAR * self.t else inf

    def dual_error(self, y: Array) -> float:
        """How far y may be from that set: it is shifted until psd, and scaled to the trace."""
        below, missed = self._missed(y)
        below += svec_eigenvalue_error(y, self.n)
        return 2 * sqrt(self.n) * self.n * below + missed + gamma(self.n + 2) * 2 * self.t

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """The nearest point of that set to lam z."""
        return written(self._nearest(lam * z), out)

    def dual_point(self, y: Array) -> Array:
        """The nearest point where it is psd of trace t."""
        return y if self.conjugate(y) == 0.0 else self._nearest(y)

    def _nearest(self, y: Array) -> Array:
        values, vectors = svec_eigh(y, self.n)
        return svec_from_spectrum(onto_simplex(values, self.t), vectors)

    def scaled(self, rows: Array, c: float) -> MaxEigenvalue:
        """Another weight."""
        return MaxEigenvalue(self.n, c * self.t / one_factor(rows, "MaxEigenvalue"))
