"""Newton's method for min <C, x>, l <= A(x) <= u, x psd of bounded trace, over x = R R'."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import ceil, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, principal_axes
from condal.methods.choice import (
    MAX_STEP_SECONDS,
    NEWTON_SPREAD,
    Choice,
    Estimate,
    least_columns,
    least_interior_step,
    newton_seconds,
)
from condal.methods.state import State, Warm, require_factor, require_linear, require_spectral
from condal.methods.surface.equations import cost_of
from condal.methods.surface.manifold import Surface
from condal.methods.surface.oracle import RankPolicy
from condal.methods.surface.rows import SurfaceRows
from condal.methods.surface.run import SurfaceRun, SurfaceState
from condal.types import Keeps, Spectral, Storage

if TYPE_CHECKING:
    from condal.problem import Problem

FIRST_RADIUS = 0.3  # of |R|
PATIENCE = 60  # each iteration is a Newton step
MAX_SLOW_STEP_SECONDS = 10.0  # of an interior-point step, where factors of low rank fail
MAX_BYTES = 2 * 2**30  # of the vectors of the method
VECTORS = 12  # of the size of R, at the peak
MEASURED_READS = 50  # entries of A per row of x, at most, in the runs of the estimate


@dataclass(frozen=True)
class LowRankNewton:
    r"""Newton's method over the factors of feasible points.

    Minimise :math:`\langle C, R R^\top \rangle` over the surface
    :math:`\{R : A(R R^\top) = b\}`, in which the trace is one more row, and a bound is a row with
    the square of a slack. The multipliers are those of least squares, a trust region limits the
    steps, and Gauss-Newton steps lead back to the surface. The smallest eigenvectors of
    :math:`S = C - A^\top y` bound the optimum and become new columns; columns are cut by
    complementarity.

    Parameters
    ----------
    rank : int or None
        The initial number of columns; None for a choice by the number of rows.
    seed : int
        The seed of the first R.
    aim : float or None
        The relative gap that is asked for, if known: at this gap R is not changed any more.
    patient : bool
        Whether to go on, slowly, where the rows are nearly dependent far from a solution.

    Examples
    --------
    >>> import condal, networkx
    >>> model = condal.problems.theta(networkx.cycle_graph(5))
    >>> result = condal.solve(model, condal.methods.LowRankNewton(), tol=1e-6)
    >>> print(f"{result.objective:.4f}")
    2.2361
    """

    name: ClassVar[str] = "newton"
    keeps: ClassVar[Keeps] = "factor"

    rank: int | None = None
    seed: int = 0
    aim: float | None = None
    patient: bool = True

    def __post_init__(self) -> None:
        require_factor(self.rank, self.seed, self.aim)

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply.

        Where rows may be nearly dependent at a solution, slow interior-point steps come next.
        """
        X = problem.X
        if isinstance(X, Spectral) and 2 * problem.A.size >= X.n * (X.n + 1):
            return "there are as many rows as entries of x: each couples with n others"
        rows = SurfaceRows.of(problem)
        if rows is None or not rows.coupling.sparse:
            return "it needs a linear f and bounds on sparse rows, of which few share a row of x"
        rank = self.first_rank(rows)
        entries = rows.height(rank) * rank
        room = entries - rank * (rank - 1) // 2
        if room <= rows.b.size or VECTORS * 8 * entries > MAX_BYTES:
            return "a factor of x has too few entries, or more than fit into memory"
        dense = ceil(rank * rows.matrix.nnz / MEASURED_READS)
        seconds = newton_seconds(max(entries, dense), rows.coupling.pairs, tol)
        # Without an interior, interior-point steps stall short of a small tolerance.
        spread, then = 1.0 if rows.null.size else NEWTON_SPREAD, _slow_steps(problem)
        return Estimate(
            seconds,
            "f is linear and sparse equations define a surface of factors of x",
            spread,
            PATIENCE,
            replace(self, aim=tol, patient=not then),
            then,
        )

    def first_rank(self, rows: SurfaceRows) -> int:
        """About sqrt(2 m), the largest rank needed, but no more than memory and time allow.

        Fewer columns do where no two rows share a row of x, as for diag x = b.
        """
        n, m = rows.n, rows.b.size
        return min(n, self.rank or least_columns(n, m, 20 if rows.coupling.pairs > m else 5))

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of a random R, or of a factor of the point of `warm`."""
        require_spectral(problem, "Newton's method")
        require_linear(problem, "Newton's method")
        rows = SurfaceRows.of(problem)
        if rows is None or not rows.coupling.solvable:
            raise ProblemError(
                "Newton's method needs bounds on sparse rows: got others; use condal.CGAL()"
            )
        rank = self.first_rank(rows)
        R = np.random.default_rng(self.seed).standard_normal((rows.n, rank))
        R /= np.linalg.norm(R)
        if warm is not None and warm.x is not None:
            R = _warm_factor(problem, warm, R)
        R = rows.with_slacks(R)
        state = State.of_dual(problem, warm)
        near = np.append(rows.unfolded(-state.y), np.zeros(rows.b.size - rows.size))
        carry = SurfaceState(np.ascontiguousarray(R), near, FIRST_RADIUS, RankPolicy(rows.n))
        return replace(state, carry=carry)

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the state after each step; it is the last where no progress is possible."""
        state = start or self.start(problem)
        rows = SurfaceRows.of(problem)
        assert rows is not None
        surface = Surface(rows, cost_of(problem))
        run = SurfaceRun(problem, surface, state.carry, self.aim, self.patient)
        for k in count(state.k + 1):
            run.advance()
            state = run.state(k, state)
            x.load(run.shown)  # last: an interrupted iteration leaves x unchanged
            yield state


def _slow_steps(problem: Problem) -> tuple[Choice, ...]:
    """Slow interior-point steps, for rows that are nearly dependent; fast ones are tried anyway."""
    X = problem.X
    assert isinstance(X, Spectral)
    least = least_interior_step(X.n, problem.A.size)
    if not MAX_STEP_SECONDS < least <= MAX_SLOW_STEP_SECONDS:  # the estimate itself takes time
        return ()
    from condal.methods.interior.method import InteriorPoint

    method = InteriorPoint()
    if method.seconds(problem) > MAX_SLOW_STEP_SECONDS:
        return ()
    why = "the rows may be dependent at a solution, which matters little to it"
    return (Choice(method, why),)


def _warm_factor(problem: Problem, warm: Warm, random: Array) -> Array:
    """A factor of the point of `warm`, with small random columns up to the rank of `random`."""
    X, x = problem.X, warm.x
    assert isinstance(X, Spectral)
    assert not isinstance(x, tuple)
    assert x is not None
    axes, roots = principal_axes(x)
    width = min(max(random.shape[1], int((roots > 1e-7 * roots.max(initial=0.0)).sum())), X.n)
    R = np.zeros((X.n, width))
    used = min(width, roots.size)
    R[:, :used] = axes[:, :used] * (roots[:used] / sqrt(X.trace))
    noise = np.random.default_rng(len(R)).standard_normal(R.shape)
    R += 1e-3 * noise / np.linalg.norm(noise)
    return R
