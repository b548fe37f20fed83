"""Each method that the default may choose for linear f and sparse equations, n = 60 to 50,000.

The estimates from which the default method chooses are fitted to results/crossover.json. The last
table shows how the first choice compares with the fastest method. The run is one of those by name;
`--only=theta` measures one family.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import groupby, product
from math import inf
from operator import itemgetter
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.driver.scaling import normalise
from condal.methods import CGAL, InteriorPoint, LowRankNewton, Splitting
from condal.methods.choice import choices
from condal.methods.interior.cost import MAX_STEP_SECONDS
from condal.methods.rules import LineSearch
from condal.methods.surface.rows import SurfaceRows
from condal.problem import Problem
from condal_lab.bench.generated import uniform_graph
from condal_lab.benchmarks.record import save, show

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


def theta(n: int, m: int) -> Problem:
    """Return theta of a random graph."""
    return condal.problems.theta(uniform_graph(n, m)).problem


def sparse(n: int, m: int) -> Problem:
    """Return random sparse equations that a point of rank 4 satisfies, with a sparse cost."""
    rng = np.random.default_rng(0)
    R = rng.standard_normal((n, 4)) / np.sqrt(4 * n)
    i, j = rng.integers(0, n, (2, 2 * m))
    data = rng.standard_normal(2 * m)
    rows = []
    for k in range(m):
        at = slice(2 * k, 2 * k + 2)
        G = sp.coo_array((data[at], (i[at], j[at])), shape=(n, n)).tocsr()
        rows.append(sp.csr_array(0.5 * (G + G.T)))
    A = condal.Inner(rows)
    C = sp.random(n, n, 8 / n, random_state=rng, data_rvs=rng.standard_normal)
    trace = float(np.vdot(R, R))
    X = condal.Spectrahedron(n, trace=trace)
    return Problem.of(f=condal.Linear(sp.csr_array(C + C.T)), X=X, A=A, K=condal.Equal(A(R @ R.T)))


FAMILIES = {"theta": theta, "sparse": sparse}


def measured(problem: Problem, method: Any, tol: float) -> dict[str, Any]:
    """Solve by one method and return its CPU seconds."""
    began = time.process_time()
    result = condal.solve(problem, method, tol=tol, max_seconds=SECONDS)
    return {
        "cpu": time.process_time() - began,
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
    if n <= MAX_SPLITTING_SIDE:
        yield Splitting()
    if InteriorPoint().seconds(problem) <= MAX_STEP_SECONDS:
        yield InteriorPoint()
    if n >= MIN_CGAL_SIDE:
        yield CGAL(eta=LineSearch())


def rows(family: str) -> Iterator[dict[str, Any]]:
    """Yield a row per method, size and tolerance."""
    for n, density in SIZES:
        problem = FAMILIES[family](n, density * n)
        scaled = normalise(problem)[0]
        for tol in TOLS if n <= SMALL else LARGE_TOLS:
            chosen = next(choices(scaled, tol=tol)).method.name
            for method in contenders(scaled, n, tol):
                yield {
                    "family": family,
                    "n": n,
                    "m": density * n,
                    "tol": tol,
                    "method": method.name,
                    "chosen": chosen,
                    **measured(problem, method, tol),
                    **features(scaled),
                }


def regrets(measured: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield, per problem, the CPU time of the first choice over that of the fastest method."""
    for (family, n, m, tol), group in groupby(measured, itemgetter("family", "n", "m", "tol")):
        cpu, chosen = {}, ""
        for row in group:
            cpu[row["method"]] = row["cpu"] if row["status"] == "SOLVED" else inf
            chosen = row["chosen"]
        fastest = min(cpu, key=cpu.__getitem__)
        ratio = cpu[chosen] / cpu[fastest] if cpu[fastest] < inf else None
        names = {"chosen": chosen, "fastest": fastest if ratio is not None else "none"}
        yield {"family": family, "n": n, "m": m, "tol": tol, **names, "ratio": ratio}


def main() -> None:
    """Measure every family."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    measurements = [row for name in only or FAMILIES for row in rows(name)]
    save("crossover", measurements)
    show("the first choice against the fastest method", list(regrets(measurements)))


if __name__ == "__main__":
    main()
