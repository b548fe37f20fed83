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
    """minimise <c, x> over an intersection of polytopes, as x = (x_1, x_2, ...) in their product.

    The blocks agree by a constraint such as x_1 - x_2 = 0. Each iteration takes the greedy atom of
    every block, minimises L_lam(., y) over the product of the hulls of the blocks' active atoms,
    and then takes the dual step sigma = rho lam. For domains whose oracle picks from finitely many
    atoms: elsewhere the active sets grow.

    Parameters
    ----------
    lam : the penalty, the same for ever.
    rho : the dual step, as a part of lam, in (0, 1].
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
        """k = 0, or the point and dual of `warm`."""
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
