"""The bottom of the spectrum of the gradient at a factor: a bound, and the way down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import add
from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.methods.lowrank.factor_layout import Block
from condal.methods.lowrank.factored import FactorPoint, scale_of

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_NEW_NUMBERS = 2**21  # in the eigenvectors that are asked for


@dataclass(frozen=True, eq=False)
class LowestEigenspace:
    """The smallest eigenvectors of v = grad f + A'w, and what they say of the optimum.

    `vectors` are rows of R, each column an eigenvector of one block. `promised` is what the
    objective would fall by if all of x went the way of negative curvature: 0 at a minimum.
    """

    w: Array
    vectors: Array
    promised: float
    gap: float
    lower: float

    @classmethod
    def of(cls, problem: Problem, place: FactorPoint, w: Array, target: float) -> LowestEigenspace:
        """The eigenvectors at a place, for the dual w; the values within a tenth of `target`."""
        f, layout, ones = problem.f, place.function.layout, np.ones(place.R.shape[1])
        V = add(f.M.adjoint(place.g), problem.A.adjoint(w))
        tol = 0.1 * target * scale_of(place) / len(layout.blocks)
        total = float(place.g @ place.Mx + w @ place.Ax)  # <v, x>
        found, columns = [], []
        for block, v in zip(layout.blocks, layout.parts(V), strict=True):
            part = total if layout.alone else v.quadratic(LowRank(place.R[block.rows], ones))
            found.append(_Ground.of(block, v, place.R, part, tol))
            columns.append(layout.columns(block, found[-1].vectors))
        least, promised = (sum(getattr(g, name) for g in found) for name in ("least", "promised"))
        value, support = f.value(place.Mx), problem.h.conjugate(w)
        price = float(w @ place.Ax) - support
        lower = value - float(place.g @ place.Mx) + least - support
        return cls(w, np.hstack(columns), promised, value + price - lower, lower)


@dataclass(frozen=True, eq=False)
class _Ground:
    """The same of one block: `least` is below min <v, .> over its domain, if the oracle kept tol;
    `promised` is how far <v, x> is above the smallest value that was found."""

    vectors: Array
    promised: float
    least: float

    @classmethod
    def of(cls, block: Block, v: Symmetric, R: Array, here: float, tol: float) -> _Ground:
        """From <v, x> = `here`."""
        X, U = block.X, R[block.rows]
        width = max(2, min(R.shape[1] // 2, MAX_NEW_NUMBERS // X.n))
        values, vectors = X.lowest(v, width, tol / X.trace, beside=U)
        level = here / X.trace
        # The level is a Rayleigh quotient too: where the oracle found no smaller one, it errs.
        least = X.trace * min(float(values[0]), level) - tol
        if X.at_most:
            least, level = min(least, 0.0), min(level, 0.0)
        fall = max(level - float(values[0]), 0.0) * float(np.vdot(U, U))
        return cls(vectors[:, values < level], fall, least)
