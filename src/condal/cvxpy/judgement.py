"""What is proved about an answer to a CVXPY problem, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, nan

import numpy as np

from condal.certificates.checked import rounded_text
from condal.result import Result

BEYOND_TRACE = "for points within the given trace bound"
BY_ROOT = "for the quadratic objective of a rounded root of its matrix"


@dataclass(frozen=True)
class Judgement:
    r"""What is proved about an answer.

    Attributes
    ----------
    objective : float
        The objective :math:`\langle c, x \rangle` of the cone program at x.
    bound : float
        A proved lower bound on its optimum; -inf if none is proved.
    gap : float
        :math:`|\text{bound} - \text{objective}| / \max(1, |\text{objective}|)`.
    infeasibility : float
        The distance of :math:`b - Ax` from the cones, relative to the data.
    price : float
        What the infeasibility is worth at the prices z, relative to the objective.
    text : str
        The verdict. Its first line states every assumption.
    unit : float
        What tol is relative to: smaller than max(1, |objective|) if the objective cannot reach 1.
    """

    objective: float = nan
    bound: float = -inf
    infeasibility: float = nan
    price: float = nan
    text: str = ""
    unit: float = 1.0

    @property
    def gap(self) -> float:
        if not np.isfinite(self.bound):
            return inf
        return abs(self.bound - self.objective) / max(1.0, abs(self.objective))

    @property
    def error(self) -> float:
        """The largest of the gap, the infeasibility and its price, as tol measures them."""
        scale = max(1.0, abs(self.objective)) / self.unit
        return float(np.max([scale * self.gap, self.infeasibility, scale * self.price]))

    def within(self, tol: float) -> bool:
        """Return whether the gap, the infeasibility and its price are at most tol."""
        return self.error <= tol


@dataclass(frozen=True, eq=False, repr=False)
class JudgedResult(Result):
    """The result of the solve behind an answer, and what is proved about the answer."""

    judgement: Judgement = field(default_factory=Judgement)


def worded(judged: Judgement, assumption: str) -> Judgement:
    """Return the judgement with its text, which states the assumption."""
    where = f" {assumption}" if assumption else ", without assumptions"
    bound = rounded_text(judged.bound, up=False)
    text = (
        f"proved{where}: the optimum of the cone program is at least {bound}\n"
        f"objective {judged.objective:.10g}, gap {judged.gap:.3g}, infeasibility "
        f"{judged.infeasibility:.3g}, its price {judged.price:.3g}"
    )
    if not np.isfinite(judged.bound):
        text = (
            "no lower bound is proved\n"
            f"objective {judged.objective:.10g}, infeasibility {judged.infeasibility:.3g}"
        )
    return replace(judged, text=text)
