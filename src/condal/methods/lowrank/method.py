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

from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.methods.lagrangian import require_penalty
from condal.methods.lowrank.factor_layout import Layout
from condal.methods.lowrank.factored import surface_of
from condal.methods.lowrank.geometry import StiefelBlocks
from condal.methods.lowrank.rounds import LowRankState, Rounds, first_rank
from condal.methods.preconditions import require_blocks
from condal.methods.state import State, Warm
from condal.runtime.arguments import require_positive, require_whole
from condal.runtime.meter import check_cancelled, time_is_up
from condal.types import Keeps, Storage, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem

FIRST_TARGET = 1e-2  # the residual of the first round
FIRST_TARGET_AIMED = 3e-3  # the same, where the aim is a gap below FIRST_TARGET
TRUST_REGION_VECTORS = 12  # of the size of R, at the peak
SWEEP_VECTORS = 5
MAX_BYTES = 4 * 2**30  # of these vectors, for the method to be chosen automatically


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
        if self.rank is not None:
            require_whole(self.rank, "rank")
        if self.aim is not None:
            require_positive(self.aim, "aim")
        require_penalty(self.lam, "lam")
        require_whole(self.seed, "seed", least=0)

    def suits(self, problem: Problem) -> bool:
        """Whether the surface eliminates every constraint, and the vectors of the method fit."""
        if spectral_parts(problem.X) is None or problem.f.L > 0:
            return False
        return surface_of(problem)[1] is not None and self.fits(problem)

    def fits(self, problem: Problem) -> bool:
        """Whether the vectors of the method fit into memory."""
        return self.bytes(problem) <= MAX_BYTES

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
            R = R if factor is None else factor  # x = 0 has no factor to start from
        elif problem.f.L > 0:
            from condal.methods.lowrank.initial_factor import first_atoms

            R = first_atoms(problem, layout, R)
        elif isinstance(geometry, StiefelBlocks):
            from condal.methods.lowrank.initial_factor import inverse_of

            inverse = inverse_of(problem)
            R = R if inverse is None else inverse(R)
        state = State.start(problem, None if warm is None else Warm(None, warm.y, warm.k))
        close = self.aim is not None and self.aim < FIRST_TARGET
        target = FIRST_TARGET_AIMED if close else FIRST_TARGET
        drawn = warm is None or warm.x is None
        carry = LowRankState(geometry.on(R), None, target, self.lam, drawn=drawn)
        return replace(state, k=0 if warm is None else warm.k, carry=carry)

    def iterates(
        self, problem: Problem, x: Storage, start: State | None = None
    ) -> Generator[State, Array | None, None]:
        """Yield the state after each iteration; end where rounding prevents progress.

        The vectors that refute the bound of a state may be sent: R grows along them.
        """
        state = start or self.start(problem)
        if state.last:
            return
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
            if state.last:
                return
            del state
