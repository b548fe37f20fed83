"""Multipliers of a program that do not rely on a bound on its trace.

The multipliers y of a problem over parts of bounded trace leave slacks c_j + A_j'y. These may be
indefinite where the trace bound is active, because its multiplier mu_j is not part of y. The bound
is proved by combinations w of the rows with A_j'w >= l_j. Adding enough of them to y makes the
slacks psd, at the cost of mu where the bound is active.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from condal.domains.spectral import Spectrahedron
from condal.linalg.gradients import add
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.problems.conic.folded import Part
from condal.problems.conic.structure import Shape
from condal.problems.conic.trace_bound import TraceBound

EIGENVALUE_ACCURACY = 1e-9  # relative to the slack's size
MAX_DENSE_SIDE = 300  # up to which all eigenvalues are computed


def without_bound(
    shape: Shape,
    trace: TraceBound,
    y: Array,
    *,
    objective: bool = True,
    error: float = 0.0,
    proved: float = -inf,
) -> Array:
    """Return y plus combinations of rows, so that each c_j + A_j'y is in the dual cone.

    Without the `objective`, each A_j'y is. y is returned unchanged if the trace bound was given.
    The bound of y may lose up to `error` more than necessary. If min <c + A'y, x> over x of these
    traces is proved to be at least `proved`, a single part is not examined again.
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
    if trace.exact:  # the trace is fixed, so its multiplier may have either sign
        return np.asarray(y - least[0] / proofs[0].least[0] * proofs[0].y)
    deficits = np.maximum(-least, 0.0)
    if not deficits.any():
        return y
    from scipy.optimize import linprog

    bounds = np.array([np.where(np.isfinite(proof.least), proof.least, -1e30) for proof in proofs])
    cost = [proof.most + (trace.level if proof.of_objective else 0.0) for proof in proofs]
    program = linprog(cost, A_ub=-bounds.T, b_ub=-deficits, bounds=(0, None), method="highs")
    if program.status != 0:
        return y
    total = sum(mu * proof.y for mu, proof in zip(program.x, proofs, strict=True))
    shares = [mu for mu, proof in zip(program.x, proofs, strict=True) if proof.of_objective]
    return np.asarray((y + total) / (1.0 + float(sum(shares)) * objective))


def smallest(part: Part, v: Any, tol: float) -> float:
    """Return the largest l with <v, x> >= l tr x on the part's cone, up to tol or rounding."""
    if isinstance(v, Symmetric):
        if part.n <= MAX_DENSE_SIDE:
            return float(eigvalsh(v.to_dense(), subset_by_index=[0, 0])[0])
        sums = v.absolute_row_sums()
        size = 1.0 if sums is None else float(sums.max(initial=0.0))
        return float(Spectrahedron(part.n).lowest(v, 1, max(tol, EIGENVALUE_ACCURACY * size))[0][0])
    v = np.asarray(v)
    return float(v.min()) if part.kind == "orthant" else float(v[0]) - stable_norm(v[1:])
