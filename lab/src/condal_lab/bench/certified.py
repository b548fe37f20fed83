"""Certify the answer of any solver: condal's certificate of its point and its dual."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from condal.certificates.certificate import Certificate
from condal.certificates.verification import certify
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.problem import Model, Problem, problem_of
from condal.smooth import Linear
from condal.types import Spectral, from_user, to_user
from condal_lab.bench.peers.peer import PeerAnswer
from condal_lab.bench.results import MAX_DISTANCE

OWN_DUAL, OUR_DUAL, ALONE, CLAIM = "x, y", "x, our y", "x alone", "own claim"
KNOWN = "x, optimum"
PROOF_SHARE = 0.01  # the share of the tolerance that the proof may lose to save time


@dataclass(frozen=True)
class CertifiedAnswer:
    """Objective, bound, gap, infeasibility and its price, in the user's sense.

    `outside` is the distance of the point from X over the size of X, `how` describes the proof.

    `basis` is "x, y" for the solver's point and dual, "x, our y" for its point and a dual computed
    from it, "x, optimum" for its point and the known optimum, "x alone" if there is no bound, and
    "own claim" if the solver returned no point: the
    objective is then its claim, and nothing is proved.
    """

    basis: str
    objective: float = float("nan")
    bound: float = float("nan")
    gap: float = float("nan")
    infeasibility: float = float("nan")
    how: str = ""
    outside: float = 0.0
    price: float = float("nan")

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility, its price and `outside`; nan if any is nan."""
        return float(np.max([self.gap, self.infeasibility, self.price, self.outside]))

    def solves(self, tol: float) -> bool:
        """Return whether the point lies in X and the error is at most tol."""
        return self.error <= tol and self.outside <= MAX_DISTANCE


def certify_answer(
    model: Problem | Model, answer: PeerAnswer, *, tol: float, optimum: float | None = None
) -> CertifiedAnswer:
    """Certify the answer after moving its x to the domain and repairing it, where possible.

    If the answer has no dual, or its dual proves too little, a dual is computed from x where
    possible, and else the known optimum takes the place of the bound. The proof may lose a
    hundredth of tol: it then takes seconds instead of hours.
    """
    problem = problem_of(model)
    if answer.certificate is not None:
        return _from_certificate(problem, answer.certificate, OWN_DUAL)
    if answer.x is None:
        claim = float("nan") if answer.claim is None else answer.claim
        return CertifiedAnswer(CLAIM, objective=claim)
    x = make_feasible(problem, answer.x)
    slack = PROOF_SHARE * tol * problem.gap_unit(problem.objective(x))
    best = CertifiedAnswer(
        ALONE,
        objective=problem.objective(x),
        infeasibility=problem.infeasibility(x),
        outside=problem.X.distance(x) / problem.X.max_norm,
    )
    if answer.y is not None and np.isfinite(answer.y).all():
        best = _from_certificate(problem, certify(problem, x, answer.y, slack=slack), OWN_DUAL)
    if not best.gap <= tol and (y := recover_dual(problem, x)) is not None:
        ours = _from_certificate(problem, certify(problem, x, y, slack=slack), OUR_DUAL)
        best = best if best.gap <= ours.gap else ours
    if best.basis == ALONE and optimum is not None:
        apart = abs(best.objective - optimum) / problem.gap_unit(optimum)
        return replace(best, basis=KNOWN, bound=optimum, gap=apart, price=0.0)
    return best


def _from_certificate(problem: Problem, proved: Certificate, basis: str) -> CertifiedAnswer:
    return CertifiedAnswer(
        basis,
        proved.objective,
        proved.bound,
        proved.gap,
        proved.infeasibility,
        proved.because,
        proved.distance_to_X / problem.X.max_norm,
        proved.price,
    )


def make_feasible(problem: Problem, x: Point) -> Point:
    """Drop the negative part of x, correct its trace and repair it."""
    X = problem.X
    if isinstance(X, Spectral) and not isinstance(x, tuple):
        x = _psd(x)
        trace = x.trace
        if trace > 0 and (not X.at_most or trace > X.trace):
            x = LowRank(x.U, x.weights * (X.trace / trace))
    return x if problem.repair is None else from_user(X, problem.repair(to_user(X, x)))


def recover_dual(problem: Problem, x: Point) -> Array | None:
    """Return y_i = -<(C R)_i, R_i> / (d_i x_ii) for x = R R' and A x = d * diag(x), else None.

    Row i of (C + A'y) R is then orthogonal to row i of R. At a stationary x, y is the multiplier.
    """
    rows, f = problem.A.diagonal_rows, problem.f
    if rows is None or not isinstance(f, Linear) or not isinstance(f.C, Symmetric):
        return None
    R = _psd(x).factor() if not isinstance(x, tuple) else None
    if R is None or len(R) != rows.size:  # several blocks, or the real form of a complex x
        return None
    diagonal = np.einsum("ij,ij->i", R, R)
    slope = np.einsum("ij,ij->i", f.C @ R, R)
    return np.asarray(-slope / (rows * np.where(diagonal > 0, diagonal, 1.0)))


def _psd(x: Array | LowRank) -> LowRank:
    """Return the positive semidefinite part of x as a factor."""
    if isinstance(x, LowRank) and not (x.weights < 0).any():
        return x
    full = np.asarray(dense(x))
    values, vectors = eigh(0.5 * (full + full.T))
    keep = values > 0
    return LowRank(np.ascontiguousarray(vectors[:, keep]), values[keep])
