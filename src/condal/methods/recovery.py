r"""A point from a dual, by approximate complementarity (Ding et al. 2021).

A solution satisfies :math:`(C + A^\top y^\star - \lambda_{\min} I)\, x^\star = 0`, so it has the
form :math:`V S V^\top`, V the eigenvectors of the smallest eigenvalue. With an approximate dual, V
holds the eigenvectors of some of the smallest ones, and S solves the program over them: a matrix of
the side of the rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import inf, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import add
from condal.linalg.points import Array, LowRank
from condal.linalg.subspaces import lowest_subspace
from condal.linalg.symmetric import Symmetric
from condal.methods.accelerated.step import clipped
from condal.methods.lagrangian import multiplier
from condal.methods.lowrank.columns import first_rank
from condal.methods.state import (
    State,
    Warm,
    require_factor,
    require_linear,
    require_penalty,
    require_spectral,
)
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_STEPS = 500  # of a minimisation over the face
EXACT_STEP = 1e-12  # of the trace: a shorter step is rounding
CURVATURE_DECREASE = 0.9  # of the last curvature: the next trial
PROGRESS = 0.9  # of the infeasibility: less progress ends the method
EXACT = 1e-14  # the infeasibility of a normalised problem that is rounding


@dataclass(frozen=True, eq=False)
class RecoveryState:
    """S of x = V S V', the multiplier z of the program over S, and the distance of Ax from K."""

    S: Array
    z: Array
    distance: float = inf


@dataclass(frozen=True)
class DualRecovery:
    r"""Recover a point from the dual y of the warm start [1]_.

    V holds the eigenvectors of the smallest eigenvalues of :math:`C + A^\top y`. Each iteration
    minimises :math:`\mathcal{L}_\lambda(V S V^\top, z)` over the psd matrices S by accelerated
    projected gradients, then moves z, which starts at y, to the multiplier. The limit is the least
    infeasible x of this form, and among several of them the best. The method ends there: its
    error is of the order of the square root of the error of y. The bound is the one of y.

    Parameters
    ----------
    rank : int or None
        The number of eigenvectors, at least the rank of a solution; None for the first rank of
        `LowRankCGAL`.
    lam : float
        The penalty, on the normalised problem.

    References
    ----------
    .. [1] L. Ding, A. Yurtsever, V. Cevher, J. A. Tropp, M. Udell. An optimal-storage approach to
       semidefinite programming using approximate complementarity. SIAM Journal on Optimization 31,
       2021.

    Examples
    --------
    >>> import numpy as np, condal
    >>> model = condal.problems.max_cut(np.ones((3, 3)) - np.eye(3))
    >>> dual = np.full(3, 0.75)  # of diag x = 1
    >>> result = condal.solve(model, condal.methods.DualRecovery(), warm_start=(None, dual))
    >>> print(f"{result.objective:.4f}")
    2.2500
    """

    name: ClassVar[str] = "recovery"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    lam: float = 100.0

    def __post_init__(self) -> None:
        require_factor(self.rank)
        require_penalty(self.lam, "lam")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of the dual of `warm`; its point does not matter."""
        require_linear(problem, "recovery from a dual")
        X = require_spectral(problem, "recovery from a dual")
        if warm is None or not problem.A.size:
            raise ProblemError(
                "recovery needs constraints and a dual: pass warm_start=(None, y), with a "
                "multiplier for each row of A, or the result of another method"
            )
        rank = first_rank(problem, X.n, self.rank)
        y = problem.h.dual_point(warm.y)
        carry = RecoveryState(np.eye(rank) * (X.trace / rank), y)
        return State.of_dual(problem, replace(warm, y=y), carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each minimisation, the last where infeasibility falls no more."""
        state = start or self.start(problem)
        f, h, y, carry = problem.f, problem.h, state.y, state.carry
        face = Face(problem, y, len(carry.S))
        for k in count(state.k + 1):
            S, Ax = face.minimiser(carry, self.lam)
            distance = h.distance(Ax)
            done = distance <= EXACT or distance > PROGRESS * carry.distance
            carry = RecoveryState(S, multiplier(h, Ax, carry.z, self.lam), distance)
            point = face.point(S)
            Mx = f.M(point)
            value = f.value(Mx)
            state = replace(
                state,
                k=k,
                Mx=Mx,
                Ax=Ax,
                value=value,
                gap=value + float(y @ Ax) - face.least,
                lower=face.least - h.conjugate(y),
                lam=self.lam,
                carry=carry,
                last=done,
            )
            x.load(point)  # last: an interrupted iteration leaves x unchanged
            yield state


