"""Solves on MPI's ranks and in one process: max-cut and theta by the default method, and max-cut by
CGAL with a sketch and with the rows in several orders.

It needs a Python with MPI, PETSc and SLEPc. Each solve reads a folder of shards, as users do.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
import condal_mpi
from condal.storage import Sketch
from condal_lab.bench.process import MPIRUN, peak, run_alone
from condal_lab.benchmarks.runner import Benchmark, Case, Row
from condal_lab.benchmarks.startup import cpu_seconds
from condal_lab.generated import sparse_graph, torus
from condal_lab.markdown import formatted
from condal_mpi.shards.folder import ShardFolder
from condal_mpi.team import engine

CUT, APART, THETA, CGAL = "max-cut", "max-cut, apart", "theta", "max-cut, CGAL"
TOLS = {CUT: 1e-3, APART: 1e-3, THETA: 1e-2}
ITERATIONS, R = 10, 10  # of CGAL
DEGREES = {THETA: 6.0}  # 4 otherwise
WALL = 1800.0
ORDERS = ("file", "rcm", "partition")
SHARED = (2, 4, 16)  # ranks between which edges are counted
ABOUT = """\
# Solves on ranks

Random graphs of average degree 4, and 6 for theta, and a torus of degree 4 with weights 1 and -1.
Each rank has one thread, on a machine with 2 cores. CPU time is the sum over the ranks, which wait
for each other by polling; memory is that of the largest rank. *Load* is the load of the machine in
the last minute, including the run itself: if it exceeds the number of ranks, other processes
disturbed the run. *x* is the time over that of one rank for the same problem.

## The default method

To a proved 1e-3 for max-cut, and 1e-2 for theta. *Apart* are two solves of the whole problem at
once, one per core and without messages: what that takes longer than one, the cores lose to each
other. Theta without MPI moves its point to the constraints before the gap is proved, which takes
more iterations at this tolerance; on ranks the infeasibility has a price within the tolerance.
"""
SKETCHED = f"""
## CGAL with a sketch of R = {R}

Seconds and products per iteration, after the first, and the estimates after the last.
"""
RENUMBERED = """
## The order of the rows, on 2 ranks

Max-cut as above. The torus is numbered at random, as a file of unknown origin may be. *Convert* is
the CPU time of `condal convert --order`, with its start. KB are those that a rank receives for one
product with a vector.
"""


def measure(kind: str, n: int, ranks: int) -> list[Row]:
    """Solve a problem of a random graph on ranks; 0 is one process without MPI."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.shards")
        condal_mpi.write_shards(path, sparse_graph(n, degree=DEGREES.get(kind, 4.0)))
        row = {"problem": kind, "graph": "random", "n": n, "ranks": ranks}
        return [{**row, **on_ranks(kind, path, ranks)}]


def on_ranks(kind: str, path: Path, ranks: int) -> Row:
    """Solve the graph of a folder of shards in new processes."""
    ended = run_alone(solved, kind, str(path), ranks, wall=WALL, ranks=ranks)
    assert ended.outcome == "done", ended.reason
    return dict(ended.reply)


def solved(kind: str, path: str, ranks: int) -> Row | None:
    """Solve in these processes; return the record on the first rank and None on the others."""
    if ranks == 0:
        W = condal.read_graph(path)
        model: Any = condal.problems.theta(W) if kind == THETA else condal.problems.max_cut(W)
        sketch = {"storage": Sketch(model.n, R)} if kind == CGAL else {}
        return _record(kind, model, condal.solve, sketch)
    team = condal_mpi.Team()
    here = condal_mpi.Team(engine().MPI.COMM_SELF) if kind == APART else team
    model = (condal_mpi.read_theta if kind == THETA else condal_mpi.read_max_cut)(path, here)
    team.comm.Barrier()
    record = _record(kind, model, condal_mpi.solve, {"R": R} if kind == CGAL else {})
    for name in ("seconds", "peak_mb"):
        record[name] = team.largest(record[name])
    record["cpu_seconds"] = team.sum(record["cpu_seconds"])
    method = condal.CGAL() if kind == CGAL else None
    record["estimate_mb"] = sum(condal_mpi.estimate(model, None, method).values()) / 1e6
    return None if team.rank else record


def _record(kind: str, model: Any, solve: Any, sketch: dict[str, Any]) -> Row:
    began, before, rows = time.perf_counter(), time.process_time(), []
    if kind == CGAL:

        def note(row: Any) -> None:
            rows.append((time.perf_counter(), row.matvecs))

        limits = {"tol": 1e-9, "max_iters": ITERATIONS, "seed": 0, "callback": note}
        result = solve(model, condal.CGAL(), **sketch, **limits)
    else:
        result = solve(model, tol=TOLS[kind], seed=0)
    steps = np.diff(rows, axis=0).mean(axis=0) if rows else None
    return {
        "seconds": time.perf_counter() - began if steps is None else steps[0],
        "cpu_seconds": time.process_time() - before,
        "iterations": result.iterations,
        "products": result.matvecs if steps is None else steps[1],
        "status": result.status.name.lower(),
        "method": result.method,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "price": result.certificate.price,
        "peak_mb": peak() / 1e6,
    }


