"""x of a nuclear ball, stored as a sketch of its columns and of its rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from condal.linalg.lifting import square_point
from condal.linalg.points import Array, LowRank, Outer, Point, dense
from condal.runtime.arguments import require_whole
from condal.storage.sketch import RANK_THRESHOLD, Sketch, Spectrum
from condal.types import Domain


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
