"""Spectral domains: positive semidefinite matrices of bounded trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh, eigvalsh

from condal.errors import ProblemError
from condal.linalg.cone_slices import ConeSlice
from condal.linalg.eigen import Automatic, Engine, lowest
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.proof import Proof
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import require_positive, require_whole

PARTIAL_FROM = 64  # n from which LAPACK gives some eigenpairs sooner than all
MOST_PARTIAL = 0.15  # of the eigenpairs: computing more one by one takes longer than all
SPARE = 8  # eigenpairs beyond the rank that is expected
SINGLE = 4e-6  # times |v|: more than the error of a projection in single precision
LARGEST_SINGLE = 1e30  # of SINGLE |v|: far from where single precision overflows


@dataclass(frozen=True)
class Spectrahedron:
    """X = {x psd, n x n : tr x = trace}, or tr x <= trace if `at_most`.

    lmo(V) = trace u u', with u a unit eigenvector of the smallest eigenvalue of V (0 if `at_most`
    and no eigenvalue is negative).
    """

    n: int
    trace: float = 1.0
    at_most: bool = False
    engine: Engine = field(default_factory=Automatic, repr=False)

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        require_positive(self.trace, "trace")

    @property
    def diameter(self) -> float:
        """sqrt(2) trace; trace itself for n = 1 and `at_most`, 0 for n = 1."""
        if self.n == 1:
            return self.trace if self.at_most else 0.0
        return float(np.sqrt(2.0)) * self.trace

    @property
    def max_norm(self) -> float:
        """The trace."""
        return self.trace

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        """The cone, at that trace or below."""
        return (ConeSlice("psd", self.n, self.trace, self.at_most),)

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> LowRank:
        """trace u u', <v, u u'> within tol / trace of the smallest eigenvalue."""
        assert isinstance(v, Symmetric)
        start = guess.U[:, 0] if isinstance(guess, LowRank) and guess.rank else None
        pair = self.engine.smallest(v, tol / self.trace, start)
        weight = 0.0 if self.at_most and pair.value >= 0 else self.trace
        return LowRank(pair.vector[:, None], np.array([weight]))

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        """The smallest eigenvalues of v and their eigenvectors."""
        assert isinstance(v, Symmetric)
        return lowest(v, count, tol, beside=beside)

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        """U diag(max(e - t, 0)) U', with v = U diag(e) U' and the t that makes it one of X.

        The eigenvalues below t are not needed: where few are expected above it, these are computed
        alone, and more if they were too few. Single precision serves a tol that allows it.
        """
        size = float(np.linalg.norm(v))
        if not np.isfinite(size):
            raise FloatingPointError("the matrix to project holds NaN or infinity")
        kind = np.float32 if SINGLE * size <= min(tol, LARGEST_SINGLE) else np.float64
        v = np.asarray(v, dtype=kind)
        wanted = self.n
        if self.n >= PARTIAL_FROM and isinstance(guess, LowRank):
            wanted = guess.rank + SPARE
        while True:
            wanted = wanted if wanted <= MOST_PARTIAL * self.n else self.n
            values, vectors = _largest(v, wanted)
            thresholds = (np.cumsum(values) - self.trace) / np.arange(1, wanted + 1)
            rank = max(1, int(np.count_nonzero(values > thresholds)))
            if rank < wanted or wanted == self.n:
                break
            wanted *= 2
        t = thresholds[rank - 1]
        if self.at_most and t < 0:  # the positive part is within the trace
            rank = int(np.count_nonzero(values > 0))
            return LowRank(vectors[:, :rank], values[:rank])
        weights = values[:rank] - t
        weights += (self.trace - weights.sum()) / rank  # what rounding took, if v is large
        return LowRank(vectors[:, :rank], np.maximum(weights, 0.0))

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """trace l, or trace min(0, l), for a proved l <= lambda_min(v)."""
        assert isinstance(v, Symmetric)
        proof = smallest_eigenvalue_bound(
            v,
            slack=slack / self.trace,
            failure=failure,
            seed=seed,
            enough=(min(enough, 0.0) if self.at_most and enough < inf else enough) / self.trace,
            engine=self.engine,
        )
        value = min(proof.value, 0.0) if self.at_most else proof.value
        return Proof(self.trace * value, proof.how, proof.failure)

    def distance(self, x: Point) -> float:
        """The norm of the negative part, plus |tr - trace| (or the excess) of the positive part."""
        assert not isinstance(x, tuple)
        side = len(x.U) if isinstance(x, LowRank) else len(x)
        if side != self.n:
            raise ProblemError(f"x must be {self.n} x {self.n}; got a side of {side}")
        if isinstance(x, LowRank):
            parts = x.weights * np.einsum("ij,ij->j", x.U, x.U)
            negative = -np.minimum(parts, 0.0).sum()
        else:
            parts = eigvalsh(x)
            negative = np.linalg.norm(np.minimum(parts, 0.0))
        excess = float(np.maximum(parts, 0.0).sum()) - self.trace
        return float(negative) + (max(excess, 0.0) if self.at_most else abs(excess))

    def check(self, v: Gradient, name: str) -> None:
        """Whether v acts on n x n symmetric matrices."""
        if not isinstance(v, Symmetric) or v.n != self.n:
            got = f"one of side {v.n}" if isinstance(v, Symmetric) else "a map of vectors"
            raise ProblemError(
                f"{name} must act on symmetric {self.n} x {self.n} matrices, as the Spectrahedron "
                f"does; got {got}"
            )


def _largest(v: NDArray[Any], count: int) -> tuple[Array, Array]:
    """The largest eigenvalues of v, in falling order, and their eigenvectors, of unit length."""
    n = len(v)
    try:
        if n == 1:  # for which LAPACK's driver has no workspace in single precision
            values, vectors = v[0].copy(), np.ones_like(v)
        elif count == n:
            values, vectors = eigh(v, driver="evd", check_finite=False)
        else:
            last = [n - count, n - 1]
            values, vectors = eigh(v, driver="evr", subset_by_index=last, check_finite=False)
    except LinAlgError as error:
        raise FloatingPointError(f"the matrix to project has no eigenvalues: {error}") from error
    if v.dtype != np.float64:
        values, vectors = values.astype(np.float64), vectors.astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=0)
    return values[::-1], vectors[:, ::-1]
