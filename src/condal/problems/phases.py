"""Phase retrieval: a signal from the intensities of linear measurements (Candes et al. 2013)."""

from __future__ import annotations

from collections.abc import Iterable
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
from condal.problems.answers import Answer, Figures, Picture, Rows, complex_lines
from condal.problems.models import Model, factor_of, point_of
from condal.result import Result
from condal.runtime.arguments import finite_array, require_positive, unpredictable_seed
from condal.smooth.losses import LeastSquares

TRACE_ROOM = 1.05  # factor on the trace that exact intensities allow, for noise
MIN_FRAME_EIGENVALUE = 1e-3  # of the mean intensity of unit signals; below, a part is not measured


@dataclass(frozen=True, eq=False)
class Signal(Answer):
    r"""A signal, determined up to one factor of modulus 1.

    Attributes
    ----------
    values : ndarray
        The values u of the signal.
    residual : float
        :math:`\| |a u|^2 - b \| / \|b\|`.
    bound : float, optional
        A proved lower bound on the objective of the relaxation.
    """

    values: Any
    residual: float
    model: Any = None
    bound: float = -np.inf

    def picture(self) -> Picture:
        from condal.report import pictures

        size, phase = np.abs(self.values), np.angle(self.values)
        shape = self.model.shape
        if shape is None:
            curves = [("modulus", size), ("phase", phase)]
            return pictures.curves(curves, "The signal, up to a factor of modulus 1.")
        images = [("modulus", size.reshape(shape)), ("phase", phase.reshape(shape))]
        return pictures.images(images, "The image, up to a factor of modulus 1.")

    def rows(self) -> Rows:
        kind = "complex" if np.iscomplexobj(self.values) else "real"
        return [
            ("signal", f"{self.values.size:,} {kind} numbers, up to a factor of modulus 1"),
            ("residual", f"{self.residual:.2g}, | |a u|^2 - b | / |b|"),
        ]

    def figures(self) -> Figures:
        return {"residual": self.residual}

    def lines(self) -> Iterable[str]:
        return complex_lines(self.values)

    def error(self, other: Any) -> float:
        """Return the least |u - c v| / |v| over c of modulus 1, for another signal v."""
        v = np.asarray(other).ravel()
        if v.shape != self.values.shape or not np.any(v):
            raise ProblemError(
                f"wanted a signal of {self.values.size} numbers, not all 0; got shape {v.shape}"
            )
        product = np.vdot(v, self.values)
        factor = product / abs(product) if abs(product) > 0 else 1.0
        return float(np.linalg.norm(self.values - factor * v) / np.linalg.norm(v))

    def __repr__(self) -> str:
        return f"Signal(size={self.values.size}, residual={self.residual:.3g})"


@dataclass(frozen=True, eq=False, repr=False)
class PhaseRetrieval(Model):
    r"""The convex relaxation of phase retrieval [1]_.

    .. math::

        \min_x \; \frac{\|\mathcal{A} x - b\|^2}{2 \|b\|^2}
        \quad \text{subject to} \quad x \succeq 0, \; \operatorname{tr} x \le \mathrm{trace},
        \qquad (\mathcal{A} x)_i = (a x a^*)_{ii}.

    A signal u with :math:`|(a u)_i|^2 = b_i` is the point :math:`u u^*` of objective 0. The rank is
    not bounded, so the problem is convex; measurements that determine the signal mostly determine
    the point as well. x is complex Hermitian, or real symmetric if `a` is real, for real signals.
    With a `scale` s, x is the point of s u instead, and a is divided by s. `phase_retrieval` builds
    the model.

    Parameters
    ----------
    A : Quadratics
        The measurements.
    b : ndarray
        The intensities.
    trace : float
        A bound on :math:`\|u\|^2`, or on :math:`\|s u\|^2`.
    shape : tuple of int, optional
        The shape of the image, if the signal is one.
    scale : ndarray, optional
        The factors s of the values of the signal.

    References
    ----------
    .. [1] E. J. Candes, T. Strohmer and V. Voroninski, "PhaseLift: exact and stable signal recovery
       from magnitude measurements via convex programming", *Communications on Pure and Applied
       Mathematics* 66, 2013.
    """

    A: Quadratics = field(repr=False)
    b: Array = field(repr=False)
    trace: float
    name: str = "phase retrieval"
    shape: tuple[int, int] | None = None
    scale: Array | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """The length of the signal."""
        return self.A.n // self.A.each

    @cached_property
    def problem(self) -> Problem:
        """The least-squares problem over the spectral domain."""
        domain = Hermitian if self.A.each == 2 else Spectrahedron
        return Problem.of(
            f=LeastSquares(self.A, self.b, weight=1.0 / float(self.b @ self.b)),
            X=domain(self.n, self.trace, True),
            name=self.name,
            rank=1,
        )

    def signal(self, result: Result) -> Signal:
        r"""Return the signal :math:`\sqrt{\lambda} u` of the leading eigenpair of x."""
        values = self.leading(point_of(result, self.n, self.n))
        return Signal(values, self.residual(values), self, float(result.bound))

    def leading(self, x: Any) -> Any:
        """Return the signal of the leading eigenpair of a point."""
        U, roots, _ = np.linalg.svd(factor_of(x), full_matrices=False)
        values = U[:, 0] * roots[0]
        return values if self.scale is None else values / self.scale

    def residual(self, values: Any) -> float:
        """Return | |a u|^2 - b | / |b| for a signal u."""
        u = np.asarray(values).ravel()
        if u.shape != (self.n,):
            raise ProblemError(f"a signal has {self.n} values here; got shape {u.shape}")
        u = u if self.scale is None else self.scale * u
        both = real_vectors(u[:, None]) if self.A.each == 2 else np.column_stack([u.real, u.imag])
        image = self.A(LowRank(both, np.ones(both.shape[1])))
        return float(np.linalg.norm(image - self.b) / np.linalg.norm(self.b))


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def phase_retrieval(
    intensities: Any,
    a: Any = None,
    *,
    masks: Any = None,
    trace: float | None = None,
    name: str = "phase retrieval",
) -> PhaseRetrieval:
    r"""Return the model of a signal u from intensities :math:`b_i = |(a u)_i|^2`, exact or noisy.

    Parameters
    ----------
    intensities : array_like
        b, not negative, one number per measurement, in any shape.
    a : array, sparse matrix or LinearOperator, p x n, optional
        The measurements, real or complex.
    masks : array_like, (L, h, w), optional
        The masks of coded diffraction, instead of a: the intensities are those of the unitary 2-D
        Fourier transforms of masks * image.
    trace : float, optional
        A bound on :math:`\|u\|^2`; by default it is derived from the intensities, and the values
        of an image are scaled such that all pixels are measured alike.

    Raises
    ------
    ProblemError
        If both or neither of a and masks are given, the sizes do not fit, an intensity is negative,
        or the measurements do not bound the signal.

    Examples
    --------
    >>> import condal, numpy
    >>> rng = numpy.random.default_rng(0)
    >>> u, a = rng.standard_normal(4), rng.standard_normal((24, 4))
    >>> model = condal.problems.phase_retrieval((a @ u) ** 2, a)
    >>> signal = model.signal(condal.solve(model, tol=1e-6))
    >>> signal.error(u) < 0.01
    True
    """
    if (a is None) == (masks is None):
        raise ProblemError("give the measurements either as the matrix a= or as masks=")
    scale = pixel_scale(CodedDiffraction(masks).frame) if a is None and trace is None else None
    stack = masks if scale is None else np.asarray(masks) / scale.reshape(np.shape(masks)[-2:])
    A = Quadratics(CodedDiffraction(stack) if a is None else a)
    b = flat_intensities(intensities, A.size, None if masks is None else np.shape(masks))
    require_intensities(b)
    if trace is None:
        trace = _trace(A, b)
    require_positive(trace, "trace")
    shape = None if masks is None else (int(np.shape(masks)[-2]), int(np.shape(masks)[-1]))
    return PhaseRetrieval(A, b, float(trace), name, shape, scale)


