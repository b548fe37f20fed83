"""Huge max-cut on one machine: random graphs of average degree 4, R = 10, to a certified 1e-1.

`python -m condal_lab.benchmarks huge`; `--quick` for n = 10^4 only, unrecorded; `--only=1e6,1e7`
for some sizes, with the others kept as recorded. Each run generates its graph and solves it in its
own process, and the peak memory includes both. The rivals are `solve` with its default choice, and
SketchyCGAL as published (`sketchy.py`), stopped by its own rule at 1e-1, which proves
nothing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.driver.memory import in_all
from condal.storage import Sketch
from condal_lab.bench.memory import peak
from condal_lab.benchmarks import sketchy
from condal_lab.benchmarks.record import RESULTS, write
from condal_lab.benchmarks.timed import alone

R, EPS, DEGREE = 10, 1e-1, 4
CGAL, CHOSEN, PUBLISHED = "condal, CGAL", "condal, default", "SketchyCGAL as published"
LIMITS = {
    10**5: {CGAL: 900.0, CHOSEN: 900.0, PUBLISHED: 150.0},
    10**6: {CGAL: 900.0, CHOSEN: 900.0, PUBLISHED: 900.0},
    10**7: {CGAL: 3600.0},
}
QUICK = {10**4: {CGAL: 60.0, CHOSEN: 60.0, PUBLISHED: 10.0}}


def graph(n: int) -> Any:
    """Return a random graph of n vertices, using little memory: weights count repeated edges."""
    rng, m = np.random.default_rng(0), n * DEGREE // 2
    i, j = (rng.integers(0, n, m, dtype=np.int32) for _ in range(2))
    proper = i != j
    half = sp.csr_array((np.ones(int(proper.sum())), (i[proper], j[proper])), shape=(n, n))
    return half + half.T


def work(solver: str, n: int, seconds: float) -> dict[str, Any]:
    """Run one case in this process."""
    W = graph(n)
    row: dict[str, Any] = {"n": n, "edges": int(W.nnz) // 2, "R": R, "solver": solver}
    wall, cpu = time.perf_counter(), time.process_time()
    if solver == PUBLISHED:
        row |= sketchy.solve(W, R, EPS, seconds)
    else:
        row |= _ours(W, solver, seconds)
    row |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {**row, "peak_mb": peak() / 1e6}


def _ours(W: Any, solver: str, seconds: float) -> dict[str, Any]:
    model = condal.problems.max_cut(W)
    row: dict[str, Any] = {}
    method, storage = None, None
    if solver == CGAL:
        method, storage = condal.CGAL(), Sketch(W.shape[0], R)
        row["estimate_mb"] = in_all(model.problem, method, storage) / 1e6
    result = condal.solve(model, method, tol=EPS, storage=storage, max_seconds=seconds)
    row |= {"status": result.status.name, "method": result.method, "gap": result.gap}
    row |= {"iterations": result.iterations, "products": result.matvecs}
    row |= {"infeasibility": result.infeasibility, "objective": result.objective}
    return {**row, "bound": result.bound, "proof": result.certificate.how}


def main() -> None:
    """Run all sizes, one solver after another."""
    quick = "--quick" in sys.argv
    named = [word[7:].split(",") for word in sys.argv if word.startswith("--only=")]
    sizes = QUICK if quick else LIMITS
    wanted = [int(float(word)) for words in named for word in words] or list(sizes)
    rows = [] if quick else [row for row in _recorded() if row["n"] not in wanted]
    for n in wanted:
        rows += [_alone(solver, n, limit) for solver, limit in sizes[n].items()]
        rows.sort(key=lambda row: row["n"])
        if not quick:
            write("huge", rows)
            (RESULTS / "huge.md").write_text(table(rows), encoding="utf-8")
    print(table(rows))


def _recorded() -> list[dict[str, Any]]:
    path = RESULTS / "huge.json"
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []


def _alone(solver: str, n: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        reply = Path(folder, "reply.json")
        words = (solver, n, seconds, reply)
        done = alone("condal_lab.benchmarks.huge", *words, timeout=4 * seconds + 300)
        if not reply.is_file():
            raise SystemExit(f"{solver} at n = {n}: {done.stdout[-500:]}{done.stderr[-2000:]}")
        return dict(json.loads(reply.read_text(encoding="utf-8")))


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a page."""
    names = ("n", "solver", "outcome", "gap", "infeasibility", "iterations", "products")
    heads = (*names, "wall s", "CPU s", "peak MB", "estimate MB")
    lines = ["# Huge max-cut", "", _said(), "", _line(heads), _line(["---"] * len(heads))]
    for row in rows:
        own = "stopped by its own rule" if row.get("stopped") else "out of time"
        cells = [f"{row['n']:,}", row["solver"], row.get("status", own).lower().replace("_", " ")]
        gap = row.get("gap", row.get("surrogate_gap"))
        cells += [f"{gap:.3g}" + ("" if "gap" in row else " (not proved)")]
        cells += [f"{row['infeasibility']:.1e}", f"{row['iterations']}", f"{row['products']}"]
        cells += [f"{row[key]:,.0f}" for key in ("wall", "cpu", "peak_mb")]
        lines.append(_line([*cells, f"{row['estimate_mb']:,.0f}" if "estimate_mb" in row else ""]))
    return "\n".join(lines) + "\n"


def _said() -> str:
    return (
        f"Random graphs of average degree {DEGREE}, solved to {EPS:g} with a sketch of R = {R}, on "
        "one thread. Memory is the peak of the whole process, including the graph and Python; the "
        "estimate is the one printed before the start. SketchyCGAL is our own implementation of "
        "the published algorithm. Its gap is the surrogate gap of its stopping rule, at a point "
        "with the listed infeasibility; nothing about it is proved."
    )


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    asked, side, limit, answer = sys.argv[1:]
    record = work(asked, int(side), float(limit))
    finite = {key: None if value != value else value for key, value in record.items()}
    Path(answer).write_text(json.dumps(finite), encoding="utf-8")
