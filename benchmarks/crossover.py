"""Newton's method on a surface against splitting and interior-point steps, on small problems.

The estimates from which the default method chooses are fitted to results/crossover.json. The run is
one of those by name; `--only=theta` measures one family.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from benchmarks.record import save
from condal.driver.scaling import normalise
from condal.lab.bench.generated import uniform_graph
from condal.methods import InteriorPoint, LowRankNewton, Splitting
from condal.methods.interior.cost import MAX_STEP_SECONDS
from condal.methods.surface.rows import SurfaceRows
from condal.problem import Problem

SIDES = (60, 100, 150, 200, 300, 400, 600, 800)
DENSITIES = (2, 5, 12)  # constraints per row of x
TOLS = (1e-3, 1e-6)
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
    C = sp.random_array((n, n), density=8 / n, rng=rng, data_sampler=rng.standard_normal)
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
        "couplings": surface.couplings,
        "rank": LowRankNewton().first_rank(surface),
        "nnz": surface.matrix.nnz,
        "interior_step": None if step == inf else step,
    }


def rows(family: str) -> Iterator[dict[str, Any]]:
    """Yield a row per method, size and tolerance."""
    for n in SIDES:
        for density in DENSITIES:
            problem = FAMILIES[family](n, density * n)
            scaled = normalise(problem)[0]
            interior = InteriorPoint().seconds(scaled)
            for tol in TOLS:
                methods: list[Any] = [LowRankNewton(aim=tol), Splitting()]
                if interior <= MAX_STEP_SECONDS:
                    methods.append(InteriorPoint())
                for method in methods:
                    yield {
                        "family": family,
                        "n": n,
                        "m": density * n,
                        "tol": tol,
                        "method": method.name,
                        **measured(problem, method, tol),
                        **features(scaled),
                    }


def main() -> None:
    """Measure every family."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    save("crossover", [row for name in only or FAMILIES for row in rows(name)])


if __name__ == "__main__":
    main()
