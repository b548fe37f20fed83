"""What is proved about the answer of any solver."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import inf, isfinite, nan

DIGITS = 10


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
        if not isfinite(self.bound):
            return inf
        return abs(self.bound - self.objective) / max(1.0, abs(self.objective))

    def excess(self, tol: float) -> str:
        """Return what is not within tol: the gap, the infeasibility or its price; "" if all are.

        Parameters
        ----------
        tol : float
            The tolerance.

        Returns
        -------
        str
            The first of them that is not, in words.
        """
        for name, value in (
            ("a gap", self.gap),
            ("an infeasibility", self.infeasibility),
            ("a price of infeasibility", self.price),
        ):
            known = name != "a price of infeasibility" or value == value
            if known and not value <= tol:
                return f"{name} of {value:.3g} is not within tol {tol:g}"
        return ""

    def __str__(self) -> str:
        return self.verdict


def rounded_text(value: float, *, up: bool) -> str:
    """Return a proved bound with 10 digits, rounded to the safe side: up or down."""
    if not isfinite(value):
        return str(value)
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return f"{float(Context(prec=DIGITS, rounding=rounding).plus(Decimal(value))):.{DIGITS}g}"
