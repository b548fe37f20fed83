"""Certify a point, and verify a result: its claims are recomputed from x and y, and proved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from condal.certificates.bound import (
    DEFAULT_FAILURE,
    DEFAULT_SLACK,
    certificate_and_proof,
    require_failure,
    require_scales,
    require_tangent,
)
from condal.certificates.certificate import Certificate, rounded_text
from condal.certificates.claims import Claim, Proofs, Trial, separated
from condal.certificates.evaluation import EvaluatedPoint, require_vector
from condal.certificates.judge import of_separation
from condal.errors import MISFITS, CondalError, ProblemError
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array
from condal.problem import JudgesItself, Model, Problem, problem_of
from condal.result import Result, Status
from condal.runtime.arguments import finite_array, require_positive, unpredictable_seed
from condal.types import from_user

OWN_DATA_ROOM = 0.1  # of tol: another machine rounds the multipliers otherwise
MOST_TOL = 1e-3  # of a room: a stranger may state any
FALSE = "refuted: these claims are false"
LEAST_TOL = 1e-8  # for a result that states none


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a verification found.

    Parameters
    ----------
    claims : tuple of Claim
        The claims, each with whether it holds.
    certificate : Certificate, optional
        The recomputed certificate, if there is a point.
    statement : str
        What is proved if all claims hold.
    """

    claims: tuple[Claim, ...]
    certificate: Certificate | None = None
    statement: str = "every claim is true"

    @property
    def proved(self) -> bool:
        """Whether there are claims and all of them hold."""
        return bool(self.claims) and all(claim.holds for claim in self.claims)

    @property
    def unproved(self) -> tuple[Claim, ...]:
        """The claims that are not proved, those that are refuted among them."""
        return tuple(claim for claim in self.claims if not claim.holds)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the proved claims assume without proof, each once."""
        return tuple(dict.fromkeys(text for claim in self.claims for text in claim.assuming))

    @property
    def headline(self) -> str:
        """The verdict in a line, with every assumption that it rests on."""
        if not self.claims:
            return "not proved: nothing is claimed"
        if not self.proved:
            false = [claim.name for claim in self.claims if claim.refuted]
            left = ", ".join(claim.name for claim in self.unproved if not claim.refuted)
            open_ = f"x and y do not prove these claims: {left}" if left else ""
            if not false:
                return f"not proved: {open_}"
            return "; ".join(filter(None, (f"{FALSE}: {', '.join(false)}", open_)))
        assumed = "; ".join(self.assumptions) or "without assumptions"
        instead = [f", with {claim.instead}" for claim in self.claims if claim.instead]
        return f"proved, {assumed}: {self.statement}{''.join(instead)}"

    def __repr__(self) -> str:
        width = max((len(claim.name) for claim in self.claims), default=0)
        lines = [f"  {claim.name:<{width}}  {claim}" for claim in self.claims]
        return "\n".join([self.headline, *lines])


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def certify(
    model: Problem | Model,
    x: Any,
    y: Array,
    *,
    tangent: Array | None = None,
    slack: float | None = None,
    failure: float = DEFAULT_FAILURE,
    seed: int | None = None,
) -> Certificate:
    r"""Certify the point x, with the bound of the dual y.

    With :math:`f(x) = \varphi(Mx)`, the bound is

    .. math::

        \varphi(u) - \langle \varphi'(u), u \rangle
        + \min_{x \in X} \langle M'\varphi'(u) + A'y, x \rangle - h^*(y),

    as the convex function :math:`\varphi` lies above its tangent at any u.

    Parameters
    ----------
    model : Problem or Model
        The problem that x and y belong to.
    x : array, LowRank, Outer or tuple
        A point of X.
    y : array
        The multipliers of the constraints.
    tangent : array, optional
        The point u; Mx by default. A `Result` whose x was made from a sketch has one.
    slack : float, optional
        How much the proof may lose against the exact minimum; 1e-8 of the objective by default.
    failure : float
        The probability of error that a probabilistic proof is allowed, at most 0.01; with 0 only
        deterministic proofs are tried, whatever they cost.
    seed : int, optional
        The seed of such a proof. By default it is drawn from the system's entropy, so whoever chose
        y cannot have known it.

    Returns
    -------
    Certificate

    Raises
    ------
    ProblemError
        If y or the tangent do not fit the problem, or its numbers are too large or too small.

    Examples
    --------
    >>> import numpy as np, condal
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> model = condal.problems.max_cut(cycle + cycle.T)
    >>> result = condal.solve(model)
    >>> condal.certify(model, result.x, result.y).gap < 1e-3
    True
    """
    require_failure(failure)
    y = finite_array(y, "y", ndim=1)
    problem, judge, seen = _evaluated(model, x, y, tangent)
    slack = DEFAULT_SLACK * problem.gap_unit(seen.objective) if slack is None else slack
    options = {"slack": slack, "failure": failure, "seed": _drawn(seed)}
    certificate, _ = certificate_and_proof(problem, seen, y, **options)
    proved: Certificate = judge.certified_pair(x, y, certificate)
    return proved


def certify_to(
    model: Problem | Model, x: Any, y: Array, tol: float, seed: int | None
) -> Certificate:
    """Certify the point x, with the bound of the dual y, by proofs as close as tol asks."""
    problem, judge, seen = _evaluated(model, x, y, None)
    certificate = Proofs(problem, seen, y, _drawn(seed), judge.certified).to(tol)
    proved: Certificate = judge.certified_pair(x, y, certificate)
    return proved


def _evaluated(
    model: Problem | Model, x: Any, y: Array, tangent: Array | None
) -> tuple[Problem, JudgesItself, EvaluatedPoint]:
    """Return the problem of a model, what judges it, and the point; ProblemError for others."""
    problem = problem_of(model)
    require_scales(problem)
    require_vector(y, zeros_of(problem.A), "y")
    u = None if tangent is None else require_tangent(problem, tangent)
    return problem, _judge_of(model), EvaluatedPoint.of(problem, from_user(problem.X, x), u)


def _judge_of(model: Problem | Model) -> JudgesItself:
    return model if isinstance(model, JudgesItself) else JudgesItself()


def _drawn(seed: int | None) -> int:
    """Return the seed, or one that nobody can have known."""
    return unpredictable_seed() if seed is None else seed


def verify(
    model: Problem | Model, result: Result, *, tol: float | None = None, seed: int | None = None
) -> Verdict:
    """Verify what a result claims of a problem, by its x, y and tangent alone.

    Parameters
    ----------
    model : Problem or Model
        The problem that the result is of.
    result : Result
        The result, such as ``condal.load(folder).result``.
    tol : float, optional
        Prove also that the result is solved to this tolerance.
    seed : int, optional
        The seed of probabilistic proofs. By default a random one, which the maker of the result
        cannot have known.

    Returns
    -------
    Verdict
        What was found of each claim.
    """
    if not isinstance(result, Result):
        raise ProblemError(
            "verify takes a problem and its Result, such as condal.load(folder).result; got "
            f"{type(result).__name__}"
        )
    seed, judge, problem = _drawn(seed), _judge_of(model), problem_of(model)
    if judge.verdict is not None:
        return _settled(judge, problem, result, seed)
    if tol is not None:
        require_positive(tol, "tol")
    elif result.status is Status.SOLVED and result.tol is None:
        raise ProblemError("the result does not say to what tolerance it is solved: give tol")
    require_scales(problem)
    claims: list[Claim] = []
    if result.status is Status.INFEASIBLE or result.infeasible is not None:
        claims.append(_infeasible(judge, problem, result, seed))
    if result.status is Status.UNBOUNDED:
        claims.append(Claim("unbounded", False, "nothing in the result proves it"))
    if result.x is None:
        if tol is not None or not claims or _of_a_point(result):
            claims.append(Claim("point", False, "there is none: the solve ended too early"))
        return Verdict(tuple(claims))
    try:
        with np.errstate(all="ignore"):  # the numbers may not come from a solve
            _, _, seen = _evaluated(model, result.x, result.y, result.tangent)
            failure = result.certificate.failure
            proofs = Proofs(problem, seen, result.y, seed, judge.certified, failure)
            tried, certificate = Trial(result, proofs).tried(tol)
            certificate, more = _on_own_data(judge, problem, result, certificate, tol)
            return Verdict((*claims, *tried, *more), certificate)
    except (*MISFITS, CondalError) as error:
        text = f"x and y are not of this problem: {str(error) or type(error).__name__}"
        return Verdict((*claims, Claim.false("point", text)))


def _of_a_point(result: Result) -> bool:
    """Whether a result claims a bound or an objective."""
    return result.certificate.certified or isfinite(result.certificate.objective)


def _on_own_data(
    judge: JudgesItself, problem: Problem, result: Result, proved: Certificate, tol: float | None
) -> tuple[Certificate, list[Claim]]:
    """Return a certificate of the form that is solved, with what the model's own data prove; and a
    claim if that is less than the result says."""
    tol = result.tol or tol or LEAST_TOL
    certificate = judge.rechecked(replace(result, certificate=proved, tol=tol)).certificate
    room = OWN_DATA_ROOM * min(tol, MOST_TOL) * problem.gap_unit(certificate.objective)
    short = problem.sense * (result.bound - certificate.bound)
    if certificate is proved or short <= room:
        return certificate, []
    honest, claimed = (
        rounded_text(bound, up=problem.maximise) for bound in (certificate.bound, result.bound)
    )
    text = f"{claimed} is claimed; the program's own data prove {honest} instead"
    return certificate, [Claim("bound", False, text)]


def _infeasible(judge: JudgesItself, problem: Problem, result: Result, seed: int) -> Claim:
    """Claim that nothing is feasible, for all points of the model."""
    claim = separated(problem, result, seed)
    if not claim.holds or result.separator is None:
        return claim
    ended = replace(result, status=of_separation(result.infeasible) or result.status)
    if judge.rechecked(ended).status is not ended.status:
        return replace(claim, holds=False, text="the program's own data do not prove it")
    assumed = judge.separated_for(result.separator)
    if assumed is None:
        return replace(claim, holds=False, text="proved only for points with a good objective")
    return replace(claim, assuming=(assumed, *claim.assuming)) if assumed else claim


def _settled(judge: JudgesItself, problem: Problem, result: Result, seed: int) -> Verdict:
    """Verify that the result says what is proved when the model is made, and nothing more."""
    verdict = judge.verdict
    name = verdict.status.name.lower()
    if result.status is not verdict.status:
        claimed = result.status.name.lower().replace("_", " ")
        text = f"{claimed} is claimed, and it is proved {name}: {verdict.how}"
        return Verdict((Claim.false("status", text),))
    claims = [Claim(name, True, f"proved again: {verdict.how}")]
    if result.infeasible is not None:
        claims.append(separated(problem, result, seed))
    if result.x is not None or _of_a_point(result):
        claims.append(Claim.false("point", f"there is none of a problem that is {name}"))
    return Verdict(tuple(claims))
