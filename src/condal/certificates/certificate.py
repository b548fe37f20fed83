"""Records of what is proved: of an answer of condal, and of that of any other solver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan

import numpy as np

from condal.linalg.points import Array
from condal.linalg.rounding import Proof
from condal.problem import Problem
from condal.runtime.text import pairs

DIGITS = 10
ASSUMPTION = re.compile(r", (?=trusting |for points )")  # begins one in the words of a proof


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
        The price of infeasibility: ``|<w, Ax - P_K(Ax)>| / max(1, |objective|)``, with w the dual
        that proves the bound; nan if it is unknown.
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

    def __post_init__(self) -> None:
        if not self.certified:  # also where a bound is replaced by none
            object.__setattr__(self, "bracket", False)

    @property
    def gap(self) -> float:
        r""":math:`|bound - objective| / \max(1, |objective|)`."""
        return relative_gap(self.objective, self.bound)

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and price; inf if one of them is unknown."""
        errors = self.gap, self.infeasibility, self.price
        return inf if any(map(isnan, errors)) else max(errors)

    @property
    def certified(self) -> bool:
        """Whether a finite bound is proved."""
        return bool(np.isfinite(self.bound))

    def __str__(self) -> str:
        if not self.certified:
            return "no bound was proved"
        return f"bound {exact_text(self.bound)} proved by {self.because}"

    @property
    def because(self) -> str:
        """The proof in words, with the probability that it is wrong."""
        surely = f", wrong with probability at most {self.failure:.1g}" if self.failure else ""
        return self.how + surely

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


@dataclass(frozen=True)
class CheckedAnswer:
    """What is proved about a problem that some solver answered.

    Attributes
    ----------
    status : str
        The status that the solver gave; for a file that states none, what is proved of it:
        "bounded", "infeasible", "unbounded" or "unknown".
    proved : bool
        Whether the data prove the status; for an optimum, whether they prove a bound.
    objective : float
        The objective of the solver's point; nan without a point.
    bound : float
        A proved bound on the optimum: from below for a minimisation, from above for a
        maximisation; infinite if none is proved.
    infeasibility : float
        The largest violation of a constraint by the point.
    verdict : str
        The verdict in words. Its first line states every assumption.
    price : float
        What the infeasibility is worth at the prices of the dual, over max(1, \\|objective\\|);
        nan if it is unknown.
    attained : float
        An objective that a feasible point near the solver's is proved to have; nan if none is.
    missing : tuple of str
        What a proof lacks, such as a dual or a bound on the trace.
    """

    status: str
    proved: bool
    objective: float
    bound: float
    infeasibility: float
    verdict: str
    price: float = nan
    attained: float = nan
    missing: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        r""":math:`|\text{bound} - \text{objective}| / \max(1, |\text{objective}|)`."""
        return relative_gap(self.objective, self.bound) if isfinite(self.bound) else inf

    def excess(self, tol: float) -> str:
        """Return what is not within tol: the gap, the infeasibility or its price; "" if all are.

        Parameters
        ----------
        tol : float
            The tolerance.

        Returns
        -------
        str
            The first of them that is not, in words, or what is missing to measure them.
        """
        if isnan(self.objective):
            return "there is no point to measure a gap of"
        if not isfinite(self.bound):
            return "no bound is proved"
        measures = {"a gap": self.gap, "an infeasibility": self.infeasibility}
        if not isnan(self.price):
            measures["a price of infeasibility"] = self.price
        for name, value in measures.items():
            if not value <= tol:
                return f"{name} of {value:.3g} is not within tol {tol:g}"
        return ""

    def __str__(self) -> str:
        return self.verdict


def assumptions_of(proved: Certificate | Proof) -> tuple[str, ...]:
    """Return what a proof assumes, each assumption in words."""
    assumed = tuple(ASSUMPTION.split(proved.how)[1:])
    if proved.failure:
        assumed += (f"wrong with probability at most {proved.failure:.1g}",)
    return assumed


def exact_text(bound: float) -> str:
    """Return a bound with all its digits: fewer, if rounded to the wrong side, are not proved."""
    return repr(float(bound))


def rounded_text(value: float, *, up: bool) -> str:
    """Return a proved bound with 10 digits, rounded to the safe side: up or down."""
    if not isfinite(value):
        return str(value)
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return f"{float(Context(prec=DIGITS, rounding=rounding).plus(Decimal(value))):.{DIGITS}g}"


def relative_gap(objective: float, bound: float) -> float:
    """|bound - objective| / max(1, |objective|)."""
    return relative(abs(bound - objective), objective)


def relative(amount: float, objective: float) -> float:
    """amount / max(1, |objective|), for a gap or a price."""
    return amount / max(1.0, abs(objective))


def relative_price(problem: Problem, Ax: Array, y: Array, objective: float) -> float:
    """`Problem.price` of the dual that y proves its bound by, over max(1, |objective|)."""
    return relative(problem.price(Ax, problem.h.dual_point(y)), objective)


def allowed_gap(problem: Problem, objective: float, tol: float) -> float:
    """tol * `Problem.gap_unit`: the absolute gap that a relative tolerance allows."""
    return tol * problem.gap_unit(objective)
