"""One result before its problem: each of its claims, tried by what x and y make of it anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan

import numpy as np

from condal.certificates.certificate import (
    DEFAULT_FAILURE,
    Certificate,
    EvaluatedPoint,
    certificate_of,
    dimacs_errors,
)
from condal.certificates.infeasibility import infeasibility_proof
from condal.certificates.membership import is_member
from condal.linalg.points import Array
from condal.linalg.proof import Proof
from condal.problem import Problem
from condal.result import Result, Status

ROUNDING = 1e-9  # of an objective or an infeasibility, computed on another machine
UNIT = 1e-13  # of sums of that size: what their order changes
SLACK = 1e-8  # of the objective: what a proof may lose against the best that y can prove
STEPS = 0.01, 1e-4  # of what was claimed: what the first proof may lose, and the second


@dataclass(frozen=True)
class Claim:
    """One thing that a result says, whether it holds, and what was found."""

    name: str
    holds: bool
    found: str


class Trial:
    """What is seen of the point of a result, and its claims one by one.

    `certified` says what a certificate of the problem proves of what the problem was made for.
    """

    def __init__(
        self,
        problem: Problem,
        result: Result,
        seen: EvaluatedPoint,
        seed: int,
        certified: Callable[[Certificate, Array], Certificate] | None = None,
    ) -> None:
        self.problem, self.result, self.seen, self.seed = problem, result, seen, seed
        self.certified = certified
        self.claimed, self.sense = result.certificate, problem.sense
        self.unit = problem.gap_unit(seen.objective)
        self.room = ROUNDING * self.unit + UNIT * _finite(problem.objective_range)
        self.certificate: Certificate | None = None

    def claims(self, tol: float | None) -> Iterator[Claim]:
        """All that the result claims, and that it is solved to tol, if that is asked."""
        yield self._member()
        yield self._objective()
        yield self._infeasibility()
        own = self.result.tol if self.result.status is Status.SOLVED else None
        claimed = self.sense * self.claimed.bound
        claimed = -inf if isnan(claimed) or claimed == inf else claimed
        self.certificate = found = self._best(claimed, self.seed)
        if tol is not None:
            self.certificate = self._better(found, tol)
        if self.claimed.bound != -self.sense * inf:
            yield self._bound(found)
        if self.claimed.dimacs:
            yield self._dimacs()
        if own is not None:
            yield self._within(own, "solved", self.claimed.bound)
        if tol is not None:
            yield self._within(tol, f"tol {tol:g}", self.certificate.bound)

    def _member(self) -> Claim:
        found, claimed = self.seen.distance_to_X, self.claimed.distance_to_X
        room = ROUNDING * self.problem.X.max_norm
        if found <= claimed + room:
            far = not is_member(self.problem.X, found)
            return Claim(
                "point", True, f"{found:.2g} from X, as claimed" if far else "a point of X"
            )
        return Claim("point", False, f"it is {found:.3g} from X, and {claimed:.3g} is claimed")

    def _objective(self) -> Claim:
        found, claimed = self.seen.objective, self.claimed.objective
        if abs(found - claimed) <= self.room:
            return Claim("objective", True, f"{found:.10g}, as claimed")
        return Claim("objective", False, _apart(claimed, found))

    def _infeasibility(self) -> Claim:
        found, claimed = self.seen.infeasibility, self.claimed.infeasibility
        image = self.problem.A.norm * self.problem.X.max_norm / self.problem.infeasibility_unit
        room = ROUNDING + 1e-6 * abs(found) + UNIT * _finite(image)
        if found == claimed or abs(found - claimed) <= room:
            return Claim("infeasibility", True, f"{found:.3g}, as claimed")
        return Claim("infeasibility", False, _apart(claimed, found))

    def _better(self, found: Certificate, tol: float) -> Certificate:
        """A certificate that is within tol, if y proves one, or what was found."""
        aim = self.sense * self.seen.objective - tol * self.unit
        if self.sense * found.bound >= aim:
            return found
        other = self._best(aim, self.seed + len(STEPS))
        failure = found.failure + other.failure  # of the better of the two: that of any of them
        if self.sense * (other.bound - found.bound) > 0:
            return replace(other, failure=failure)
        return found

    def _best(self, aim: float, seed: int) -> Certificate:
        """The certificate with a bound (of a minimisation) that is as good as an aim, if y proves
        one."""
        missed = abs(self.sense * self.seen.objective - aim) if isfinite(aim) else self.unit
        best: Certificate | None = None
        failure = 0.0  # of the best of several proofs: that of any of them
        for i, (step, enough) in enumerate(zip(STEPS, (aim, inf), strict=True)):
            found = certificate_of(
                self.problem,
                self.seen,
                self.result.y,
                tangent=self.result.tangent,
                slack=max(SLACK * self.unit, step * missed),
                failure=_share(self.claimed.failure),
                seed=seed + i,
                enough=enough,
            )
            if self.certified is not None:
                found = self.certified(found, self.result.y)
            failure += found.failure
            if best is None or self.sense * (found.bound - best.bound) > 0:
                best = found
            best = replace(best, failure=failure)
            short = aim - self.sense * best.bound
            if short <= 0 or short > max(missed, 1e-3 * self.unit):  # near or nowhere near
                break
        assert best is not None
        return best

    def _bound(self, found: Certificate) -> Claim:
        short = self.sense * (self.claimed.bound - found.bound)
        if not short <= self.room:
            best = "nothing" if not found.certified else f"no more than {found.bound:.10g}"
            by = f", off by {short:.3g}" if isfinite(short) else ""
            return Claim(
                "bound", False, f"{self.claimed.bound:.10g} is claimed, y proves {best}{by}"
            )
        if not found.failure <= self.claimed.failure:
            return Claim(
                "bound", False, f"proved, but wrong with probability at most {found.failure:.1g}"
            )
        proved = self.sense * min(self.sense * self.claimed.bound, self.sense * found.bound)
        return Claim("bound", True, f"{proved:.10g}, proved by {found.because}")

    def _dimacs(self) -> Claim:
        h, claimed = self.problem.h, self.claimed.dimacs
        lower = self.sense * self.claimed.bound
        proof = Proof(lower + h.conjugate(self.result.y), "")
        found = dimacs_errors(self.problem, self.seen, self.result.y, lower, proof)
        for name in sorted(set(found) | set(claimed)):
            a, b = claimed.get(name, inf), found.get(name, inf)
            if not abs(a - b) <= 1e-7 + 1e-6 * abs(b):
                return Claim(
                    "DIMACS errors", False, f"{name} is claimed to be {a:.3g}, and is {b:.3g}"
                )
        return Claim("DIMACS errors", True, "as claimed")

    def _within(self, tol: float, name: str, bound: float) -> Claim:
        """Whether gap and infeasibility are within tol, by a bound that is proved elsewhere."""
        aim = tol * self.unit + min(self.room, 1e-3 * tol * self.unit)
        gap, infeasibility = abs(bound - self.seen.objective), self.seen.infeasibility
        if not gap <= aim:
            return Claim(name, False, f"a gap of {gap / self.unit:.3g} is not within tol {tol:g}")
        if not infeasibility <= tol * (1 + 1e-6) + ROUNDING:
            text = f"an infeasibility of {infeasibility:.3g} is not within tol {tol:g}"
            return Claim(name, False, text)
        if not is_member(self.problem.X, self.seen.distance_to_X, tol):
            return Claim(name, False, "the point is not in X")
        return Claim(name, True, f"a gap of {gap / self.unit:.3g}, within tol {tol:g}")


def separated(problem: Problem, result: Result, seed: int) -> Claim:
    """Whether the separator proves that no point of X satisfies the constraints."""
    name, d, claim = "infeasible", result.separator, result.infeasible
    if d is None or claim is None:
        return Claim(name, False, "there is no separator to prove it by")
    if d.shape != (problem.A.size,) or not np.isfinite(d).all() or not claim.value > 0:
        return Claim(name, False, "the separator is not of this problem")
    found = failure = 0.0
    for i, step in enumerate(STEPS):
        proof = infeasibility_proof(
            problem,
            d,
            slack=step * min(claim.value, 1e300) * float(np.linalg.norm(d)),
            failure=_share(claim.failure),
            seed=seed + i,
        )
        if proof is None:
            continue
        found, failure = max(found, proof.value), failure + proof.failure
        if proof.value >= claim.value * (1 - 1e-6):
            surely = f", wrong with probability at most {failure:.1g}" if failure else ""
            text = f"A(X) is {claim.value:.3g} from K or further, by {proof.how}{surely}"
            holds = failure <= claim.failure
            return Claim(name, holds, f"proved: {text}" if holds else f"less surely: {text}")
    text = f"proved, but by {found:.3g}, not by the {claim.value:.3g} that is claimed"
    return Claim(name, False, text if found else "the separator proves nothing")


def _share(claimed: float) -> float:
    """How often one of the proofs may be wrong: all of them, no more often than is claimed."""
    return (claimed if 0 < claimed < DEFAULT_FAILURE else DEFAULT_FAILURE) / len(STEPS)


def _apart(claimed: float, found: float) -> str:
    return f"{claimed:.10g} is claimed, it is {found:.10g}: off by {abs(found - claimed):.3g}"


def _finite(value: float) -> float:
    return value if isfinite(value) else 0.0
