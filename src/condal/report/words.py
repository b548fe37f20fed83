"""What a result says, in words: the verdict, and what is proved by what and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import isfinite

import numpy as np

from condal.result import Result, Status


@dataclass(frozen=True)
class VerdictText:
    """How a solve ended: a mark and a few words, which `tone` colours, and a sentence."""

    tone: str
    mark: str
    title: str
    text: str


_MARKS = {
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
    """The verdict on a result."""
    return VerdictText(*_MARKS[result.status], result.status.title, _short(result))


def _short(result: Result) -> str:
    if result.status is Status.INFEASIBLE:
        return "No point of X satisfies the constraints."
    if result.status is Status.UNBOUNDED:
        return "Where the constraints hold, the objective has no bound."
    if not result.certificate.certified:
        return "No bound was proved: nobody knows how far from the optimum this is."
    gap = f"Objective and proved bound of the convex problem are {_apart(result)} apart"
    if result.certificate.feasible:
        return f"{gap}, and x is feasible."
    return f"{gap}, and x misses the constraints by {result.infeasibility:.2g}."


def _apart(result: Result) -> str:
    """The gap: a share of the objective, or, of one below 1, a number."""
    return percent(result.gap) if abs(result.objective) >= 1 else f"{result.gap:.2g}"


def proof(result: Result) -> list[str]:
    """The certificate in sentences: what is proved, by what, how surely, how infeasible."""
    certificate = result.certificate
    if result.status is Status.INFEASIBLE:
        return _infeasible(result)
    if result.status is Status.UNBOUNDED:
        how = f"The proof is by {certificate.how}. {_surely(certificate.failure)}"
        return ["Proved: the objective has no bound where the constraints hold.", how]
    if not certificate.certified:
        known = f"What the solve ended with: {certificate.how}."
        return ["No bound on the optimum was proved, so nothing is known of the gap.", known]
    objective, bound = number(result.objective), bound_of(result)
    said = [f"Proved: no feasible point has an objective better than {bound}."]
    if result.certificate.feasible:
        said.append(
            f"The point x satisfies the constraints and has the objective {objective}: the optimum "
            f"of the convex problem lies between the two, which are {_apart(result)} apart."
        )
    else:
        said.append(
            f"The point x has the objective {objective}, {_apart(result)} from the bound, and "
            f"misses the constraints by {result.infeasibility:.2g}, relatively: the optimum may "
            "lie on either side of it, but not beyond the bound."
        )
    said.append(f"The proof is by {certificate.how}. {_surely(certificate.failure)}")
    if certificate.distance_to_X > 0:
        said.append(f"The point x lies at most {certificate.distance_to_X:.1g} outside of X.")
    if result.reconstruction is not None:
        said.append(f"The point x was made of a sketch: {result.reconstruction}.")
    return said


def _infeasible(result: Result) -> list[str]:
    found = result.infeasible
    said = ["Proved: no point of X satisfies the constraints."]
    if found is None:
        return said
    return [
        *said,
        f"The images Ax of all points of X keep a distance of at least {number(found.value)} from "
        "the set K that they would have to reach.",
        f"The proof is by {found.how}. {_surely(found.failure)}",
    ]


def _surely(failure: float) -> str:
    if failure == 0:
        return "It leaves nothing to chance."
    return f"It is wrong with a probability of at most {failure:.1g}, over its own random numbers."


def bound_of(result: Result) -> str:
    """The bound, rounded so that it stays one: up if it is an upper bound, else down.

    Which it is, the history tells where the gap was largest: where x is not feasible yet, the
    objective may be beyond the bound for a while.
    """
    history = result.history
    with np.errstate(invalid="ignore", over="ignore"):  # of what no solve has come to
        apart = np.append(history["bound"] - history["objective"], result.bound - result.objective)
    apart = apart[np.isfinite(apart)]
    upper = apart.size > 0 and apart[np.argmax(np.abs(apart))] >= 0
    return number(result.bound, rounding=ROUND_CEILING if upper else ROUND_FLOOR)


def number(value: float, *, rounding: str = ROUND_HALF_EVEN) -> str:
    """Ten digits, in groups of thousands; a word where there is no number."""
    if not isfinite(value):
        return "none"
    rounded = Context(prec=10, rounding=rounding).plus(Decimal(value))
    if value == 0 or Decimal("1e-4") <= abs(rounded) < Decimal("1e15"):
        return f"{rounded.normalize():,f}"
    return f"{rounded.normalize():e}"


def percent(share: float) -> str:
    """A share as a percentage, to two digits and never less than it is."""
    if share <= 0:
        return "0%"
    exact = Decimal(share) * 100
    shown = Context(prec=2, rounding=ROUND_CEILING).plus(exact).normalize()
    return f"{shown:f}%" if exact >= Decimal("1e-4") else f"{shown:e}%"


def count(value: float) -> str:
    """A whole number, in groups of thousands."""
    return f"{int(value):,}"


def duration(seconds: float) -> str:
    """0.21 s, 12.3 s, 4 min 5 s or 1 h 2 min."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
