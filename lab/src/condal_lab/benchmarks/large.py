"""Large problems on one machine: max-cut to a certified 1e-1 by CGAL with a sketch, and max-cut,
theta and phase retrieval by the default method, from n = 10^5 to 10^7.

Peak memory is that of the whole process, with Python and the data. No other solver handles these
sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

import condal
from condal.driver.memory import in_all
from condal.problems import max_cut, phase_retrieval, theta
from condal.storage import Sketch
from condal_lab.bench.process import peak
from condal_lab.bench.table import power, seconds
from condal_lab.benchmarks.runner import Benchmark, Case, Row, timed
from condal_lab.generated import sparse_graph
from condal_lab.markdown import markdown

R = 10  # columns of the sketch
MASKS = 8
TRIALS = 2  # stable sets
SKETCHED, CUT, THETA, PHASE = "max-cut, sketch", "max-cut", "theta", "phase retrieval"
HEAD = (
    *("problem", "n", "rows", "tol", "method", "status", "gap", "infeas.", "price", "iterations"),
    *("products", "wall s", "CPU s", "peak MB", "estimate MB", "rounded"),
)
ABOUT = f"""\
# Large problems

`condal.solve(model, tol=...)` on random graphs (average degree 4, and 6 for theta with 10^5
vertices), and on coded diffraction of random images through {MASKS} masks. "Sketch" is CGAL with a
sketch of R = {R}, with the estimate of memory that is printed before the start; everything else is
the default choice. Each run has its own process and one thread. Other users shared the machine, so
CPU time is more meaningful than wall time. Peak memory includes the data and Python.

Solved means that the gap, the infeasibility and its price are at most the tolerance, by a proof for
the data as they were given. A stable set is the rounded point of theta, with the distance of the
bound above it, and a signal that of phase retrieval, with its distance from the true one.
"""


def measure(kind: str, n: int, degree: float, tol: float, limit: float) -> list[Row]:
    """Generate a problem, solve it and round its solution."""
    model, rounded = PROBLEMS[kind](n, degree)
    method, storage, row = None, None, dict[str, Any]()
    if kind == SKETCHED:
        method, storage = condal.CGAL(), Sketch(model.n, R)
        row["estimate_mb"] = in_all(model.problem, method, storage) / 1e6
    given: Any = {"tol": tol, "storage": storage, "max_seconds": limit}
    result, wall, cpu = timed(partial(condal.solve, model, method, **given))
    problem = model.problem
    row |= {
        "problem": kind,
        "n": model.n,
        "rows": problem.A.size or problem.f.M.size,
        "tol": tol,
        "method": result.method,
        "status": result.status.name.lower(),
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "infeasibility": result.infeasibility,
        "price": result.certificate.price,
        "proof": result.certificate.because,
        "iterations": result.iterations,
        "products": result.matvecs,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "peak_mb": peak() / 1e6,
    }
    return [{**row, "rounded": rounded(result)}]


Rounded = Callable[[Any], str]


def _max_cut(n: int, degree: float) -> tuple[Any, Rounded]:
    return max_cut(sparse_graph(n, degree=degree)), lambda result: ""


def _theta(n: int, degree: float) -> tuple[Any, Rounded]:
    model = theta(sparse_graph(n, degree=degree))

    def rounded(result: Any) -> str:
        size = model.round(result, trials=TRIALS).size
        return f"stable set of {size}, bound {100 * (result.bound / size - 1):.3g}% above"

    return model, rounded


def _phase(n: int, _: float) -> tuple[Any, Rounded]:
    side = 40 * round(sqrt(n) / 40)  # a multiple of 40, for fast Fourier transforms
    rng = np.random.default_rng(0)
    u = rng.standard_normal((side, side)) + 1j * rng.standard_normal((side, side))
    masks = rng.choice([1, -1, 1j, -1j], size=(MASKS, side, side))
    masks *= rng.choice([sqrt(0.5), sqrt(3.0)], p=[0.8, 0.2], size=masks.shape)
    b = np.stack([np.abs(np.fft.fft2(mask * u, norm="ortho")) ** 2 for mask in masks])
    model = phase_retrieval(b, masks=masks)

    def rounded(result: Any) -> str:
        return f"signal within {100 * model.signal(result).error(u):.3g}%"

    return model, rounded


PROBLEMS: dict[str, Callable[[int, float], tuple[Any, Rounded]]] = {
    SKETCHED: _max_cut,
    CUT: _max_cut,
    THETA: _theta,
    PHASE: _phase,
}
SOLVES = (
    (SKETCHED, 100_000, 4.0, 1e-1, 900.0),
    (CUT, 100_000, 4.0, 1e-1, 900.0),
    (SKETCHED, 1_000_000, 4.0, 1e-1, 900.0),
    (CUT, 1_000_000, 4.0, 1e-1, 900.0),
    (SKETCHED, 10_000_000, 4.0, 1e-1, 3600.0),
    (THETA, 100_000, 6.0, 1e-3, 3600.0),
    (PHASE, 100_000, 0.0, 1e-3, 3600.0),
    (THETA, 1_000_000, 4.0, 1e-2, 7200.0),
    (PHASE, 1_000_000, 0.0, 1e-3, 7200.0),
)


def page(rows: list[Row]) -> str:
    """Return the table."""
    lines = []
    for row in rows:
        errors = (f"{row['gap']:.3g}", power(row["infeasibility"]), power(row["price"]))
        counts = (f"{row['iterations']}", f"{row['products']}")
        times = (seconds(row["wall_seconds"]), seconds(row["cpu_seconds"]))
        estimate = f"{row['estimate_mb']:,.0f}" if "estimate_mb" in row else ""
        where = (row["problem"], f"{row['n']:,}", f"{row['rows']:,}", f"{row['tol']:g}")
        cells = (*where, row["method"], row["status"], *errors, *counts, *times)
        lines.append((*cells, f"{row['peak_mb']:,.0f}", estimate, row["rounded"]))
    return f"{ABOUT}\n{markdown(HEAD, lines)}\n"


BENCHMARK = Benchmark(
    "large",
    tuple(
        Case(f"{solved[0]}, {solved[1]}", measure, solved, wall=3 * solved[4] + 900)
        for solved in SOLVES
    ),
    page,
)
