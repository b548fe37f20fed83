r"""Proofs that no point of X satisfies the constraints: a normal d of K that separates A(X) from K.

.. math:: \min_{x \in X} \langle A'd, x \rangle > \sup_{z \in K} \langle d, z \rangle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from condal.certificates.bound import adjoint_rounding, dual_rounding
from condal.certificates.evaluation import require_vector
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array
from condal.linalg.rounding import Proof, gamma, norm_above, sum_roundings
from condal.problem import Problem
from condal.types import Provable

PROOF_SLACK = 0.1  # of the expected separation: what a proof may lose
LEAST_EXPECTED = 1e-3  # of the widest possible separation: the least that is expected


@dataclass(frozen=True, eq=False)
class Separation:
    """A normal d of K, and the proof that it separates A(X) from K.

    `slack` and `number` are those of the proof, by which the ledger proves it again.
    """

    normal: Array
    proof: Proof
    slack: float
    number: int


def infeasibility_proof(
    problem: Problem, d: Array, *, slack: float, failure: float, seed: int
) -> Proof | None:
    """Prove by a normal d of K = dom h that no x in X has Ax in K; None if d proves nothing.

    The value of the proof is a lower bound on the distance between A(X) and K. Where h is finite
    everywhere, d must be 0.
    """
    A, X, h = problem.A, problem.X, problem.h
    require_vector(d, zeros_of(A), "the separator")
    size, support = norm_above(d), h.support(d)
    if size == 0.0 or not np.isfinite(support):
        return None
    gradient = A.adjoint(d)
    if gradient is None:
        return None
    least = X.bound(gradient, slack=slack, failure=failure, seed=seed)
    rounding = gamma(sum_roundings(d) + 8) * (abs(least.value) + h.support_abs_sum(d))
    rounding += X.max_norm * (adjoint_rounding(A, d) + dual_rounding(A, h.support_error(d)))
    separation = least.value - support - rounding
    if not separation > 0:
        return None
    return Proof(separation / size, least.how, least.failure)


def candidates(
    problem: Problem, Ax: Array, y: Array, excess: float
) -> Iterator[tuple[Array, float]]:
    """Yield normals of K that may separate A(X) from K, each with the slack of its proof: the
    normal at Ax, and the part of the dual y that is a normal.

    A bound that exceeds a value of f + g by more than f + g varies owes the `excess` to the second
    of them, which then separates by as much.
    """
    h = problem.h
    for d in (h.normal_residual(Ax), normal_part(h, y)):
        widest = float(d @ Ax) - h.support(d)  # Ax is a point of A(X)
        if not widest > 0:
            continue
        expected = min(max(excess, LEAST_EXPECTED * widest), widest) if excess > 0 else widest
        yield d, PROOF_SLACK * expected


def normal_part(h: Provable, y: Array) -> Array:
    """Return the normal of dom h in the dual y: 0 for pieces of h that are finite everywhere."""
    d = h.dual_point(y).copy()
    for rows, piece in h.pieces:
        if piece.lipschitz < inf:
            d[rows] = 0.0
    return d
