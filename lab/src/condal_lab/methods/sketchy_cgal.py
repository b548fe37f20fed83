"""SketchyCGAL, the method of Yurtsever, Tropp, Fercoq, Udell and Cevher (2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.lanczos import Eigenpair, Recurrence
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.cgal import CGAL
from condal.methods.rules import Const
from condal.methods.state import State, Warm, require_linear, require_spectral
from condal.runtime.arguments import require_whole
from condal.types import Keeps, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

CAP_FACTOR = 4.0  # of the cap of (const.), as in the code of the authors


@dataclass(frozen=True)
class SketchyCGAL:
    r"""CGAL with x kept as a sketch, and a Lanczos run of few steps as its oracle.

    Oracle call k takes :math:`\lceil k^{1/4} \log n \rceil` Lanczos steps from a random start. The
    dual step is (const.) with a cap four times as large. The paper scales a problem as `solve`
    does, about: the trace of x, :math:`|C|_F`, :math:`|A|` and the rows of A to 1. As the oracle
    keeps no tolerance, the estimated bounds of the history may exceed the optimum; proved ones do
    not.

    Parameters
    ----------
    lam0 : float
        The initial penalty.
    seed : int
        The seed of the random starts.

    References
    ----------
    A. Yurtsever, J. A. Tropp, O. Fercoq, M. Udell, V. Cevher. Scalable semidefinite programming.
    SIAM Journal on Mathematics of Data Science 3, 2021.
    """

    name: ClassVar[str] = "sketchy-cgal"
    keeps: ClassVar[Keeps] = "sketch"

    lam0: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        require_whole(self.seed, "seed", least=0)
        _ = self._cgal  # validates lam0

    @property
    def _cgal(self) -> CGAL:
        return CGAL(self.lam0, sigma=Const(factor=CAP_FACTOR))

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
