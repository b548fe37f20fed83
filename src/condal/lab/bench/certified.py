"""What is proved of an answer, whoever gave it: our certificate of its point and its dual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from condal.certificates.certificate import Certificate, certify
from condal.lab.bench.job import MEMBER
from condal.lab.bench.peers.peer import PeerAnswer
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.symmetric import Symmetric
from condal.problem import Model, Problem, problem_of
from condal.smooth import Linear
from condal.types import Spectral

ITS_OWN, MADE, CLAIM = "x, y", "x, our y", "own claim"
PROOF = 0.01  # of the tolerance


@dataclass(frozen=True)
class Certified:
    """objective, bound, gap and infeasibility in the user's sense; `what` says of what.

    `outside` is the distance of the point from X, over the size of X.

    x, y: of its point and its dual. x, our y: of its point, and a dual made of that. x alone: no
    bound. own claim: there was no point, the objective is what it says, and nothing is proved.
    """

    what: str
    objective: float = float("nan")
    bound: float = float("nan")
    gap: float = float("nan")
    infeasibility: float = float("nan")
    how: str = ""
    outside: float = 0.0

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and `outside`; nan if one of them is."""
        return float(np.max([self.gap, self.infeasibility, self.outside]))

    def solves(self, tol: float) -> bool:
        """Whether the point is one of X, and the error at most tol."""
        return self.error <= tol and self.outside <= MEMBER


def certified(model: Problem | Model, answer: PeerAnswer, *, tol: float) -> Certified:
    """The certificate of the answer: its x moved to the domain, repaired where there is a way.

    Where it gives no dual, or one that proves too little, a dual is made of x if that can be. The
    proof may lose a hundredth of tol, which is what tells a proof in seconds from one in hours.
    """
    problem = problem_of(model)
    if answer.certificate is not None:
        return _told(problem, answer.certificate, ITS_OWN)
    if answer.x is None:
        claim = float("nan") if answer.claim is None else answer.claim
        return Certified(CLAIM, objective=claim)
    x = feasible(problem, answer.x)
    slack = PROOF * tol * problem.gap_unit(problem.objective(x))
    found = Certified(
        "x alone",
        objective=problem.objective(x),
        infeasibility=problem.infeasibility(x),
        outside=problem.X.distance(x) / problem.X.max_norm,
    )
    if answer.y is not None and np.isfinite(answer.y).all():
        found = _told(problem, certify(problem, x, answer.y, slack=slack), ITS_OWN)
    if not found.gap <= tol and (made := dual_of(problem, x)) is not None:
        ours = _told(problem, certify(problem, x, made, slack=slack), MADE)
        found = found if found.gap <= ours.gap else ours
    return found


def _told(problem: Problem, found: Certificate, what: str) -> Certified:
    return Certified(
        what,
        found.objective,
        found.bound,
        found.gap,
        found.infeasibility,
        found.because,
        found.distance_to_X / problem.X.max_norm,
    )


def feasible(problem: Problem, x: Point) -> Point:
    """x without its negative part, of the right trace, and repaired."""
    X = problem.X
    if isinstance(X, Spectral) and not isinstance(x, tuple):
        x = _psd(x)
        trace = x.trace
        if trace > 0 and (not X.at_most or trace > X.trace):
            x = LowRank(x.U, x.weights * (X.trace / trace))
    return x if problem.repair is None else problem.repair(x)


def dual_of(problem: Problem, x: Point) -> Array | None:
    """y with the rows of (C + A'y) R orthogonal to those of R, where A reads the diagonal.

    With x = R R' stationary this is the multiplier: y_i = -<(C R)_i, R_i> / (d_i x_ii).
    """
    rows, f = problem.A.diagonal_rows, problem.f
    if rows is None or not isinstance(f, Linear) or not isinstance(f.C, Symmetric):
        return None
    R = _psd(x).factor() if not isinstance(x, tuple) else None
    if R is None:
        return None
    size = np.einsum("ij,ij->i", R, R)
    slope = np.einsum("ij,ij->i", f.C @ R, R)
    return np.asarray(-slope / (rows * np.where(size > 0, size, 1.0)))


def _psd(x: Array | LowRank) -> LowRank:
    """The positive part of x, as a factor."""
    if isinstance(x, LowRank) and not (x.weights < 0).any():
        return x
    full = np.asarray(dense(x))
    values, vectors = eigh(0.5 * (full + full.T))
    keep = values > 0
    return LowRank(np.ascontiguousarray(vectors[:, keep]), values[keep])
