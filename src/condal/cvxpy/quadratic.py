"""Quadratic objectives: proofs that they are convex, and their second-order cones.

A quadratic objective that is proved convex is bounded by its tangents. Any other one is stated by
the second-order cone of a root of P, as CVXPY states it for solvers without quadratic objectives.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.conic import smallest_eigenvalue
from condal.cvxpy.forms import CvxpyProblem
from condal.errors import ProblemError
from condal.linalg.points import Array, Indices

MAX_NEGATIVE = 1e-8  # relative to the largest eigenvalue: rounding of a psd matrix


def is_convex(P: Any) -> bool:
    """Return whether P is proved psd: block by block positive definite, or without entries."""
    if P is None or P.nnz == 0:
        return True
    diagonal = P.diagonal()
    if np.count_nonzero(diagonal) == P.nnz:
        return bool((diagonal >= 0).all())
    return all(
        float(block[0, 0]) > 0 if len(block) == 1 else smallest_eigenvalue(block) > 0
        for _, block in _blocks(P)
    )


def with_cone(problem: CvxpyProblem) -> CvxpyProblem:
    """Return the problem with one more variable t and |(2 R'x, 2t - 1)| <= 2t + 1, P = R R'.

    The cone stands after the other second-order cones: `cone_rows` are its rows.
    """
    if problem.P is None:
        return problem
    (m, n), layout, R = problem.A.shape, problem.layout, _root(problem.P)
    begin, k = layout.zero + layout.plain, R.shape[1]
    t = sp.csr_array(([-2.0, -2.0], ([0, 1], [0, 0])), (k + 2, 1))
    cone = sp.hstack([sp.vstack([sp.csr_array((2, n)), -2.0 * R.T]), t])
    A = sp.hstack([problem.A, sp.csr_array((m, 1))], format="csr")
    return replace(
        problem,
        A=sp.csr_array(sp.vstack([A[:begin], cone, A[begin:]])),
        b=np.concatenate([problem.b[:begin], [1.0, -1.0], np.zeros(k), problem.b[begin:]]),
        c=np.append(problem.c, 1.0),
        layout=replace(layout, soc=(*layout.soc, k + 2)),
        P=None,
    )


def cone_rows(problem: CvxpyProblem) -> slice:
    """Return the rows of the cone that `with_cone` adds, in the problem that it returns."""
    end = problem.layout.zero + problem.layout.plain
    return slice(end - problem.layout.soc[-1], end)


def _blocks(P: Any) -> list[tuple[Indices, Array]]:
    """Return the connected blocks of P that have entries."""
    from scipy.sparse.csgraph import connected_components

    P = sp.csr_array(P)
    count, label = connected_components(P, directed=False)
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.searchsorted(label[order], np.arange(1, count)))
    blocks = [(group, P[group][:, group].toarray()) for group in groups]
    return [(group, block) for group, block in blocks if block.any()]


def _root(P: Any) -> Any:
    """Return R with R R' = P, about."""
    rows, cols, data, count = [], [], [], 0
    for group, block in _blocks(P):
        values, vectors = np.linalg.eigh(0.5 * (block + block.T))
        if values[0] < -MAX_NEGATIVE * values[-1]:
            raise ProblemError(
                "the quadratic objective is not convex: its matrix has the eigenvalue "
                f"{values[0]:.3g}; give one whose eigenvalues are nonnegative"
            )
        kept = values > MAX_NEGATIVE**2 * values[-1]
        root = vectors[:, kept] * np.sqrt(values[kept])
        rows.append(np.repeat(group, root.shape[1]))
        cols.append(np.tile(count + np.arange(root.shape[1]), group.size))
        data.append(root.ravel())
        count += root.shape[1]
    where = np.concatenate(rows), np.concatenate(cols)
    return sp.csr_array((np.concatenate(data), where), (P.shape[0], count))
