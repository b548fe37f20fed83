"""Conditional gradients without a constraint Ax in K: Lan's smoothing, and SketchyCGM.

For a given problem both are values of CGAL; they differ in what they require of the problem.
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
    r"""Conditional gradient steps on :math:`f + h_\beta`, where h is smoothed by Nesterov's method.

    :math:`h_\beta(z) = \max_w \langle w, z \rangle - h^*(w) - \beta |w|^2 / 2`, with
    :math:`0 \le h - h_\beta \le \beta D_Y^2 / 2`, where D_Y is the Lipschitz constant of h.

    Parameters
    ----------
    beta : float or None
        The constant smoothing; None for :math:`\beta_k = |A| D_X / (D_Y \sqrt{k + 1})`.
    eta : PrimalRule
        The step.

    References
    ----------
    G. Lan. The complexity of large-scale convex programming under a linear optimization oracle.
    arXiv:1309.5550, 2013.
    """

    name: ClassVar[str] = "smoothed-cg"
    keeps: ClassVar[Keeps] = "x"

    beta: float | None = None
    eta: PrimalRule = field(default_factory=Classical)

    def __post_init__(self) -> None:
        if self.beta is not None:
            require_positive(self.beta, "beta")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or with the point of `warm`; the dual is 0."""
        require_lipschitz(problem, "Lan's smoothed conditional gradient")
        centred = None if warm is None else Warm(warm.x, 0 * warm.y, warm.k)
        return self._smoothed(problem).start(problem, centred)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration."""
        return self._smoothed(problem).iterates(problem, x, start or self.start(problem))

    def _smoothed(self, problem: Problem) -> CGAL:
        """CGAL with a dual that never moves and lam = 1/beta."""
        if self.beta is not None:
            return CGAL(Fixed(1 / self.beta), eta=self.eta, sigma=Never())
        image_diameter = problem.A.norm * problem.X.diameter
        lam0 = problem.h.lipschitz / image_diameter if image_diameter > 0 else 0.0
        return CGAL(Given(lam0 or 1.0), eta=self.eta, sigma=Never())


@dataclass(frozen=True)
class SketchyCGM:
    r"""Minimise :math:`\varphi(Mx)` over X, with x kept as a sketch.

    There is no Ax in K and no h. The method stores only the images Mx and a sketch of x.

    Parameters
    ----------
    eta : PrimalRule
        The step.

    References
    ----------
    A. Yurtsever, M. Udell, J. A. Tropp, V. Cevher. Sketchy decisions: convex low-rank matrix
    optimization with optimal storage. AISTATS 2017.
    """

    name: ClassVar[str] = "sketchy-cgm"
    keeps: ClassVar[Keeps] = "sketch"

    eta: PrimalRule = field(default_factory=LineSearch)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or with the point of `warm`."""
        require_unconstrained(problem, "storage-optimal CGM")
        return CGAL(eta=self.eta).start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration."""
        return CGAL(eta=self.eta).iterates(problem, x, start or self.start(problem))
