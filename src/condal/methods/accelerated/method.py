"""Accelerated projected gradients for a smooth f over psd matrices of bounded trace.

x has a low rank at each step, because the projection takes a threshold off the eigenvalues, and the
rank adapts by itself. The lowest eigenvectors of the gradient bound the optimum; those that x lacks
join the subspace of the next step.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.points import Array, LowRank, Point, principal_axes
from condal.linalg.symmetric import Symmetric
from condal.methods.accelerated.step import ROUNDING, AcceleratedState, step
from condal.methods.choice import Choice, Estimate, Size, gradient_seconds
from condal.methods.state import (
    State,
    Warm,
    require_factor,
    require_spectral,
    require_unconstrained,
)
from condal.runtime.meter import check_cancelled, time_is_up
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

BOUND_COLUMNS = 400  # columns of a product between two bounds, which take some 200 products
BOUND_STEPS = 4  # steps between two bounds, at least
BOUND_TOL = 1e-3  # of the last gap: the tolerance of a bound
FIRST_TOL = 1e-2  # of the variation of f: the same, for the first bound
EXACT_GAP = 1e-15  # of the normalised problem: it cannot fall further
NEW, MIN_NEW = 40, 4  # eigenvectors per bound, and the least where a smaller rank is expected
MAX_NEW_NUMBERS = 2**21  # in these eigenvectors
VECTORS = 10  # of the size of a factor of x, at the peak
MAX_BYTES = 4 * 2**30  # of these vectors, for the method to be chosen automatically


@dataclass(frozen=True)
class AcceleratedGradient:
    r"""Minimise a smooth f over a spectral domain by accelerated projected gradients.

    .. math::

        x^+ = \operatorname{proj}_X(y - \nabla f(y) / L), \qquad y = x + \beta (x - x^-)

    The projection is computed in a subspace that follows the leading eigenvectors of
    :math:`y - \nabla f(y) / L`; L follows the curvature along the steps. An iteration is one step;
    some of them carry a bound.

    Parameters
    ----------
    rank : int or None
        The expected rank of a solution, at which the subspace begins; None for 40.

    References
    ----------
    A. Beck, M. Teboulle. A fast iterative shrinkage-thresholding algorithm for linear inverse
    problems. SIAM Journal on Imaging Sciences 2, 2009.

    Examples
    --------
    >>> import numpy as np, condal
    >>> full = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
    >>> entries = condal.problems.known_entries(full)
    >>> model = condal.problems.matrix_completion(*entries, radius=8.0, effects=False)
    >>> result = condal.solve(model, condal.methods.AcceleratedGradient(), tol=1e-6)
    >>> print(f"{result.objective:.4f}")
    0.0754
    """

    name: ClassVar[str] = "accelerated"
    keeps: ClassVar[Keeps] = "factor"
    counts_work: ClassVar[bool] = True  # most of it is in products

    rank: int | None = None

    def __post_init__(self) -> None:
        require_factor(self.rank)

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply.

        Where a solution of rank 1 is expected, the low-rank method of this rank comes before it.
        """
        if problem.f.L == 0 or problem.A.size or not isinstance(problem.X, Spectral):
            return "it needs a curved f over one matrix, and no constraint"
        if self.bytes(problem) > MAX_BYTES:
            return "its vectors do not fit into memory"
        seconds = gradient_seconds(Size.of(problem, tol))
        why = "f is curved and projections onto X have a low rank"
        if problem.rank != 1:
            return Estimate(seconds, why)
        from condal.methods.lowrank.method import LowRankCGAL

        single = LowRankCGAL(aim=tol, fixed_rank=True)
        first = "f is smooth in a factor of x, and a solution of rank 1 is expected"
        return Estimate(seconds, first, method=single, then=(Choice(self, why),))

    def bytes(self, problem: Problem) -> int:
        """Return the size of the vectors of the method, if the rank does not exceed the first."""
        if not isinstance(problem.X, Spectral):
            return 0  # `start` raises the error
        return 8 * VECTORS * problem.X.n * min(problem.X.n, self._directions(problem))

    def _directions(self, problem: Problem) -> int:
        """The number of eigenvectors that a bound asks for, at least."""
        return max(MIN_NEW, self.rank or problem.rank or NEW)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state at x = 0 (nothing is known of x), or at the point of `warm`."""
        X = require_spectral(problem, "the accelerated gradient method")
        require_unconstrained(problem, "the accelerated gradient method")
        state = State.start(problem, warm)
        x = LowRank(np.zeros((X.n, 0)), np.zeros(0))
        if warm is not None and warm.x is not None:
            x = _orthogonal(warm.x) or x
        Mx = problem.f.M(x) if x.rank else np.zeros(problem.f.M.size)
        carry = AcceleratedState(x, x, Mx, np.zeros((X.n, 0)), problem.f.L or 1.0)
        value = problem.f.value(Mx)
        return replace(state, Mx=Mx, value=value, k=0 if warm is None else warm.k, carry=carry)

    def iterates(
        self, problem: Problem, x: Storage, start: State | None = None
    ) -> Generator[State, Array | None, None]:
        """Yield the state after each step; it is the last where rounding prevents progress.

        The vectors that refute the bound of a state may be sent: they join the subspace.
        """
        state = start or self.start(problem)
        carry, Mx, refuting = state.carry, state.Mx, state.refuting
        assert isinstance(carry, AcceleratedState)
        nothing = np.zeros(0)  # the images and duals of no constraint
        for k in count(state.k + 1):
            check_cancelled()
            if carry.basis.shape[1] == 0:
                carry = self._begun(problem, carry, Mx)
            if refuting is not None and len(refuting) == len(carry.basis):
                carry = carry.with_directions(refuting)
            if carry.x.rank == 0 or not time_is_up():
                carry, Mx = step(problem, carry, Mx)
            value, gap, lower, last = problem.f.value(Mx), inf, -inf, False
            width = carry.basis.shape[1]
            if carry.stuck or carry.columns >= max(BOUND_COLUMNS, 2 * BOUND_STEPS * width):
                before = carry.gap
                carry, lower = _bounded(problem, carry, Mx, self._directions(problem))
                gap = carry.gap
                last = gap <= EXACT_GAP or (carry.stuck > 1 and gap > 0.5 * before)
            images = Mx, nothing, nothing, nothing, None
            state = State(k, *images, value, gap, lower, carry=carry, last=last)
            x.load(carry.x)  # last: an interrupted iteration leaves x unchanged
            refuting = yield state

    def _begun(self, problem: Problem, carry: AcceleratedState, Mx: Array) -> AcceleratedState:
        """Return the state with a first subspace: the lowest eigenvectors of the gradient."""
        f, X = problem.f, problem.X
        assert isinstance(X, Spectral)
        if time_is_up():
            random = np.random.default_rng(X.n).standard_normal((X.n, 1))
            return carry.with_directions(random)
        V = f.M.adjoint(f.gradient(Mx))
        assert isinstance(V, Symmetric)
        tol = FIRST_TOL * f.variation(X.max_norm) / X.max_norm
        count = _affordable(X, self._directions(problem))
        return carry.with_directions(X.lowest(V, count, tol, beside=_known(carry.x))[1])


def _bounded(
    problem: Problem, carry: AcceleratedState, Mx: Array, directions: int
) -> tuple[AcceleratedState, float]:
    """Return the state with the eigenvectors that x lacks, and a lower bound on the optimum."""
    f, X, x = problem.f, problem.X, carry.x
    assert isinstance(X, Spectral)
    g, value = f.gradient(Mx), f.value(Mx)
    V, slope = f.M.adjoint(g), float(g @ Mx)
    assert isinstance(V, Symmetric)
    gap = carry.gap if carry.gap < inf else f.variation(X.max_norm)
    tol = max(BOUND_TOL * gap, ROUNDING * abs(value))
    count = _affordable(X, max(directions, x.rank // 2))
    values, vectors = X.lowest(V, count, tol / X.trace, beside=_known(x))
    level = slope / X.trace
    least = X.trace * min(float(values[0]), level) - tol
    if X.at_most:
        least, level = min(least, 0.0), min(level, 0.0)
    carry = carry.with_directions(vectors[:, values < level])
    return replace(carry, columns=0, gap=slope - least), value - slope + least


def _affordable(X: Spectral, count: int) -> int:
    """The number of eigenvectors to ask for: no more than fit."""
    return min(X.n, max(2, min(count, MAX_NEW_NUMBERS // X.n)))


def _known(x: LowRank) -> Array | None:
    """The columns in whose span the gradient is known already."""
    return x.U if x.rank else None


def _orthogonal(x: Point) -> LowRank | None:
    """Return x with orthonormal columns; None for x = 0."""
    axes, roots = principal_axes(x)
    return LowRank(axes, roots**2) if roots.size else None
