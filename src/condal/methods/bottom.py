"""The bottom of the spectrum of the gradient at a factor: a bound, and the way down."""

from __future__ import annotations

from dataclasses import dataclass

from condal.methods.factored import Place, scale_of
from condal.operators import Symmetric, add
from condal.points import Array
from condal.problem import Problem
from condal.types import Spectral

MOST_NEW = 2**21  # numbers of eigenvectors to ask for


@dataclass(frozen=True, eq=False)
class Bottom:
    """The smallest eigenvectors of v = grad f + A'w, and what they say of the optimum.

    `curvature` is the smallest eigenvalue less the multiplier of the trace: negative at a saddle.
    """

    w: Array
    vectors: Array
    curvature: float
    gap: float
    lower: float

    @classmethod
    def of(cls, problem: Problem, place: Place, w: Array, target: float) -> Bottom:
        """The eigenvectors at a place, for the dual w; the values within a tenth of `target`."""
        X, f = problem.X, problem.f
        assert isinstance(X, Spectral)
        v = add(f.M.adjoint(place.g), problem.A.adjoint(w))
        assert isinstance(v, Symmetric)
        tol = 0.1 * target * scale_of(place) / X.size
        width = max(2, min(place.R.shape[1] // 2, MOST_NEW // X.n))
        values, vectors = X.lowest(v, width, tol, beside=place.x.U)
        level = float(place.g @ place.Mx + w @ place.Ax) / X.size  # <v, x> / size
        # The level is a Rayleigh quotient too: where the oracle found no smaller one, it errs.
        least = X.size * min(float(values[0]), level) - X.size * tol
        if X.at_most:
            least, level = min(least, 0.0), min(level, 0.0)
        value, price = f.value(place.Mx), float(w @ place.Ax) - problem.h.conjugate(w)
        lower = value - float(place.g @ place.Mx) + least - problem.h.conjugate(w)
        useful = values < level
        return cls(
            w, vectors[:, useful], min(float(values[0]) - level, 0.0), value + price - lower, lower
        )
