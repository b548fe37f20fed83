"""GDMM, the greedy direction method of multipliers of Yen, Huang, Zhong, Zhang, Ravikumar and
Dhillon (2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.methods.cgal import CGAL
from condal.methods.lagrangian import require_penalty
from condal.methods.preconditions import require_linear
from condal.methods.rules import Corrective, Fixed, Whole
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_fraction
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True)
class GDMM:
    r"""Minimise :math:`\langle c, x \rangle` over an intersection of polytopes.

    x = (x_1, x_2, ...) lies in the product of the polytopes, and a constraint such as
    x_1 - x_2 = 0 makes the blocks agree. Each iteration takes the greedy atom of every block,
    minimises :math:`L_\lambda(\cdot, y)` over the product of the hulls of the active atoms, and
    takes the dual step :math:`\sigma = \rho \lambda`. It suits domains with finitely many atoms; on
    other domains the active sets grow.

    Parameters
    ----------
    lam : float
        The constant penalty.
    rho : float
        The dual step relative to lam, in (0, 1].

    References
    ----------
    I. E.-H. Yen, X. Huang, K. Zhong, R. Zhang, P. Ravikumar, I. S. Dhillon. Dual decomposed
    learning with factorwise oracle for structural SVM of large output domain. NeurIPS 2016.
    """

    name: ClassVar[str] = "gdmm"
    keeps: ClassVar[Keeps] = "atoms by block"

    lam: float = 1.0
    rho: float = 1.0

    def __post_init__(self) -> None:
        require_penalty(self.lam, "lam")
        require_fraction(self.rho, "rho")

    @property
    def _method(self) -> CGAL:
        return CGAL(Fixed(self.lam), eta=Corrective(), sigma=Whole(self.rho))

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or with the point and dual of `warm`."""
        require_linear(problem, "GDMM")
        if not isinstance(problem.f.M.adjoint(np.ones(problem.f.M.size)), tuple):
            raise ProblemError(
                "GDMM needs a Product of polytopes with a constraint that makes the blocks agree: "
                "got a domain of one block; use condal.CGAL()"
            )
        return self._method.start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration."""
        return self._method.iterates(problem, x, start or self.start(problem))
