"""An application to measure on: condal's code, its rivals, and the judge of their answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import condal
from condal.certificates.evaluation import EvaluatedPoint
from condal.linalg.points import dense
from condal.problem import problem_of
from condal.types import Spectral, from_user, to_user
from condal_lab.benchmarks.runner import ROOT

GOAL = 1e-3
DATA = Path(os.environ.get("CONDAL_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True, eq=False)
class Instance:
    """`ours`: tol, seconds -> (x, result). `rivals`: eps -> x, or (x, how it ended, seconds).

    Both are timed as a whole, from the data to the answer that the user wants. Rivals that use
    CVXPY also report the seconds of the solver behind it. `judge` returns the value and
    infeasibility of an x or, if the truth is known, its `error`, which should be at most `goal`.
    """

    title: str
    ours: Callable[..., tuple[Any, Any]]
    rivals: Mapping[str, Callable[[float], Any]]
    judge: Callable[[Any], dict[str, float]]
    goal: float = GOAL
    what: str = "objective"
    seconds: float = 120.0  # limit on the CPU time of a solver


def modelled(title: str, model: Callable[[], Any], rivals: Mapping[str, Any]) -> Instance:
    """Return an instance that judges any answer by its objective and infeasibility."""

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        result = condal.solve(model(), tol=tol, max_seconds=max_seconds)
        return result.x, result

    def judge(x: Any) -> dict[str, float]:
        """Judge x after moving it into the domain, and repairing it if the model has a repair."""
        problem = problem_of(model())
        X: Any = problem.X
        repair = problem.repair
        if isinstance(X, Spectral):
            x = X.project(dense(from_user(X, x)))
        else:
            x = X.project(np.asarray(x).ravel())
        if repair is not None:
            x = from_user(X, repair(to_user(X, x)))
        seen = EvaluatedPoint.of(problem, x)
        apart = max(seen.infeasibility, seen.distance_to_X / X.max_norm)
        return {"value": seen.objective, "infeasibility": apart}

    return Instance(title, ours, rivals, judge)
