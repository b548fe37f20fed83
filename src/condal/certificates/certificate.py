"""Records of what is proved: of an answer of condal, and of that of any other solver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan

from condal.linalg.rounding import Proof
from condal.runtime.text import pairs, rounded

DIGITS = 10
MEMBER_TOL = 1e-6  # of max |x| over X: a point within this distance of X counts as in X
ASSUMPTION = re.compile(
    r", (?=trusting |for points |wrong with )"
)  # begins one in the words of a proof


@dataclass(frozen=True)
class Certificate:
    """The objective of an answer, a proved bound on the optimum, and how feasible the answer is.

    If the dual that proves the bound is optimal, the objective is within gap and price of the
    optimum; the bound holds for any dual.

    Parameters
    ----------
    objective : float
        The user's objective at x.
    bound : float
        A proved bound on the optimum: an upper bound for a maximisation.
    infeasibility : float
        The relative distance of Ax from K.
    how : str
        How the bound was proved.
    failure : float
        The probability that the bound is wrong; 0 unless the proof is probabilistic.
    price : float
        The price of infeasibility: ``|<w, Ax - P_K(Ax)>| / unit``, with w the dual that proves the
        bound, and what the distance of x from X is worth; nan if it is unknown.
    distance_to_X : float
        A bound on the distance of x from X: rounding, for all points that the methods return, and
        inf if it was not measured.
    inside : bool
        Whether that distance is rounding.
    bracket : bool
        Whether the optimum lies between objective and bound, up to rounding: x is in X, it violates
        no row by more than the rounding of this row, the price is rounding, and the bound is not
        better than the objective.
    dimacs : dict
        The DIMACS error measures, for a linear objective over K = {b}.
    unit : float
        What gap and price are relative to (`Problem.gap_unit`); by default max(1, \\|objective\\|).
    size_of_X : float
        The largest \\|x\\| over X, which the distance is relative to; inf if there is no X.
    """

    objective: float
    bound: float
    infeasibility: float
    how: str
    failure: float = 0.0
    price: float = nan
    distance_to_X: float = 0.0
    inside: bool = False
    bracket: bool = False
    dimacs: dict[str, float] = field(default_factory=dict)
    unit: float = nan
    size_of_X: float = inf

    def __post_init__(self) -> None:
        if isnan(self.unit):
            object.__setattr__(self, "unit", max(1.0, abs(self.objective)))
        if not self.certified:  # also where a bound is replaced by none
            object.__setattr__(self, "bracket", False)

    @property
    def gap(self) -> float:
        """|bound - objective| / unit; inf without a bound."""
        return abs(self.bound - self.objective) / self.unit if self.certified else inf

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and price; inf if one of them is unknown."""
        errors = self.gap, self.infeasibility, self.price
        return inf if any(map(isnan, errors)) else max(errors)

    def within(self, tol: float) -> bool:
        """Return whether the point is proved to solve the problem to tol."""
        return not self.excess(tol)

    def excess(self, tol: float, *, gap_room: float = 0.0, infeasibility_room: float = 0.0) -> str:
        """Return what is not within tol: gap, infeasibility, price or distance from X.

        Parameters
        ----------
        tol : float
            The tolerance.
        gap_room, infeasibility_room : float
            Room for the rounding of another machine, of gap and price and of the infeasibility.

        Returns
        -------
        str
            The first of them that is not, in words, or what is missing to measure them; "" if all
            are. A measure that is nan is not within tol.
        """
        if isnan(self.objective):
            return "there is no point to measure a gap of"
        if not self.certified:
            return "no bound is proved"
        measures = (
            ("a gap", self.gap, gap_room),
            ("an infeasibility", self.infeasibility, infeasibility_room),
            ("a price of infeasibility", self.price, gap_room),
        )
        for name, value, room in measures:
            if not value <= tol + room:
                return f"{name} of {value:.3g} is not within tol {tol:g}"
        inside = self.distance_to_X <= min(MEMBER_TOL, tol) * self.size_of_X
        return "" if inside else "the point is not in X"

    @property
    def certified(self) -> bool:
        """Whether a finite bound is proved."""
        return isfinite(self.bound)

    def __str__(self) -> str:
        if not self.certified:
            return "no bound was proved"
        return f"bound {exact_text(self.bound)} proved by {self.because}"

    @property
    def because(self) -> str:
        """The proof in words, with the probability that it is wrong."""
        return Proof(self.bound, self.how, self.failure).because

    def _repr_html_(self) -> str:
        rows = [
            ("objective", f"{self.objective:.10g}"),
            ("bound", exact_text(self.bound) if self.certified else "none was proved"),
            ("gap", f"{self.gap:.3g}"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            ("price", f"{self.price:.3g}"),
            ("proof", self.because),
            *((name, f"{error:.3g}") for name, error in self.dimacs.items()),
        ]
        return pairs("Certificate", rows)


@dataclass(frozen=True, kw_only=True)
class CheckedAnswer(Certificate):
    """What is proved about a problem that some solver answered.

    It is a `Certificate`: its objective and infeasibility are those of the solver's point, nan
    without one, and its bound is infinite if none is proved.

    Attributes
    ----------
    status : str
        The status that the solver gave; for a file that states none, what is proved of it:
        "bounded", "infeasible", "unbounded" or "unknown".
    proved : bool
        Whether the data prove the status; for an optimum, whether they prove a bound.
    attained : float
        An objective that a feasible point near the solver's is proved to have; nan if none is.
    missing : tuple of str
        What a proof lacks, such as a dual or a bound on the trace.
    """

    status: str
    proved: bool
    objective: float = nan
    infeasibility: float = nan
    attained: float = nan
    missing: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict in words. Its first line states every assumption."""
        return self.how

    def __str__(self) -> str:
        return self.verdict


def assumptions_of(proved: Certificate | Proof) -> tuple[str, ...]:
    """Return what a proof assumes, each assumption in words."""
    return tuple(ASSUMPTION.split(proved.because)[1:])


def exact_text(bound: float) -> str:
    """Return a bound with all its digits: fewer, if rounded to the wrong side, are not proved."""
    return repr(float(bound))


def rounded_text(value: float, *, up: bool) -> str:
    """Return a proved bound with 10 digits, rounded to the safe side: up or down."""
    if not isfinite(value):
        return str(value)
    return f"{float(rounded(value, DIGITS, up=up, down=not up)):.{DIGITS}g}"
