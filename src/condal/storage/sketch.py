"""x stored as a sketch, and the accuracy of a point that is reconstructed from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot, inf
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.rounding import stable_norm
from condal.runtime.arguments import require_whole
from condal.storage.whole import FLOAT_BYTES, spectral
from condal.types import Domain, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

RANK_THRESHOLD = 1e-8  # of the largest eigenvalue: smaller ones do not count


@dataclass(frozen=True)
class Spectrum:
    """The spectrum that a sketch of R columns recovers from x.

    `rank` is the number of significant eigenvalues, `trace` is tr x, and `missing` the part of the
    trace that was not recovered.
    """

    R: int
    rank: int
    trace: float
    missing: float


@runtime_checkable
class Sketched(Protocol):
    """A storage that may hold less than x."""

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """Return the point, and its spectrum; None if the point is exactly x."""


@dataclass(frozen=True)
class Reconstruction:
    r"""The accuracy of the x of a result that was stored as a sketch of R columns.

    x is the point that the method reached, before any repair, x' its best reconstruction, and x''
    the point after the missing trace is spread over the eigenvalues of x'.

    Parameters
    ----------
    R : int
        The columns of the sketch; the largest of several blocks.
    rank : int
        The number of eigenvalues of x' above 1e-8 of the largest; the largest of several blocks.
    missing_trace : float
        :math:`(\operatorname{tr} x - \operatorname{tr} x') / \operatorname{tr} x`. Since
        :math:`x' \preceq x` for a psd x, this is the error :math:`|x - x'|` in the Schatten-1 norm
        relative to tr x; spreading at most doubles it. The x of a rectangular matrix is the psd
        matrix that holds it in a corner.
    image_error : float
        :math:`|(M, A)(x - x'')| / |(M, A) x|` in the units of the normalised problem, where
        objective and constraints have the same size.
    """

    R: int
    rank: int
    missing_trace: float
    image_error: float

    def within(self, r: int) -> float:
        r"""Return :math:`1 + r/(R - r - 1)`, the expected factor above the best rank-r error.

        The error :math:`|x - x'|` in the Schatten-1 norm is expected to be at most this factor
        times that of the best approximation of rank r (Tropp, Yurtsever, Udell and Cevher 2017).

        Parameters
        ----------
        r : int
            The rank to compare with.

        Returns
        -------
        float
            The factor; inf for r >= R - 1.
        """
        return 1.0 + r / (self.R - r - 1) if 0 <= r < self.R - 1 else inf

    def __str__(self) -> str:
        return (
            f"rank {self.rank} of a sketch of R = {self.R}: {self.missing_trace:.2g} of the trace "
            f"missing, images within {self.image_error:.2g}"
        )


def together(parts: list[Spectrum]) -> Spectrum | None:
    """Combine the spectra of the sketched blocks; None without any."""
    if not parts:
        return None
    return Spectrum(
        max(part.R for part in parts),
        max(part.rank for part in parts),
        sum(part.trace for part in parts),
        sum(part.missing for part in parts),
    )


def reconstructed(x: Storage) -> tuple[Point, Spectrum | None]:
    """Return the point of a storage, and its spectrum if the storage is a sketch."""
    if isinstance(x, Sketched):
        return x.reconstructed()
    return x.point(), None


def reconstruction(x: Storage, problem: Problem, Mx: Array, Ax: Array) -> Reconstruction | None:
    """Return the accuracy of the point of a storage, given the images of x; None if exact."""
    if not isinstance(x, Sketched):
        return None
    point, spectrum = x.reconstructed()
    if spectrum is None:
        return None
    sizes = stable_norm(Mx), stable_norm(Ax)
    errors = stable_norm(problem.f.M(point) - Mx), stable_norm(problem.A(point) - Ax)
    missing = spectrum.missing / (spectrum.trace or 1.0)
    return Reconstruction(
        spectrum.R, spectrum.rank, missing, hypot(*errors) / (hypot(*sizes) or 1.0)
    )


class Sketch:
    r"""Store the Nystrom sketch :math:`S = x \Omega`: n x R numbers instead of n x n.

    The reconstruction has rank at most R; the trace that it misses is spread evenly over its
    eigenvalues.

    Parameters
    ----------
    n : int
        The side of x; twice that of a complex x, which is stored in real numbers, and the sum of
        both sides of a rectangular x, which is a corner of a psd matrix.
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
