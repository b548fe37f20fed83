"""Solves with one thread and with two (`CONDAL_NUM_THREADS`): wall time, CPU time and bits.

`python -m condal_lab.benchmarks threads` needs two idle cores. `--only=maxcut-316228` runs one case
and keeps the rows of the others. Each run has its own process. A BLAS always has one thread.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from condal.driver.solve import solve
from condal.linalg.blocked import VARIABLE
from condal.problems import max_cut, theta
from condal_lab.benchmarks.record import RESULTS, random_graph, write
from condal_lab.benchmarks.timed import alone

COUNTS = (1, 2)
PATIENCE = 1800.0  # seconds of wall time
ABOUT = """\
# One thread and two

`condal.solve` without any other choice, on random graphs, with `CONDAL_NUM_THREADS=1` and `=2`.
Speed-up is the ratio of wall times. It is at most the share of CPU time that the second run got:
**CPU / wall** of two threads is 2 if both cores worked all the time. It is less if other users had
a core, or where the work does not split. **Same bits**: iterations, objective and dual are equal.

| case | threads | wall s | CPU s | CPU / wall | speed-up | same bits |
|---|---|---|---|---|---|---|
""".splitlines()


@dataclass(frozen=True)
class Case:
    """A model of a random graph, its size, the average degree and the tolerance."""

    kind: str
    n: int
    degree: int
    tol: float

    @property
    def name(self) -> str:
        """The name for `--only`."""
        return f"{self.kind}-{self.n}"


CASES = [
    Case("maxcut", 316_228, 4, 1e-3),
    Case("maxcut", 1_000_000, 4, 1e-3),
    Case("theta", 100_000, 6, 1e-2),
]


def main() -> None:
    """Run every case in turn, with each number of threads."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    for case in CASES:
        if only and case.name not in only[0].split(","):
            continue
        by_name = {**_earlier(), case.name: [_run(case, count) for count in COUNTS]}
        rows = [row for other in CASES for row in by_name.get(other.name, [])]
        write("threads", rows)
        (RESULTS / "threads.md").write_text(page(rows), encoding="utf-8")
        print(page([row for row in rows if row["name"] == case.name]))


def _run(case: Case, count: int) -> dict[str, Any]:
    """Run a case in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        reply = Path(folder, "reply.json")
        done = alone("condal_lab.benchmarks.threads", case.name, count, reply, timeout=PATIENCE)
        if not reply.is_file():
            raise SystemExit(f"{case.name}: {(done.stdout + done.stderr)[-2000:]}")
        row = json.loads(reply.read_text(encoding="utf-8"))
    return {"name": case.name, "threads": count, "tol": case.tol, **row}


def work(name: str, count: str) -> dict[str, Any]:
    """Run one case in this process, with so many threads."""
    os.environ[VARIABLE] = count  # `alone` sets 1
    case = next(case for case in CASES if case.name == name)
    model = (theta if case.kind == "theta" else max_cut)(random_graph(case.n, case.degree))
    wall, cpu = time.perf_counter(), time.process_time()
    result = solve(model, tol=case.tol, seed=0)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "status": result.status.name,
        "method": result.method,
        "iterations": result.iterations,
        "objective": float(result.objective),
        "dual_sum": float(np.abs(result.y).sum()),
        "wall_seconds": wall,
        "cpu_seconds": cpu,
    }


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table in Markdown."""
    lines = list(ABOUT)
    alone_by_name = {row["name"]: row for row in rows if row["threads"] == 1}
    for row in rows:
        first = alone_by_name[row["name"]]
        bits = all(row[key] == first[key] for key in ("iterations", "objective", "dual_sum"))
        lines.append(
            f"| {row['name']}, tol {row['tol']:g} | {row['threads']} | {row['wall_seconds']:.1f} "
            f"| {row['cpu_seconds']:.1f} | {row['cpu_seconds'] / row['wall_seconds']:.2f} "
            f"| {first['wall_seconds'] / row['wall_seconds']:.2f} | {'yes' if bits else 'no'} |"
        )
    return "\n".join([*lines, ""])


def _earlier() -> dict[str, list[dict[str, Any]]]:
    path = RESULTS / "threads.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    names = {row["name"] for row in rows}
    return {name: [row for row in rows if row["name"] == name] for name in names}


if __name__ == "__main__":
    name, count, reply = sys.argv[1:]
    Path(reply).write_text(json.dumps(work(name, count)), encoding="utf-8")
