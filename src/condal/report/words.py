"""A result in words: the verdict, what is proved, how, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from condal.certificates.certificate import Certificate
from condal.linalg.rounding import Proof
from condal.result import Result, Status
from condal.runtime import text


@dataclass(frozen=True)
class VerdictText:
    """How a solve ended: a mark and a title, coloured by `tone`, and a sentence."""

    tone: str
    mark: str
    title: str
    text: str


_TONES = {
    Status.SOLVED: ("good", "✓"),
    Status.INFEASIBLE: ("bad", "✕"),
    Status.UNBOUNDED: ("bad", "✕"),
    Status.MAX_ITERS: ("fair", "◷"),
    Status.MAX_SECONDS: ("fair", "◷"),
    Status.INTERRUPTED: ("fair", "◼"),
    Status.INACCURATE: ("fair", "◆"),
    Status.STALLED: ("fair", "◆"),
    Status.NUMERICAL_ERROR: ("bad", "!"),
}


def verdict(result: Result) -> VerdictText:
    """Return the verdict on a result."""
    surety = f" ({result.surety})" if result.surety else ""
    return VerdictText(*_TONES[result.status], f"{result.status.title}{surety}", _short(result))


def _short(result: Result) -> str:
    if result.status is Status.INFEASIBLE:
        return "No point of X satisfies the constraints."
    if result.status is Status.UNBOUNDED:
        return "The objective is unbounded on the feasible set."
    if not result.certificate.certified:
        return "No bound was proved, so the distance from the optimum is unknown."
    gap = f"The objective and the proved bound of the convex problem are {_apart(result)} apart"
    if result.bracket:
        return f"{gap}, and x is feasible up to rounding."
    return (
        f"{gap}, and x violates the constraints by {result.infeasibility:.2g}, which is worth "
        f"{result.price:.2g} of the objective."
    )


def _apart(result: Result) -> str:
    """Return the gap, as a percentage of the objective if it is relative to that."""
    share = result.certificate.unit <= abs(result.objective)
    return percent(result.gap) if share else f"{result.gap:.2g}"


def proof(result: Result) -> list[str]:
    """Return the certificate in sentences: what is proved, how, and how surely."""
    certificate = result.certificate
    if result.status is Status.INFEASIBLE:
        return _infeasible(result)
    if result.status is Status.UNBOUNDED:
        return ["Proved: the objective is unbounded on the feasible set.", _proved_by(certificate)]
    if not certificate.certified:
        reason = f"The solve ended with: {certificate.how}."
        return ["No bound on the optimum was proved, so the gap is unknown.", reason]
    objective, bound = objective_of(result), bound_of(result)
    sentences = [f"Proved: no feasible point has an objective better than {bound}."]
    if result.bracket:
        sentences.append(
            f"The point x is feasible up to rounding and has the objective {objective}. "
            "The optimum of the convex problem lies between the two, which are "
            f"{_apart(result)} apart, up to rounding."
        )
    else:
        sentences.append(
            f"The point x has the objective {objective}, {_apart(result)} from the bound, and a "
            f"relative infeasibility of {result.infeasibility:.2g}, which is worth "
            f"{result.price:.2g} of the objective at the prices of the dual. The optimum may lie "
            "on either side of this objective, but not beyond the bound."
        )
    sentences.append(_proved_by(certificate))
    if 0 < certificate.distance_to_X < inf:
        sentences.append(f"The point x lies at most {certificate.distance_to_X:.1g} outside X.")
    if result.reconstruction is not None:
        sentences.append(f"The point x was reconstructed from a sketch: {result.reconstruction}.")
    return sentences


def _infeasible(result: Result) -> list[str]:
    proof, claim = result.infeasible, "Proved: no point of X satisfies the constraints."
    if proof is None:
        return [claim]
    return [
        claim,
        f"The distance from Ax to K is at least {number(proof.value)} for every x in X.",
        _proved_by(proof),
    ]


def _proved_by(proof: Certificate | Proof) -> str:
    surely = f"It fails with probability at most {proof.failure:.1g} over its own random numbers."
    return f"The proof is by {proof.how}. {surely if proof.failure else 'It is deterministic.'}"


def bound_of(result: Result) -> str:
    """Return the bound, rounded up if it is an upper bound and else down, so it remains valid."""
    return outwards(result.bound, up=result.bounded_above)


def objective_of(result: Result) -> str:
    """Return the objective; if it is an end of a bracket, rounded away from the bound."""
    if not result.bracket:
        return number(result.objective)
    return outwards(result.objective, up=not result.bounded_above)


def outwards(value: float, *, up: bool) -> str:
    """Return a number that is rounded up or down."""
    return number(value, up=up, down=not up)


def number(value: float, *, up: bool = False, down: bool = False) -> str:
    """Return ten digits with thousands separators; "none" for a non-finite number."""
    return text.number(value, digits=10, up=up, down=down) if isfinite(value) else "none"


def percent(share: float) -> str:
    """Return a share as a percentage with two digits, rounded up."""
    if share <= 0:
        return "0%"
    shown = (100 * text.rounded(share, 2, up=True)).normalize()
    return f"{shown:f}%" if share >= 1e-6 else f"{shown:e}%"


def count(value: float) -> str:
    """Return an integer with thousands separators."""
    return f"{int(value):,}"


def duration(seconds: float) -> str:
    """Return a time as 0.21 s, 12.3 s, 4 min 5 s or 1 h 2 min."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
