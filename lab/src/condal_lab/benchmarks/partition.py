"""Rows in the order of a file, of reverse Cuthill-McKee and of PT-Scotch, for solves on ranks.

`python -m condal_lab.benchmarks partition` needs a Python with MPI, PETSc and SLEPc; `--quick` uses
small graphs and records nothing. The torus is numbered at random, as a file of unknown origin may
be.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal_lab.benchmarks.huge import graph
from condal_lab.benchmarks.launch import failure, run_python
from condal_lab.benchmarks.record import RESULTS, torus, write
from condal_mpi import write_shards
from condal_mpi.shards.folder import ShardFolder

ORDERS, RANKS = ("file", "rcm", "partition"), 2
SIDE, N = 500, 10**5  # of the torus, and of the random graph
QUICK_SIDE, QUICK_N = 40, 2000
PATIENCE = 900.0


def shuffled_torus(side: int) -> Any:
    """Return a torus whose vertices are numbered at random."""
    order = np.random.default_rng(0).permutation(side * side)
    return sp.csr_array(torus(side, side)[order][:, order])


def between(path: Path, ranks: int) -> dict[str, float]:
    """Return the edges between ranks, and the bytes that a rank receives per product C v."""
    folder = ShardFolder.open(path)
    n = folder.manifest.n
    entries = sp.coo_array(folder.rows(0, n).W)
    ends = np.cumsum([n // ranks + (rank < n % ranks) for rank in range(ranks)])
    row, column = (np.searchsorted(ends, each, side="right") for each in (entries.row, entries.col))
    cut = row != column
    fetched = np.unique(row[cut].astype(np.int64) * n + entries.col[cut]).size
    return {
        f"cut_{ranks}": int(cut.sum()) // 2,
        f"share_{ranks}": float(cut.mean()),
        f"bytes_{ranks}": 8.0 * fetched / ranks,
    }


def start(*words: object, ranks: int = 0) -> None:
    """Run Python with these words, on ranks if there are any."""
    done = run_python(*words, ranks=ranks, patience=PATIENCE)
    if done.returncode:
        raise failure(words, done)


def cpu_of_others() -> float:
    """Return the CPU seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(kind: str, order: str, folder: Path) -> dict[str, Any]:
    """Order the rows of a graph, solve on ranks, and return the record."""
    source, path, reply = folder / kind, folder / f"{kind}-{order}", folder / "reply.json"
    before = cpu_of_others()
    ranks = RANKS if order == "partition" else 0
    start("condal", "convert", source, path, "--order", order, ranks=ranks)
    seconds = cpu_of_others() - before
    reply.unlink(missing_ok=True)
    start("condal_lab.benchmarks.on_ranks", path, 0, reply, "--lowrank", ranks=RANKS)
    return {
        "graph": kind,
        "n": ShardFolder.open(path).manifest.n,
        "order": order,
        "convert_cpu_seconds": seconds,
        **{name: value for ranks in (2, 4, 16) for name, value in between(path, ranks).items()},
        **json.loads(reply.read_text(encoding="utf-8")),
        "load": os.getloadavg()[0],
    }


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page."""
    text = [
        "# The order of the rows, and solves on 2 ranks",
        "",
        "Max-cut by the low-rank method to a proved gap of 1e-3, on a machine with 2 cores. The "
        "torus has weights 1 and -1 and is numbered at random; the random graph has average degree "
        "4. *Convert* is the CPU time of `condal convert --order`, with its start. KB are those "
        "that a rank receives for one product with a vector; CPU seconds are those of both ranks.",
        "",
        "| graph | n | order | convert CPU s | edges between 2, 4, 16 ranks | KB of 2, 4, 16 ranks "
        "| s | CPU s | gap | status | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        edges = ", ".join(f"{row[f'share_{ranks}']:.2%}" for ranks in (2, 4, 16))
        sent = ", ".join(f"{row[f'bytes_{ranks}'] / 1e3:.3g}" for ranks in (2, 4, 16))
        times = f"{row['seconds']:.3g} | {row['cpu_seconds']:.3g}"
        text.append(
            f"| {row['graph']} | {row['n']:,} | {row['order']} | {row['convert_cpu_seconds']:.2g} "
            f"| {edges} | {sent} | {times} | {row['gap']:.1e} | {row['status'].lower()} "
            f"| {row['load']:.1f} |"
        )
    return "\n".join([*text, ""])


def main() -> None:
    """Run all cases in turn."""
    small, rows = "--quick" in sys.argv, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder / "torus", shuffled_torus(QUICK_SIDE if small else SIDE))
        write_shards(folder / "random", graph(QUICK_N if small else N))
        for kind in ("torus", "random"):
            for order in ORDERS:
                rows.append(run(kind, order, folder))
                print(kind, order, f"{rows[-1]['seconds']:.3g} s", flush=True)
    if not small:
        write("partition", rows)
        (RESULTS / "partition.md").write_text(page(rows), encoding="utf-8")
    print(page(rows))
