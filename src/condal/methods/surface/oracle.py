"""The smallest eigenvalues of the slack at a point of a surface: a bound, and new columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.points import Array
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.methods.surface.newton import SurfacePoint
from condal.methods.surface.rows import SurfaceRows
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

WANTED = 12  # eigenvectors
LEAST_COST = 3e-8  # of |S v|: the cost of an equation <v v', x> = 0
FIRST_DAMPING = 2.0  # times the relative bias: the first one that is tried
MAX_DAMPING = 0.1
MAX_DAMPING_CHANGE = 10.0
DAMPINGS = 3  # that are tried


@dataclass(frozen=True, eq=False)
class SlackSpectrum:
    """The smallest eigenvalues of S, their vectors, and the bound that they give.

    S is that of the dual w: the multipliers without the signs that K forbids. `axes`, `squares` and
    `curvatures` are the eigenvectors u of R R', their eigenvalues, and u'Su.
    """

    values: Array
    vectors: Array
    axes: Array
    squares: Array
    curvatures: Array
    gap: float
    lower: float
    w: Array

    @classmethod
    def of(cls, problem: Problem, point: SurfacePoint, y: Array, tol: float) -> SlackSpectrum:
        """Compute them for a multiplier y, the smallest to an accuracy of tol.

        Range(R) is almost a null space of S: the search is on its complement, and a Rayleigh-Ritz
        step on both together follows.
        """
        X, rows, (axes, roots) = problem.X, point.surface.rows, point.axes
        assert isinstance(X, Spectral)
        w, shift, S = slack_of(problem, point, y)
        known = np.hstack([axes, rows.null])
        lift = np.abs(point.value) + np.abs(y).max(initial=0.0)
        lowest = _lowest_beside(X, S, known, float(lift), tol)
        basis = np.linalg.qr(np.hstack([axes, lowest]))[0]
        projected = basis.T @ (S @ basis)
        values, turned = np.linalg.eigh(0.5 * (projected + projected.T))
        count = min(WANTED, values.size)
        curvatures = np.einsum("ij,ij->j", axes, S @ axes)

        least = float(values[0]) - tol
        if rows.null.size:
            multiple, cost = _vanishing(rows, S, float(values[0]), tol)
            w, least = w.copy(), least - cost
            w[rows.vanishing] = multiple
        constant = problem.f.value(np.zeros(problem.f.M.size))
        least = min(shift + least, 0.0) if X.at_most else shift + least
        lower = constant + least - problem.h.conjugate(w)
        gap = point.value - point.price_of(y) + constant - lower
        return cls(
            values[:count],
            basis @ turned[:, :count],
            axes,
            roots**2,
            curvatures,
            gap,
            lower,
            w,
        )


def slack_of(problem: Problem, point: SurfacePoint, y: Array) -> tuple[Array, float, Symmetric]:
    """Return the dual w of multipliers y, the one of the trace, and S."""
    rows = point.surface.rows
    w = problem.h.dual_point(-rows.folded(y))
    trace = y[rows.size :]  # none if it is no row
    S = rows.slack_matrix(point.surface.C, np.append(rows.unfolded(-w), trace))
    return w, float(trace.sum()), S


def regularised(problem: Problem, point: SurfacePoint, bias: float) -> Array:
    """Return a regularised multiplier, for which u'Su >= -bias, about, in the range of R.

    The least u'Su is about proportional to the damping.
    """
    damping = min(MAX_DAMPING, FIRST_DAMPING * bias / max(abs(point.value), TINY))
    for _ in range(DAMPINGS):
        y = point.regularised(damping)
        axes, (_, _, S) = point.axes[0], slack_of(problem, point, y)
        inside = axes.T @ (S @ axes)
        least = -float(np.linalg.eigvalsh(0.5 * (inside + inside.T))[0])
        if 0.5 * bias <= least <= 1.5 * bias:
            break
        damping = min(MAX_DAMPING, damping * min(bias / max(least, TINY), MAX_DAMPING_CHANGE))
    return y


def _vanishing(rows: SurfaceRows, S: Symmetric, least: float, tol: float) -> tuple[float, float]:
    """The multiplier of the equations <v v', x> = 0, and what it costs.

    Orthogonal to the v, S has the smallest eigenvalue `least`. With a basis Q of the v, a multiple
    of Q Q' of |S Q|^2 / cost + |S Q| + |least| lowers it by at most the cost. A larger multiple is
    no better, because the rounding of S grows with it.
    """
    size = float(np.linalg.norm(S @ rows.null))
    cost = max(tol, LEAST_COST * size, TINY)
    return (size**2 / cost + size + abs(least)) / rows.spanned, cost


def _lowest_beside(X: Spectral, S: Symmetric, axes: Array, lift: float, tol: float) -> Array:
    """Ritz vectors of S for its smallest eigenvalues, orthogonal to the axes."""
    n = len(axes)
    if axes.shape[1] >= n:
        return np.zeros((n, 0))
    _, vectors = X.lowest(lifted(S, axes, lift), WANTED, tol, beside=axes)
    vectors = vectors - axes @ (axes.T @ vectors)
    norms = np.linalg.norm(vectors, axis=0)
    return np.asarray(vectors[:, norms > 1e-6] / norms[norms > 1e-6])


def lifted(S: Symmetric, axes: Array, lift: float) -> Symmetric:
    """Return P S P + t (I - P), P the projection off orthonormal axes, t above S on them by lift.

    It is symmetric also along the axes. Rounding leads Lanczos there, and a product that is right
    on the complement alone would be amplified. For axes q with q'Sq = m that S does not couple, and
    e = P S q, the change of S is the sum of c (q - e/c)(q - e/c)' - ee'/c with c = t - m.
    """
    images = S @ axes
    inside = axes.T @ images
    m, turned = np.linalg.eigh(0.5 * (inside + inside.T))
    axes, images = axes @ turned, images @ turned
    outside = images - axes * m
    t = m.max(initial=0.0) + np.linalg.norm(outside) + lift
    c = np.maximum(t - m, TINY)
    vectors = np.ascontiguousarray(np.hstack([axes - outside / c, outside]).T)
    return S + Symmetric(S.n, grams=[(vectors, np.concatenate([c, -1.0 / c]))])
