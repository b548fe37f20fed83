"""Check the answer of any solver of CVXPY: prove a bound from its duals, or a verdict."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy import settings
from cvxpy.reductions.cvx_attr2constr import lower_value
from scipy.sparse.linalg import lsqr

from condal.certificates.certificate import CheckedAnswer
from condal.cvxpy.judge import Judge
from condal.cvxpy.solver import CONDAL, cone_program
from condal.cvxpy.svec import packed
from condal.errors import ProblemError
from condal.linalg.points import Array
from condal.problems.conic.answers import proved_sides, to_user
from condal.problems.conic.interior import completed

CONTRADICTION = "the proofs of the two bounds contradict each other"
FALSE_TRACE = "a feasible point is better than every point within the given trace bound"
BEYOND_TRACE = "for points within the given trace bound"
ASSUMPTION = "assuming only that CVXPY's cone program states the problem"


def certify(problem: cp.Problem, *, trace_bound: float | None = None) -> CheckedAnswer:
    """Prove what the answer of any solver to a CVXPY problem shows.

    The duals of the constraints give a lower bound on the optimum of a minimisation, proved with
    every rounding accounted for. Duals that CVXPY does not keep, such as those of the epigraphs it
    adds, are computed from the others.

    Parameters
    ----------
    problem : cvxpy.Problem
        A problem that `problem.solve` has answered, with linear, second-order and semidefinite
        cones.
    trace_bound : float, optional
        Assume that a solution has no larger slacks: a number that the trace of each psd matrix, the
        bound of each second-order cone and the sum of all slacks of inequalities do not exceed. It
        is used if the duals prove no bound without it.

    Returns
    -------
    CheckedAnswer
        The proved bound, the objective, the infeasibility, its price and the verdict.

    Raises
    ------
    ProblemError
        If the problem has not been solved.
    cvxpy.SolverError
        If the problem has other cones.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from condal.cvxpy import certify
    >>> x = cp.Variable(2)
    >>> problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [cp.sum(x) == 1, x >= 0])
    >>> value = problem.solve(solver=cp.CLARABEL)
    >>> answer = certify(problem)
    >>> answer.proved, answer.gap < 1e-6
    (True, True)
    """
    if problem.status is None:
        raise ProblemError("certify takes a solved problem: call problem.solve(...) first")
    data, chain, inverse = problem.get_problem_data(CONDAL(), solver_opts={"use_quad_obj": False})
    judge = Judge(cone_program(data))
    if problem.status in settings.INF_OR_UNB:
        return _without_optimum(problem, judge, _duals(problem, chain, inverse, judge))
    z = _duals(problem, chain, inverse, judge)
    sense = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    value = nan if problem.value is None else float(problem.objective.value)
    lower, assumed = _bound(judge, z, trace_bound)
    point = cone_point(problem, inverse, judge)
    upper, flaw = inf if point is None else judge.attained(point), ""
    if lower > upper:  # the upper bound assumes no trace
        flaw = CONTRADICTION if assumed == ASSUMPTION else f"{FALSE_TRACE} {trace_bound:g}"
        lower, upper = -inf, inf if assumed == ASSUMPTION else upper
        assumed = ASSUMPTION
    offset = float(inverse[-1][settings.OFFSET])
    bound, attained = to_user(lower, upper, sense * offset, sense)
    answer = CheckedAnswer(
        status=problem.status,
        proved=bool(np.isfinite(bound)),
        objective=value,
        bound=bound,
        infeasibility=nan if problem.value is None else _violation(problem),
        how="",
        price=nan if problem.value is None else _price(problem) / max(1.0, abs(value)),
        attained=attained if np.isfinite(attained) else nan,
        missing=() if flaw else _missing(problem, z, bound, trace_bound),
    )
    return replace(answer, how=_verdict(answer, assumed, flaw, sense))


def _bound(judge: Judge, z: Array | None, trace_bound: float | None) -> tuple[float, str]:
    """Return a lower bound on the optimum of the cone program, and what it assumes."""
    if z is None:
        return -inf, ASSUMPTION
    bound = judge.bound(z)
    if np.isfinite(bound) or trace_bound is None:
        return bound, ASSUMPTION
    return judge.bound_within(z, trace_bound), f"{BEYOND_TRACE} {trace_bound:g}, {ASSUMPTION}"


def _missing(
    problem: cp.Problem, z: Array | None, bound: float, trace_bound: float | None
) -> tuple[str, ...]:
    """Return what a proof lacks."""
    if z is None:
        return (f"the duals of the constraints, which {problem.solver_stats.solver_name} lacks",)
    if not np.isfinite(bound) and trace_bound is None:
        return ("a bound on the trace of a solution (trace_bound=)",)
    return ()


def _verdict(answer: CheckedAnswer, assumed: str, flaw: str, sense: float) -> str:
    statements = proved_sides(answer.bound, answer.attained, sense)
    line = f"proved, {assumed}: the optimum is {statements}"
    if not answer.proved:
        lack = "no bound is proved: " if statements else "nothing is proved: "
        lack += flaw or "no dual near the solver's satisfies the dual constraints exactly"
        lack += f"; missing: {', '.join(answer.missing)}" if answer.missing else ""
        line = f"{lack}\n{line}" if statements else lack
    return (
        f"{line}\nobjective {answer.objective:.10g}, gap {answer.gap:.3g}, infeasibility "
        f"{answer.infeasibility:.3g}, its price {answer.price:.3g}"
    )


def _without_optimum(problem: cp.Problem, judge: Judge, z: Array | None) -> CheckedAnswer:
    """Check a status that says that there is no optimum."""
    sense = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    if judge.refutation(z) is not None:
        proved, what = "infeasible", "no point is feasible"
    elif judge.unbounded() is not None:
        proved, what = "unbounded", "the objective is unbounded"
    else:
        text = "nothing is proved: neither that the problem is infeasible nor that it is unbounded"
        return CheckedAnswer(status=problem.status, proved=False, bound=-sense * inf, how=text)
    line = f"proved, {ASSUMPTION}: {what}"
    right = problem.status.startswith(proved)
    if not right:
        line += f"\nthe solver said {problem.status}, which is wrong"
    bound = sense * inf if proved == "infeasible" else -sense * inf
    return CheckedAnswer(status=problem.status, proved=right, bound=bound, how=line)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of norms that may be 0, or huge
def _violation(problem: cp.Problem) -> float:
    """Return the largest violation of a constraint or attribute, as CVXPY measures it."""
    constraints = list(problem.constraints)
    for variable in problem.variables():
        constraints += variable.domain
    violations = [np.linalg.norm(np.atleast_1d(c.violation())) for c in constraints]
    return float(max(violations, default=0.0))


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of norms that may be 0, or huge
def _price(problem: cp.Problem) -> float:
    """Return what the violations of the constraints are worth at most at their duals."""
    total = 0.0
    for constraint in problem.constraints:
        values = [dual.value for dual in constraint.dual_variables if dual.value is not None]
        prices = [float(np.linalg.norm(np.ravel(value))) for value in values]
        violation = float(np.linalg.norm(np.ravel(constraint.violation())))
        total += violation * float(np.linalg.norm(prices))
    return total


def _duals(problem: cp.Problem, chain: Any, inverse: Any, judge: Judge) -> Array | None:
    """Return z of the cone program from the duals of the user's constraints; None without any.

    Rows of constraints that CVXPY added have no dual value: c + A'z = 0 gives them.
    """
    program = judge.problem
    rows, begin = {}, 0
    for key in (CONDAL.EQ_CONSTR, CONDAL.NEQ_CONSTR):
        for constraint in inverse[-1][key]:
            rows[constraint.id] = slice(begin, begin + constraint.size)
            begin += constraint.size
    z, known = np.zeros(program.b.size), np.zeros(program.b.size, dtype=bool)
    for constraint in problem.constraints:
        place = rows.get(_final(constraint.id, inverse))
        values = [dual.value for dual in constraint.dual_variables]
        if place is None or any(v is None or not np.isfinite(v).all() for v in values):
            continue
        flat = _flat(constraint, values)
        if flat.size == place.stop - place.start:
            z[place], known[place] = program.layout.multiplicity[place] * flat, True
    if problem.constraints and not known.any():
        return None
    missing = ~known
    if missing.any():
        target = -program.c - program.A[known].T @ z[known]
        z[missing] = lsqr(program.A[missing].T, target, atol=1e-15, btol=1e-15, iter_lim=10_000)[0]
        z = completed(judge.dual, z, known)
    return z


def _final(identity: int, inverse: Any) -> int:
    """Return the id of a constraint after all reductions."""
    for step in inverse[:-1]:
        maps = step[2:] if isinstance(step, tuple) else (getattr(step, "cons_id_map", {}),)
        for names in maps:
            identity = names.get(identity, identity)
    return identity


def _flat(constraint: Any, values: list[Any]) -> Array:
    """Return dual values in the order of the rows of a constraint."""
    if isinstance(constraint, cp.SOC):
        head, rest = np.atleast_1d(values[0]).ravel(), np.asarray(values[1])
        rest = rest.reshape(-1, head.size, order="F") if constraint.axis == 0 else rest
        return np.vstack([head[None], rest]).ravel(order="F")
    value = np.asarray(values[0], dtype=np.float64)
    if isinstance(constraint, cp.constraints.PSD):
        mean = 0.5 * (value + value.T)
        return packed(len(mean)).coordinates(mean) if value.ndim == 2 else value.ravel()
    return np.asarray(value.ravel(order="F"))


def cone_point(problem: cp.Problem, inverse: Any, judge: Judge) -> Array | None:
    """Return (x, s), about, at the values of the user's variables; None if they have none.

    Variables that CVXPY added, such as those of epigraphs, are chosen for the least objective.
    """
    A, b = judge.problem.A, judge.problem.b
    x, known = np.zeros(A.shape[1]), np.zeros(A.shape[1], dtype=bool)
    places = inverse[-2].id_map  # the first column and the number of columns of each variable
    for variable in problem.variables():
        place = places.get(_reduced(variable.id, inverse))
        if place is None or variable.value is None or np.iscomplexobj(variable.value):
            continue
        value = np.ravel(lower_value(variable, variable.value), order="F")
        if value.size == place[1]:
            x[place[0] : sum(place)], known[place[0] : sum(place)] = value, True
    if not known.any():
        return None
    v = np.concatenate([x, (b - A @ x)[judge.problem.layout.zero :]])
    if known.all():
        return v
    return completed(judge.primal, v, np.append(known, np.zeros(v.size - x.size, dtype=bool)))


def _reduced(identity: int, inverse: Any) -> int:
    """Return the id of a variable after its attributes have become constraints."""
    for step in inverse:
        if isinstance(step, tuple) and step and identity in step[0]:
            identity = step[0][identity].id
    return identity
