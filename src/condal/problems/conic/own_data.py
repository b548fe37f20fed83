"""What the program's own data prove of an answer to its problem over points of bounded trace."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate
from condal.certificates.conic import proved_lower_bound
from condal.linalg.points import Array
from condal.linalg.rounding import row_squares
from condal.problems.conic.interpretation import GIVEN_TRACE, ON_OWN_DATA, Interpretation
from condal.problems.conic.proposed import certificate_of, folded_dual, inside_of
from condal.problems.conic.trace_bound import combine
from condal.problems.conic.verified import (
    bound_near,
    bound_towards,
    separator_near,
    shifted,
    verifiable,
)
from condal.result import Result, Status

NEAR_BOUND, SHARE_OF_TOL = 1e-8, 0.5  # of the objective: a nearer bound needs no better multipliers
GAP_ROUNDING = 1e-12  # relative to the objective
NO_BOUND = "no bound is proved for any trace"
ANY_TRACE = "the proof holds whatever the trace"
NO_POINT = "no feasible point was found, and it is not proved that there is none"
NOT_BY_OWN = "no point seems to be feasible, but the program's own data do not prove it"


class OwnDataProofs(Interpretation):
    """Proofs on the program as it was given; programs that are too large rest on their parts."""

    def rechecked(self, result: Result) -> Result:
        """Return a result of `problem` with the bound or the verdict that holds for the program.

        They assume nothing about the trace unless the certificate or the reason says so.
        """
        if result.status is Status.INFEASIBLE:
            certificate = self.certified(result.certificate, result.y)
            return self._infeasible(replace(result, certificate=certificate))
        certificate, w = self._bounded(result.x, result.y, result.certificate, result.tol or 0.0)
        return replace(result, y=w, certificate=certificate)

    def _bounded(
        self, x: Any, y: Array, certificate: Certificate, tol: float = 0.0
    ) -> tuple[Certificate, Array]:
        """Return the certificate of a pair with the bound that holds, and what proves that."""
        proved, w = self._proved(certificate, y, tol)
        if x is None or (w is y and proved.bound == certificate.bound):
            return proved, w
        return self._measured(x, w, proved), w

    def _measured(self, x: Any, w: Array, certificate: Certificate) -> Certificate:
        """Return the certificate with what is measured by the w that proves its bound."""
        lower, failure = self.problem.sense * certificate.bound, certificate.failure
        measured = certificate_of(self.problem, x, w, lower, certificate.how)
        return replace(measured, failure=failure)

    def certified(self, certificate: Certificate, y: Array) -> Certificate:
        """Return the certificate with the bound that holds for the program, and what it assumes."""
        return self._proved(certificate, y)[0]

    def _proved(
        self, certificate: Certificate, w: Array, tol: float = 0.0
    ) -> tuple[Certificate, Array]:
        """Return the certificate with the bound that holds, and the multipliers that prove it."""
        sense, trace = self.problem.sense, self._trace
        if not verifiable(self.program):
            return self._of_parts(certificate, w), w
        bound, near = self._own_bound(w, certificate, tol)
        how = ON_OWN_DATA if bound > -inf else NO_BOUND
        own = replace(certificate, bound=sense * bound, how=how, failure=0.0)
        if not trace.proved:
            return own, near
        if trace.given and not own.gap <= 2 * certificate.gap + GAP_ROUNDING:
            return self._within_the_trace(certificate), w
        kept = bound == sense * certificate.bound
        return certificate if kept else own, w

    def _of_parts(self, certificate: Certificate, w: Array) -> Certificate:
        """Return what the parts of a program that is too large prove."""
        if not self._trace.proved:
            unproved = -self.problem.sense * inf
            return replace(certificate, bound=unproved, how=NO_BOUND, failure=0.0)
        if not self._trace.given or not isfinite(certificate.bound):
            return certificate
        combination = combine(self.shape, w, of_objective=True)
        proved = replace(certificate, bound=-self.problem.sense * combination.most)
        # Rounding makes it a little worse than the bound within the trace.
        if np.all(combination.least >= 0) and proved.gap <= 2 * certificate.gap + GAP_ROUNDING:
            how = f"{certificate.how}; the slack is psd, so it holds whatever the trace"
            return replace(proved, how=how)
        return self._within_the_trace(certificate)

    def _within_the_trace(self, certificate: Certificate) -> Certificate:
        if not certificate.certified:
            return certificate
        return replace(certificate, how=f"{certificate.how}, {self._given_trace}")

    def _own_bound(self, w: Array, certificate: Certificate, tol: float) -> tuple[float, Array]:
        """Return the bound that multipliers near w prove, and about these.

        Without a proved bound on the traces, one that is near the objective is good enough.
        Otherwise one is that is as good as the bound of the certificate, for bounded traces.
        """
        sense, form, objective = self.problem.sense, self.program.form, certificate.objective
        y = sense * self.multipliers(w)
        if not self._trace.proved:
            enough = sense * objective if isfinite(objective) else inf
            enough -= max(NEAR_BOUND, SHARE_OF_TOL * tol) * self.problem.gap_unit(objective)
            bound, y = bound_near(self.program, y, self.inside, enough)
            return bound, folded_dual(self.shape, y) if bound > -inf else w
        claimed, bound = sense * certificate.bound, proved_lower_bound(form, y)
        if bound >= claimed or not isfinite(claimed):
            return bound, w
        y = sense * self._dual(w, tol, objective, claimed)
        return max(bound, bound_towards(form, y, shifted(y, self.inward))[0]), w

    # ---- infeasible --------------------------------------------------------------------------

    def _infeasible(self, result: Result) -> Result:
        """Return the result; without its verdict, if that does not hold for the program."""
        d = result.separator
        assumed = None if d is None else self.separated_for(d)
        if assumed:
            return replace(result, reason=f"it is proved {GIVEN_TRACE} only: try a larger one")
        if assumed is None or d is None:
            reason = NOT_BY_OWN if self._trace.proved else NO_POINT
            without = replace(result, infeasible=None, separator=None)
            return replace(without, status=Status.STALLED, reason=reason)
        any_trace = self._trace.given or not self._trace.proved
        separator = self._separator_near(d)
        return replace(
            result,
            reason=ANY_TRACE if any_trace else result.reason,
            separator=d if separator is None or not any_trace else separator,
        )

    def separated_for(self, d: Array) -> str | None:
        """Return what a separator of `problem` assumes as a proof that nothing is feasible.

        None if it proves this only for the traces that methods work within.
        """
        if verifiable(self.program):
            proved = self._separator_near(d) is not None
        else:
            of_any = self._trace.proved and not self._trace.given
            proved = of_any or combine(self.shape, d).impossible
        return "" if proved else self._given_trace if self._trace.given else None

    @property
    def _given_trace(self) -> str:
        return f"{GIVEN_TRACE} {self._trace.largest:g}"

    def _separator_near(self, d: Array) -> Array | None:
        """Return a separator near d that the program's own data prove, whatever the trace."""
        if not verifiable(self.program):
            return None
        ending = separator_near(self.program.form, -self._separator(d), self.inward)
        return None if ending is None else folded_dual(self.shape, ending.vector)

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
