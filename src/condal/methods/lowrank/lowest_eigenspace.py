"""The lowest eigenvectors of the gradient at a factor: a bound, and directions of descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import add
from condal.linalg.points import Array, LowRank
from condal.linalg.reductions import DiagonalScaling
from condal.linalg.symmetric import Symmetric
from condal.methods.lowrank.factor_layout import Block
from condal.methods.lowrank.factored import FactorPoint, scale_of

if TYPE_CHECKING:
    from condal.problem import Problem

LIKELY_ERROR = 0.5  # of tol: that of a value which has settled, where errors fall with steps^-2
MAX_NEW_NUMBERS = 2**21  # in the eigenvectors that are asked for


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
