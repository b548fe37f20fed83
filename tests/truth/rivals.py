"""The answer of another solver: an interval that contains the optimum, by its residuals."""

import warnings
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from truth.case import Asked

ACCURACY = 1e-10
SECONDS = 10.0
SURE = 10.0  # times its own residuals: the possible error of the rival's answer
SAID = {
    "Solved": "solved",
    "AlmostSolved": "solved",
    "PrimalInfeasible": "infeasible",
    "DualInfeasible": "unbounded",
}


@dataclass(frozen=True)
class Said:
    """`status` is solved, infeasible, unbounded or unknown; the optimum, to be minimised, is
    between `low` and `high`; `price` is the norm of the multipliers of Ax in K."""

    status: str
    low: float = -np.inf
    high: float = np.inf
    price: float = np.inf

    @property
    def width(self) -> float:
        return self.high - self.low


UNKNOWN = Said("unknown")


def is_panic(error: BaseException) -> bool:
    """Whether an error comes from compiled code that gave up: such a class is no Exception."""
    return type(error).__name__ == "PanicException"


def clarabel_says(asked: Asked) -> Said:
    """By CVXPY and Clarabel. With z in the dual cone, and residuals r of the equations and q of the
    dual ones, the optimum is at least d - |q| |x*| and at most p + |z*| |r|."""
    options = {f"tol_{name}": ACCURACY for name in ("gap_abs", "gap_rel", "feas", "ktratio")}
    options["time_limit"] = SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = asked.problem
        try:
            data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=options)
            solution = chain.solve_via_data(problem, data, False, False, options)
            problem.unpack_results(solution, chain, inverse)
        except BaseException as error:  # a failure in compiled code is not an Exception
            if isinstance(error, cp.error.SolverError) or is_panic(error):
                return UNKNOWN
            raise
    status = SAID.get(str(solution.status), "unknown")
    if status != "solved":
        return Said(status)
    low, high = interval(data, solution)
    sense = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    value = sense * float(problem.value)  # including the constant that CVXPY leaves out of its data
    moved = value - _primal(data, solution)
    duals = [np.ravel(weights * tie.dual_value) for tie, weights in asked.ties]
    price = float(np.linalg.norm(np.concatenate(duals))) if duals else 0.0
    rounding = 1e-14 * (abs(value) + abs(moved))
    low, high = low + moved - rounding, high + moved + rounding
    return Said(status, asked.factor * low, asked.factor * high, price)


def _primal(data: Any, solution: Any) -> float:
    x = np.asarray(solution.x)
    curved = 0.0 if data.get("P") is None else 0.5 * float(x @ (data["P"] @ x))
    return curved + float(data["c"] @ x)


def interval(data: Any, solution: Any) -> tuple[float, float]:
    x, s, z = (np.asarray(part) for part in (solution.x, solution.s, solution.z))
    A, b, c, P = data["A"], data["b"], data["c"], data.get("P")
    Px = np.zeros_like(c) if P is None else P @ x
    curved = 0.5 * float(x @ Px)
    primal, dual = curved + float(c @ x), -curved - float(b @ z)
    equations = float(np.linalg.norm(A @ x + s - b))
    slopes = float(np.linalg.norm(Px + c + A.T @ z))
    off = SURE * (np.linalg.norm(z) + 1.0) * equations
    under = SURE * (np.linalg.norm(x) + 1.0) * slopes
    rounding = 1e-14 * (abs(primal) + float(np.abs(b) @ np.abs(z)) + float(np.abs(c) @ np.abs(x)))
    low, high = dual - under - rounding, primal + off + rounding
    return min(low, high), max(low, high)
