"""The solver class that CVXPY calls with its conic form."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from cvxpy import settings
from cvxpy.constraints import SOC, ExpCone, PowCone3D, PowConeND, SvecPSD
from cvxpy.error import SolverError
from cvxpy.reductions.solution import Solution, failure_solution
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver
from cvxpy.reductions.solvers.solver import expand_cones
from cvxpy.reductions.solvers.utilities import extract_dual_value, get_dual_values
from cvxpy.utilities.psd_utils import TriangleKind

from condal.cvxpy.answer import CvxpyAnswer, answer_problem
from condal.cvxpy.forms import CvxpyProblem
from condal.cvxpy.options import Options
from condal.cvxpy.structure import Structure
from condal.cvxpy.svec import Layout, triangle
from condal.errors import MissingExtra, ProblemError
from condal.linalg.points import Array
from condal.report.progress import Progress
from condal.types import Method

KEY = "CONDAL"  # of the cache that CVXPY keeps for a problem
CONE_NAMES = {ExpCone: "exponential", PowCone3D: "power", PowConeND: "power"}

CITATION = """
@inproceedings{yurtsever2019conditional,
  author    = {Yurtsever, Alp and Fercoq, Olivier and Cevher, Volkan},
  title     = {A conditional-gradient-based augmented {L}agrangian framework},
  booktitle = {Proceedings of the 36th International Conference on Machine Learning},
  volume    = {97},
  year      = {2019},
  note      = {pages 7272--7281, arXiv:1901.04013}
}
"""


class CONDAL(ConicSolver):  # type: ignore[misc]  # CVXPY has no types
    """condal as a solver of CVXPY, for linear, second-order and semidefinite cones.

    Options passed to `problem.solve` replace those of the solver. The `Result`, with its
    certificate and history, is `problem.solver_stats.extra_stats`.

    Parameters
    ----------
    tol : float, optional
        The status "optimal" means a proved relative gap and an infeasibility of at most tol.
    trace_bound : float, optional
        A number that, at a solution, the trace of each psd matrix, the bound of each second-order
        cone and the sum of the slacks of all inequalities do not exceed. By default a bound is
        derived from the constraints, or from these and the objective.
    max_iters, max_seconds : int and float, optional
        Limits; None for no limit.
    method : Method or str, optional
        A method record such as `condal.CGAL()`, or its name, "cgal"; chosen by default.
    seed : int, optional
        The seed of randomised proofs; by default it is drawn from the system's entropy.
    failure : float, optional
        As of `condal.solve`: with 0, proofs are deterministic.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from condal.cvxpy import CONDAL
    >>> X = cp.Variable((2, 2), PSD=True)
    >>> problem = cp.Problem(cp.Maximize(2 * X[0, 1]), [cp.diag(X) == 1])
    >>> value = problem.solve(solver=CONDAL(tol=1e-5))
    >>> problem.status, f"{value:.3f}"
    ('optimal', '2.000')
    """

    MIP_CAPABLE = False
    SUPPORTED_CONSTRAINTS: ClassVar = [*ConicSolver.SUPPORTED_CONSTRAINTS, SOC, SvecPSD]
    PSD_TRIANGLE_KIND = TriangleKind.LOWER
    PSD_SQRT2_SCALING = False

    def __init__(
        self,
        *,
        tol: float = Options.tol,
        trace_bound: float | None = None,
        max_iters: int | None = Options.max_iters,
        max_seconds: float | None = None,
        method: Method | str | None = None,
        seed: int | None = None,
        failure: float = Options.failure,
        **others: Any,
    ) -> None:
        super().__init__()
        options = Options(tol, trace_bound, max_iters, max_seconds, method, seed, failure)
        self.options = options.updated(others)  # refuses them, and names those that there are

    def __eq__(self, other: object) -> bool:
        """Equal options: CVXPY then need not compile the problem again."""
        return isinstance(other, CONDAL) and self.options == other.options

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"CONDAL({self.options})"

    def name(self) -> str:
        return "CONDAL"

    def supports_quad_obj(self) -> bool:
        return True

    def import_solver(self) -> None:
        """Do nothing: the solver is installed."""

    def cite(self, data: Any) -> str:
        return CITATION

    def can_solve(self, problem_form: Any) -> bool:
        """Return True; raise SolverError naming what is not supported."""
        if problem_form.is_mixed_integer():
            raise SolverError(
                "CONDAL takes no integer variables: pass a mixed-integer solver, such as "
                "solver=cvxpy.HIGHS, or drop integer=True and boolean=True for a bound"
            )
        quadratic = problem_form.has_quadratic_objective()
        cones = set(problem_form.cones(quad_obj=quadratic))
        supported = frozenset(self.SUPPORTED_CONSTRAINTS)
        expand_cones(cones, supported)
        others = sorted({CONE_NAMES.get(cone, cone.__name__) for cone in cones - supported})
        if others:
            raise SolverError(
                f"CONDAL supports linear, second-order and semidefinite cones; this problem has "
                f"{' and '.join(others)} cones (exp, log, entropy, logistic and geometric programs "
                "need exponential ones, powers power cones): write it without these, or pass "
                "another solver, such as solver=cvxpy.CLARABEL"
            )
        return True

    def solve_via_data(
        self,
        data: dict[str, Any],
        warm_start: bool,
        verbose: bool,
        solver_opts: dict[str, Any],
        solver_cache: dict[str, Any] | None = None,
    ) -> CvxpyAnswer:
        """Return the answer to min <c, x> + 1/2 <x, Px>, Ax + s = b, s in K."""
        try:
            problem = cone_program(data, None if solver_cache is None else solver_cache.get(KEY))
            if solver_cache is not None:
                solver_cache[KEY] = problem.structure
            options = replace(self.options.updated(solver_opts), warm_start=warm_start)
            if not verbose:
                return answer_problem(problem, options)
            with Progress() as progress:
                return answer_problem(problem, options, progress)
        except ProblemError as error:
            raise SolverError(f"CONDAL: {error}") from error

    def invert(self, solution: CvxpyAnswer, inverse_data: Any) -> Solution:
        attributes = {
            settings.SOLVE_TIME: solution.result.seconds,
            settings.NUM_ITERS: solution.result.iterations,
            settings.EXTRA_STATS: solution.result,
        }
        duals: dict[Any, Any] = {}
        if solution.z is not None:
            dims = inverse_data[self.DIMS]
            entries = solution.z / Layout.of(dims).multiplicity
            halves = np.split(entries, [dims.zero])
            for rows, key in zip(halves, (self.EQ_CONSTR, self.NEQ_CONSTR), strict=True):
                duals |= get_dual_values(rows, extract_dual_value, inverse_data[key])
        if solution.x is None:
            return failure_solution(solution.status, attributes, duals)
        value = solution.value + inverse_data[settings.OFFSET]
        x = {inverse_data[self.VAR_ID]: solution.x}
        return Solution(solution.status, value, x, duals, attributes)


def cone_program(data: dict[str, Any], known: Structure | None = None) -> CvxpyProblem:
    """Return the cone program that CVXPY hands over, with infinite right-hand sides resolved.

    It shares the structure of an earlier solve if the coefficients are the same.
    """
    layout, names = Layout.of(data[CONDAL.DIMS]), _names(data[settings.PARAM_PROB])
    A, P, b, c = data[settings.A], data.get(settings.P), data[settings.B], data[settings.C]
    if known is not None and np.isfinite(b).all() and known.matches(A, layout, P):
        return CvxpyProblem(known.A, b, c, layout, names, known.P, known)
    rows, right = finite_rows(sp.csr_array(A), b, layout)
    # A copy: CVXPY may write the matrices of a later solve into the same arrays.
    handed = (A.copy(), None if P is None else P.copy()) if right is b else None
    structure = Structure(rows, layout, _curvature(P), handed=handed)
    return CvxpyProblem(structure.A, right, c, layout, names, structure.P, structure)


def _curvature(P: Any) -> Any:
    """Return P, symmetric and in canonical CSR; None if the objective is linear."""
    if P is None or P.nnz == 0:
        return None
    P = sp.csr_array(P)
    P = sp.csr_array(0.5 * (P + P.T))
    P.eliminate_zeros()
    return P if P.nnz else None


def _names(program: Any) -> tuple[tuple[int, str], ...]:
    """Return the first column and the name of each variable."""
    columns = program.var_id_to_col
    return tuple(sorted((int(columns[v.id]), _name(v)) for v in program.variables))


def _name(variable: Any) -> str:
    """Return the name of a variable; its size for the number that CVXPY gives one without a name.

    CVXPY replaces a symmetric variable by its triangle, without its name.
    """
    name = str(variable.name())
    if re.fullmatch(r"var\d+", name) is None:
        return name
    return f"a variable with {variable.size} entries (of a symmetric matrix, of its triangle)"


def finite_rows(A: Any, b: Array, layout: Layout) -> tuple[Any, Array]:
    """Return the rows Ax + s = b with finite numbers that state the same.

    A row <a, x> <= inf states nothing, and becomes 0 <= 1. A row <a, x> <= -inf, or an equation
    with an infinite right-hand side, holds for no x, and becomes 0 <= -1 or 0 = 1. The number of
    rows, and with it the place of each dual, stays.
    """
    if not np.isfinite(A.data).all():
        raise ProblemError("a coefficient of a variable is infinite: give finite numbers")
    infinite = ~np.isfinite(b)
    if not infinite.any():
        return A, b
    b, replaced = b.copy(), infinite.copy()
    plain = layout.zero + layout.nonneg
    b[: layout.zero][infinite[: layout.zero]] = 1.0
    inequalities = slice(layout.zero, plain)
    b[inequalities] = np.where(infinite[inequalities], np.sign(b[inequalities]), b[inequalities])
    begin = plain
    for n in layout.soc:
        block = slice(begin, begin + n)
        if infinite[block].any():
            b[block], replaced[block] = _cone(b[block]), True
        begin += n
    for n in layout.psd:
        if infinite[begin : begin + triangle(n)].any():
            raise ProblemError("an entry of a semidefinite constraint is infinite: leave it out")
        begin += triangle(n)
    keep = np.where(replaced, 0.0, 1.0)
    A = sp.csr_array(sp.dia_array((keep[None], [0]), (keep.size, keep.size)) @ A)
    A.eliminate_zeros()
    return A, b


def _cone(b: Array) -> Array:
    """Return a point inside a second-order cone if any with these numbers are, else one outside."""
    if np.isfinite(b[1:]).all():
        sign = np.sign(b[0])
    elif b[0] < inf:
        sign = -1.0
    else:
        raise ProblemError("both sides of |u| <= t have infinite numbers: leave the constraint out")
    point: Array = np.zeros(b.size)
    point[0] = sign
    return point


def register(**options: Any) -> None:
    """Let `problem.solve(solver="CONDAL")` find the solver.

    CVXPY takes the solvers of other packages as objects, `solver=CONDAL()`, and has no public way
    to name them. This function adds one to its table of conic solvers, for this process. It is
    then also listed by `cvxpy.installed_solvers()` and accepted by `solver_path`; CVXPY still does
    not choose it by default.

    Parameters
    ----------
    **options
        The options of `CONDAL`, such as `tol`.

    Raises
    ------
    MissingExtra
        If this version of CVXPY keeps its solvers elsewhere.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import condal.cvxpy
    >>> condal.cvxpy.register(tol=1e-5)
    >>> X = cp.Variable((2, 2), PSD=True)
    >>> problem = cp.Problem(cp.Maximize(2 * X[0, 1]), [cp.diag(X) == 1])
    >>> value = problem.solve(solver="CONDAL")
    >>> problem.status, f"{value:.3f}"
    ('optimal', '2.000')
    """
    from cvxpy.reductions.solvers import defines

    solver, table = CONDAL(**options), getattr(defines, "SOLVER_MAP_CONIC", None)
    if not isinstance(table, dict):
        raise MissingExtra(
            "this version of CVXPY has no table of solvers to add a name to: pass the solver as an "
            "object, problem.solve(solver=condal.cvxpy.CONDAL())"
        )
    table[solver.name()] = solver
