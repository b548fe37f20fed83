"""Each method that the default may choose for linear f and sparse equations, n = 60 to 50,000.

The estimates from which the default method chooses are fitted to results/crossover.json. `regret`
is the time of the first choice over that of the fastest method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import inf
from typing import Any

import condal
from condal.driver.scaling import normalise
from condal.methods import CGAL, InteriorPoint, LowRankCGAL, LowRankNewton, Splitting
from condal.methods.choice import MAX_STEP_SECONDS, Estimate, choices
from condal.methods.rules import LineSearch
from condal.methods.surface.rows import SurfaceRows
from condal.problem import Problem
from condal_lab.benchmarks.runner import Benchmark, Case, Row, timed
from condal_lab.generated import sparse_rows, uniform_graph

# n, and constraints per row of x.
SIZES = (
    *product((60, 100, 150, 200, 300, 400, 600, 800), (2, 5, 12)),
    *product((2_000, 5_000, 20_000, 50_000), (3,)),
)
MAX_SPLITTING_SIDE = 2_000
MIN_CGAL_SIDE = 400
TOLS = (1e-3, 1e-6)
LARGE_TOLS = (1e-2, 1e-3)
SMALL = 800
SECONDS = 40.0


FAMILIES: dict[str, Callable[[int, int], Problem]] = {
    "theta": lambda n, m: condal.problems.theta(uniform_graph(n, m)).problem,
    "sparse": sparse_rows,
    "max-cut": lambda n, m: condal.problems.max_cut(uniform_graph(n, m)).problem,
}


def measured(problem: Problem, method: Any, tol: float) -> dict[str, Any]:
    """Solve by one method and return its CPU seconds."""
    solve = partial(condal.solve, problem, method, tol=tol, max_seconds=SECONDS)
    result, _, cpu = timed(solve)
    return {
        "cpu": cpu,
        "status": result.status.name,
        "gap": result.gap,
        "iterations": len(result.history),
    }


def features(problem: Problem) -> dict[str, Any]:
    """Return what the estimates depend on."""
    surface = SurfaceRows.of(problem)
    assert surface is not None
    step = InteriorPoint().seconds(problem)
    return {
        "couplings": surface.coupling.pairs,
        "rank": LowRankNewton().first_rank(surface),
        "nnz": surface.matrix.nnz,
        "interior_step": None if step == inf else step,
    }


def contenders(problem: Problem, n: int, tol: float) -> Iterator[Any]:
    """Yield the methods that can solve the normalised problem."""
    yield LowRankNewton(aim=tol)
    estimate = LowRankCGAL().estimate(problem, tol)
    if isinstance(estimate, Estimate) and not estimate.follows:
        yield LowRankCGAL(aim=tol)
    if n <= MAX_SPLITTING_SIDE:
        yield Splitting()
    if InteriorPoint().seconds(problem) <= MAX_STEP_SECONDS:
        yield InteriorPoint()
    if n >= MIN_CGAL_SIDE:
        yield CGAL(eta=LineSearch())


def measure(family: str, n: int, m: int) -> list[Row]:
    """Return a row per method and tolerance."""
    problem = FAMILIES[family](n, m)
    scaled, rows = normalise(problem)[0], []
    for tol in TOLS if n <= SMALL else LARGE_TOLS:
        chosen = next(choices(scaled, tol=tol)).method.name
        tried = {
            method.name: measured(problem, method, tol) for method in contenders(scaled, n, tol)
        }
        solved = {name: row["cpu"] for name, row in tried.items() if row["status"] == "SOLVED"}
        regret = solved.get(chosen, inf) / min(solved.values()) if solved else None
        facts = {"family": family, "n": n, "m": m, "tol": tol, "chosen": chosen, "regret": regret}
        rows += [
            {**facts, "method": name, **row, **features(scaled)} for name, row in tried.items()
        ]
    return rows


BENCHMARK = Benchmark(
    "crossover",
    tuple(
        Case(f"{family}-{n}-{density}", measure, (family, n, density * n))
        for family, (n, density) in product(FAMILIES, SIZES)
    ),
)