def ordered(kind: str, size: int, order: str) -> list[Row]:
    """Store the rows of a graph in an order, and solve on two ranks."""
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder, "graph"), Path(folder, "ordered")
        condal_mpi.write_shards(
            source, shuffled_torus(size) if kind == "torus" else sparse_graph(size, degree=4.0)
        )
        start = (*MPIRUN, "-n", "2") if order == "partition" else ()
        words = [*start, sys.executable, "-m", "condal", "convert", source, path, "--order", order]
        seconds = cpu_seconds([*map(str, words)], os.environ, Path(folder))
        cut = {name: value for ranks in SHARED for name, value in between(path, ranks).items()}
        facts = {"problem": CUT, "graph": kind, "n": ShardFolder.open(path).manifest.n, "ranks": 2}
        facts |= {"order": order, "convert_cpu_seconds": seconds, **cut}
        return [{**facts, **on_ranks(CUT, path, 2)}]


def shuffled_torus(side: int) -> Any:
    """Return a torus whose vertices are numbered at random."""
    order = np.random.default_rng(0).permutation(side * side)
    return sp.csr_array(torus(side, side)[order][:, order])


def between(path: Path, ranks: int) -> dict[str, float]:
    """Return the share of edges between ranks, and the bytes that a rank receives per product."""
    folder = ShardFolder.open(path)
    n = folder.manifest.n
    entries = sp.coo_array(folder.rows(0, n).W)
    ends = np.cumsum([n // ranks + (rank < n % ranks) for rank in range(ranks)])
    row, column = (np.searchsorted(ends, each, side="right") for each in (entries.row, entries.col))
    cut = row != column
    fetched = np.unique(row[cut].astype(np.int64) * n + entries.col[cut]).size
    return {f"share_{ranks}": float(cut.mean()), f"bytes_{ranks}": 8.0 * fetched / ranks}


ENDS = {"gap": "{gap:.1e}", "price": "{price}", "status": "{status}"}
WHERE = {"peak MB": "{peak_mb:.0f}", "load": "{load:.1f}"}
SIZE = {"n": "{n:,}", "ranks": "{ranks}", "s": "{seconds:.3g}"}
TIMES = {"x": "{times}", "CPU s": "{cpu_seconds:.3g}", "iterations": "{iterations}"}
DEFAULT = {"problem": "{problem}", **SIZE, **TIMES, "products": "{products:,}", **ENDS, **WHERE}
BOUNDS = {"objective": "{objective:.10g}", "bound": "{bound:.10g}"}
ITERATED = {**SIZE, "products": "{products:.1f}", **BOUNDS, **WHERE}
RANKS = ", ".join(map(str, SHARED))
ORDERED = {
    "graph": "{graph}",
    "n": "{n:,}",
    "order": "{order}",
    "convert": "{convert_cpu_seconds:.2g}",
    f"edges between {RANKS} ranks": ", ".join(f"{{share_{ranks}:.2%}}" for ranks in SHARED),
    f"KB of {RANKS} ranks": ", ".join(f"{{kb_{ranks}:.3g}}" for ranks in SHARED),
    "s": "{seconds:.3g}",
    "CPU s": "{cpu_seconds:.3g}",
    "gap": "{gap:.1e}",
    "status": "{status}",
    "load": "{load:.1f}",
}


def page(rows: list[Row]) -> str:
    """Return the page with all tables."""
    one = {(row["problem"], row["n"]): row["seconds"] for row in rows if row["ranks"] == 1}
    one |= {(APART, n): seconds for (kind, n), seconds in one.items() if kind == CUT}
    shown = [_shown(row, one) for row in rows]
    default = [row for row in shown if row["problem"] != CGAL and "order" not in row]
    sketched = [row for row in shown if row["problem"] == CGAL]
    renumbered = [row for row in shown if "order" in row]
    tables = formatted(DEFAULT, default), formatted(ITERATED, sketched)
    last = formatted(ORDERED, renumbered)
    return "\n".join([ABOUT, tables[0], SKETCHED, tables[1], RENUMBERED, last, ""])


def _shown(row: Row, one: dict[tuple[str, int], float]) -> Row:
    """Return a row with what its cells show besides."""
    alone, price = one.get((row["problem"], row["n"])), row.get("price")
    return {
        **row,
        "ranks": row["ranks"] or "no MPI",
        "times": f"{row['seconds'] / alone:.2f}" if alone else "",
        "price": "" if price is None else f"{price:.0e}",
        **{f"kb_{ranks}": row.get(f"bytes_{ranks}", 0.0) / 1e3 for ranks in SHARED},
    }


SOLVES = (
    *((CUT, 100_000, ranks) for ranks in (0, 1, 2)),
    (CUT, 500_000, 1),
    (APART, 500_000, 2),
    *((CUT, 1_000_000, ranks) for ranks in (0, 1, 2)),
    *((THETA, 100_000, ranks) for ranks in (0, 1, 2)),
    *((CGAL, 100_000, ranks) for ranks in (0, 1, 2, 4)),
    *((CGAL, 1_000_000, ranks) for ranks in (0, 1, 2)),
)
BENCHMARK = Benchmark(
    "ranks",
    (
        *(
            Case(f"{kind}, {n}, {ranks} ranks", measure, (kind, n, ranks))
            for kind, n, ranks in SOLVES
        ),
        *(
            Case(f"{kind} in the order {order}", ordered, (kind, size, order))
            for kind, size in (("torus", 500), ("random", 100_000))
            for order in ORDERS
        ),
    ),
    page,
)
