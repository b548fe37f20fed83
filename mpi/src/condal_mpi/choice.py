"""The method, the tolerance and the size of the sketch of a solve on many ranks."""

from __future__ import annotations

from typing import Any

from condal.errors import ProblemError
from condal.methods.cgal import CGAL
from condal.methods.lowrank.columns import first_rank
from condal.methods.lowrank.factored import surface_of
from condal.methods.lowrank.method import MAX_BYTES, SWEEP_VECTORS, LowRankCGAL
from condal.methods.rules import Corrective, LineSearch, Smoothed
from condal.methods.spheres.forms import form_of
from condal.methods.spheres.method import SphereSweeps
from condal.problem import Problem
from condal_mpi.diffraction import ReplicatedHermitian

RANK, TOL = 10, 1e-1  # of CGAL where the diagonal is all that is constrained
ENTRY_RANK, ENTRY_TOL = 40, 1e-2  # of CGAL for other entries: a lost part of x makes it infeasible
LOW_RANK_TOL = 1e-3
NAMES = (
    "condal.CGAL(), without Corrective() and Smoothed(), condal.methods.LowRankCGAL() or "
    "condal.methods.SphereSweeps()"
)


def chosen_method(
    problem: Problem, method: Any, tol: float | None
) -> tuple[CGAL | LowRankCGAL | SphereSweeps, float]:
    """Return the method, chosen where none is given, and the tolerance of a solve.

    Parameters
    ----------
    problem : Problem
        The problem.
    method : Method or None
        The method that was asked for.
    tol : float or None
        The tolerance that was asked for.

    Returns
    -------
    method : CGAL, LowRankCGAL or SphereSweeps
        The method.
    tol : float
        The tolerance.
    """
    if method is None:
        aim = LOW_RANK_TOL if tol is None else tol if tol > 0 else None
        method = _by_factor(problem, aim) or _cgal(problem)
    if tol is None:
        by_factor = isinstance(method, LowRankCGAL | SphereSweeps)
        tol = LOW_RANK_TOL if by_factor else TOL if _only_diagonal(problem) else ENTRY_TOL
    return method, tol


def default_rank(problem: Problem) -> int:
    """Return the rank of the sketch where none is given.

    Parameters
    ----------
    problem : Problem
        The problem.

    Returns
    -------
    int
        The number of columns.
    """
    return RANK if _only_diagonal(problem) else ENTRY_RANK


def _only_diagonal(problem: Problem) -> bool:
    return problem.A.diagonal_rows is not None


def _cgal(problem: Problem) -> CGAL:
    return CGAL() if _only_diagonal(problem) else CGAL(eta=LineSearch())


def _by_factor(problem: Problem, aim: float | None) -> LowRankCGAL | SphereSweeps | None:
    """The method whose factor of x suits the problem and fits into memory, if there is one."""
    X: Any = problem.X
    if _suits_low_rank(problem):
        return LowRankCGAL(aim=aim)
    sweeps = SphereSweeps(aim=aim)
    fits = sweeps.fits(problem, processes=X.team.size)
    return sweeps if fits and form_of(problem) is not None else None


def _suits_low_rank(problem: Problem) -> bool:
    """Whether the rows of a factor can keep all constraints, and it fits into memory; or every
    rank has all of x."""
    if isinstance(problem.X, ReplicatedHermitian):
        return True
    if surface_of(problem)[1] is None:
        return False
    X: Any = problem.X
    rows = -(-X.n // X.team.size)
    return SWEEP_VECTORS * 8 * rows * first_rank(problem, X.n, None) <= MAX_BYTES


def reason(method: CGAL | LowRankCGAL | SphereSweeps, problem: Problem) -> str:
    """Return why the method was chosen."""
    if isinstance(problem.X, ReplicatedHermitian):
        return "f is smooth in a factor of x, and a solution of rank 1 is expected"
    if isinstance(method, LowRankCGAL):
        return "f is linear and diag x = b is all of A, which the rows of a factor of x can keep"
    if isinstance(method, SphereSweeps):
        return "f is linear and A bounds inner products of pairs of vectors on spheres"
    return "it takes any problem and needs only the oracle of its domain"


def require_supported(method: Any, problem: Problem) -> None:
    """Raise ProblemError unless ranks can share the method: its x is a factor or a sketch."""
    replicated = isinstance(problem.X, ReplicatedHermitian)
    if replicated and not isinstance(method, LowRankCGAL | None):
        raise ProblemError(
            "phase retrieval on ranks is solved by condal.methods.LowRankCGAL(), as every rank "
            f"has all of x; got {method!r}"
        )
    if isinstance(method, SphereSweeps) and form_of(problem) is None:
        raise ProblemError(
            f"condal.methods.SphereSweeps() on ranks is for theta; got {problem.name!r}: use "
            "condal.methods.LowRankCGAL() or condal.CGAL()"
        )
    if method is None or isinstance(method, LowRankCGAL | SphereSweeps):
        return
    keeps_more = not isinstance(method, CGAL) or isinstance(method.eta, Corrective)
    if keeps_more or isinstance(method.sigma, Smoothed):
        raise ProblemError(f"condal_mpi.solve takes {NAMES}; got {method!r}")
