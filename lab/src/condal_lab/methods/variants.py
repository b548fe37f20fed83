"""Methods that are CGAL for a given problem: Lan's smoothing, SketchyCGM and GDMM.

They differ in the rules that they pass to CGAL and in what they require of the problem.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.methods.cgal import CGAL
from condal.methods.rules import (
    Classical,
    Corrective,
    Fixed,
    Given,
    LineSearch,
    Never,
    PrimalRule,
)
from condal.methods.state import (
    State,
    Warm,
    require_linear,
    require_lipschitz,
    require_penalty,
    require_unconstrained,
)
from condal.runtime.arguments import require_fraction, require_positive
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem


class _Variant(ABC):
    """A method that runs CGAL with rules of its own."""

    @abstractmethod
    def _cgal(self, problem: Problem) -> CGAL:
        """CGAL with the rules of the method for a problem."""

    @abstractmethod
    def start(self, problem: Problem, warm: Warm | None = None) -> State: ...

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        return self._cgal(problem).iterates(problem, x, start or self.start(problem))


@dataclass(frozen=True)
class SmoothedCG(_Variant):
    r"""Conditional gradient steps on :math:`f + h_\beta`, where h is smoothed by Nesterov's method.

    :math:`h_\beta(z) = \max_w \langle w, z \rangle - h^*(w) - \beta |w|^2 / 2`, with
    :math:`0 \le h - h_\beta \le \beta D_Y^2 / 2`, where D_Y is the Lipschitz constant of h.

    Parameters
    ----------
    beta : float or None
        The constant smoothing; None for :math:`\beta_k = |A| D_X / (D_Y \sqrt{k + 1})`.
    eta : PrimalRule
        The step.
    normalise : bool
        Whether `solve` normalises the problem. If not, beta is in its own units.

    References
    ----------
    G. Lan. The complexity of large-scale convex programming under a linear optimization oracle.
    arXiv:1309.5550, 2013.
    """

    name: ClassVar[str] = "smoothed-cg"
    keeps: ClassVar[Keeps] = "x"

    beta: float | None = None
    eta: PrimalRule = field(default_factory=Classical)
    normalise: bool = True

    def __post_init__(self) -> None:
        if self.beta is not None:
            require_positive(self.beta, "beta")

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or with the point of `warm`; the dual is 0."""
        require_lipschitz(problem, "Lan's smoothed conditional gradient")
        centred = None if warm is None else Warm(warm.x, 0 * warm.y, warm.k)
        return self._cgal(problem).start(problem, centred)

    def _cgal(self, problem: Problem) -> CGAL:
        """CGAL with a dual that never moves and lam = 1/beta."""
        if self.beta is not None:
            return CGAL(Fixed(1 / self.beta), eta=self.eta, sigma=Never())
        image_diameter = problem.A.norm * problem.X.diameter
        lam0 = problem.h.lipschitz / image_diameter if image_diameter > 0 else 0.0
        return CGAL(Given(lam0 or 1.0), eta=self.eta, sigma=Never())


@dataclass(frozen=True)
class SketchyCGM(_Variant):
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
        return self._cgal(problem).start(problem, warm)

    def _cgal(self, problem: Problem) -> CGAL:
        return CGAL(eta=self.eta)


@dataclass(frozen=True)
class GDMM(_Variant):
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
    normalise : bool
        Whether `solve` normalises the problem. If not, lam is in its own units.

    References
    ----------
    I. E.-H. Yen, X. Huang, K. Zhong, R. Zhang, P. Ravikumar, I. S. Dhillon. Dual decomposed
    learning with factorwise oracle for structural SVM of large output domain. NeurIPS 2016.
    """

    name: ClassVar[str] = "gdmm"
    keeps: ClassVar[Keeps] = "atoms by block"

    lam: float = 1.0
    rho: float = 1.0
    normalise: bool = True

    def __post_init__(self) -> None:
        require_penalty(self.lam, "lam")
        require_fraction(self.rho, "rho")

    def _cgal(self, problem: Problem) -> CGAL:
        return CGAL(Fixed(self.lam), Corrective(), lambda k, lam0, y, d, budget: self.rho * lam0)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or with the point and dual of `warm`."""
        require_linear(problem, "GDMM")
        if not isinstance(problem.f.M.adjoint(np.ones(problem.f.M.size)), tuple):
            raise ProblemError(
                "GDMM needs a Product of polytopes with a constraint that makes the blocks agree: "
                "got a domain of one block; use condal.CGAL()"
            )
        return self._cgal(problem).start(problem, warm)
