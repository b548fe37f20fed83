"""Methods that are CGAL: Lan's smoothing, SketchyCGM, GDMM and SketchyCGAL.

They differ in the rules or the oracle that they pass to CGAL and in what they require of a problem.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil, log
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.lanczos import Eigenpair, Recurrence
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.cgal import CGAL
from condal.methods.rules import (
    Classical,
    Const,
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
    require_spectral,
    require_unconstrained,
)
from condal.runtime.arguments import require_fraction, require_positive, require_whole
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


@dataclass(frozen=True)
class SketchyCGAL:
    r"""CGAL with x kept as a sketch, and a Lanczos run of few steps as its oracle.

    Oracle call k takes :math:`\lceil k^{1/4} \log n \rceil` Lanczos steps from a random start. The
    dual step is (const.) with another cap. The paper scales a problem as `solve` does, about: the
    trace of x, :math:`|C|_F`, :math:`|A|` and the rows of A to 1. As the oracle keeps no tolerance,
    the estimated bounds of the history may exceed the optimum; proved ones do not.

    Parameters
    ----------
    lam0 : float
        The initial penalty.
    seed : int
        The seed of the random starts.
    factor : float
        The multiple of the cap of (const.): 1 in the text of the paper, 4 in the authors' code.

    References
    ----------
    A. Yurtsever, J. A. Tropp, O. Fercoq, M. Udell, V. Cevher. Scalable semidefinite programming.
    SIAM Journal on Mathematics of Data Science 3, 2021.
    """

    name: ClassVar[str] = "sketchy-cgal"
    keeps: ClassVar[Keeps] = "sketch"

    lam0: float = 1.0
    seed: int = 0
    factor: float = 4.0

    def __post_init__(self) -> None:
        require_whole(self.seed, "seed", least=0)
        _ = self._cgal  # validates lam0 and factor

    @property
    def _cgal(self) -> CGAL:
        return CGAL(self.lam0, sigma=Const(self.factor))

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at k = 0, or with the point and dual of `warm`."""
        require_linear(problem, "SketchyCGAL")
        _with_engine(require_spectral(problem, "SketchyCGAL"), ShortLanczos(0, self.seed))
        return self._cgal.start(problem, warm)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration, as CGAL with another eigenvalue solver."""
        state = start or self.start(problem)
        X = _with_engine(problem.X, ShortLanczos(state.k, self.seed))
        return self._cgal.iterates(replace(problem, X=X, checked=True), x, state)


def _with_engine(X: Any, engine: ShortLanczos) -> Any:
    """X with another eigenvalue solver."""
    try:
        return X.with_engine(engine)
    except AttributeError:
        raise ProblemError(
            "SketchyCGAL needs a domain whose eigenvalue solver can be chosen, such as "
            "condal.Spectrahedron(n); use condal.CGAL()"
        ) from None


class ShortLanczos:
    """An eigenvalue solver for one call per iteration: the k-th takes few steps.

    Parameters
    ----------
    k : int
        The number of calls before.
    seed : int
        The seed of the random starts.
    """

    def __init__(self, k: int, seed: int) -> None:
        self.k, self.seed = k, seed

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """Return the smallest Ritz pair of a random Krylov space; tol and guess have no effect."""
        self.k += 1
        steps = min(max(1, ceil(self.k**0.25 * log(V.n))), V.n)
        start = np.random.default_rng([self.seed, V.n, self.k]).standard_normal(V.n)
        run = Recurrence(V, start / np.linalg.norm(start), keep=steps)
        run.grow_to(steps)
        ritz = run.smallest(tol)
        vector = run.combine(ritz.coefficients)
        return Eigenpair(ritz.value, vector / np.linalg.norm(vector), ritz.residual, ritz.error)
