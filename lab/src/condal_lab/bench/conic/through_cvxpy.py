"""Questions written in CVXPY: every solver gets the same problem, solved once or again and again.

The solve is timed from the cone program that CVXPY hands over to the solver's answer. What CVXPY
does before and after, its compilation and the values of variables, is timed as the setup. Later
solves of a parametrised problem are timed with CVXPY's own work.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from condal.runtime import extras
from condal_lab.bench.conic.everyday import Build
from condal_lab.bench.conic.through_file import ConicAnswer, Truth
from condal_lab.bench.peers.peer import CallTask, Limits, PeerAnswer, Refusal

TIMES = 50
OPTIMUM = -0.8346893  # the mean of the optima of all solves


def portfolio() -> tuple[Any, Any]:
    """Return risk minus return of 60 assets, and the parameter of its return."""
    import cvxpy as cp

    R = np.random.default_rng(31).standard_normal((90, 60)) / np.sqrt(90)
    mu, x = cp.Parameter(60), cp.Variable(60, nonneg=True)
    risk = cp.sum_squares(R @ x)
    return cp.Problem(cp.Minimize(risk - mu @ x), [cp.sum(x) == 1]), mu


@dataclass(frozen=True)
class ResolveQuestion:
    """A portfolio for 51 forecasts; its answer is the mean of the optima."""

    @property
    def truth(self) -> Truth:
        return Truth(optimum=OPTIMUM)

    def prepare(self, solver: str, tol: float, limits: Limits) -> CallTask:
        """Return the first solve and the later ones, each with CVXPY's own work."""
        warm_up(solver, tol)
        named, options = solver_of(solver, tol)
        problem, mu = portfolio()

        def run() -> list[tuple[str, float, float]]:
            solves = []
            for forecast in np.random.default_rng(32).uniform(0.0, 1.0, (1 + TIMES, 60)):
                mu.value = forecast
                began = time.process_time()
                problem.solve(solver=named, warm_start=True, **options)
                seconds = time.process_time() - began
                solves.append((problem.status, float(problem.value), seconds))
            return solves

        def read(solves: list[tuple[str, float, float]]) -> PeerAnswer:
            statuses, values, (first, *later) = zip(*solves, strict=True)
            status = statuses[0] if len(set(statuses)) == 1 else "several"
            share = float(np.mean(later)) / first
            value = float(np.mean(values))
            answer = ConicAnswer(status, value, violation(problem), later_share=share)
            return PeerAnswer(message=status, recovered=answer)

        return CallTask(run, read)


COMPILATIONS = 3  # of a fresh problem each; the fastest counts


@dataclass(frozen=True)
class CvxpyQuestion:
    """A problem of CVXPY and its optimum."""

    build: Build

    @cached_property
    def truth(self) -> Truth:
        import cvxpy as cp

        return Truth(optimum=self.build(cp)[1])

    def prepare(self, solver: str, tol: float, limits: Limits) -> CvxpyTask:
        """Compile a fresh problem for the solver, after it solved a tiny one of the same cones."""
        warm_up(solver, tol)
        named, options = solver_of(solver, tol)
        return CvxpyTask(self.build, named, options)


@dataclass
class CvxpyTask:
    """A compiled problem, its solver and the options of the solver."""

    build: Build
    solver: Any
    options: dict[str, Any]
    problem: Any = field(init=False)
    compiled: Any = field(init=False)
    compilation: float = field(default=np.inf, init=False)
    solution: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._compile()

    def _compile(self) -> None:
        """Build and compile a fresh problem, because CVXPY keeps what it compiled."""
        import cvxpy as cp

        self.problem = self.build(cp)[0]
        began = time.process_time()
        self.compiled = self.problem.get_problem_data(self.solver, solver_opts=self.options)
        self.compilation = min(self.compilation, time.process_time() - began)

    def solve(self) -> None:
        """Solve with an empty cache, so that a repeated solve shares nothing with the first."""
        data, chain, _ = self.compiled
        self.solution = chain.solver.solve_via_data(data, False, False, self.options, {})

    def answer(self) -> PeerAnswer:
        from cvxpy.error import SolverError

        for _ in range(COMPILATIONS - 1):
            self._compile()
        _, chain, inverse = self.compiled
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CVXPY warns of inaccurate answers
            try:
                self.problem.unpack_results(self.solution, chain, inverse)
            except SolverError as error:
                return PeerAnswer(message=str(error), recovered=ConicAnswer("error"))
        setup = self.compilation + time.process_time() - began
        problem = self.problem
        value = np.nan if problem.value is None else float(problem.value)
        answer = ConicAnswer(problem.status, value, violation(problem), setup)
        return PeerAnswer(message=problem.status, recovered=answer)


def solver_of(name: str, tol: float) -> tuple[Any, dict[str, Any]]:
    """Return the solver as CVXPY takes it, and its options for a tolerance."""
    extras.require(
        "cvxpy", what="the problem is written in CVXPY", extra="bench", package=extras.LAB
    )
    import cvxpy as cp

    from condal.cvxpy.solver import CONDAL

    if name == "condal":
        return CONDAL(), {"tol": tol}
    if name == "SCS":
        return cp.SCS, {"eps_abs": tol, "eps_rel": tol}
    if name == "Clarabel":
        gaps = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tol)
        return cp.CLARABEL, {**gaps, "max_threads": 1}
    raise Refusal("is not among the solvers of CVXPY that are compared")


@cache
def warm_up(name: str, tol: float) -> None:
    """Solve tiny problems of every kind, so that no import falls into the time of a solve."""
    solver, options = solver_of(name, tol)
    import cvxpy as cp

    x, X = cp.Variable(2), cp.Variable((2, 2), PSD=True)
    H = cp.Variable((2, 2), hermitian=True)
    for objective, limits in (
        (cp.Minimize(cp.sum(x)), [x >= 1]),
        (cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1]),
        (cp.Maximize(cp.sum(x)), [cp.norm(x) <= 1]),
        (cp.Maximize(X[0, 1]), [cp.diag(X) == 1]),
        (cp.Minimize(cp.real(H[0, 1])), [H >> 0, cp.real(cp.trace(H)) == 1]),
    ):
        cp.Problem(objective, limits).solve(solver=solver, **options)


def violation(problem: Any) -> float:
    """Return the largest violation of a constraint or of a variable's attributes.

    It is relative to the larger of 1 and the largest entry of the variables.
    """
    variables = problem.variables()
    if any(variable.value is None for variable in variables):
        return float("nan")
    size = max([1.0, *(float(np.abs(variable.value).max()) for variable in variables)])
    amounts = [np.max(np.abs(limit.violation()), initial=0.0) for limit in problem.constraints]
    amounts += [np.abs(v.project(v.value) - v.value).max() for v in variables]
    return float(max([0.0, *amounts])) / size
