"""Theta on ranks and in one process: time and memory to a proved 1e-2 by the default method.

`python -m condal_lab.benchmarks theta_ranks` needs a Python with MPI, PETSc and SLEPc. Each case
runs in its own processes: `condal.solve` without MPI (0 ranks), `condal_mpi.solve` on 1 and 2
ranks. `--only=1,2` runs some numbers of ranks and keeps the rows of the others; `--quick` takes a
small graph and records nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import condal
from condal_lab.bench.memory import peak
from condal_lab.benchmarks.launch import failure, run_python
from condal_lab.benchmarks.record import RESULTS, random_graph, write
from condal_mpi import write_shards

RANKS = (0, 1, 2)
N, QUICK_N, DEGREE, TOL = 100_000, 4_000, 6, 1e-2
PATIENCE = 1800.0  # seconds
ABOUT = """\
# Theta on ranks

Random graphs of average degree 6, solved to a proved 1e-2 by the default method. Each rank has one
thread. CPU time is the sum over the ranks, which wait for each other by polling; memory is that of
the largest rank. *Load* is the load of the machine in the last minute, including the run itself: if
it exceeds the number of ranks, other processes disturbed the run, and wall time means little.
Without MPI, a point is moved to the constraints before the gap is proved, which takes more
iterations at this tolerance; on ranks its infeasibility has a price within the tolerance.
""".splitlines()
SIZE, TIMES = ("n", "edges", "ranks"), ("s", "CPU s", "iterations", "products")
ANSWER = ("objective", "bound", "gap", "price", "status")
HEADS = (*SIZE, *TIMES, *ANSWER, "peak MB", "load")


def main() -> None:
    """Run all numbers of ranks in turn."""
    quick = "--quick" in sys.argv
    only = next((word[7:].split(",") for word in sys.argv if word.startswith("--only=")), None)
    rows = {} if quick else _earlier()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "graph.shards")
        write_shards(file, random_graph(QUICK_N if quick else N, DEGREE))
        for ranks in RANKS:
            if only is None or f"{ranks}" in only:
                rows[ranks] = run(file, ranks)
                print(page([rows[ranks]]), flush=True)
    if not quick:
        ordered = [rows[ranks] for ranks in RANKS if ranks in rows]
        write("theta_ranks", ordered)
        (RESULTS / "theta_ranks.md").write_text(page(ordered), encoding="utf-8")


def run(file: Path, ranks: int) -> dict[str, Any]:
    """Solve the graph of a folder of shards in new processes, and return the record."""
    reply = file.with_name("reply.json")
    reply.unlink(missing_ok=True)
    words = "condal_lab.benchmarks.theta_ranks", file, ranks, reply
    done = run_python(*words, ranks=ranks, patience=PATIENCE, yields=True)
    if not reply.is_file():
        raise failure(f"{ranks} ranks", done)
    record: dict[str, Any] = json.loads(reply.read_text(encoding="utf-8"))
    return {**record, "load": os.getloadavg()[0]}


def work(file: str, ranks: int) -> dict[str, Any] | None:
    """Run in these processes; return the record on the first rank and None on the others."""
    if ranks == 0:
        whole = condal.problems.theta(condal.read_graph(file))
        size = {"n": whole.n, "edges": whole.problem.A.size, "ranks": 0}
        return {**size, **_measured(condal.solve, whole)}
    import condal_mpi

    team = condal_mpi.Team()
    model = condal_mpi.read_theta(file, team)
    edges = sum(team.gathered(model.problem.A.size))
    record = _measured(condal_mpi.solve, model)
    record["peak_mb"] = team.largest(record["peak_mb"])
    record["cpu_seconds"] = team.sum(record["cpu_seconds"])
    record["estimate_mb"] = sum(condal_mpi.estimate(model).values()) / 1e6
    return None if team.rank else {"n": model.n, "edges": edges, "ranks": ranks, **record}


def _measured(solve: Any, model: Any) -> dict[str, Any]:
    began, before = time.perf_counter(), time.process_time()
    result = solve(model, tol=TOL)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - before,
        "iterations": result.iterations,
        "products": result.matvecs,
        "method": result.method,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "price": result.certificate.price,
        "status": result.status.name,
        "peak_mb": peak() / 1e6,
    }


def page(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a page in Markdown."""
    lines = [*ABOUT, "", _line(HEADS), _line(["---"] * len(HEADS))]
    for row in rows:
        sizes = f"{row['n']:,}", f"{row['edges']:,}", f"{row['ranks'] or 'no MPI'}"
        times = f"{row['seconds']:.3g}", f"{row['cpu_seconds']:.3g}"
        work_done = f"{row['iterations']}", f"{row['products']:,}"
        answer = f"{row['objective']:.8g}", f"{row['bound']:.8g}"
        errors = f"{row['gap']:.1e}", f"{row['price']:.1e}", row["status"].lower()
        where = f"{row['peak_mb']:.0f}", f"{row['load']:.1f}"
        lines.append(_line([*sizes, *times, *work_done, *answer, *errors, *where]))
    return "\n".join([*lines, ""])


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _earlier() -> dict[int, dict[str, Any]]:
    path = RESULTS / "theta_ranks.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    return {row["ranks"]: row for row in rows}


if __name__ == "__main__":
    graph, count, answer = sys.argv[1:]
    record = work(graph, int(count))
    if record is not None:
        Path(answer).write_text(json.dumps(record), encoding="utf-8")