def flat_intensities(intensities: Any, size: int, masks: tuple[int, ...] | None = None) -> Array:
    """Return the intensities as a vector of that size; `masks` is the shape of the masks."""
    b = finite_array(intensities, "intensities", squared=True)
    if masks is not None and b.ndim == 3 and b.shape != masks:
        raise ProblemError(
            f"intensities of shape {b.shape} are not those of masks of shape {masks}: "
            "both are (L, h, w)"
        )
    if b.size != size:
        raise ProblemError(
            f"there are {size} measurements, but {b.size} intensities: there must be one for each"
        )
    return b.flatten()


def require_intensities(b: Array) -> None:
    """Raise ProblemError unless the intensities can be squares of measurements."""
    if np.any(b < 0) or not b.any():
        raise ProblemError(
            "intensities are squares: none may be negative, and not all may be 0; "
            f"the smallest is {b.min():g}"
        )


def pixel_scale(frame: Array) -> Array | None:
    """Return the square roots of the frame sum_l |d_l|^2, None if a pixel is not measured.

    The lowest eigenvector of the gradient at x = 0 is near the signal if all pixels are measured
    alike; otherwise, on large images, it is near the pixel that is measured most.
    """
    least = MIN_FRAME_EIGENVALUE * float(frame.mean())
    return np.sqrt(frame) if frame.min() >= least > 0 else None


def _trace(A: Quadratics, b: Array) -> float:
    """Return sum b / l with room for noise, for a proved l <= lambda_min(sum_i a_i a_i*)."""
    mean = float(np.sum(A.row_norms())) / A.n
    if mean == 0.0:
        raise ProblemError("a is 0: its measurements say nothing about the signal")
    return trace_bound(float(b.sum()), _least(A, mean), mean)


def trace_bound(total: float, least: float, mean: float) -> float:
    """Return total / least with room for noise, if the least eigenvalue of the frame is not small
    beside `mean`; `total` is the sum of the intensities."""
    if least <= MIN_FRAME_EIGENVALUE * mean:
        raise ProblemError(
            "the measurements do not bound the signal (a has nearly dependent columns): "
            "pass trace=, a bound on the sum of its squares"
        )
    return TRACE_ROOM * total / least


def _least(A: Quadratics, mean: float) -> float:
    """Return the smallest eigenvalue of sum_i a_i a_i*, or a proved lower bound on it."""
    masked = getattr(A.a, "of", None)
    if isinstance(masked, CodedDiffraction):  # a diagonal frame
        return float(masked.frame.min())
    frame = A.adjoint(np.ones(A.size))
    least = Automatic().smallest(frame, tol=MIN_FRAME_EIGENVALUE * mean).value
    slack = max(0.02 * least, MIN_FRAME_EIGENVALUE * mean)
    seed = unpredictable_seed()  # whoever made a must not know where the proof begins
    return smallest_eigenvalue_bound(frame, slack=slack, failure=1e-6, seed=seed).value
