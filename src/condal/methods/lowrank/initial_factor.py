"""The initial factor: the first answers of the oracle, or an inverse iteration."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, LowRank
from condal.linalg.symmetric import Symmetric
from condal.methods.lagrangian import zero_of
from condal.methods.lowrank.factor_layout import Layout
from condal.types import Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

RANDOM_PART = 1e-2  # of R, beside the eigenvectors
SHIFT = 1e-6  # of the norm of V: what is added to V before it is inverted
FIRST_TOL = 1e-2  # the error of the first eigenvalue, relative to the size of the gradient
TINY = 1e-300


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
