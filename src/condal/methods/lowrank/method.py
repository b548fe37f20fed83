"""The low-rank corrective method: L_lam(R R', y) minimised over R; the oracle leaves saddles.

CGAL's fully corrective step for spectral domains, over all x = R R' of the rank of R instead of the
hull of the atoms (Burer and Monteiro 2003 for the factorisation). A round minimises over R by a
trust region, moves the dual to the multiplier, and asks the oracle for the smallest eigenvalues of
the gradient. They bound the optimum; where they are too small, their eigenvectors become new
columns. The oracle makes it a convex method. Where diag x = b is all of A, sweeps over the rows of
R (`relaxation`) replace the trust region for as long as they pay.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.choice import (
    FEW_CALLS,
    FEW_ENTRY,
    MANY_ENTRY,
    MAX_STEP_SECONDS,
    ROWS_CALLS,
    ROWS_ENTRY,
    SLOW,
    Estimate,
    Size,
    gradient_seconds,
    least_interior_step,
)
from condal.methods.lowrank.columns import first_atoms, first_rank, inverse_of
from condal.methods.lowrank.factored import surface_of
from condal.methods.lowrank.rounds import LowRankState, Rounds
from condal.methods.lowrank.surfaces import Layout, StiefelBlocks
from condal.methods.state import State, Warm, require_blocks, require_factor, require_penalty
from condal.runtime.meter import check_cancelled, time_is_up
from condal.types import Keeps, Storage, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem

FIRST_TARGET = 1e-2  # the residual of the first round
FIRST_TARGET_AIMED = 3e-3  # the same, where the aim is a gap below FIRST_TARGET
# Of |R|, the random columns beside the factor of a point of other data. With 1% new edges, G40 to
# 1e-4 takes 235 iterations without these columns, 10 with 0.03 and 2 with 0.3.
WIDENING = 0.3
TRUST_REGION_VECTORS = 12  # of the size of R, at the peak
SWEEP_VECTORS = 5
MAX_BYTES = 4 * 2**30  # of these vectors, for the method to be chosen automatically
FEW_ROWS = 10  # a solution then has a rank of 4 at most
CHEAP_SIDE = 150  # n below which an eigenvalue decomposition costs next to nothing
SLOW_SIDE = 600  # n from which a few hundred projections take a minute
LAGRANGIAN_SHARE = 1.1  # of the seconds of projected gradients over factors


@dataclass(frozen=True)
class LowRankCGAL:
    r"""Minimise :math:`f(x) + h(Ax)` over :math:`x = R R^\top` in a spectral domain.

    Constraints diag x = b, or identities as diagonal blocks of x, hold exactly, all others by the
    augmented Lagrangian. The linear minimisation oracle detects saddle points and certifies a
    bound. An iteration is some sweeps over the rows of R, or one step of a trust region; the
    iterations that end a round carry a bound.

    Parameters
    ----------
    rank : int or None
        The initial number of columns; None for :math:`4 \log n + n^{1/4}`, from 50,000 rows on
        rounded down to a multiple of 16.
    lam : float
        The initial penalty, on the normalised problem.
    seed : int
        The seed of the first R.
    aim : float or None
        The relative gap that is asked for, if known: rounds then end where this gap is expected.
    fixed_rank : bool
        Whether to end where a solution needs more columns, instead of adding them.

    References
    ----------
    S. Burer, R. D. C. Monteiro. A nonlinear programming algorithm for solving semidefinite programs
    via low-rank factorization. Mathematical Programming 95, 2003.

    Examples
    --------
    >>> import numpy as np, condal
    >>> model = condal.problems.max_cut(np.ones((4, 4)) - np.eye(4))
    >>> result = condal.solve(model, condal.methods.LowRankCGAL(), tol=1e-6)
    >>> print(f"{result.objective:.4f}")
    4.0000
    """

    name: ClassVar[str] = "lowrank"
    keeps: ClassVar[Keeps] = "factor"
    counts_work: ClassVar[bool] = True  # all of it is in products and sweeps

    rank: int | None = None
    lam: float = 1.0
    seed: int = 0
    aim: float | None = None
    fixed_rank: bool = False

    def __post_init__(self) -> None:
        require_factor(self.rank, self.seed, self.aim)
        require_penalty(self.lam, "lam")

    def estimate(self, problem: Problem, tol: float) -> Estimate | str:
        """Return the estimate, or why the method does not apply."""
        parts, A = spectral_parts(problem.X), problem.A
        if parts is None:
            return "x is not made of matrices"
        if self.bytes(problem) > MAX_BYTES:
            return "its vectors do not fit into memory"
        method, n = replace(self, aim=tol), max(X.n for X in parts)
        if problem.f.L > 0:
            seconds = LAGRANGIAN_SHARE * gradient_seconds(Size.of(problem, tol))
            return Estimate(seconds, "f is smooth in a factor of x", method=method)
        layout = Layout.of(problem)
        entries = layout.height * self._first_rank(problem, layout)
        on_rows = ROWS_CALLS + ROWS_ENTRY * entries
        if surface_of(problem)[1] is not None:
            fixed = "diag x = b" if A.diagonal_rows is not None else "x_ii = I for its blocks"
            why = f"f is linear and {fixed} is all of A, which the rows of a factor of x can keep"
            return Estimate(on_rows, why, method=method)
        if A.diagonal_rows is not None and problem.h.fixed is not None:
            return Estimate(on_rows, "f is linear and A reads the diagonal alone", method=method)
        if n >= CHEAP_SIDE and A.size <= FEW_ROWS:
            why = f"f is linear and {A.size} constraints leave a solution of small rank"
            return Estimate(FEW_CALLS + FEW_ENTRY * entries, why, method=method)
        slow = n >= SLOW_SIDE and least_interior_step(n, A.size) > MAX_STEP_SECONDS
        if slow and _fixes_diagonal(problem, n):
            why = f"f is linear, A fixes diag x among others, and n = {n} is large for the rest"
            return Estimate(MANY_ENTRY * entries, why, method=method)
        why = "a factor of x may progress where projections stall"
        return Estimate(SLOW, why, method=method, follows=True)

    def bytes(self, problem: Problem) -> int:
        """Return the peak size of the vectors of the method, if the rank does not grow."""
        if spectral_parts(problem.X) is None:
            return 0  # `start` raises the error
        C = problem.f.M.adjoint(problem.f.gradient(zeros_of(problem.f.M)))
        sweeps = isinstance(C, Symmetric) and C.factorable
        vectors, layout = SWEEP_VECTORS if sweeps else TRUST_REGION_VECTORS, Layout.of(problem)
        return vectors * 8 * layout.height * self._first_rank(problem, layout)

    def _first_rank(self, problem: Problem, layout: Layout) -> int:
        return first_rank(problem, max(block.X.n for block in layout.blocks), self.rank)

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the state of a random R, or of the dual of `warm` and a factor of its point."""
        require_blocks(problem, "the low-rank method")
        geometry, _, layout = surface_of(problem)
        rank = self._first_rank(problem, layout)
        R = layout.normals(self.seed, rank)
        if warm is not None and warm.x is not None:
            factor = layout.factor(warm.x)
            if factor is not None and warm.moved:
                factor = _widened(factor, R)
            R = R if factor is None else factor  # x = 0 has no factor to start from
        elif problem.f.L > 0:
            R = first_atoms(problem, layout, R)
        elif isinstance(geometry, StiefelBlocks):
            inverse = inverse_of(problem)
            R = R if inverse is None else inverse(R)
        close = self.aim is not None and self.aim < FIRST_TARGET
        target = FIRST_TARGET_AIMED if close else FIRST_TARGET
        drawn = warm is None or warm.x is None
        carry = LowRankState(geometry.on(R), None, target, self.lam, drawn=drawn)
        return State.of_dual(problem, warm, carry)

    def iterates(
        self, problem: Problem, x: Storage, start: State | None = None
    ) -> Generator[State, Array | None, None]:
        """Yield the state after each iteration; it is the last where rounding prevents progress.

        The vectors that refute the bound of a state may be sent: R grows along them.
        """
        state = start or self.start(problem)
        rounds, iterations = Rounds(self, problem, state), count(state.k + 1)
        refuting = state.refuting
        del state, start  # they hold the first R
        for k in iterations:
            check_cancelled()
            if refuting is not None:
                rounds.escape(refuting)
            if not time_is_up():  # in a first iteration; then the first R is the answer
                rounds.advance(k)
            state = rounds.state(k)
            x.load(rounds.point.x)  # last: an interrupted iteration leaves x unchanged
            refuting = yield state
            del state


def _widened(R: Array, normals: Array) -> Array:
    """R with small random columns beside it, until it has as many as `normals`.

    A solution has the columns that its own data need, and is close to a saddle point of others.
    """
    rest = normals[:, R.shape[1] :]
    if rest.shape[1] == 0:
        return R
    sizes = np.sqrt(np.einsum("ij,ij->", R, R) / np.einsum("ij,ij->", rest, rest))
    return np.hstack([R, WIDENING * sizes * rest])


def _fixes_diagonal(problem: Problem, n: int) -> bool:
    """Whether each x_ii of one matrix has an equation of its own."""
    from condal.linalg.gradients import SquareRows

    rows = SquareRows.of(problem.A) if problem.h.fixed is not None else None
    if rows is None or rows.matrix.shape[1] != n * n:
        return False
    A = rows.matrix
    single = A.indices[A.indptr[:-1][np.diff(A.indptr) == 1]]  # the entry of each one-entry row
    return np.unique(single[single % (n + 1) == 0]).size == n
