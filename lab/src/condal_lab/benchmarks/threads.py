"""Solves with one thread and with two (`CONDAL_NUM_THREADS`): wall time, CPU time and bits.

It needs two idle cores. A BLAS always has one thread.
"""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import numpy as np

from condal.driver.solve import solve
from condal.linalg.blocked import VARIABLE
from condal.problems import max_cut, theta
from condal_lab.benchmarks.runner import Benchmark, Case, Row, timed
from condal_lab.generated import sparse_graph

MODELS: dict[str, Any] = {"maxcut": max_cut, "theta": theta}
SOLVES = (
    ("maxcut", 316_228, 4.0, 1e-3),
    ("maxcut", 1_000_000, 4.0, 1e-3),
    ("theta", 100_000, 6.0, 1e-2),
)
ABOUT = """\
# One thread and two

`condal.solve` without any other choice, on random graphs, with `CONDAL_NUM_THREADS=1` and `=2`.
Speed-up is the ratio of wall times. It is at most the share of CPU time that the second run got:
**CPU / wall** of two threads is 2 if both cores worked all the time. It is less if other users had
a core, or where the work does not split. **Same bits**: iterations, objective and dual are equal.

| case | threads | wall s | CPU s | CPU / wall | speed-up | same bits |
|---|---|---|---|---|---|---|
""".splitlines()


def measure(kind: str, n: int, degree: float, tol: float, threads: int) -> list[Row]:
    """Solve once with so many threads."""
    os.environ[VARIABLE] = f"{threads}"
    model = MODELS[kind](sparse_graph(n, degree=degree))
    result, wall, cpu = timed(lambda: solve(model, tol=tol, seed=0))
    return [
        {
            "name": f"{kind}-{n}",
            "threads": threads,
            "tol": tol,
            "status": result.status.name,
            "method": result.method,
            "iterations": result.iterations,
            "objective": float(result.objective),
            "dual_sum": float(np.abs(result.y).sum()),
            "wall_seconds": wall,
            "cpu_seconds": cpu,
        }
    ]


def page(rows: list[Row]) -> str:
    """Return the table in Markdown."""
    lines = list(ABOUT)
    alone_by_name = {row["name"]: row for row in rows if row["threads"] == 1}
    for row in rows:
        first = alone_by_name.get(row["name"], row)
        bits = all(row[key] == first[key] for key in ("iterations", "objective", "dual_sum"))
        lines.append(
            f"| {row['name']}, tol {row['tol']:g} | {row['threads']} | {row['wall_seconds']:.1f} "
            f"| {row['cpu_seconds']:.1f} | {row['cpu_seconds'] / row['wall_seconds']:.2f} "
            f"| {first['wall_seconds'] / row['wall_seconds']:.2f} | {'yes' if bits else 'no'} |"
        )
    return "\n".join([*lines, ""])


BENCHMARK = Benchmark(
    "threads",
    tuple(
        Case(f"{solved[0]}-{solved[1]}-{threads}", measure, (*solved, threads))
        for solved, threads in product(SOLVES, (1, 2))
    ),
    page,
)
