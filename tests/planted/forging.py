"""Results with claims that agree with each other and may be false.

A generator of forged results is a function of a problem, an honest result and a random generator;
`FORGERS` lists those that the door of saved folders tries.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite

import numpy as np

from condal.certificates.evaluation import EvaluatedPoint
from condal.linalg.points import LowRank
from condal.linalg.rounding import Proof
from condal.problem import Problem
from condal.result import Result, Status
from condal.types import from_user

SIZES = (1e-9, 1e-6, 1e-3, 1.0, 1e3)


def better_bounds(problem: Problem, result: Result, rng: np.random.Generator) -> Iterator[Result]:
    """Yield results whose bound is tighter than the proved one, or equal to the objective."""
    certificate = result.certificate
    if result.x is None or not isfinite(certificate.bound):
        return
    unit = max(1.0, abs(certificate.objective))
    for size in rng.choice(SIZES, 2, replace=False):
        bound = certificate.bound + problem.sense * size * unit
        yield replace(result, certificate=replace(certificate, bound=bound))
        closed = replace(certificate, bound=certificate.objective)
        yield replace(result, certificate=closed, status=Status.SOLVED, tol=float(size))


def other_points(problem: Problem, result: Result, rng: np.random.Generator) -> Iterator[Result]:
    """Yield results with x out of X by a little, and the objective of that x as its bound."""
    if result.x is None:
        return
    factor = 1.0 + float(rng.choice([1e-12, 1e-9, 1e-6, 1e-3])) * rng.choice([-1.0, 1.0])
    x = _scaled(result.x, factor)
    seen = EvaluatedPoint.of(problem, from_user(problem.X, x))
    certificate = replace(
        result.certificate,
        objective=seen.objective,
        bound=seen.objective,
        infeasibility=seen.infeasibility,
        distance_to_X=seen.distance_to_X,
    )
    yield replace(result, x=x, certificate=certificate, status=Status.SOLVED, tol=1e-6)


def other_duals(problem: Problem, result: Result, rng: np.random.Generator) -> Iterator[Result]:
    """Yield results with duals of any size, which are to prove a gap of 0 or a separation."""
    if result.x is None:
        return
    y = rng.choice([1e-200, 1.0, 1e10, 1e100]) * rng.standard_normal(result.y.size)
    closed = replace(result.certificate, bound=result.certificate.objective)
    yield replace(result, y=y, certificate=closed, status=Status.SOLVED, tol=1e-6)
    proof = Proof(1.0, "closed form", 0.0)
    yield replace(result, status=Status.INFEASIBLE, separator=y, infeasible=proof)
    yield replace(result, status=Status.UNBOUNDED)


def _scaled(x: object, factor: float) -> object:
    if isinstance(x, tuple):
        return tuple(_scaled(part, factor) for part in x)
    if isinstance(x, LowRank):
        return LowRank(x.U, factor * x.weights)
    return factor * np.asarray(x)


FORGERS: tuple[Callable[[Problem, Result, np.random.Generator], Iterator[Result]], ...] = (
    better_bounds,
    other_points,
    other_duals,
)
