"""The method, the tolerance, the sketch and the memory per rank of a solve on many ranks."""

from __future__ import annotations

from typing import Any, TypeAlias

from condal.driver.memory import ENTRY_BYTES as ENTRY
from condal.driver.memory import IMAGE_VECTORS as IMAGES
from condal.driver.memory import PROOF_VECTORS as VECTORS
from condal.driver.memory import PYTHON_BYTES as PYTHON
from condal.errors import ProblemError
from condal.linalg.eigen import MAX_LOWEST_BYTES
from condal.methods.cgal import CGAL
from condal.methods.lowrank.columns import first_rank
from condal.methods.lowrank.factored import surface_of
from condal.methods.lowrank.method import MAX_BYTES, SWEEP_VECTORS, LowRankCGAL
from condal.methods.rules import Corrective, LineSearch, Smoothed
from condal.methods.spheres import program as spheres
from condal.methods.spheres.forms import form_of
from condal.methods.spheres.method import VECTORS as SPHERE_VECTORS
from condal.methods.spheres.method import SphereSweeps
from condal.problem import Problem
from condal.runtime.limits import Bytes, bytes_of, size
from condal.storage.sketch import Sketch
from condal.storage.whole import FLOAT_BYTES as NUMBER
from condal_mpi.diffraction import ReplicatedHermitian
from condal_mpi.maxcut import DistributedMaxCut, DistributedTheta
from condal_mpi.oracle import BASIS_SIZE
from condal_mpi.phases import DistributedPhaseRetrieval

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


DATA_COPIES = 4  # of the rows of W, at most: the input, L while it is built, and PETSc's
MASK_COPIES = 3  # as they were given, as complex numbers, and scaled
SLOT_NUMBERS = 8  # per slot of sweeps, while they are arranged
HALO_BYTES = 2 * (NUMBER + 4)  # of a row: its received value, its index and the send lists
ENGINE_BYTES = 50 * 10**6  # of MPI, PETSc and SLEPc, in addition to Python

DistributedModel: TypeAlias = DistributedMaxCut | DistributedTheta | DistributedPhaseRetrieval


def estimate(model: DistributedModel, R: int | None = None, method: Any = None) -> dict[str, int]:
    """Estimate the largest number of bytes that a rank needs.

    Parameters
    ----------
    model : DistributedMaxCut, DistributedTheta or DistributedPhaseRetrieval
    R : int, optional
        The rank of the sketch, if there is one.
    method : Method, optional
        The method; by default that of `condal_mpi.solve`.

    Returns
    -------
    dict
        An upper bound per part; their sum bounds the peak of the largest rank.
    """
    if isinstance(model, DistributedPhaseRetrieval):
        return phase_bytes(model)
    team = model.team
    rows, edges = -(-model.n // team.size), int(team.largest(float(model.block.nnz)))
    halo = min(edges, model.n - rows) if team.size > 1 else 0
    problem = model.problem
    chosen, _ = chosen_method(problem, method, None)
    parts = {
        "x": Sketch.bytes_for(rows, default_rank(problem) if R is None else R),
        "data": DATA_COPIES * ENTRY * (edges + rows),
        "images and duals": IMAGES * NUMBER * rows,
        "oracle": (BASIS_SIZE + VECTORS) * NUMBER * rows,
        "proof": VECTORS * NUMBER * rows,
        "halo": HALO_BYTES * halo,
        "Python": PYTHON + ENGINE_BYTES,
    }
    if isinstance(chosen, LowRankCGAL):
        columns = first_rank(problem, model.n, chosen.rank)
        # Single precision has half the bytes; sweeps hold the halo of all columns. Products copy
        # the rows to memory of the node, in which each rank counts what it owns.
        copied = rows + 2 * halo if halo else 0
        parts["x"] = SWEEP_VECTORS * NUMBER * rows * columns
        parts["oracle"] = MAX_LOWEST_BYTES + VECTORS * NUMBER * rows
        parts["halo"] += NUMBER * copied * columns
    if isinstance(chosen, SphereSweeps):
        columns = spheres.first_rank(model.n, chosen.rank, chosen.aim)
        # The edges have images and duals, and each entry of a row is a slot of the sweeps.
        parts["x"] = SPHERE_VECTORS * NUMBER * rows * columns
        parts["images and duals"] = IMAGES * NUMBER * edges
        parts["slots"] = SLOT_NUMBERS * NUMBER * edges
        parts["halo"] += 2 * NUMBER * halo * columns
    return parts


def phase_bytes(model: DistributedPhaseRetrieval) -> dict[str, int]:
    """Return the bytes per part of phase retrieval: masks of a rank, and all of x."""
    patterns, side = int(model.A.team.largest(float(model.A.size))), model.A.n
    return {
        "x": LowRankCGAL().bytes(model.problem),
        "data": (MASK_COPIES * 2 + 1) * NUMBER * patterns,
        "images and duals": IMAGES * NUMBER * patterns,
        "oracle": MAX_LOWEST_BYTES + VECTORS * NUMBER * side,
        "proof": VECTORS * NUMBER * side,
        "Python": PYTHON + ENGINE_BYTES,
    }


def require_memory(
    model: DistributedModel, R: int | None, max_memory: Bytes, method: Any = None
) -> None:
    """Raise ProblemError on all ranks if one may need more memory than allowed.

    Parameters
    ----------
    model, R, method
        As in `estimate`.
    max_memory : int or str
        The limit per rank, such as ``"4 GB"``.
    """
    total, limit = sum(estimate(model, R, method).values()), bytes_of(max_memory)
    if total > limit:
        raise ProblemError(
            f"this needs {size(total)} of memory on each of {model.team.size} ranks, and "
            f"max_memory is {size(limit)} per rank: start more ranks, give a smaller R to --method "
            "cgal, or raise it"
        )


def describe_memory(model: DistributedModel, R: int | None = None, method: Any = None) -> str:
    """Describe the estimate in one line.

    Parameters
    ----------
    model, R, method
        As in `estimate`.

    Returns
    -------
    str
        The total, and the three largest parts.
    """
    by_part, ranks = estimate(model, R, method), model.team.size
    total = sum(by_part.values())
    largest = sorted(by_part.items(), key=lambda item: -item[1])[:3]
    listed = ", ".join(f"{name} {size(count)}" for name, count in largest)
    where = f"each of {ranks} ranks" if ranks > 1 else "one rank"
    return f"memory: at most {size(total)} on {where}; of it {listed}"
