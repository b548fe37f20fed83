"""Spectral domains: positive semidefinite matrices of bounded trace."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh, eigvalsh

from condal.errors import ProblemError
from condal.linalg.eigen import Automatic, Engine, lowest
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import Proof, stable_norm
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import require_positive, require_whole

if TYPE_CHECKING:
    from condal.linalg.cone_slices import ConeSlice

MIN_PARTIAL_SIDE = 64  # from which LAPACK computes a few eigenpairs faster than all
MAX_PARTIAL = 0.15  # fraction of the eigenpairs: to compute more takes longer than to compute all
MIN_KRYLOV_SIDE = 400  # from which a guess is improved faster than eigenpairs are computed
SPARE_PAIRS = 8  # eigenpairs beyond the expected rank
SINGLE_ERROR = 4e-6  # times |v|: above the error of a projection in single precision
MAX_SINGLE_ERROR = 1e30  # far below where single precision overflows


@dataclass(frozen=True)
class Spectrahedron:
    r"""Psd matrices of given trace, :math:`X = \{x \succeq 0 : \operatorname{tr} x = t\}`.

    :math:`\operatorname{lmo}(V) = t\, u u^\top`, with :math:`u` a unit eigenvector of the smallest
    eigenvalue of V. With `at_most`, :math:`\operatorname{lmo}(V) = 0` if V is psd.

    Parameters
    ----------
    n : int
        The order of x, an n x n matrix.
    trace : float
        The trace :math:`t`.
    at_most : bool
        If true, the constraint is :math:`\operatorname{tr} x \le t` instead of equality.
    engine : Engine, optional
        The eigenvalue solver, from `condal.eigen`.

    Examples
    --------
    >>> import condal, numpy as np
    >>> X = condal.Spectrahedron(2, trace=3.0)
    >>> np.asarray(X.lmo(condal.Linear(np.diag([1.0, 2.0])).C))
    array([[3., 0.],
           [0., 0.]])
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
        if self.n == 1:
            return self.trace if self.at_most else 0.0
        return float(np.sqrt(2.0)) * self.trace

    @property
    def max_norm(self) -> float:
        return self.trace

    @property
    def sections(self) -> tuple[ConeSlice, ...]:
        from condal.linalg.cone_slices import ConeSlice

        return (ConeSlice("psd", self.n, self.trace, self.at_most),)

    def with_engine(self, engine: Engine) -> Spectrahedron:
        """Return X with another eigenvalue solver."""
        return replace(self, engine=engine)

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> LowRank:
        """trace u u', with <v, u u'> within tol / trace of the smallest eigenvalue."""
        assert isinstance(v, Symmetric)
        start = guess.U[:, 0] if isinstance(guess, LowRank) and guess.rank else None
        pair = self.engine.smallest(v, tol / self.trace, start)
        weight = 0.0 if self.at_most and pair.value >= 0 else self.trace
        return LowRank(pair.vector[:, None], np.array([weight]))

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        assert isinstance(v, Symmetric)
        return lowest(v, count, tol, beside=beside)

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        """Return U diag(max(e - t, 0)) U', with v = U diag(e) U' and t such that it lies in X.

        Only eigenvalues above t matter. If `guess` has a low rank, a few of the largest are
        computed first, then more as needed; for a large n they come from `guess`, within tol.
        Then a few columns of weight 0 follow, which improve a guess. Single precision is used if
        tol allows it.
        """
        size = float(np.linalg.norm(v))
        if not np.isfinite(size):
            raise FloatingPointError("the matrix to project holds NaN or infinity")
        kind = np.float32 if SINGLE_ERROR * size <= min(tol, MAX_SINGLE_ERROR) else np.float64
        v = np.asarray(v, dtype=kind)
        values, vectors = self._leading(v, guess, tol)
        rank, t = self._cut(values)
        weights = values[:rank] - t
        if t != 0 or not self.at_most:
            weights += (self.trace - weights.sum()) / rank  # corrects the rounding of a large v
        spare = min(values.size - rank, SPARE_PAIRS) if values.size < self.n else 0
        weights = np.append(np.maximum(weights, 0.0), np.zeros(spare))
        return LowRank(vectors[:, : rank + spare], weights)

    def _leading(self, v: NDArray[Any], guess: Point | None, tol: float) -> tuple[Array, Array]:
        """Return the largest eigenvalues, descending, with all above t, and the eigenvectors."""
        wanted, U = self.n, np.zeros((self.n, 0))
        if self.n >= MIN_PARTIAL_SIDE and isinstance(guess, LowRank):
            wanted, U = guess.rank + SPARE_PAIRS, guess.U
        if self.n >= MIN_KRYLOV_SIDE and tol > 0:
            from condal.linalg.subspaces import leading_eigenpairs

            pairs = leading_eigenpairs(v, U, self._cut, SPARE_PAIRS, tol)
            if pairs is not None:
                return pairs
        while True:
            wanted = wanted if wanted <= MAX_PARTIAL * self.n else self.n
            values, vectors = _largest(v, wanted)
            if self._cut(values)[0] < wanted or wanted == self.n:
                return values, vectors
            wanted *= 2

    def _cut(self, values: Array) -> tuple[int, float]:
        """Return how many of the largest eigenvalues exceed t, and t."""
        thresholds = (np.cumsum(values) - self.trace) / np.arange(1, values.size + 1)
        rank = max(1, int(np.count_nonzero(values > thresholds)))
        t = float(thresholds[rank - 1])
        if self.at_most and t < 0:  # the positive part is within the trace
            return int(np.count_nonzero(values > 0)), 0.0
        return rank, t

    def bound(
        self,
        v: Gradient,
        *,
        slack: float,
        failure: float,
        seed: int,
        enough: float = inf,
        diagonal: Array | None = None,
    ) -> Proof:
        """Prove trace * l <= min <v, .> with l <= lambda_min(v); with `at_most`, l is at most 0.

        With a `diagonal`, the bound need only hold for the x that have it.
        """
        assert isinstance(v, Symmetric)
        proof = smallest_eigenvalue_bound(
            v,
            slack=slack / self.trace,
            failure=failure,
            seed=seed,
            enough=(min(enough, 0.0) if self.at_most and enough < inf else enough) / self.trace,
            engine=self.engine,
            shares=None if diagonal is None else diagonal / self.trace,
        )
        value = min(proof.value, 0.0) if self.at_most else proof.value
        return replace(proof, value=self.trace * value)

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
            negative = stable_norm(np.minimum(parts, 0.0))
        excess = float(np.maximum(parts, 0.0).sum()) - self.trace
        return float(negative) + (max(excess, 0.0) if self.at_most else abs(excess))

    def check(self, v: Gradient, name: str) -> None:
        if not isinstance(v, Symmetric) or v.n != self.n:
            got = f"one of side {v.n}" if isinstance(v, Symmetric) else "a map of vectors"
            raise ProblemError(
                f"{name} must act on symmetric {self.n} x {self.n} matrices, as the Spectrahedron "
                f"does; got {got}"
            )


def _largest(v: NDArray[Any], count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of v, descending, and their unit eigenvectors."""
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
