"""Multipliers of a program that owe nothing to a bound on its trace.

The multipliers y of a problem over parts of bounded trace leave slacks c_j + A_j'y that may be
indefinite where the bound is met: its own multiplier, mu_j, is not among y. What proves the bound
are combinations w of the rows, with A_j'w >= l_j. Enough of them added to y make the slacks psd,
and cost what mu cost, where the bound is met.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.optimize import linprog

from condal.domains.spectral import Spectrahedron
from condal.linalg.gradients import add
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.problems.conic.folded import Part
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace import TraceBound

ACCURACY = 1e-9  # of the slack's size: how near its smallest eigenvalue is looked for, at least

SMALL = 300  # n up to which all of a matrix is looked at


def without_bound(
    shape: Shape,
    trace: TraceBound,
    y: Array,
    *,
    objective: bool = True,
    error: float = 0.0,
    proved: float = -inf,
) -> Array:
    """y plus combinations of rows, so that each c_j + A_j'y is in the dual cone; without the
    `objective`, each A_j'y. y itself where the bound is a given one.

    What the bound of y loses by it may be off by the `error`. If min <c + A'y, x> over x of these
    traces is proved to be at least `proved`, one part alone is not looked at again.
    """
    proofs = trace.combinations
    if not proofs:
        return y
    if len(shape.maps) == 1 and isfinite(proved) and trace.level == inf:
        least = np.array([proved / trace.traces[0]])
    else:
        least = np.array(
            [
                smallest(part, add(A.adjoint(y), c) if objective else A.adjoint(y), error / bound)
                for part, A, c, bound in zip(
                    shape.folded.parts, shape.maps, shape.costs, trace.traces, strict=True
                )
            ]
        )
    if trace.exact:  # the trace is what it is: its multiplier may have either sign
        return np.asarray(y - least[0] / proofs[0].least[0] * proofs[0].y)
    owed = np.maximum(-least, 0.0)
    if not owed.any():
        return y
    bounds = np.array([np.where(np.isfinite(one.least), one.least, -1e30) for one in proofs])
    cost = [one.most + (trace.level if one.of_objective else 0.0) for one in proofs]
    found = linprog(cost, A_ub=-bounds.T, b_ub=-owed, bounds=(0, None), method="highs")
    if found.status != 0:
        return y
    total = sum(mu * one.y for mu, one in zip(found.x, proofs, strict=True))
    shares = [mu for mu, one in zip(found.x, proofs, strict=True) if one.of_objective]
    return np.asarray((y + total) / (1.0 + float(sum(shares)) * objective))


def smallest(part: Part, v: Any, tol: float) -> float:
    """The largest l with <v, x> >= l tr x on the cone of the part, within tol or `ACCURACY`."""
    if isinstance(v, Symmetric):
        if part.n <= SMALL:
            return float(eigvalsh(v.to_dense(), subset_by_index=[0, 0])[0])
        sums = v.absolute_row_sums()
        size = 1.0 if sums is None else float(sums.max(initial=0.0))
        return float(Spectrahedron(part.n).lowest(v, 1, max(tol, ACCURACY * size))[0][0])
    v = np.asarray(v)
    return float(v.min()) if part.kind == "orthant" else float(v[0]) - stable_norm(v[1:])
