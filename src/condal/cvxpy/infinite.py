"""Rows with an infinite right-hand side: those that always hold, and those that never do.

A row <a, x> <= inf states nothing, and becomes 0 <= 1. A row <a, x> <= -inf, or an equation with an
infinite right-hand side, holds for no x, and becomes 0 <= -1 or 0 = 1. The number of rows, and with
it the place of each dual, stays.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.cvxpy.svec import Layout, triangle
from condal.errors import ProblemError
from condal.linalg.points import Array


def finite_rows(A: Any, b: Array, layout: Layout) -> tuple[Any, Array]:
    """Return the rows Ax + s = b with finite numbers that state the same."""
    if not np.isfinite(A.data).all():
        raise ProblemError("a coefficient of a variable is infinite: give finite numbers")
    infinite = ~np.isfinite(b)
    if not infinite.any():
        return A, b
    b, replaced = b.copy(), infinite.copy()
    plain = layout.zero + layout.nonneg
    b[: layout.zero][infinite[: layout.zero]] = 1.0
    inequalities = slice(layout.zero, plain)
    b[inequalities] = np.where(infinite[inequalities], np.sign(b[inequalities]), b[inequalities])
    begin = plain
    for n in layout.soc:
        block = slice(begin, begin + n)
        if infinite[block].any():
            b[block], replaced[block] = _cone(b[block]), True
        begin += n
    for n in layout.psd:
        if infinite[begin : begin + triangle(n)].any():
            raise ProblemError("an entry of a semidefinite constraint is infinite: leave it out")
        begin += triangle(n)
    keep = np.where(replaced, 0.0, 1.0)
    A = sp.csr_array(sp.dia_array((keep[None], [0]), (keep.size, keep.size)) @ A)
    A.eliminate_zeros()
    return A, b


def _cone(b: Array) -> Array:
    """Return a point inside a second-order cone if any with these numbers are, else one outside."""
    if np.isfinite(b[1:]).all():
        sign = np.sign(b[0])
    elif b[0] < inf:
        sign = -1.0
    else:
        raise ProblemError("both sides of |u| <= t have infinite numbers: leave the constraint out")
    point: Array = np.zeros(b.size)
    point[0] = sign
    return point
