"""Add condal to the solvers that CVXPY knows by name."""

from __future__ import annotations

from typing import Any

from condal.cvxpy.solver import CONDAL
from condal.errors import MissingExtra


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
