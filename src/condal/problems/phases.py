"""Phase retrieval: a signal from the intensities of linear measurements (Candes et al. 2013)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.domains.lifted import Hermitian
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.eigen import Automatic
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.lifting import real_vectors
from condal.linalg.points import Array, LowRank
from condal.maps.diffraction import CodedDiffraction
from condal.maps.quadratics import Quadratics
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.problems.factors import factor_of
from condal.result import Result
from condal.runtime.arguments import finite_array, require_positive
from condal.smooth.residuals import LeastSquares

ROOM = 1.05  # times the trace that the intensities allow: noise must not cut the signal short
SINGULAR = 1e-3  # of the mean intensity a unit signal can make: measurements that miss a part


@dataclass(frozen=True, eq=False)
class Signal:
    """`values` of a signal, known up to one factor of modulus 1; `residual` is
    | |a u|^2 - b | / |b|."""

    values: Any
    residual: float

    def error(self, other: Any) -> float:
        """The least |u - c v| / |v| over all c of modulus 1: how far from another signal v."""
        v = np.asarray(other).ravel()
        if v.shape != self.values.shape or not np.any(v):
            raise ProblemError(
                f"wanted a signal of {self.values.size} numbers, not all 0; got shape {v.shape}"
            )
        product = np.vdot(v, self.values)
        turn = product / abs(product) if abs(product) > 0 else 1.0
        return float(np.linalg.norm(self.values - turn * v) / np.linalg.norm(v))

    def __repr__(self) -> str:
        return f"Signal({self.values.size} values, residual={self.residual:.3g})"


@dataclass(frozen=True, eq=False)
class PhaseRetrieval:
    """minimise |A x - b|^2 / (2 |b|^2) over x psd, tr x <= trace: (A x)_i = (a x a*)_ii.

    A signal u with |(a u)_i|^2 = b_i is the point u u*, of objective 0. The rank is not bounded, so
    that the problem is convex: where the measurements determine the signal, they mostly determine
    the point as well. x is complex Hermitian, or real symmetric for a real a, which is for real
    signals. `shape` is that of the image which the signal is, if it is one.
    """

    A: Quadratics = field(repr=False)
    b: Array = field(repr=False)
    trace: float
    name: str = "phase retrieval"
    shape: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        """The length of the signal."""
        return self.A.n // self.A.each

    @cached_property
    def problem(self) -> Problem:
        """The least squares problem over the spectral domain."""
        domain = Hermitian if self.A.each == 2 else Spectrahedron
        return Problem.of(
            f=LeastSquares(self.A, self.b, weight=1.0 / float(self.b @ self.b)),
            X=domain(self.n, self.trace, True),
            name=self.name,
            rank=1,
        )

    def signal(self, result: Result) -> Signal:
        """sqrt(l) u, with l the largest eigenvalue of x and u its eigenvector."""
        x = point_of(result, self.n)
        U, roots, _ = np.linalg.svd(factor_of(x), full_matrices=False)
        values = U[:, 0] * roots[0]
        return Signal(values, self.residual(values))

    def residual(self, values: Any) -> float:
        """| |a u|^2 - b | / |b| for a signal u."""
        u = np.asarray(values).ravel()
        if u.shape != (self.n,):
            raise ProblemError(f"a signal has {self.n} values here; got shape {u.shape}")
        both = real_vectors(u[:, None]) if self.A.each == 2 else np.column_stack([u.real, u.imag])
        image = self.A(LowRank(both, np.ones(both.shape[1])))
        return float(np.linalg.norm(image - self.b) / np.linalg.norm(self.b))


def phase_retrieval(
    intensities: Any,
    a: Any = None,
    *,
    masks: Any = None,
    trace: float | None = None,
    name: str = "phase retrieval",
) -> PhaseRetrieval:
    """The model of a signal u from intensities b_i = |(a u)_i|^2, with or without noise.

    Parameters
    ----------
    intensities : b, not negative, of any shape that has as many numbers as there are measurements.
    a : the measurements: a p x n matrix, real or complex, dense, sparse, or a LinearOperator.
    masks : instead of a, the masks of coded diffraction, of shape (L, h, w): the intensities are
        those of the unitary 2-D Fourier transforms of masks * image.
    trace : a bound on |u|^2; left out, it is taken from the intensities.
    """
    if (a is None) == (masks is None):
        raise ProblemError("give the measurements either as the matrix a= or as masks=")
    A = Quadratics(CodedDiffraction(masks) if a is None else a)
    b = finite_array(intensities, "intensities")
    if masks is not None and b.ndim == 3 and b.shape != np.shape(masks):
        raise ProblemError(
            f"intensities of shape {b.shape} are not those of masks of shape {np.shape(masks)}: "
            "both are (L, h, w)"
        )
    b = b.flatten()
    if b.size != A.size:
        raise ProblemError(
            f"there are {A.size} measurements, but {b.size} intensities: one is wanted for each"
        )
    if np.any(b < 0) or not b.any():
        raise ProblemError(
            "intensities are squares: none may be negative, and not all may be 0; "
            f"the smallest is {b.min():g}"
        )
    if trace is None:
        trace = _trace(A, b)
    require_positive(trace, "trace")
    shape = None if masks is None else (int(np.shape(masks)[-2]), int(np.shape(masks)[-1]))
    return PhaseRetrieval(A, b, float(trace), name, shape)


def _trace(A: Quadratics, b: Array) -> float:
    """sum b / l, which |u|^2 does not exceed for a proved l <= lambda_min(sum_i a_i a_i*), and some
    room."""
    mean = float(np.sum(A.row_norms())) / A.n
    if mean == 0.0:
        raise ProblemError("a is 0: its measurements say nothing of the signal")
    least = _least(A, mean)
    if least < SINGULAR * mean:
        raise ProblemError(
            "the measurements do not bound the signal (a has nearly dependent columns): "
            "pass trace=, a bound on the sum of its squares"
        )
    return ROOM * float(b.sum()) / least


def _least(A: Quadratics, mean: float) -> float:
    """The smallest eigenvalue of sum_i a_i a_i*, or a proved bound below it."""
    masked = getattr(A.a, "of", None)
    if isinstance(masked, CodedDiffraction):  # which is diagonal
        return float(masked.frame.min())
    frame = A.adjoint(np.ones(A.size))
    least = Automatic().smallest(frame, tol=SINGULAR * mean).value
    slack = max(0.02 * least, SINGULAR * mean)
    return smallest_eigenvalue_bound(frame, slack=slack, failure=1e-6, seed=0).value
