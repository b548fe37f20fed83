"""The claims of a result, each recomputed from x and y and proved again or refuted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan

import numpy as np

from condal.certificates.bound import (
    DEFAULT_FAILURE,
    DEFAULT_SLACK,
    certificate_and_proof,
    infeasibility_proof,
)
from condal.certificates.certificate import Certificate, assumptions_of, rounded_text
from condal.certificates.evaluation import (
    EXACT_DISTANCE,
    EvaluatedPoint,
    dimacs_errors,
    is_bracket,
    is_member,
    relative_price,
)
from condal.linalg.points import Array
from condal.linalg.rounding import Proof, stable_norm
from condal.problem import Problem
from condal.result import Result, Status

CLAIM_ROUNDING = 1e-9  # of an objective or infeasibility that another machine computed
SUM_ROUNDING = 1e-13  # of the size of a sum: what another order of its terms changes
PROOF_ROUNDING = 1e-14  # the same of a proof, which accounts for the worst order itself
MEASURE_ROUNDING = 1e-6  # of an infeasibility or an error measure
BRACKET_ROOM = 10.0  # times the rounding that a bracket allows, for another machine
PROOF_STEPS = 0.01, 1e-4  # of the claim: what the first proof may lose, and the second
LEAST_SLACKS = DEFAULT_SLACK, CLAIM_ROUNDING  # relative: they may lose as much in any case
ROUNDING_OF_GAP = 0.1  # the most of a claimed gap that counts as rounding of its bound


@dataclass(frozen=True)
class Claim:
    """One statement of a result.

    Parameters
    ----------
    name : str
        What the statement is about, such as ``"bound"``.
    holds : bool
        Whether it is proved to be true.
    text : str
        What is proved, or what is wrong or missing, in words.
    assuming : tuple of str
        What the statement assumes without proof, such as a given bound on the trace.
    instead : str
        What is proved in place of the statement, which is true up to rounding only; else "".
    refuted : bool
        Whether it is proved to be false. A statement may be neither proved nor refuted.
    """

    name: str
    holds: bool
    text: str
    assuming: tuple[str, ...] = ()
    instead: str = ""
    refuted: bool = False

    @classmethod
    def false(cls, name: str, text: str) -> Claim:
        """Return a statement that is proved to be false."""
        return cls(name, False, text, refuted=True)

    def __str__(self) -> str:
        if self.holds:
            return self.text
        return f"{'REFUTED' if self.refuted else 'NOT PROVED'}: {self.text}"


class Proofs:
    """Proofs of a point and a dual, each from a new random start; two fail at most with `failure`.

    `certified` turns a certificate of the problem into one of the model behind it.
    """

    def __init__(
        self,
        problem: Problem,
        seen: EvaluatedPoint,
        y: Array,
        seed: int,
        certified: Callable[[Certificate, Array], Certificate],
        failure: float = DEFAULT_FAILURE,
    ) -> None:
        self.problem, self.seen, self.y, self.seed = problem, seen, y, seed
        self.certified, self.failure = certified, failure
        self.sense, self.unit = problem.sense, problem.gap_unit(seen.objective)

    def to(self, tol: float, best: Certificate | None = None) -> Certificate:
        """Return a certificate within tol, if y proves one; else the best, as `towards` does."""
        return self.towards(self.sense * self.seen.objective - tol * self.unit, best)

    def towards(self, aim: float, best: Certificate | None = None) -> Certificate:
        """Return the certificate of the best bound; as of a minimisation, `aim` is good enough.

        What is the best so far may be `best`. The result is wrong only if one of the proofs is.
        """
        unit, failure = self.unit, 0.0 if best is None else best.failure
        missed = abs(self.sense * self.seen.objective - aim) if isfinite(aim) else unit
        for step, least, enough in zip(PROOF_STEPS, LEAST_SLACKS, (aim, inf), strict=True):
            if best is not None and self.sense * best.bound >= aim:
                break
            proved, _ = certificate_and_proof(
                *(self.problem, self.seen, self.y),
                slack=max(least * unit, step * missed),
                failure=_share(self.failure),
                seed=self.seed,
                enough=enough,
            )
            self.seed += 1
            proved = self.certified(proved, self.y)
            failure += proved.failure
            if best is None or self.sense * (proved.bound - best.bound) > 0:
                best = proved
            best = replace(best, failure=failure)
            if aim - self.sense * best.bound > max(missed, 1e-3 * unit):  # out of reach
                break
        assert best is not None
        return best


class Trial:
    """Tries the claims of a result one by one."""

    def __init__(self, result: Result, proofs: Proofs) -> None:
        self.result, self.proofs, self.claimed = result, proofs, result.certificate
        self.problem, self.seen, self.unit = proofs.problem, proofs.seen, proofs.unit
        self.sense, size = proofs.sense, _finite(self.problem.objective_range)
        self.room = CLAIM_ROUNDING * self.unit + SUM_ROUNDING * size  # of the objective
        claimed_gap = _finite(abs(self.claimed.bound - self.claimed.objective))
        most = min(PROOF_ROUNDING * size, ROUNDING_OF_GAP * claimed_gap)
        self.bound_room = CLAIM_ROUNDING * self.unit + most

    def tried(self, tol: float | None) -> tuple[list[Claim], Certificate]:
        """Return all claims of the result, and what is proved; also that it is solved to tol, if
        that is given."""
        claimed, claims = self.claimed, [self._member(), *self._numbers()]
        bound = self.sense * claimed.bound
        bound = -inf if isnan(bound) or bound == inf else bound
        proved = self.proofs.towards(bound)
        best = proved if tol is None else self.proofs.to(tol, proved)
        weaker = replace(proved, bound=self.sense * min(bound, self.sense * proved.bound))
        if claimed.bound != -self.sense * inf:
            claims.append(self._bound(proved, weaker.bound))
        if claimed.bracket and not self._bracketed(weaker):
            text = "x is not feasible up to rounding, or beyond the bound"
            claims.append(Claim("bracket", False, text))
        if claimed.dimacs:
            claims.append(self._dimacs())
        if self.result.status is Status.SOLVED and self.result.tol is not None:
            claims.append(self._solved(self.result.tol, "solved", weaker))
        if tol is not None:
            claims.append(self._solved(tol, f"tol {tol:g}", best))
        return claims, best

    def _member(self) -> Claim:
        distance, claimed = self.seen.distance_to_X, self.claimed.distance_to_X
        size = self.problem.X.max_norm
        if self.claimed.inside and not distance <= (EXACT_DISTANCE + CLAIM_ROUNDING) * size:
            return Claim.false("point", f"it is {distance:.3g} from X, and claimed to be in X")
        if distance <= claimed + CLAIM_ROUNDING * size:
            inside = is_member(self.problem.X, distance)
            text = "a point of X" if inside else f"{distance:.2g} from X, as claimed"
            return Claim("point", True, text)
        return Claim.false("point", f"it is {distance:.3g} from X, and {claimed:.3g} is claimed")

    def _numbers(self) -> Iterator[Claim]:
        """Yield the claims about numbers of the point, and about a unit only if it is false."""
        problem, seen, y, claimed = self.problem, self.seen, self.result.y, self.claimed
        yield _number("objective", claimed.objective, seen.objective, self.room, digits=10)
        for name, actual in (("unit", self.unit), ("size_of_X", problem.X.max_norm)):
            scale = _number(name, getattr(claimed, name), actual, CLAIM_ROUNDING * actual)
            yield from () if scale.holds else (scale,)
        image = problem.A.norm * problem.X.max_norm  # Ax is rounded, too
        measures = [("infeasibility", seen.infeasibility, image / problem.infeasibility_unit)]
        if not isnan(claimed.price):
            actual = relative_price(problem, seen, y)
            measures.append(("price", actual, stable_norm(y) * image / self.unit))
        for name, actual, size in measures:
            room = CLAIM_ROUNDING + MEASURE_ROUNDING * abs(actual) + SUM_ROUNDING * _finite(size)
            yield _number(name, getattr(claimed, name), actual, room)

    def _bound(self, proved: Certificate, weaker: float) -> Claim:
        short = self.sense * (self.claimed.bound - proved.bound)
        if not short <= self.bound_room:
            best = f"no more than {self._shown(proved.bound)}" if proved.certified else "nothing"
            by = f", off by {short:.3g}" if isfinite(short) else ""
            text = f"{self.claimed.bound:.10g} is claimed, y proves {best}{by}"
            beyond = self.sense * (self.claimed.bound - self.seen.objective) > self.room
            if beyond and self._bracketed(proved):
                better = f"x is feasible up to rounding, of objective {self.seen.objective:.10g}"
                return Claim.false("bound", f"{text}; {better}")
            return Claim("bound", False, text)
        if not proved.failure <= self.claimed.failure:
            text = f"proved, but wrong with probability at most {proved.failure:.1g}"
            return Claim("bound", False, text)
        if short > 0:  # all digits: with fewer, the two may look equal
            swap = f"in place of the claimed {float(self.claimed.bound)!r}"
            text = f"{float(weaker)!r} is proved {swap}, by {proved.because}"
            instead = f"the bound {float(weaker)!r} {swap}"
            return Claim("bound", True, text, assumptions_of(proved), instead)
        text = f"{self._shown(weaker)}, proved by {proved.because}"
        return Claim("bound", True, text, assumptions_of(proved))

    def _shown(self, bound: float) -> str:
        return rounded_text(bound, up=self.problem.maximise)

    def _bracketed(self, proved: Certificate) -> bool:
        return is_bracket(self.problem, self.seen, self.result.y, proved, times=BRACKET_ROOM)

    def _dimacs(self) -> Claim:
        h, claimed = self.problem.h, self.claimed.dimacs
        lower = self.sense * self.claimed.bound
        proof = Proof(lower + h.conjugate(self.result.y), "")
        errors = dimacs_errors(self.problem, self.seen, self.result.y, lower, proof)
        for name in sorted(set(errors) | set(claimed)):
            a, b = claimed.get(name, inf), errors.get(name, inf)
            if not abs(a - b) <= 1e-7 + MEASURE_ROUNDING * abs(b):
                text = f"{name} is claimed to be {a:.3g}, and is {b:.3g}"
                return Claim.false("DIMACS errors", text)
        return Claim("DIMACS errors", True, "as claimed")

    def _solved(self, tol: float, name: str, proved: Certificate) -> Claim:
        """Claim that the point solves to tol, by a bound that is proved, not just claimed."""
        wrong = proved.excess(
            tol,
            gap_room=min(self.room / self.unit, 1e-3 * tol),
            infeasibility_room=MEASURE_ROUNDING * tol + CLAIM_ROUNDING,
        )
        if wrong:
            return Claim(name, False, f"{wrong}; the bound is {self._shown(proved.bound)}")
        bound = self._shown(proved.bound)
        text = f"a gap of {proved.gap:.3g} to the bound {bound}, within tol {tol:g}"
        return Claim(name, True, text, assumptions_of(proved))


def separated(problem: Problem, result: Result, seed: int) -> Claim:
    """Claim that the separator proves that no point of X satisfies the constraints."""
    name, d, claim = "infeasible", result.separator, result.infeasible
    if d is None or claim is None:
        return Claim(name, False, "there is no separator to prove it by")
    if d.shape != (problem.A.size,) or not np.isfinite(d).all() or not claim.value > 0:
        return Claim(name, False, "the separator is not of this problem")
    options, slack = {"failure": _share(claim.failure)}, min(claim.value, 1e300) * stable_norm(d)
    attempts = [
        infeasibility_proof(problem, d, slack=step * slack, seed=seed + i, **options)
        for i, step in enumerate(PROOF_STEPS)
    ]
    proofs = [proof for proof in attempts if proof is not None]
    if not proofs:
        return Claim(name, False, "the separator proves nothing")
    proof = max(proofs, key=lambda proof: proof.value)
    proof = replace(proof, failure=sum(each.failure for each in proofs))
    if proof.value < claim.value * (1 - MEASURE_ROUNDING):
        text = f"proved, but by {proof.value:.3g}, not by the {claim.value:.3g} that is claimed"
        return Claim(name, False, text)
    surely = "proved" if proof.failure <= claim.failure else "less surely"
    text = f"{surely}: A(X) is {claim.value:.3g} from K or further, by {proof.because}"
    return Claim(name, proof.failure <= claim.failure, text, assumptions_of(proof))


def _share(claimed: float) -> float:
    """Return the failure probability of one proof; all of them have the claimed one together."""
    return (claimed if 0 < claimed < DEFAULT_FAILURE else DEFAULT_FAILURE) / len(PROOF_STEPS)


def _number(name: str, claimed: float, actual: float, room: float, *, digits: int = 3) -> Claim:
    """Claim a number, which holds within some room."""
    off = abs(actual - claimed)
    if actual == claimed or off <= room:
        return Claim(name, True, f"{actual:.{digits}g}, as claimed")
    text = f"{claimed:.10g} is claimed, it is {actual:.10g}: off by {off:.3g}"
    return Claim.false(name, text)


def _finite(value: float) -> float:
    return value if isfinite(value) else 0.0
