"""When to certify: the driver's eye on the free estimates, and the best that was proved."""

from __future__ import annotations

import numpy as np

from condal.certify import (
    DEFAULT_FAILURE,
    Certificate,
    certify,
    infeasibility_proof,
)
from condal.points import Array, Point
from condal.problem import Problem
from condal.result import Row, Status
from condal.scaling import Scaling
from condal.state import State
from condal.types import Proof, Storage


class Checks:
    """When to certify, and the best that was certified.

    A proof costs more than an iteration. It is tried only when the free estimates say that the
    tolerance is near, and at most every 5% more iterations.
    """

    def __init__(self, problem: Problem, scaling: Scaling, tol: float, seed: int) -> None:
        self.problem, self.scaling, self.tol, self.seed = problem, scaling, tol, seed
        # Where the objective cannot reach 1, a gap is measured against what it can reach.
        self.least_unit = min(1.0, 1.0 / scaling.c)
        self.lower = -np.inf  # the best estimate, in normalised units, and the dual behind it
        self.w: Array | None = None
        self.infeasible: Proof | None = None
        self._next_look = 1
        self._next_infeasibility, self._last_infeasibility = 32, np.inf
        self._proofs = 0
        self._certified: tuple[Point, Array, Certificate] | None = None
        self._proved_w: Array | None = None

    def note_lower(self, state: State) -> None:
        """Keep the best dual seen so far."""
        if state.lower > self.lower:
            self.lower, self.w = state.lower, state.w

    def look(self, state: State, row: Row, x: Storage) -> Status | None:
        """SOLVED or INFEASIBLE if that is proved now, else None."""
        if state.k >= self._next_infeasibility:
            self._next_infeasibility = 2 * state.k
            stuck = row.infeasibility > max(0.7 * self._last_infeasibility, self.tol)
            self._last_infeasibility = row.infeasibility
            self.infeasible = self._infeasibility(state) if stuck else None
            if self.infeasible is not None:
                return Status.INFEASIBLE
        sense, tol = self.problem.sense, self.tol
        crossed = sense * (row.objective - row.bound) < 0  # by infeasibility, or by a false bound
        doubted = crossed and self.w is not self._proved_w
        if state.k < self._next_look or not (doubted or self._near(row)):
            return None
        if self.problem.repair is None and not doubted and row.infeasibility > 1.05 * tol:
            return None
        self._next_look = state.k + max(4, int(0.05 * state.k))
        point = self._repaired(x)
        objective = self.problem.objective(point)
        unit = self._unit(objective)
        if sense * (objective - row.bound) > 0.95 * tol * unit:
            return None
        assert self.w is not None
        certificate = self._certify(point, self.w, tol * unit)
        missed = abs(certificate.bound - certificate.objective)
        if missed <= tol * unit and certificate.infeasibility <= tol:
            return Status.SOLVED
        # The estimate was too good, the oracle being inexact: let another dual take its place.
        self.lower = min(self.lower, self.problem.sense * certificate.bound * self.scaling.c)
        return None

    def best(
        self, state: State | None, x: Storage, status: Status
    ) -> tuple[Point | None, Array, Certificate]:
        """The point, dual and certificate to return."""
        if self._certified is not None and status is Status.SOLVED:
            return self._certified
        sense = self.problem.sense
        if state is None or not self._is_sound(state):
            if self._certified is not None:
                return self._certified
            nothing = Certificate(np.nan, -sense * np.inf, np.inf, "nothing was computed")
            return None, np.zeros(self.problem.A.size), nothing
        point, w = self._repaired(x), self.w if self.w is not None else state.y
        objective = self.problem.objective(point)
        missed = abs(objective - sense * self.lower / self.scaling.c)
        aim = self.tol * self._unit(objective)
        try:
            certificate = self._certify(point, w, max(aim, missed) if missed < np.inf else aim)
        except FloatingPointError:  # the operators that ended the solve will not prove anything
            infeasibility = self.problem.infeasibility(point)
            certificate = Certificate(objective, -sense * np.inf, infeasibility, "no proof")
        return point, self.scaling.dual(w), certificate

    @staticmethod
    def _is_sound(state: State) -> bool:
        """Whether there is an iterate to speak of."""
        return state.k > 0 and bool(np.isfinite(state.value))

    def _repaired(self, x: Storage) -> Point:
        point = x.point()
        return point if self.problem.repair is None else self.problem.repair(point)

    def _unit(self, objective: float) -> float:
        """What tol is relative to: |objective|, or 1 where that is less and can be reached."""
        return max(self.least_unit, abs(objective))

    def _near(self, row: Row) -> bool:
        return abs(row.objective - row.bound) <= 1.5 * self.tol * self._unit(row.objective)

    def _certify(self, point: Point, w: Array, gap: float) -> Certificate:
        """The certificate, by a proof that loses little against an (absolute) gap of that size."""
        self._proofs += 1
        y = self.scaling.dual(w)
        certificate = certify(
            self.problem,
            point,
            y,
            slack=0.04 * gap,
            # The best of many proofs is returned: their failure probabilities add up to the total.
            failure=DEFAULT_FAILURE / (2 * self._proofs**2),
            seed=self.seed + self._proofs,
        )
        self._certified, self._proved_w = (point, y, certificate), w
        return certificate

    def _infeasibility(self, state: State) -> Proof | None:
        self._proofs += 1
        return infeasibility_proof(
            self.problem,
            self.scaling.image(state.Ax),
            slack=0.1 * self.problem.h.distance(self.scaling.image(state.Ax)),
            failure=DEFAULT_FAILURE / (2 * self._proofs**2),
            seed=self.seed + self._proofs,
        )
