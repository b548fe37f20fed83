"""What is proved about an answer to a CVXPY problem, and how far it is from the constraints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan

import numpy as np

from condal.certificates.certificate import Certificate, rounded_text
from condal.cvxpy.forms import CvxpyProblem
from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal.result import Result

BEYOND_TRACE = "for points within the given trace bound"
BY_ROOT = "for the quadratic objective of a rounded root of its matrix"


@dataclass(frozen=True)
class Judgement(Certificate):
    """What is proved about an answer: the certificate of the cone program.

    Attributes
    ----------
    text : str
        The verdict. Its first line states every assumption.
    """

    objective: float = nan
    bound: float = -inf
    infeasibility: float = nan
    how: str = ""
    text: str = ""


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
    if not judged.certified:
        text = (
            "no lower bound is proved\n"
            f"objective {judged.objective:.10g}, infeasibility {judged.infeasibility:.3g}"
        )
    return replace(judged, text=text)


@dataclass(frozen=True, eq=False)
class Violations:
    """The distances of b - Ax from each equation, inequality and block of K."""

    problem: CvxpyProblem

    def of(self, x: Array) -> Array:
        """Return the violation of each equation, inequality and block at x."""
        return self.problem.layout.distances(self.problem.b - self.problem.A @ x)

    def infeasibility(self, x: Array) -> float:
        """Return the distance of b - Ax from K, relative to the data."""
        return self.relative(self.of(x))

    def relative(self, violations: Array) -> float:
        """Return the size of violations, relative to the data.

        It is the larger of two numbers: their norm over max(1, the distance of b from K), and the
        largest violation of a row or block over the norm of its coefficients and its b.
        """
        worst = float((violations / self._units).max(initial=0.0))
        whole = stable_norm(violations)
        if whole > worst:  # a large b may forgive it
            whole /= max(1.0, stable_norm(self.problem.layout.distances(self.problem.b)))
        return max(whole, worst)

    def price(self, violations: Array, z: Array) -> float:
        """Return the sum of the violations of rows and blocks, each times the norm of its z."""
        layout = self.problem.layout
        weighted = np.abs(z) / np.sqrt(layout.multiplicity)
        return float(violations @ layout.by_block(weighted, np.hypot))

    @cached_property
    def _units(self) -> Array:
        """The size of each row or block; 1 for an empty one."""
        problem = self.problem
        sizes = np.maximum(problem.structure.row_norms, np.abs(problem.b))
        units = problem.layout.by_block(sizes, np.maximum)
        return np.where(units > 0, units, 1.0)
