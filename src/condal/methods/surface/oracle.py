"""The smallest eigenvalues of the slack at a point of a surface: a bound, and new columns of R."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from condal.linalg.points import Array
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.methods.faces import lifted
from condal.methods.surface.newton import SurfacePoint
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

WANTED = 12  # eigenvectors
FIRST_DAMPING = 2.0  # times the relative bias: the first one that is tried
MAX_DAMPING = 0.1
MAX_DAMPING_CHANGE = 10.0
DAMPINGS = 3  # that are tried
CUT = 1e-2  # of the relative curvature: directions with smaller relative eigenvalues are cut
CLEARLY_POSITIVE = 3.0  # times the smallest eigenvalue of S: the curvature of a cut direction
MAX_CUT_MASS = 0.3  # of the gap: the share of the trace that a cut may remove
GROWN_SHARE = 0.1  # of the smallest eigenvalue of S: eigenvectors below it become columns
MAX_GROWN = 12  # columns at once
NEW_COLUMN = 0.1  # times the root of the gap: the norm of a new column
CLOSED = 1e-2  # of the square of a new slack: a smaller one is near 0
SIGNIFICANT = 1.0  # ratio of the gap to the residual from which R grows


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
        if rows.face is not None:
            w = w.copy()
            w[rows.face.rows], cost = rows.face.multiplier(S, float(values[0]), tol)
            least -= cost
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


def _lowest_beside(X: Spectral, S: Symmetric, axes: Array, lift: float, tol: float) -> Array:
    """Ritz vectors of S for its smallest eigenvalues, orthogonal to the axes."""
    n = len(axes)
    if axes.shape[1] >= n:
        return np.zeros((n, 0))
    _, vectors = X.lowest(lifted(S, axes, lift), WANTED, tol, beside=axes)
    vectors = vectors - axes @ (axes.T @ vectors)
    norms = np.linalg.norm(vectors, axis=0)
    return np.asarray(vectors[:, norms > 1e-6] / norms[norms > 1e-6])


@dataclass(frozen=True)
class RankPolicy:
    """The decisions on the rank, which cannot cycle, and what they remember.

    At a solution S X = 0: each direction u of the space has a zero of X or of u'Su. A direction
    whose eigenvalue in X is small while u'Su is not is on its way out, and may be cut. A direction
    in the null space of S is kept, however small its eigenvalue.

    A cut needs half the gap of the last cut. So there are at most log2(first gap / last gap) cuts,
    and between two cuts the rank only grows, up to `most`: no sequence of ranks repeats.
    """

    most: int
    gap_of_last_cut: float = inf

    def kept(
        self, squares: Array, curvatures: Array, lowest: float, gap: float
    ) -> NDArray[np.bool_]:
        """The directions to keep, given the eigenvalues of X and u'Su for each eigenvector u.

        The smallest eigenvalue of S says how far from 0 the curvature of a null direction may be.
        """
        scale = float(np.abs(curvatures).max(initial=0.0))
        if not gap <= 0.5 * self.gap_of_last_cut or scale == 0.0:
            return np.ones(squares.size, dtype=bool)
        relative = squares / max(float(squares.max(initial=0.0)), 1e-300)
        leaving = relative < CUT * np.maximum(curvatures, 0.0) / scale
        leaving &= curvatures > CLEARLY_POSITIVE * abs(lowest)
        order = np.argsort(squares)
        mass = np.empty(squares.size)
        mass[order] = np.cumsum(np.where(leaving, squares, 0.0)[order])
        return np.asarray(~(leaving & (mass <= MAX_CUT_MASS * gap * squares.sum())))

    def grown(self, values: Array, rank: int, gap: float, residual: float) -> int:
        """The number of eigenvectors to append, given the smallest eigenvalues of S."""
        if values.size == 0 or not values[0] < 0 or gap <= SIGNIFICANT * residual:
            return 0
        low = int(np.count_nonzero(values < GROWN_SHARE * values[0]))
        return max(0, min(low, MAX_GROWN, self.most - rank))

    def column_norm(self, gap: float) -> float:
        """The norm of a new column, for an R of norm 1."""
        return NEW_COLUMN * sqrt(max(min(gap, 1.0), 1e-12))

    def opened(self, slacks: Array, values: Array, gap: float) -> Array:
        """The slacks, in which those near 0 are larger where S is negative: bounds to leave.

        Their squares share the square of the norm of a new column. `slacks` itself is returned if
        there are none.
        """
        wrong = np.maximum(-values, 0.0)
        total = float(wrong.sum())
        if total == 0.0:
            return slacks
        least = self.column_norm(gap) * np.sqrt(wrong / total)
        if not np.any(slacks**2 < CLOSED * least**2):
            return slacks
        return np.where(slacks**2 < CLOSED * least**2, least, slacks)

    def after_cut(self, gap: float) -> RankPolicy:
        """The policy after a cut."""
        return replace(self, gap_of_last_cut=gap)
