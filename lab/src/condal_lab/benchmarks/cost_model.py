"""The cost model against measured solves of max-cut on 1, 2 and 4 ranks.

`python -m condal_lab.benchmarks cost_model` needs a Python with MPI, PETSc and SLEPc; `--quick`
uses small graphs and records nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from condal_lab.benchmarks.huge import graph
from condal_lab.benchmarks.launch import failure, run_python
from condal_lab.benchmarks.record import RESULTS, torus, write
from condal_mpi import write_shards

RANKS, METHODS, KINDS = (1, 2, 4), ("lowrank", "cgal"), ("random", "torus")
N, QUICK = 10**5, 2000
TARGET, PATIENCE = 1.5, 900.0


def run(kind: str, n: int, method: str, ranks: int, folder: Path) -> dict[str, Any]:
    """Run a case in its own processes and return its record."""
    file, reply = folder / f"{kind}-{n}", folder / "reply.json"
    if not file.is_dir():
        write_shards(file, graph(n) if kind == "random" else torus(n // 100, 100))
    reply.unlink(missing_ok=True)
    words = "condal_lab.benchmarks.cost_on_ranks", file, method, reply
    done = run_python(*words, ranks=ranks, patience=PATIENCE, yields=True)
    if not reply.is_file():
        raise failure(f"{kind} {method} {ranks}", done)
    case = {"kind": kind, "n": n, "method": method, "ranks": ranks, "load": os.getloadavg()[0]}
    return {**case, **json.loads(reply.read_text(encoding="utf-8"))}


def ratio(row: dict[str, Any]) -> float:
    """Return the seconds of the model over the measured ones."""
    return sum(row["predicted"].values()) / sum(row["measured"].values())


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page."""
    within = [row for row in rows if 1 / TARGET <= ratio(row) <= TARGET]
    text = [
        "# The cost model and measured solves",
        "",
        "Max-cut on random graphs of average degree 4 and on tori, on a machine with 2 cores. For "
        "the low-rank method the seconds are those of a solve to 1e-2 in its sweeps, evaluations "
        "and Lanczos steps, whose numbers the model is given; for CGAL they are those of one "
        "iteration with its products. The figures of the machine are "
        "measured before and after each solve. *Load* is the load of the machine in the last "
        "minute, the run included.",
        "",
        f"The model is within a factor of {TARGET} of {len(within)} of {len(rows)} runs.",
        "",
        "| method | graph | n | ranks | s | model s | x | by part | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        measured, predicted = row["measured"], row["predicted"]
        parts = ", ".join(f"{name} {predicted[name] / measured[name]:.2f}" for name in measured)
        times = f"{sum(measured.values()):.3g} | {sum(predicted.values()):.3g} | {ratio(row):.2f}"
        case = f"{row['method']} | {row['kind']} | {row['n']:,} | {row['ranks']}"
        text.append(f"| {case} | {times} | {parts} | {row['load']:.1f} |")
    return "\n".join([*text, "", "x is the model's seconds over the measured ones.", ""])


def main() -> None:
    """Run all cases in turn."""
    small, rows = "--quick" in sys.argv, []
    with tempfile.TemporaryDirectory() as folder:
        for method in METHODS:
            for kind in KINDS:
                for ranks in RANKS:
                    row = run(kind, QUICK if small else N, method, ranks, Path(folder))
                    print(method, kind, ranks, f"{ratio(row):.2f}", flush=True)
                    rows.append(row)
                    if not small:
                        write("cost_model", rows)
                        (RESULTS / "cost_model.md").write_text(page(rows), encoding="utf-8")
    print(page(rows))
