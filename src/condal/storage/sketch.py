"""x stored as a sketch."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from condal.linalg.blocked import block_slices
from condal.linalg.lifting import square_point
from condal.linalg.points import Array, LowRank, Outer, Point, dense
from condal.runtime.arguments import require_whole
from condal.storage.reconstruction import RANK_THRESHOLD, Spectrum
from condal.storage.whole import FLOAT_BYTES, spectral
from condal.types import Domain


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


class TwoSidedSketch:
    r"""Store :math:`Y = x \Omega` and :math:`W = \Psi x` of an m x n matrix x.

    It takes k m + l n numbers instead of m n, with k = 2R + 1 and l = 2k + 1. It takes points of
    NuclearBall(m, n) and returns one that holds the reconstruction of rank at most R, which is
    exact if x has such a rank. The sum of its singular values is at most the known bound for x.

    Parameters
    ----------
    m, n : int
        The shape of x.
    R : int
        The rank of the reconstruction.
    seed : int
        The seed of Omega and Psi.

    References
    ----------
    J. A. Tropp, A. Yurtsever, M. Udell, V. Cevher. Practical sketching algorithms for low-rank
    matrix approximation. SIAM Journal on Matrix Analysis and Applications 38, 2017.
    """

    checkpoint_fields = ("shape", "R", "_seed", "_tests", "_Y", "_W", "_trace")

    def __init__(self, m: int, n: int, R: int, *, seed: int = 0) -> None:
        require_whole(m, "m")
        require_whole(n, "n")
        require_whole(R, "R")
        require_whole(seed, "seed", least=0)
        self.shape = (int(m), int(n))
        self.R = min(int(R), m, n)
        k = min(2 * self.R + 1, n)
        self._seed = [seed, m, n, self.R]
        self._Y, self._W = np.zeros((m, k)), np.zeros((min(2 * k + 1, m), n))
        self._trace = 0.0

    @property
    def flops(self) -> float:
        """The floating-point operations of a reconstruction."""
        return 8.0 * self.n * self._Y.shape[1] ** 2

    def bytes(self, X: Domain) -> int:
        """At most what it takes."""
        return self.bytes_for(self.n, self.R)

    @staticmethod
    def bytes_for(n: int, R: int) -> int:
        """What about 4R columns of n = rows + cols numbers take, and as much to reconstruct x."""
        return 2 * Sketch.bytes_for(n, R)

    @property
    def n(self) -> int:
        """The side of the points of the nuclear ball."""
        return sum(self.shape)

    @cached_property
    def _tests(self) -> tuple[Array, Array]:
        """Omega, n x k, and Psi, l x m: random with orthonormal columns and rows."""
        rng = np.random.default_rng(self._seed)
        sides = (self._W.shape[1], self._Y.shape[1]), (self._Y.shape[0], self._W.shape[0])
        omega, psi = (np.linalg.qr(rng.standard_normal(side))[0] for side in sides)
        return omega, psi.T

    def move(self, s: Point, eta: float) -> None:
        """Y <- (1 - eta) Y + eta s Omega, and W likewise."""
        Y, W, trace = self._sketched(s)
        self._Y = (1 - eta) * self._Y + eta * Y
        self._W = (1 - eta) * self._W + eta * W
        self._trace = (1 - eta) * self._trace + eta * trace

    def load(self, x: Point) -> None:
        """Y <- x Omega, and W <- Psi x."""
        self._Y, self._W, self._trace = self._sketched(x)

    def _sketched(self, x: Point) -> tuple[Array, Array, float]:
        """x Omega and Psi x for the corner x of a point, and the trace of the point."""
        (omega, psi), m = self._tests, self.shape[0]
        if isinstance(x, LowRank):
            left, right = x.U[:m] * x.weights, x.U[m:]
            return left @ (right.T @ omega), (psi @ left) @ right.T, x.trace
        full = dense(x)
        corner = full[:m, m:]
        return corner @ omega, psi @ corner, float(np.trace(full))

    def point(self) -> Point:
        """Return Q B, cut to rank R: Q spans the columns of Y, and B fits Psi Q B to W."""
        return self.reconstructed()[0]

    def reconstructed(self) -> tuple[Point, Spectrum]:
        """Return this point and its spectrum."""
        Q = np.linalg.qr(self._Y)[0]
        B = np.linalg.lstsq(self._tests[1] @ Q, self._W, rcond=None)[0]
        U, values, Vt = np.linalg.svd(B, full_matrices=False)
        values = values[: self.R]
        bound = 0.5 * self._trace  # the trace of a point is at least twice the sum for its x
        if (total := float(values.sum())) > bound:
            values = values * (bound / total)
        x = Outer(Q @ U[:, : self.R], values, Vt[: self.R].T)
        rank = int(np.count_nonzero(values > RANK_THRESHOLD * values.max(initial=0.0)))
        return square_point(x, *self.shape), Spectrum(self.R, rank, self._trace, None)