class Face:
    """The points V S V' of X, V the eigenvectors of the smallest eigenvalues of C + A'y.

    `least` is the minimum of <C + A'y, .> over X, up to the rounding of the eigenvalues.
    """

    def __init__(self, problem: Problem, y: Array, rank: int) -> None:
        assert isinstance(problem.X, Spectral)
        self.problem, self.X = problem, problem.X
        C = problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size)))
        V = add(C, problem.A.adjoint(y))
        assert isinstance(V, Symmetric)
        values, self.V = lowest_subspace(V, rank)
        self.cost = self._restricted(C)
        self.max_curvature = problem.A.norm**2 or 1.0
        lowest = min(float(values[0]), 0.0) if self.X.at_most else float(values[0])
        self.least = self.X.trace * lowest

    def point(self, S: Array) -> LowRank:
        """x = V S V'."""
        values, turned = np.linalg.eigh(S)
        kept = values > 0.0
        return LowRank(self.V @ turned[:, kept], values[kept])

    def minimiser(self, start: RecoveryState, lam: float) -> tuple[Array, Array]:
        """Return the S that minimises L_lam(V S V', z), and A(V S V')."""
        A, h, S = self.problem.A, self.problem.h, start.S
        AS = A(self.point(S))
        ahead, A_ahead, t, L = S, AS, 1.0, self.max_curvature
        for _ in range(MAX_STEPS):
            w = multiplier(h, A_ahead, start.z, lam)
            slope = (self.cost + self._restricted(A.adjoint(w))) / lam
            moved, A_moved, L = self._step(ahead, A_ahead, slope, CURVATURE_DECREASE * L)
            if float(np.vdot(ahead - moved, moved - S)) > 0.0:
                t = 1.0  # the momentum leads upwards
            t_next = (1 + sqrt(1 + 4 * t * t)) / 2
            beta, t = (t - 1) / t_next, t_next
            length = np.linalg.norm(moved - ahead)
            ahead, A_ahead = moved + beta * (moved - S), A_moved + beta * (A_moved - AS)
            S, AS = moved, A_moved
            if length <= EXACT_STEP * self.X.trace:
                break
        return S, AS

    def _step(
        self, ahead: Array, A_ahead: Array, slope: Array, L: float
    ) -> tuple[Array, Array, float]:
        """Return the projection of ahead - slope / L, its image, and an L above the curvature of
        |A(V S V')|^2 / 2 along the step; |A|^2 is above all of them."""
        while True:
            moved, A_moved = self._projected(ahead - slope / L)
            reached = float(np.linalg.norm(A_moved - A_ahead))
            if self.max_curvature <= L or reached <= sqrt(L) * float(np.linalg.norm(moved - ahead)):
                return moved, A_moved, L
            L *= 2.0

    def _restricted(self, gradient: object) -> Array:
        """V' G V, for a gradient G on the space of X."""
        assert isinstance(gradient, Symmetric)
        restricted = self.V.T @ (gradient @ self.V)
        return np.asarray(0.5 * (restricted + restricted.T))

    def _projected(self, S: Array) -> tuple[Array, Array]:
        """The nearest psd matrix of the trace of X to S, and its image."""
        values, turned = np.linalg.eigh(S)
        weights, _ = clipped(values[::-1], self.X.trace, at_most=self.X.at_most)
        turned = turned[:, ::-1][:, : weights.size]
        image = self.problem.A(LowRank(self.V @ turned, weights))
        return np.asarray((turned * weights) @ turned.T), image
