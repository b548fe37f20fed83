"""The initial factor for a curved f: the first answers of the oracle."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.points import Array
from condal.methods.lagrangian import zero_of
from condal.methods.lowrank.factor_layout import Layout

if TYPE_CHECKING:
    from condal.problem import Problem

RANDOM_PART = 1e-2  # of R, beside the eigenvectors
TINY = 1e-300


def first_atoms(problem: Problem, layout: Layout, R: Array) -> Array:
    """Return a factor of the oracle's answers at x = 0, scaled by a line search on f.

    As many eigenvectors as R has columns, plus a small multiple of R itself, and the slack of the
    trace.
    """
    f = problem.f
    V = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    if V is None:
        return R
    R = RANDOM_PART / sqrt(R.size) * R
    for block, v in zip(layout.blocks, layout.parts(V), strict=True):
        X = block.X
        values, vectors = X.lowest(v, R.shape[1], 0.01 * f.variation(X.max_norm) / X.max_norm)
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
