"""Bounds and verdicts of a solve, as far as the program's own data prove them."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite

import numpy as np

from condal.certificates.certificate import relative_price
from condal.certificates.conic import proved_lower_bound
from condal.linalg.points import Array
from condal.linalg.rounding import row_squares
from condal.problems.conic.interpretation import GIVEN_TRACE, ON_OWN_DATA, Interpretation
from condal.problems.conic.proposed import inside_of
from condal.problems.conic.verified import (
    bound_near,
    bound_towards,
    separator_near,
    shifted,
    verifiable,
    verified_infeasible,
)
from condal.result import Result, Status
from condal.types import from_user

NEAR_BOUND, SHARE_OF_TOL = 1e-8, 0.5  # of the objective: a nearer bound needs no better multipliers
NO_BOUND = "no bound is proved for any trace"


class OwnDataProofs(Interpretation):
    """Proofs on the program as it was given; programs that are too large rest on their parts."""

    def rechecked(self, result: Result) -> Result:
        """Return a result, proved for `problem`, with what the program's own data prove."""
        if result.status is Status.INFEASIBLE:
            return self._verified_infeasible(result)
        return self._verified(result)

    def _verified(self, result: Result) -> Result:
        """Return the result with its bound, or a weaker one that the program's own data prove.

        A bound within a given trace is left as it is, and so are programs that are too large.
        """
        assumed = self._trace.given and GIVEN_TRACE in result.certificate.how
        if assumed or not isfinite(result.bound):
            return result
        if not self._trace.proved or not verifiable(self.program):
            return result
        sense = self.problem.sense
        if self.own_bound(result.y) >= sense * result.bound:
            return result
        y = sense * self.dual(result)
        bound, _ = bound_towards(self.program.form, y, shifted(y, self.inward))
        if bound >= sense * result.bound:
            return result
        certificate = replace(result.certificate, bound=sense * bound)
        return replace(result, certificate=certificate)

    def own_bound(self, w: Array, objective: float = inf) -> float:
        """Return the bound on the minimised objective that w proves for any trace; -inf if none.

        Without a proved bound on the traces, multipliers near w are tried as well, unless the bound
        is as good as the `objective`.
        """
        if not verifiable(self.program):
            return -inf
        y = self.problem.sense * self._of_rows(w)
        if not self._trace.proved:
            return self._near(w, objective, NEAR_BOUND)[0]
        return proved_lower_bound(self.program.form, y)

    def _near(self, w: Array, objective: float, share: float) -> tuple[float, Array]:
        """Return the bound that multipliers near w prove, and about these.

        A bound within this share of the minimised objective is good enough.
        """
        sense, enough = self.problem.sense, objective
        if isfinite(enough):
            enough -= share * self.problem.gap_unit(enough)
        bound, y = bound_near(self.program, sense * self._of_rows(w), self.inside, enough)
        return bound, self.folded_multipliers(sense * y)

    def _for_any_trace(self, result: Result) -> Result:
        """Return the result with multipliers near its own that prove a bound for any trace."""
        problem, objective = self.problem, result.objective
        bound, w = -inf, result.y
        if result.x is not None and verifiable(self.program):
            share = max(NEAR_BOUND, SHARE_OF_TOL * (result.tol or 0.0))
            bound, w = self._near(w, problem.sense * objective, share)
        certificate = replace(
            result.certificate, bound=problem.sense * bound, how=NO_BOUND, failure=0.0
        )
        if bound > -inf:
            Ax = problem.A(from_user(problem.X, result.x))
            price = relative_price(problem, Ax, w, objective)
            certificate = replace(certificate, price=price, how=ON_OWN_DATA)
        return replace(result, y=w, certificate=certificate)

    def _verified_infeasible(self, result: Result) -> Result:
        """Return the result; without its verdict, if the program's own data do not prove it."""
        if result.status is not Status.INFEASIBLE or self._trace.given:
            return result
        if not verifiable(self.program):
            return result
        if result.separator is not None:
            y = -self.separator(result)
            if verified_infeasible(self.program, y, self.inward):
                return result
        reason = "no point seems to be feasible, but the program's own data do not prove it"
        return self._undecided(result, reason)

    def _undecided(self, result: Result, reason: str) -> Result:
        """Return the result without its verdict, nor a proof that holds within the trace only."""
        without = replace(result, infeasible=None, separator=None)
        return replace(without, status=Status.STALLED, reason=reason)

    @property
    def inside(self) -> list[Array]:
        """Multipliers of the program's rows, as a minimisation, with slacks in the dual cone."""
        return inside_of(self._trace.proposal)

    @property
    def inward(self) -> list[Array]:
        """Multipliers y of the program's rows with -A'y inside the dual cone."""
        folded, proofs = self.shape.folded, self._trace.combinations
        directions = [
            folded.multipliers(-proof.y) / proof.least.max()
            for proof in proofs
            if proof.least.max() > 0
        ]
        if not directions:
            return []
        total = np.sum(directions, axis=0)
        into_cones = self._into_folded_cones(total)
        return [*directions, total, *into_cones] if len(directions) > 1 else [total, *into_cones]

    def _into_folded_cones(self, total: Array) -> list[Array]:
        """Return multipliers that also move the slacks of folded cones inwards, if there are any.

        The slack of a folded cone is the multipliers of its own rows, which no bound on the trace
        moves. What the first of them adds to the other slacks, `total` outweighs.
        """
        folded = self.shape.folded
        heads = [cone.start for cone in folded.cones]
        if not heads:
            return []
        first: Array = np.zeros(folded.rows.size)
        first[heads] = 1.0
        y = folded.multipliers(first)
        weight = sum(float(np.sqrt(row_squares(part.A)[heads]).sum()) for part in folded.parts)
        return [y + 2.0**k * (1.0 + weight) * total for k in range(0, 12, 4)]

    def _separator_near(self, d: Array) -> Array | None:
        """Return a separator near d that the program's own data prove, whatever the trace."""
        if not verifiable(self.program):
            return None
        folded = self.shape.folded
        proved = separator_near(self.program.form, folded.multipliers(-d))
        return None if proved is None else -proved.vector[folded.rows] / folded.scale
