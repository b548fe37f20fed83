"""Quadratic objectives as second-order cones.

A quadratic objective that is proved convex is bounded by its tangents. Any other one is stated by
the second-order cone of a root of P, as CVXPY states it for solvers without quadratic objectives.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.curvature import root_of
from condal.cvxpy.forms import CvxpyProblem


def with_cone(problem: CvxpyProblem) -> CvxpyProblem:
    """Return the problem with one more variable t and |(2 R'x, 2t - 1)| <= 2t + 1, P = R R'.

    The cone stands after the other second-order cones: `cone_rows` are its rows.
    """
    if problem.P is None:
        return problem
    (m, n), layout, R = problem.A.shape, problem.layout, root_of(problem.P)
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
        known=None,
    )


def cone_rows(problem: CvxpyProblem) -> slice:
    """Return the rows of the cone that `with_cone` adds, in the problem that it returns."""
    end = problem.layout.zero + problem.layout.plain
    return slice(end - problem.layout.soc[-1], end)
