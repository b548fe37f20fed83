"""Conditional gradients where there is no constraint Ax in K: Lan's smoothing, and a sketch alone.

Both are values of CGAL once the problem is known: what differs is what they ask of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from condal.methods.cgal import CGAL
from condal.methods.preconditions import require_lipschitz, require_unconstrained
from condal.methods.rules import Classical, Fixed, Given, LineSearch, Never, PrimalRule
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


@dataclass(frozen=True)
class SmoothedCG:
    """Lan (2014): conditional gradient steps on f + h_beta, h smoothed by Nesterov's method.

    h_beta(z) = max over w of <w, z> - h*(w) - beta |w|^2 / 2, with 0 <= h - h_beta <= beta D_Y^2/2
    where |w| <= D_Y on dom h*, D_Y the Lipschitz constant of h.

    Parameters
    ----------
    beta : the smoothing, the same for ever; None for beta_k = |A| D_X / (D_Y sqrt(k + 1)).
    eta : the step.
    """

    name: ClassVar[str] = "smoothed-cg"
    keeps: ClassVar[Keeps] = "x"

    beta: float | None = None
    eta: PrimalRule = field(default_factory=Classical)

    def __post_init__(self) -> None:
        if self.beta is not None:
            require_positive(self.beta, "beta")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """k = 0, or the point of `warm`; the dual centre of the smoothing stays 0."""
        require_lipschitz(problem, "Lan's smoothed conditional gradient")
        centred = None if warm is None else Warm(warm.x, 0 * warm.y, warm.k)
        return self._smoothed(problem).start(problem, centred)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration."""
        return self._smoothed(problem).iterates(problem, x, start or self.start(problem))

    def _smoothed(self, problem: Problem) -> CGAL:
        """CGAL whose dual never moves, lam = 1/beta."""
        if self.beta is not None:
            return CGAL(Fixed(1 / self.beta), eta=self.eta, sigma=Never())
        reach = problem.A.norm * problem.X.diameter
        lam0 = problem.h.lipschitz / reach if reach > 0 else 0.0
        return CGAL(Given(lam0 or 1.0), eta=self.eta, sigma=Never())


@dataclass(frozen=True)
class SketchyCGM:
    """Yurtsever, Udell, Tropp and Cevher (2017): minimise phi(Mx) over X with x kept as a sketch.

    No Ax in K and no h: the images Mx and a sketch of x are all that is stored.
    """

    name: ClassVar[str] = "sketchy-cgm"
    keeps: ClassVar[Keeps] = "sketch"

    eta: PrimalRule = field(default_factory=LineSearch)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """k = 0, or the point of `warm`."""
        require_unconstrained(problem, "storage-optimal CGM")
        return CGAL(eta=self.eta).start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration."""
        return CGAL(eta=self.eta).iterates(problem, x, start or self.start(problem))
