"""x kept as a sketch."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from condal.points import Array, LowRank, Point, dense, require_whole
from condal.storage.factored import spectral


class Sketch:
    """S = x Omega, the Nystrom sketch: n x R numbers instead of n x n.

    Tropp, Yurtsever, Udell and Cevher (2017). The reconstruction has rank at most R; the trace that
    it misses is spread evenly over its eigenvalues.
    """

    kept: ClassVar[tuple[str, ...]] = ("n", "R", "_seed", "_omega", "_S", "_trace")

    def __init__(self, n: int, R: int, *, seed: int = 0) -> None:
        require_whole(n, "n")
        require_whole(R, "R")
        self.n = n
        self.R = min(int(R), n)
        self._seed = [seed, n, self.R]
        self._S = np.zeros((n, self.R))
        self._trace = 0.0

    @cached_property
    def _omega(self) -> Array:
        return np.random.default_rng(self._seed).standard_normal(self._S.shape)

    @property
    def flops(self) -> float:
        """What it takes to make a point."""
        return 8.0 * self.n * self.R**2

    def move(self, s: Point, eta: float) -> None:
        """S <- (1 - eta) S + eta s Omega."""
        s = spectral(s)
        self._S *= 1 - eta
        self._S += (s.U * (eta * s.weights)) @ (s.U.T @ self._omega)
        self._trace = (1 - eta) * self._trace + eta * s.trace

    def load(self, x: Point) -> None:
        """S <- x Omega."""
        if isinstance(x, LowRank):
            self._S = (x.U * x.weights) @ (x.U.T @ self._omega)
            self._trace = x.trace
        else:
            full = dense(x)
            self._S, self._trace = full @ self._omega, float(np.trace(full))

    def point(self) -> LowRank:
        """The reconstruction, of rank R, with the trace of x."""
        n = self._S.shape[0]
        largest = float(np.sqrt(np.einsum("ij,ij->j", self._S, self._S).max()))
        if largest == 0.0:
            return LowRank(np.eye(n, self.R), np.full(self.R, self._trace / self.R))
        shift = np.sqrt(n) * np.finfo(np.float64).eps * largest
        while True:
            S = self._S + shift * self._omega
            core = self._omega.T @ S
            try:
                L = cholesky(0.5 * (core + core.T), lower=True)
                break
            except LinAlgError:  # a sketch of rank below R: a larger shift makes it definite
                shift *= 10
        U, sigma, _ = svd(solve_triangular(L, S.T, lower=True).T, full_matrices=False)
        values = np.maximum(sigma**2 - shift, 0.0)
        missing = (self._trace - values.sum()) / self.R
        return LowRank(U, np.maximum(values + missing, 0.0))
