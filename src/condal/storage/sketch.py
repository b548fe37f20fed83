"""x stored as a sketch."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, LowRank, Point, dense
from condal.runtime.arguments import require_whole
from condal.storage.factored import spectral
from condal.storage.reconstruction import RANK_THRESHOLD, Spectrum
from condal.storage.whole import FLOAT_BYTES
from condal.types import Domain, Storage, matrix_sides


class Sketch:
    r"""Store the Nystrom sketch :math:`S = x \Omega`: n x R numbers instead of n x n.

    The reconstruction has rank at most R; the trace that it misses is spread evenly over its
    eigenvalues.

    Parameters
    ----------
    n : int
        The side of x; twice that of a complex x, which is stored in real numbers.
    R : int
        The number of columns.
    seed : int
        The seed of Omega.

    References
    ----------
    J. A. Tropp, A. Yurtsever, M. Udell, V. Cevher. Fixed-rank approximation of a
    positive-semidefinite matrix from streaming data. NeurIPS 2017.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("n", "R", "_seed", "_omega", "_S", "_trace")

    def __init__(self, n: int, R: int, *, seed: int = 0) -> None:
        require_whole(n, "n")
        require_whole(R, "R")
        self.n = n
        self.R = min(int(R), n)
        self._seed = [seed, n, self.R]
        self._S: Any = self._nothing()
        self._trace = 0.0

    @cached_property
    def _omega(self) -> Any:
        return self._random()

    # Operations on all n rows in one process; distributed sketches override them.

    def _nothing(self) -> Any:
        """The sketch of x = 0: n x R zeros."""
        return np.zeros((self.n, self.R))

    def _random(self) -> Any:
        """Omega, n x R standard normal numbers."""
        return np.random.default_rng(self._seed).standard_normal((self.n, self.R))

    def _unit(self) -> Any:
        """The first R columns of I."""
        return np.eye(self.n, self.R)

    def _root(self, core: Array) -> Array:
        """L with core = L L'; LinAlgError if core is not definite."""
        return np.asarray(cholesky(core, lower=True))

    def _solved(self, S: Any, L: Array) -> Any:
        """S L'^-1."""
        return solve_triangular(L, S.T, lower=True).T

    def _decomposed(self, B: Any) -> tuple[Any, Array]:
        """U and sigma with B = U diag(sigma) V'."""
        U, sigma, _ = svd(B, full_matrices=False)
        return U, sigma

    @property
    def flops(self) -> float:
        """The floating-point operations of a reconstruction."""
        return 8.0 * self.n * self.R**2

    def bytes(self, X: Domain) -> int:
        """At most what it takes."""
        return self.bytes_for(self.n, self.R)

    @staticmethod
    def bytes_for(n: int, R: int) -> int:
        """What S and Omega take, and a point while it is made of them."""
        return 8 * FLOAT_BYTES * n * min(R, n)

    def move(self, s: Point, eta: float) -> None:
        """S <- (1 - eta) S + eta s Omega."""
        s = spectral(s)
        right = (eta * s.weights)[:, None] * (s.U.T @ self._omega)
        for rows in block_slices(*self._S.shape):  # one pass through memory
            part = self._S[rows]
            part *= 1 - eta
            part += s.U[rows] @ right
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
        """Return the reconstruction, of rank R, with the trace of x."""
        return self.reconstructed()[0]

    def reconstructed(self) -> tuple[LowRank, Spectrum]:
        """Return this point, and its spectrum before the missing trace was spread."""
        largest = float(np.sqrt(np.einsum("ij,ij->j", self._S, self._S).max()))
        if largest == 0.0:
            empty = Spectrum(self.R, 0, self._trace, self._trace)
            return LowRank(self._unit(), np.full(self.R, self._trace / self.R)), empty
        shift = np.sqrt(self.n) * np.finfo(np.float64).eps * largest
        while True:
            S = self._S + shift * self._omega
            core = self._omega.T @ S
            try:
                L = self._root(0.5 * (core + core.T))
                break
            except LinAlgError:  # rank below R: a larger shift makes the core definite
                shift *= 10
        U, sigma = self._decomposed(self._solved(S, L))
        values = np.maximum(sigma**2 - shift, 0.0)
        missing = self._trace - float(values.sum())
        rank = int(np.count_nonzero(values > RANK_THRESHOLD * values.max()))
        spectrum = Spectrum(self.R, rank, self._trace, max(missing, 0.0))
        return LowRank(U, np.maximum(values + missing / self.R, 0.0)), spectrum


def storage_bytes(X: Domain, storage: Storage | None) -> int:
    """Return the most bytes that a storage takes for points of X.

    Without a storage, or one that does not say, it is the least that any storage takes.
    """
    own = getattr(storage, "bytes", None)
    if own is not None:
        return int(own(X))
    return sum(Sketch.bytes_for(n, 1) for n in matrix_sides(X))
