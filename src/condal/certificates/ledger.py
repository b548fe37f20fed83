"""The ledger of proofs: what was proved in a solve, and by which proof.

Each proof has a number, which fixes its random start, given the seed, and its share of the failure
probability. All proofs of a solve together fail with at most the probability that is allowed for
one, as the result is chosen among them. A claim in a checkpoint is proved again rather than
believed, by the seed of the process that reads it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from condal.certificates import judge
from condal.certificates.bound import (
    DEFAULT_FAILURE,
    certificate_and_proof,
    certificate_by,
    lower_bound,
)
from condal.certificates.certificate import Certificate
from condal.certificates.evaluation import EvaluatedPoint, require_real
from condal.errors import FormatError, ProblemError
from condal.linalg.factorisations import MAX_FACTOR_FLOPS, Budget, spending
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof, stable_norm
from condal.problem import Problem
from condal.result import Status
from condal.runtime.meter import Deadline, agreed, is_cancelled, work_done
from condal.storage.sketch import Reconstruction

if TYPE_CHECKING:
    from condal.certificates.bound import Separation

GAP_SLACK = 0.04  # of the gap: what a proof may lose
SEED_STRIDE = 1_000_003  # between the seeds of two proofs
MAX_OFFSET = 2**32  # of the seed, after a warm start
MAX_PROOFS = 2**40  # of a solve: more would not be done in a lifetime

ProofKey: TypeAlias = tuple[float, float, int]  # the gap, the bound that is enough, the number
UNTRIED: ProofKey = (0.0, inf, 0)
_Proved = TypeVar("_Proved", Certificate, Proof)


@dataclass(frozen=True, eq=False)
class CertifiedPoint:
    """A point, a dual, and what the proof `proof` says of them.

    Of a point that was made from a sketch, `reconstruction` says how accurate it is. `tangent` is
    where the bound takes the tangent of f, unless that is Mx: the Mx before the sketch, or that of
    another point, whose bound this is. `minimum` is what is proved of the minimum over X.
    """

    x: Point | None
    y: Array
    certificate: Certificate
    proof: ProofKey | None = None
    reconstruction: Reconstruction | None = None
    tangent: Array | None = None
    minimum: float = nan


class ProofLedger:
    """Proves certificates and separations of a problem, and keeps the best certified point."""

    checkpoint_fields = (
        "seed_offset",
        "count",
        "seconds",
        "failed_work",
        "method_work",
        "certified",
        "proposed_bound",
        "proposed_dual",
        "separation",
    )

    def __init__(
        self, problem: Problem, tol: float, seed: int, failure: float = DEFAULT_FAILURE
    ) -> None:
        self.problem, self.tol, self.seed, self.failure = problem, tol, seed, failure
        self.method_work = 0.0  # a deterministic proof may take as much
        self.deadline = Deadline()  # of the proofs, beside that of the solve
        self.seed_offset = 0  # of a warm start: its proofs must not have the same random numbers
        self.count = 0
        self._claimed: dict[int, tuple[Array, ...]] = {}  # by a checkpoint
        self.last = UNTRIED  # of the last certificate, proved or given up,
        self.seconds = 0.0  # and how long its proof took
        self.failed_work = 0.0  # of the proofs that did not solve
        self.refuting: Array | None = None  # vectors that it gave, if it refuted its bound
        self.in_time = True  # whether it ended before the time was up: fewer steps prove less
        self.certified: CertifiedPoint | None = None
        self.proposed_bound = -problem.sense * inf  # the best of a proposed dual
        self.proposed_dual: Array = np.zeros(0)
        self.separation: Separation | None = None

    def memory(self) -> dict[str, Any]:
        """Return what a checkpoint holds of the ledger."""
        return {name: getattr(self, name) for name in self.checkpoint_fields}

    def recall(self, memory: dict[str, Any]) -> None:
        """Restore a ledger from a checkpoint, and prove its claims again."""
        for name in self.checkpoint_fields:
            setattr(self, name, memory[name])
        self.count = _whole(self.count, 0, MAX_PROOFS)
        self.seed_offset = _whole(self.seed_offset, 0, MAX_OFFSET)
        if self.certified is not None:
            self.certified = self.proved_again(self.certified)
        if self.separation is not None:
            old = self.separation
            with _claims():
                number = self._claimed_number(old.number, old.normal)
                self.separation = self._separation(old.normal, float(old.slack), number)

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and price that are proved; inf if nothing is."""
        return inf if self.certified is None else self.certified.certificate.error

    @property
    def status(self) -> Status | None:
        """The verdict: SOLVED, INFEASIBLE or None."""
        proof = None if self.separation is None else self.separation.proof
        best = None if self.certified is None else self.certified.certificate
        return judge.of_separation(proof) or judge.of_point(best, self.tol)

    def better_of(self, a: CertifiedPoint | None, b: CertifiedPoint) -> CertifiedPoint:
        """Return the point that solves, or the one of smaller error; of equal errors, that of the
        better bound. It is b if there is no a, and if they are equally good."""
        if a is None or a.x is None:
            return b
        if b.x is None or isnan(b.certificate.objective):
            return a
        solving = a.certificate.within(self.tol), b.certificate.within(self.tol)
        if solving[0] != solving[1]:
            return b if solving[1] else a
        errors = a.certificate.error, b.certificate.error
        if errors[0] != errors[1]:
            return b if errors[1] < errors[0] else a
        return a if self._bounds_more(a, b) else b

    def _bounds_more(self, a: CertifiedPoint, b: CertifiedPoint) -> bool:
        return bool(self.problem.sense * (a.certificate.bound - b.certificate.bound) > 0)

    def keep(self, point: CertifiedPoint) -> None:
        """Keep the point if it is the best so far: a run returns nothing worse."""
        self.certified = self.best_pair(self.certified, point)

    def best_pair(self, a: CertifiedPoint | None, b: CertifiedPoint) -> CertifiedPoint:
        """Return the better of a and b, or the point of one with the better bound of the other: a
        bound holds whatever x is."""
        best = self.better_of(a, b)
        if a is None or not (self._bounds_more(a, b) or self._bounds_more(b, a)):
            return best
        strong, weak = (a, b) if self._bounds_more(a, b) else (b, a)
        if strong.x is None or weak.x is None or isnan(weak.certificate.objective):
            return best
        pair = self._paired(weak, strong)
        return self.better_of(pair, best) if pair.certificate.certified else weak

    def _paired(self, point: CertifiedPoint, other: CertifiedPoint) -> CertifiedPoint:
        """Return the point with the dual and the bound of another one."""
        assert point.x is not None
        assert other.x is not None
        problem, known, proved = self.problem, point.certificate, other.certificate
        measures = known.objective, known.infeasibility, known.distance_to_X
        seen = EvaluatedPoint(point.x, problem.f.M(point.x), problem.A(point.x), *measures)
        proof = Proof(other.minimum, proved.how, proved.failure)
        return replace(
            other,
            x=point.x,
            certificate=certificate_by(problem, seen, other.y, problem.sense * proved.bound, proof),
            reconstruction=point.reconstruction,
            tangent=problem.f.M(other.x) if other.tangent is None else other.tangent,
        )

    def certify(
        self, seen: EvaluatedPoint, y: Array, gap: float, *, enough: float = inf
    ) -> CertifiedPoint:
        """Certify a point by a proof that loses little against an absolute gap of this size."""
        began, before = time.perf_counter(), work_done()
        self.last = gap, enough, self._next_number()
        allowed = max(0.0, agreed(self.method_work - self.failed_work))
        most = Budget(flops=max(MAX_FACTOR_FLOPS, allowed), preferred=allowed)
        with self.deadline.on(), spending(most):
            certificate, proof = self._certificate(seen, y, self.last)
            self.in_time = not is_cancelled()
        self.refuting = proof.refuting
        self.seconds = time.perf_counter() - began
        if not certificate.within(self.tol):
            self.failed_work += work_done() - before
        pair = CertifiedPoint(seen.x, y, certificate, self.last, tangent=seen.tangent)
        return replace(pair, minimum=proof.value)

    def certify_proposal(self, x: Point, y: Array) -> None:
        """Keep a proposed pair if it is the best so far, and its dual if it proves the best
        bound."""
        seen = EvaluatedPoint.of(self.problem, x)
        proposal = self.certify(seen, y, self.tol * self.problem.gap_unit(seen.objective))
        certificate = proposal.certificate
        if self.problem.sense * (certificate.bound - self.proposed_bound) > 0:
            self.proposed_bound, self.proposed_dual = certificate.bound, y
        self.keep(proposal)

    def separate(self, d: Array, slack: float) -> bool:
        """Return whether d is proved to separate A(X) from K."""
        with self.deadline.on():
            self.separation = self._separation(d, slack, self._next_number())
        return self.separation is not None

    def lower(self, normalised: Problem, Mx: Array, w: Array, slack: float) -> float:
        """Prove a lower bound on the optimum of the normalised problem, from the dual w."""
        options = self._options(self._next_number())
        lower, _ = lower_bound(normalised, Mx, w, slack=slack, **options)
        self.in_time = not is_cancelled()
        return lower

    def proved_again(self, point: CertifiedPoint) -> CertifiedPoint:
        """Return the point with a certificate that is proved now; without one, if it cannot be."""
        if point.x is None or point.proof is None or point.proof == UNTRIED:
            how, bound = point.certificate.how, -self.problem.sense * inf
            return replace(point, certificate=Certificate(nan, bound, inf, how), proof=None)
        with _claims():
            seen = EvaluatedPoint.of(self.problem, point.x, point.tangent)
            gap, enough, number = point.proof
            key = float(gap), float(enough), self._claimed_number(number, point.y, seen.u)
            certificate, proof = self._certificate(seen, point.y, key)
        return replace(point, certificate=certificate, proof=key, minimum=proof.value)

    def last_or_unproved(self, x: Point | None) -> CertifiedPoint:
        """Return the best certified point; else x, of which nothing is known."""
        if self.certified is not None:
            return self.certified
        how = "nothing was computed" if x is None else "nothing could be computed"
        unknown = Certificate(nan, -self.problem.sense * inf, inf, how)
        return CertifiedPoint(x, zeros_of(self.problem.A), unknown)

    def _certificate(
        self, seen: EvaluatedPoint, y: Array, proof: ProofKey
    ) -> tuple[Certificate, Proof]:
        gap, enough, number = proof
        options = {"slack": GAP_SLACK * gap, "enough": enough, **self._options(number)}
        certificate, proved = certificate_and_proof(self.problem, seen, y, **options)
        return self._as_chosen(certificate), proved

    def _separation(self, d: Array, slack: float, number: int) -> Separation | None:
        from condal.certificates.bound import Separation, infeasibility_proof

        proof = infeasibility_proof(self.problem, d, slack=slack, **self._options(number))
        return None if proof is None else Separation(d, self._as_chosen(proof), slack, number)

    def _claimed_number(self, number: Any, *about: Array) -> int:
        """Return the number of a proof that a checkpoint claims of these vectors.

        A number that names another proof already is replaced: two would have one share of the
        failure probability.
        """
        for vector in about:
            require_real(vector, "a dual or tangent")
        number = _whole(number, 1, self.count)
        known = self._claimed.setdefault(number, about)
        same = len(known) == len(about) and all(map(_equal, known, about))
        return number if same else self._next_number()

    def _next_number(self) -> int:
        self.count += 1
        return self.count

    def _options(self, number: int) -> dict[str, Any]:
        """Return the share of the failure probability, and the seed, of a proof."""
        seed = self.seed + self.seed_offset + SEED_STRIDE * number
        return {"failure": _share(number, self.failure), "seed": seed}

    def _as_chosen(self, proved: _Proved) -> _Proved:
        """Charge the failure probability of all proofs, as this one is chosen among them."""
        return replace(proved, failure=self.failure) if proved.failure > 0 else proved


def _share(number: int, failure: float = DEFAULT_FAILURE) -> float:
    """Return the failure probability of a proof; the shares of all proofs sum to less than the
    total."""
    return failure / (2 * number**2)


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and stable_norm(a - b) == 0.0


@contextmanager
def _claims() -> Iterator[None]:
    """Refuse a checkpoint whose claims are not of the form of a claim."""
    try:
        yield
    except FormatError:
        raise
    except (ProblemError, TypeError, ValueError) as error:
        raise FormatError(
            f"the checkpoint claims what no solve does ({error}): it was changed; start a new solve"
        ) from None


def _whole(number: Any, least: int, most: int) -> int:
    """Return a number of a checkpoint as an int, which cannot overflow; FormatError if it is none,
    or not between these."""
    if isinstance(number, int | np.integer) and least <= int(number) <= most:
        return int(number)
    raise FormatError(
        f"the checkpoint counts its proofs by {number!r:.40}, which is not between {least} and "
        f"{most}: it was changed; start a new solve"
    )
