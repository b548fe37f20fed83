"""Proofs in turn, each with a number: its random start and its share of the failure are its own.

All of them together fail with at most the probability that is allowed for one, since what is
returned is chosen among them. A proof of a number is the same each time: what a checkpoint holds
as proved is proved again, and comes out to the last bit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any, ClassVar, TypeAlias, TypeVar

from condal.certificates.certificate import (
    DEFAULT_FAILURE,
    Certificate,
    EvaluatedPoint,
    certificate_of,
    infeasibility_proof,
    lower_bound,
)
from condal.linalg.points import Array, Point
from condal.linalg.proof import Proof
from condal.problem import Problem
from condal.runtime.cancellation import Deadline
from condal.storage.reconstruction import Reconstruction

SLACK = 0.04  # of the gap: what a proof may lose

Numbered: TypeAlias = tuple[float, float, int]  # the gap, what was enough, and the number
_Found = TypeVar("_Found", Certificate, Proof)


@dataclass(frozen=True, eq=False)
class CertifiedPoint:
    """A point, a dual, and what is proved of them, by which proof; of a point that was made of a
    sketch, how accurate it is, and the Mx before, where the tangent of f is taken."""

    x: Point | None
    y: Array
    certificate: Certificate
    proof: Numbered | None = None
    reconstruction: Reconstruction | None = None
    tangent: Array | None = None

    @property
    def error(self) -> float:
        """The larger of gap and infeasibility."""
        return max(self.certificate.gap, self.certificate.infeasibility)

    @property
    def rest(self) -> str:
        """Where a method has come to rest."""
        gap, infeasibility = self.certificate.gap, self.certificate.infeasibility
        return f"it came to rest at a gap of {gap:.1g}, infeasible by {infeasibility:.1g}"


class ProofLedger:
    """Certificates and separators of a problem."""

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("seed", "count", "last", "separated", "seconds")

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self.seed = problem, seed
        self.alarm = Deadline()  # that proofs heed, beside that of the solve
        self.count = 0
        self.last: Numbered = (0.0, inf, 0)  # the last certificate
        self.separated = 0.0, 0  # the slack and the number of the last separator
        self.seconds = 0.0  # what the last certificate took

    def memory(self) -> dict[str, Any]:
        """What is behind it, for a checkpoint."""
        return {name: getattr(self, name) for name in self.checkpoint_fields}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from that."""
        for name in self.checkpoint_fields:
            setattr(self, name, memory[name])

    def certificate(
        self,
        seen: EvaluatedPoint,
        y: Array,
        gap: float,
        *,
        enough: float = inf,
        tangent: Array | None = None,
    ) -> Certificate:
        """By a proof that loses little against an (absolute) gap of that size."""
        began = time.perf_counter()
        self.last = gap, enough, self._next()
        with self.alarm.on():
            found = self.again(seen, y, self.last, tangent)
        self.seconds = time.perf_counter() - began
        return found

    def again(
        self, seen: EvaluatedPoint, y: Array, proof: Numbered, tangent: Array | None = None
    ) -> Certificate:
        """The certificate of a proof."""
        gap, enough, number = proof
        share, seed = _share(number), self._seed(number)
        found = certificate_of(
            self.problem,
            seen,
            y,
            tangent=tangent,
            slack=SLACK * gap,
            failure=share,
            seed=seed,
            enough=enough,
        )
        return _as_chosen(found)

    def proved_again(self, answer: CertifiedPoint) -> CertifiedPoint:
        """An answer that is not believed, with a certificate that is; of nothing, without proof."""
        if answer.x is None or answer.proof is None:
            how, bound = answer.certificate.how, -self.problem.sense * inf
            return replace(answer, certificate=Certificate(nan, bound, inf, how), proof=None)
        seen = EvaluatedPoint.of(self.problem, answer.x)
        certificate = self.again(seen, answer.y, answer.proof, answer.tangent)
        return replace(answer, certificate=certificate)

    def apart(self, d: Array, slack: float) -> Proof | None:
        """A proof that d separates A(X) from K; None if there is none."""
        self.separated = slack, self._next()
        with self.alarm.on():
            return self.apart_again(d)

    def apart_again(self, d: Array) -> Proof | None:
        """The last such proof, of d."""
        slack, number = self.separated
        share, seed = _share(number), self._seed(number)
        found = infeasibility_proof(self.problem, d, slack=slack, failure=share, seed=seed)
        return None if found is None else _as_chosen(found)

    def lower(self, normalised: Problem, Mx: Array, w: Array, slack: float) -> float:
        """A lower bound on the optimum of the normalised problem, from a dual."""
        number = self._next()
        share, seed = _share(number), self._seed(number)
        return lower_bound(normalised, Mx, w, slack=slack, failure=share, seed=seed)[0]

    def _next(self) -> int:
        self.count += 1
        return self.count

    def _seed(self, number: int) -> int:
        return self.seed + 1_000_003 * number


def _share(number: int) -> float:
    """The failure probability of that proof; all shares together stay below the total."""
    return DEFAULT_FAILURE / (2 * number**2)


def _as_chosen(found: _Found) -> _Found:
    """A proof that was chosen after others were tried: what they spent counts."""
    return replace(found, failure=DEFAULT_FAILURE) if found.failure > 0 else found
