"""Columns of R: the first ones, and the lowest eigenvectors of the gradient, with their bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import add, zeros_of
from condal.linalg.points import Array, LowRank, total_rows
from condal.linalg.reductions import DiagonalScaling
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import MIN_REORDERED_SIDE, Symmetric
from condal.methods.lagrangian import zero_of
from condal.methods.lowrank.factored import FactorPoint, scale_of
from condal.methods.lowrank.surfaces import Block, Layout
from condal.runtime.meter import agreed
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

LIKELY_ERROR = 0.5  # of tol: that of a value which has settled, where errors fall with steps^-2
MAX_NEW_NUMBERS = 2**21  # in the eigenvectors that are asked for
RANDOM_PART = 1e-2  # of R, beside the eigenvectors
SHIFT = 1e-6  # of the norm of V: what is added to V before it is inverted
FIRST_TOL = 1e-2  # the error of the first eigenvalue, relative to the size of the gradient


@dataclass(frozen=True, eq=False)
class LowestEigenspace:
    """The lowest eigenvectors of v = grad f + A'w, and the bound on the optimum that they give.

    Each column of `vectors` is an eigenvector of one block, extended by 0 to the rows of R.
    `promised` is the descent of the objective if all of x moved along negative curvature: 0 at a
    minimum.
    """

    w: Array
    vectors: Array
    promised: float
    gap: float
    lower: float

    @classmethod
    def of(cls, problem: Problem, point: FactorPoint, w: Array, target: float) -> LowestEigenspace:
        """Compute the eigenvectors at a point for the dual w, to a tenth of `target`."""
        f, layout, ones = problem.f, point.function.layout, np.ones(point.R.shape[1])
        V = add(f.M.adjoint(point.g), problem.A.adjoint(w))
        tol = 0.1 * target * scale_of(point) / len(layout.blocks)
        total = float(point.g @ point.Mx + w @ point.Ax)  # <v, x>
        lowest, columns, diagonal = [], [], problem.fixed_diagonal
        for block, v in zip(layout.blocks, layout.parts(V), strict=True):
            vx = total if layout.alone else v.quadratic(LowRank(point.R[block.rows], ones))
            scaling = None if diagonal is None else DiagonalScaling.of(v, diagonal)
            if scaling is None:
                lowest.append(_BlockEigenspace.of(block, v, point.R, vx, tol))
            else:
                lowest.append(_BlockEigenspace.scaled(block, scaling, point.R, vx, tol))
            columns.append(layout.columns(block, lowest[-1].vectors))
        least, promised = sum(e.least for e in lowest), sum(e.promised for e in lowest)
        value, support = f.value(point.Mx), problem.h.conjugate(w)
        price = float(w @ point.Ax) - support
        lower = value - float(point.g @ point.Mx) + least - support
        return cls(w, np.hstack(columns), promised, value + price - lower, lower)


@dataclass(frozen=True, eq=False)
class _BlockEigenspace:
    """The lowest eigenvectors of one block.

    `least` is likely below min <v, .> over its domain; `promised` is the distance of <v, x> from
    the smallest value found.
    """

    vectors: Array
    promised: float
    least: float

    @classmethod
    def of(cls, block: Block, v: Symmetric, R: Array, vx: float, tol: float) -> _BlockEigenspace:
        """Compute them, given vx = <v, x>."""
        X, U = block.X, R[block.rows]
        width = max(2, min(R.shape[1] // 2, MAX_NEW_NUMBERS // X.n))
        values, vectors = X.lowest(v, width, tol / X.trace, beside=U)
        level = vx / X.trace
        # The level is a Rayleigh quotient, too: if it is smaller, the oracle erred.
        least = X.trace * min(float(values[0]), level) - LIKELY_ERROR * tol
        if X.at_most:
            least, level = min(least, 0.0), min(level, 0.0)
        descent = max(level - float(values[0]), 0.0) * float(np.vdot(U, U))
        return cls(vectors[:, values < level], descent, least)

    @classmethod
    def scaled(
        cls, block: Block, scaling: DiagonalScaling, R: Array, vx: float, tol: float
    ) -> _BlockEigenspace:
        """Compute them for D^-1/2 v D^-1/2 and D^1/2 x D^1/2, of trace `scaling.total`."""
        root, total = scaling.root[:, None], scaling.total
        width = max(2, min(R.shape[1] // 2, MAX_NEW_NUMBERS // block.X.n))
        values, vectors = block.X.lowest(scaling.scaled, width, tol / total, beside=R / root)
        level = vx / total
        least = total * min(float(values[0]), level) - LIKELY_ERROR * tol
        vectors = root * vectors[:, values < level]
        vectors /= np.linalg.norm(vectors, axis=0)
        return cls(vectors, max(vx - total * float(values[0]), 0.0), least)


def first_atoms(problem: Problem, layout: Layout, R: Array) -> Array:
    """Return a factor of the oracle's answers at x = 0, scaled by a line search on f.

    As many eigenvectors as R has columns, plus a small multiple of R itself, and the slack of the
    trace.
    """
    f = problem.f
    V = f.M.adjoint(f.gradient(zeros_of(f.M)))
    if V is None:
        return R
    R = RANDOM_PART / sqrt(R.size) * R
    for block, v in zip(layout.blocks, layout.parts(V), strict=True):
        X = block.X
        tol = FIRST_TOL * f.variation(X.max_norm) / X.max_norm
        values, vectors = X.lowest(v, R.shape[1], tol) if R.shape[1] > 1 else _single(X, v, tol)
        falling = np.maximum(-values, 0.0)
        R[block.rows, : values.size] += vectors * np.sqrt(falling / max(falling.sum(), TINY))
        R[block.every] *= sqrt(X.trace)
    dM = f.M(layout.point(R))
    R *= sqrt(max(RANDOM_PART, zero_of(lambda t: float(f.gradient(t * dM) @ dM))))
    for block in layout.blocks:
        if block.slack:
            slack = 1.0 - float(np.vdot(R[block.rows], R[block.rows])) / block.X.trace
            R[block.every.stop - 1, 0] = sqrt(max(slack, RANDOM_PART) * block.X.trace)
    return R


def _single(X: Spectral, v: Symmetric, tol: float) -> tuple[Array, Array]:
    """Return the lowest eigenvector of v from the oracle, and its value.

    All of R depends on it. `lowest` combines it from the steps that it keeps in memory, few of them
    where n is large, and a bound on the variation of f may be far above the size of v.
    """
    start = np.random.default_rng(X.n).standard_normal((X.n, 1))
    size = float(np.linalg.norm(v @ start) / np.linalg.norm(start))
    atom = X.lmo(v, X.trace * min(tol, FIRST_TOL * size))
    assert isinstance(atom, LowRank)
    vector = atom.U[:, :1]
    return np.array([float(vector[:, 0] @ (v @ vector)[:, 0])]), vector


def inverse_of(problem: Problem) -> Callable[[Array], Array] | None:
    """Return the products with (V + shift I)^-1 for the matrix V of a linear f.

    None unless V is the Schur complement of a sparse matrix and the shift makes it definite.
    """
    from condal.linalg.schur import Augmented

    V = problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size)))
    form = Augmented.of(V) if isinstance(V, Symmetric) else None
    if form is None:
        return None
    norm = float(abs(form.P).sum(axis=1).max())
    factors = form.positive_factors(SHIFT * norm, norm)
    return None if factors is None else form.inverse(factors)


def max_rank(problem: Problem) -> int:
    """More columns than some solution has, and than a local but not global minimum can have."""
    rows = total_rows(zeros_of(problem.A)) + total_rows(zeros_of(problem.f.M))
    return ceil(sqrt(2 * rows)) + 2


def first_rank(problem: Problem, n: int, given: int | None) -> int:
    """Return the rank to begin with: `given`, the expected one, or 4 log n + n^(1/4), which was
    measured to be rather too many; at most the largest rank needed."""
    rank = ceil(4 * log(n) + n**0.25)
    rank = rank // 16 * 16 if n >= MIN_REORDERED_SIDE else rank  # whole cache lines per row
    return min(n, max_rank(problem), given or problem.rank or rank)


def cut(R: Array, least: float) -> Array:
    """R in its principal axes, without those below `least` of the largest; R if all count."""
    values, vectors = agreed(tuple(np.linalg.eigh(R.T @ R)))
    large = values > least * values[-1]
    if large.all():
        return R
    cut: Array = R @ vectors[:, large]
    return cut
