"""Augmented Lagrangian sweeps for fixed diagonals, or zero entries, and bounds on entries of x."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, total_rows
from condal.methods.choice import MIN_SWEPT_SIDE, SWEPT_ENTRY, SWEPT_TOL, Estimate
from condal.methods.preconditions import require_linear, require_spectral
from condal.methods.spheres.forms import form_of
from condal.methods.spheres.program import first_rank
from condal.methods.spheres.run import SphereRun, SphereState
from condal.methods.spheres.sweeps import PairSweeps
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

FIRST_PENALTY = 0.3  # of the size of the objective per vector
SINGLE_AIM = 1e-4  # the least gap for which single precision is enough
VECTORS = 4  # of the size of R in double precision, at the peak
MAX_BYTES = 6 * 2**30  # of these vectors, for the method to be chosen automatically
PATIENCE = 300  # each iteration is ten sweeps
MIN_COLOUR_PAIRS = 500  # pairs per colour, on average: with fewer, calls dominate


@dataclass(frozen=True)
class SphereSweeps:
    r"""Sweeps over the vectors of :math:`x_{ij} = \langle r_i, r_j \rangle` on spheres.

    For min <C, x> with a fixed diagonal and bounds on single entries, and for Lovasz's theta,
    whose vectors are on spheres of another form of the problem. The spheres hold exactly, the
    bounds by an augmented Lagrangian. An iteration is some sweeps over all vectors and updates of
    the multipliers; the oracle bounds the optimum now and then.

    Parameters
    ----------
    rank : int or None
        The initial number of columns; None for a choice by n and aim.
    seed : int
        The seed of the first vectors.
    aim : float or None
        The relative gap that is asked for, if known: above 1e-4 single precision is used.

    References
    ----------
    P.-W. Wang, W.-C. Chang, J. Z. Kolter. The mixing method: low-rank coordinate descent for
    semidefinite programming with diagonal constraints. arXiv:1706.00476, 2017.

    Examples
    --------
    >>> import condal, networkx
    >>> model = condal.problems.theta(networkx.cycle_graph(5))
    >>> result = condal.solve(model, condal.methods.SphereSweeps(), tol=1e-5)
    >>> print(f"{result.objective:.4f}")
    2.2361
    """

    name: ClassVar[str] = "spheres"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    seed: int = 0
    aim: float | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            require_whole(self.rank, "rank")
        if self.aim is not None:
            require_positive(self.aim, "aim")
        require_whole(self.seed, "seed", least=0)

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply or is slower than Newton steps."""
        form = form_of(problem) if self.fits(problem) else None
        if form is None:
            return "it needs diag x = d or theta, and vectors that fit into memory"
        n, method = form.program.n, replace(self, aim=tol)
        if n < MIN_SWEPT_SIDE or tol < SWEPT_TOL:
            return "Newton steps are faster for small n, and for small tolerances"
        most = 1 + total_rows(form.program.cost) // MIN_COLOUR_PAIRS
        if PairSweeps.of(form.program, most=most) is None:
            return "its sweeps would have many colours"
        seconds = SWEPT_ENTRY * n * first_rank(n, self.rank, tol)
        why = "f is linear and A bounds inner products of pairs of vectors on spheres"
        return Estimate(seconds, why, patience=PATIENCE, method=method)

    def fits(self, problem: Problem, *, processes: int = 1) -> bool:
        """Whether the vectors fit into the memory of each of some processes that share them."""
        spectral = isinstance(problem.X, Spectral)
        return spectral and self.bytes(problem) <= processes * MAX_BYTES

    def bytes(self, problem: Problem) -> int:
        """Return the peak size of the vectors of the method, if the rank does not grow."""
        if not isinstance(problem.X, Spectral):
            return 0  # `start` raises the error
        n = problem.X.n
        return VECTORS * 8 * n * first_rank(n, self.rank, self.aim)

    @property
    def _dtype(self) -> Any:
        return np.float32 if self.aim is not None and self.aim >= SINGLE_AIM else np.float64

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of random vectors, or of the point and dual of `warm`."""
        require_spectral(problem, "the method of sweeps")
        require_linear(problem, "the method of sweeps")
        form = form_of(problem)
        if form is None:
            raise ProblemError(
                "the method of sweeps needs diag x = d and bounds on single entries, or the form "
                "of theta: got another problem; use condal.CGAL()"
            )
        program = form.program
        rank = first_rank(program.n, self.rank, self.aim)
        R, z = program.random(rank, self.seed), np.zeros_like(program.cost)
        if warm is not None and warm.x is not None:
            R = form.vectors(warm.x)
            if R.shape[1] < rank:
                R = program.with_columns(R, rank - R.shape[1], 1e-2, self.seed)
            z = form.pair_multipliers(warm.x, warm.y)
        state = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k))
        size = float(np.abs(program.linear).mean())
        if size == 0.0:
            size = 2 * float(np.abs(program.cost).sum()) / program.n
        penalty = FIRST_PENALTY * (size or 1.0) / float(program.radius.max()) ** 2 / 4
        carry = SphereState(R.astype(self._dtype, copy=False), z, penalty)
        return replace(state, k=0 if warm is None else warm.k, carry=carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each iteration; end where no progress is possible."""
        state = start or self.start(problem)
        if state.last:
            return
        form = form_of(problem)
        assert form is not None
        # A checkpoint may hold vectors of another precision, for an aim that has changed.
        carry = replace(state.carry, R=state.carry.R.astype(self._dtype, copy=False))
        run = SphereRun(problem, form, carry, self.aim, self.seed)
        near: Array = state.y
        for k in count(state.k + 1):
            run.advance()
            state = run.state(k, near)
            near = state.w
            x.load(run.shown)  # last: an interrupted iteration leaves x unchanged
            yield state
            if state.last:
                return
