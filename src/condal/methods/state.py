"""The state of a method between two iterations, where it starts, and whether it applies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Spectral, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem


MAX_LAM = 1e50  # and 1 / MAX_LAM is the least: penalties are squared and divided by
MAX_SAMPLE = 2**20  # entries of C that choose mu
CHUNK = 2**20  # entries whose terms are computed together; a row is never split


@dataclass(frozen=True, eq=False)
class State:
    """The state after iteration k: images Mx and Ax of x, the dual y, and what the driver reads.

    `s` is the last answer of the oracle, `w` the multiplier and `u` the Mx of that call (None if u
    is the Mx of this state). `value` is f(x), `gap` is f(x) + <w, Ax> minus its minimum over X, and
    `lower` is a lower bound on the optimum if the oracle kept its tolerance. `lam`, `eta` and
    `sigma` belong to the step, for methods that have them. `carry` is the record of what else the
    method needs to resume. `last` is True if the method can do no more. `refuting` holds unit
    vectors of a failed proof: the gradient is lower along them than this state estimates.
    """

    k: int
    Mx: Array
    Ax: Array
    y: Array
    w: Array
    s: Point | None
    value: float
    gap: float
    lower: float
    lam: float = nan
    eta: float = nan
    sigma: float = nan
    carry: Any = None
    last: bool = False
    u: Array | None = None
    refuting: Array | None = None

    @classmethod
    def start(cls, problem: Problem, warm: Warm | None, *, carry: Any = None) -> State:
        """Return the state where `warm` ended, or k = 0 with nothing known of x."""
        x = None if warm is None else warm.x
        Mx = zeros_of(problem.f.M) if x is None else problem.f.M(x)
        Ax = zeros_of(problem.A) if x is None else problem.A(x)
        y = zeros_of(problem.A) if warm is None else warm.y
        k = 0 if warm is None or x is None else warm.k
        u = None if x is None else Mx
        return cls(k, Mx, Ax, y, y, None, problem.f.value(Mx), inf, -inf, carry=carry, u=u)

    @classmethod
    def of_dual(cls, problem: Problem, warm: Warm | None, carry: Any = None) -> State:
        """Return the state of the dual and the k of `warm`, for a method whose carry has x."""
        near = None if warm is None else replace(warm, x=None)
        state = cls.start(problem, near, carry=carry)
        return replace(state, k=0 if warm is None else warm.k)

    @property
    def has_x(self) -> bool:
        """Whether there is an x: one that was given, or the atom of the first step."""
        return self.k > 0 or self.u is not None


# The first step from k = 0 discards x: a point worth keeping counts as this many steps.
LEAST_WARM_K = 2


@dataclass(frozen=True, eq=False)
class Warm:
    """Where to start: a point of X or None, a dual, the k of that point, and the penalty.

    k = 0 is the start of Algorithm 1 at x1 and y1. Where an earlier solve ended, k is at least
    `LEAST_WARM_K`. `moved` says that x is a point of other data.
    """

    x: Point | None
    y: Array
    k: int
    lam: float = nan
    moved: bool = False


def tree_dual(problem: Problem) -> Array | None:
    """Return y for a linear f with sparse C and d * diag x = b with b / d > 0: the best one if the
    graph of C were a tree; else None.

    V = C + Diag(z) is the slack of: minimise <C, x> subject to diag x = t, x psd; -<t, z> is a
    bound once V is psd. On the central path t = mu diag(V^-1). Where the graph of C has no cycles,
    V^-1 on its edges determines the diagonal of V (Bethe's approximation, exact for trees):

        t_i z_i = mu + sum over j of (sqrt(mu^2 + 4 c_ij^2) - mu) / 2 - t_i C_ii,
        c_ij = sqrt(t_i t_j) C_ij.

    mu = 0 gives Gershgorin's discs. A large sparse graph is locally a tree: another mu gives a far
    better bound there, and a V that is nearly psd. The lowest eigenvectors of V spread over the
    graph; those of C alone are spikes at the vertices of the highest degrees.
    """
    program = _fixed_diagonal(problem)
    if program is None or not program[0].factorable or not program[0].sparse:
        return None
    C, t, b = program
    S, root = sp.csr_array(C.merged().sparse[0]), np.sqrt(t)
    mu = _best(S, root)
    total = mu - t * S.diagonal()
    for rows, entries in _runs(S):
        owner, sizes = _sizes(S, root, entries)
        total[rows] += sums_of(mu, sizes, owner - rows.start, rows.stop - rows.start)
    return np.asarray(total / b)


def point_dual(problem: Problem, x: Point) -> Array | None:
    """Return y for a linear f and d * diag x = b with b / d > 0: the best one if x is optimal.

    V = C + Diag(d y) is the slack, and V x = 0 at a solution. Its diagonal determines y. Where C
    changes, this y changes with it at once, in the same rows.
    """
    program = _fixed_diagonal(problem)
    if program is None:
        return None
    C, _, b = program
    if isinstance(x, LowRank):
        diagonal = ((C @ x.U) * x.U) @ x.weights
    else:
        diagonal = np.diagonal(C @ np.asarray(x))
    return np.asarray(-diagonal / b)


def _fixed_diagonal(problem: Problem) -> tuple[Symmetric, Array, Array] | None:
    """C, t and b of a linear f = <C, x> with diag x = t = b / d > 0; None of another problem."""
    f, d, b = problem.f, problem.A.diagonal_rows, problem.h.fixed
    if f.L != 0.0 or d is None or b is None or not np.all(b * d > 0):
        return None
    C = f.M.adjoint(f.gradient(np.zeros(f.M.size)))
    return (C, b / d, b) if isinstance(C, Symmetric) and d.size == C.n else None


def sums_of(mu: float, sizes: Array, owner: Indices, rows: int) -> Array:
    """sum over j of (sqrt(mu^2 + 4 c_ij^2) - mu) / 2, for each row i."""
    terms = 0.5 * (np.hypot(mu, 2 * sizes) - mu)
    return np.asarray(np.bincount(owner, terms, minlength=rows), dtype=np.float64)


def _best(S: Any, root: Array) -> float:
    """`best_mu` of all entries, or of a random sample if they are many."""
    count = int(S.nnz)
    if count == 0:
        return 0.0
    chosen: Any = slice(0, count)
    if count > MAX_SAMPLE:
        chosen = np.random.default_rng(0).integers(0, count, MAX_SAMPLE)
    return best_mu(_sizes(S, root, chosen)[1], S.shape[0], each=count / min(count, MAX_SAMPLE))


def best_mu(sizes: Array, n: int, *, each: float = 1.0) -> float:
    """Return the mu that minimises <t, z>: n = sum of (1 - mu / hypot(mu, 2 c)) / 2 over all c.

    mu = 0 on a forest. Each of the sizes |c| counts `each` times.
    """
    sizes = sizes[sizes > 0]
    if sizes.max(initial=0.0) == 0.0:
        return 0.0

    def slope(mu: float) -> float:
        return float(n - 0.5 * each * (1 - mu / np.hypot(mu, 2 * sizes)).sum())

    if slope(0.0) >= 0.0:
        return 0.0
    from scipy.optimize import brentq

    above = np.sqrt(each * float(sizes @ sizes) / n)  # since 1 - mu / hypot <= 2 (c / mu)^2
    return float(brentq(slope, 0.0, 1.01 * above, rtol=1e-6))


def _sizes(S: Any, root: Array, entries: Any) -> tuple[Indices, Array]:
    """The rows of some stored entries, and their |c_ij|, with 0 on the diagonal."""
    places = np.arange(entries.start, entries.stop) if isinstance(entries, slice) else entries
    rows = np.searchsorted(S.indptr, places, side="right") - 1
    cols = S.indices[entries]
    sizes = np.abs(S.data[entries]) * root[rows] * root[cols]
    sizes[rows == cols] = 0.0
    return rows, sizes


def _runs(S: Any) -> Iterator[tuple[slice, slice]]:
    """Runs of rows with about CHUNK entries, and the runs of these entries."""
    begin, n = 0, S.shape[0]
    while begin < n:
        most = S.indptr[begin] + CHUNK
        end = max(begin + 1, int(np.searchsorted(S.indptr, most, side="right")) - 1)
        yield slice(begin, end), slice(int(S.indptr[begin]), int(S.indptr[end]))
        begin = end


def require_linear(problem: Problem, method: str) -> None:
    """Raise ProblemError unless f is linear."""
    if problem.f.L != 0:
        raise ProblemError(
            f"{method} needs a linear objective: got {type(problem.f).__name__}, with curvature "
            f"L = {problem.f.L:.3g}; use condal.CGAL()"
        )


def require_spectral(problem: Problem, method: str) -> Spectral:
    """Return X; raise ProblemError unless its points have factors."""
    if not isinstance(problem.X, Spectral):
        raise ProblemError(
            f"{method} needs a spectral domain, such as condal.Spectrahedron(n): this problem has "
            "another; use condal.CGAL()"
        )
    return problem.X


def require_blocks(problem: Problem, method: str) -> None:
    """Raise ProblemError unless the points of X, or of its blocks, have factors."""
    if spectral_parts(problem.X) is None:
        require_spectral(problem, method)


def require_lipschitz(problem: Problem, method: str) -> None:
    """Raise ProblemError unless h is finite everywhere, so without a constraint Ax in K."""
    if problem.h.lipschitz == inf:
        raise ProblemError(
            f"{method} needs a problem without a constraint Ax in K: got one with {problem.A.size} "
            "rows; use condal.CGAL()"
        )


def require_unconstrained(problem: Problem, method: str) -> None:
    """Raise ProblemError unless there is neither a constraint nor a nonsmooth term."""
    if problem.A.size:
        raise ProblemError(
            f"{method} needs a smooth objective over X alone: got Ax with {problem.A.size} rows; "
            "use condal.CGAL()"
        )


def require_penalty(lam: Any, name: str) -> None:
    """Raise ProblemError unless lam is a positive number that does not over- or underflow."""
    require_positive(lam, name)
    if not 1 / MAX_LAM <= lam <= MAX_LAM:
        raise ProblemError(
            f"{name} must be a positive number, from {1 / MAX_LAM:g} to {MAX_LAM:g}; got {lam!r}: "
            "1 is a good start, as problems are normalised"
        )


def require_factor(rank: int | None, seed: int = 0, aim: float | None = None) -> None:
    """Raise ProblemError unless a method over factors can take this rank, seed and aim."""
    if rank is not None:
        require_whole(rank, "rank")
    if aim is not None:
        require_positive(aim, "aim")
    require_whole(seed, "seed", least=0)
