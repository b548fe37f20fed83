"""Check the answer of any solver to a conic program: prove a bound, or that there is no optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.bound import DEFAULT_FAILURE, lower_bound
from condal.certificates.certificate import (
    Certificate,
    CheckedAnswer,
    assumptions_of,
    rounded_text,
)
from condal.certificates.cones import ConicForm
from condal.certificates.conic import proved_lower_bound, proves_infeasible
from condal.certificates.containment import MAX_SIDE
from condal.certificates.proposals import proved_value
from condal.linalg.points import Array
from condal.linalg.rounding import group_norms, stable_norm
from condal.problems.conic.model import ConicModel
from condal.problems.conic.modelling import conic_model
from condal.problems.conic.program import Program
from condal.problems.conic.proposed import folded_dual
from condal.problems.conic.solver_answer import SolverAnswer
from condal.problems.conic.trace_bound import TraceBound, UnboundedTraceError
from condal.problems.conic.verified import (
    packed,
    verifiable,
    verified_unbounded,
)
from condal.runtime.arguments import require_positive, unpredictable_seed

PROOF_SLACK = 0.01  # of tol: what a proof over points of bounded trace may lose
MAX_LENGTH = 5_000_000  # of x: proofs on the program's own data hold it as a vector
NO_DUAL = "a dual y"
NO_POINT = "a point X"
NO_TRACE = "a bound on the trace of X (trace_bound=, --assume-trace)"


def certify(
    program: Program,
    X: Sequence[Any] | None = None,
    y: Any = None,
    *,
    tol: float = 1e-6,
    trace_bound: float | None = None,
    seed: int | None = None,
    max_seconds: float | None = None,
) -> CheckedAnswer:
    r"""Prove what the answer of any solver to a conic program shows.

    Every y with :math:`c - A^T y` (:math:`A^T y - c` for a maximisation) in the dual cone proves
    the bound :math:`\langle b, y \rangle`. If y is only nearly so, a bound on the trace of X makes
    it a proof: one that the constraints prove, or `trace_bound`.

    Parameters
    ----------
    program : Program
        The program.
    X : sequence of arrays, optional
        The point, block by block: an n x n array or a LowRank for a psd block, else a vector.
    y : array_like, optional
        The dual, one number per row; z in the letters of the SDPA format.
    tol : float, optional
        The relative accuracy that matters: a proof may lose a hundredth of it.
    trace_bound : float, optional
        Assume that no block of a solution has a larger trace: of a psd block, the sum of an
        orthant, the first entry of a second-order block. A better X refutes the assumption.
    seed : int, optional
        The seed of a randomised proof; by default it is drawn from the system's entropy.
    max_seconds : float, optional
        The time limit of the search for a bound on the trace.

    Returns
    -------
    CheckedAnswer
        The proved bound, the objective, the infeasibility and the verdict.

    Raises
    ------
    ProblemError
        If X or y do not fit the program.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.conic import Block, Program, certify
    >>> C = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> program = Program(C.ravel(), np.eye(2).ravel()[None], [1.0], [Block("psd", 2)])
    >>> answer = certify(program, [np.array([[0.5, -0.5], [-0.5, 0.5]])], [0.9999])
    >>> answer.proved, answer.gap < 1e-3
    (True, True)
    """
    seed = unpredictable_seed() if seed is None else seed
    given = SolverAnswer(program, X, y)
    require_positive(tol, "tol")
    return _Check(given, tol, trace_bound, seed, max_seconds).answer()


@dataclass(frozen=True, eq=False)
class _Check:
    """The proofs of a check, each made once."""

    given: SolverAnswer
    tol: float
    trace_bound: float | None
    seed: int
    max_seconds: float | None
    missing: list[str] = field(default_factory=list)

    @property
    def program(self) -> Program:
        return self.given.program

    @property
    def sense(self) -> float:
        return -1.0 if self.program.maximise else 1.0

    @cached_property
    def form(self) -> ConicForm | None:
        """The program for proofs on its own data; None if it is too large for them."""
        sides = [block.n for block in self.program.blocks if block.kind == "psd"]
        if max(sides, default=0) > MAX_SIDE or int(self.program.offsets[-1]) > MAX_LENGTH:
            return None
        return self.program.form

    def answer(self) -> CheckedAnswer:
        """Return what is proved."""
        if self._is_infeasible():
            return self._without_optimum("infeasible", "by y")
        measured = self._measured()
        lower, assumed = self._lower(measured["objective"])
        settled = self._settled() if lower == -inf else None
        if settled is not None:
            return settled
        upper = self._upper()
        flaw = ""
        if lower > upper:  # the upper bound assumes nothing
            flaw = _contradiction(assumed)
            lower, upper, assumed = -inf, upper if assumed else inf, ()
        bound, attained = to_user(lower, upper, self.program.offset, self.sense)
        proved = isfinite(bound)
        status = "bounded" if proved else "unknown"
        verdict = self._verdict(bound, attained, assumed, flaw)
        attained = attained if isfinite(attained) else nan
        missing = tuple(self.missing)
        return CheckedAnswer(
            status=status, proved=proved, bound=bound, how=verdict, attained=attained,
            missing=missing, distance_to_X=inf, **measured,
        )  # fmt: skip

    # ---- the point -----------------------------------------------------------------------------

    def _measured(self) -> dict[str, Any]:
        """Return the objective of X, its infeasibility and the price of that."""
        program, given = self.program, self.given
        if given.X is None:
            self.missing.append(NO_POINT)
            return {"objective": nan, "infeasibility": nan, "price": nan}
        x = program.entries(given.X, given.places)
        objective = float((program.c[:, given.places] @ x)[0]) + program.offset
        residual = program.A[:, given.places] @ x - program.b
        outside = list(given.outside())
        unit = max(1.0, stable_norm(program.b))
        price = nan
        if given.y is not None:
            slack = program.c - sp.csr_array(given.y[None]) @ program.A
            norms = group_norms(slack.data, program.owners(slack.indices), len(program.blocks))
            price = abs(float(given.y @ residual)) + float(norms @ outside)
            price /= max(1.0, abs(objective))
        infeasibility = max(stable_norm(residual), *outside) / unit
        return {"objective": objective, "infeasibility": infeasibility, "price": price}

    def _upper(self) -> float:
        """Return an upper bound on the minimum that a feasible point near X proves; inf if none."""
        if self.given.X is None or self.form is None or not verifiable(self.program):
            return inf
        return proved_value(self.form, packed(self.program, self.given.vector))[0]

    # ---- the bound -----------------------------------------------------------------------------

    def _lower(self, objective: float) -> tuple[float, tuple[str, ...]]:
        """Return a lower bound on the minimum, and what its proof assumes; -inf if none."""
        if self.given.y is None:
            self.missing.append(NO_DUAL)
            return -inf, ()
        y = self.sense * self.given.y
        direct = -inf if self.form is None else proved_lower_bound(self.form, y)
        if direct > -inf:
            return direct, ()
        model = self.model
        if model is None:
            self.missing.append(NO_TRACE)
            return -inf, ()
        if model.verdict is not None:
            return -inf, ()
        return self._within_traces(model, y, objective)

    @cached_property
    def model(self) -> ConicModel | None:
        """The model with a bound on the traces; None if none is found."""
        try:
            return conic_model(self.program, self.trace_bound, max_seconds=self.max_seconds)
        except UnboundedTraceError:
            return None

    def _within_traces(
        self, model: ConicModel, y: Array, objective: float
    ) -> tuple[float, tuple[str, ...]]:
        """Return the bound of y for points of the model, which has a bound on the traces."""
        problem, w = model.problem, folded_dual(model.shape, y)
        value = objective - self.program.offset if isfinite(objective) else 0.0
        lower, proof = lower_bound(
            problem,
            np.zeros(problem.f.M.size),
            w,
            slack=PROOF_SLACK * self.tol * problem.gap_unit(value),
            failure=DEFAULT_FAILURE,
            seed=self.seed,
        )
        certificate = Certificate(value, self.sense * lower, nan, proof.how, proof.failure)
        certificate = model.certified(certificate, w)
        unproved = isinstance(model.trace, TraceBound) and not model.trace.proved
        if unproved and not certificate.certified:
            self.missing.append(NO_TRACE)
        return self.sense * certificate.bound, assumptions_of(certificate)

    # ---- no optimum ----------------------------------------------------------------------------

    def _is_infeasible(self) -> bool:
        """Return whether y proves that no point is feasible."""
        y = self.given.y
        return (
            y is not None and self.form is not None and proves_infeasible(self.form, self.sense * y)
        )

    def _settled(self) -> CheckedAnswer | None:
        """Return the answer if X or the model proves that there is no optimum; None if not."""
        small = self.form is not None and verifiable(self.program)
        if small and self.given.X is not None:
            ray = self.given.vector
            if ray.any() and verified_unbounded(self.program, ray) is not None:
                return self._without_optimum("unbounded", "along X")
        model = self.__dict__.get("model")  # if one was made
        if model is None or model.verdict is None:
            return None
        how = f"by condal: {model.verdict.how}"
        return self._without_optimum(model.verdict.status.name.lower(), how)

    def _without_optimum(self, status: str, by: str) -> CheckedAnswer:
        what = "no point is feasible" if status == "infeasible" else "the objective is unbounded"
        bound = self.sense * inf if status == "infeasible" else -self.sense * inf
        verdict = f"proved, without assumptions: {what}, {by}"
        return CheckedAnswer(status=status, proved=True, bound=bound, how=verdict)

    # ---- words ---------------------------------------------------------------------------------

    def _verdict(self, bound: float, attained: float, assumed: tuple[str, ...], flaw: str) -> str:
        optimum = "maximum" if self.program.maximise else "minimum"
        statements = proved_sides(bound, attained, self.sense)
        lacks = f"; missing: {', '.join(self.missing)}" if self.missing else flaw
        if not statements:
            return f"nothing is proved{lacks or ': y does not prove a bound'}"
        line = f"proved, {'; '.join(assumed) or 'without assumptions'}: the {optimum} is "
        line += statements
        return line + (f"\nno bound is proved{lacks}" if not isfinite(bound) else lacks)


def to_user(lower: float, upper: float, offset: float, sense: float) -> tuple[float, float]:
    """Return bounds on the minimum in the user's sense, with the offset, rounded outwards."""

    def moved(value: float, side: float) -> float:
        if not (offset and isfinite(value)):
            return sense * value
        return float(np.nextafter(sense * value + offset, sense * side))

    return moved(lower, -inf), moved(upper, inf)


def proved_sides(bound: float, attained: float, sense: float) -> str:
    """Return what is proved of the optimum, such as "at least 1 and at most 2"; "" for nothing."""
    return " and ".join(
        f"at {'most' if up else 'least'} {rounded_text(value, up=up)}"
        for value, up in ((bound, sense < 0), (attained, sense > 0))
        if isfinite(value)
    )


def _contradiction(assumed: tuple[str, ...]) -> str:
    """Return what is wrong if a feasible point is better than a bound with these assumptions."""
    if not assumed:
        return ": the proofs of the two bounds contradict each other"
    return f": the assumption is false: X is better than the bound {'; '.join(assumed)}"
