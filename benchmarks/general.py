"""Theta of random graphs by the default method: constraints beyond the diagonal, proved to 1e-6.

`python -m benchmarks general` runs all sizes, each in its own process; `--only=1000,2000` runs some
and keeps the rows of the others. CSDP runs beside them if it is installed, up to n = 1,000. The
unit of the last column is one dense eigenvalue decomposition of side n, in the same run.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import condal
from benchmarks.record import RESULTS, save, symmetrised
from benchmarks.timed import alone

TOL = 1e-6
SIZES = {  # n: (edges, seconds)
    500: (2_000, 60.0),
    1_000: (5_000, 120.0),
    2_000: (10_000, 240.0),
    5_000: (15_000, 600.0),
    20_000: (60_000, 1_200.0),
}
MAX_EIGH_SIDE = 2_000
MAX_CSDP_SIDE = 1_000
CSDP_SECONDS = 600.0


def graph(n: int, m: int, seed: int = 0) -> Any:
    """Return a random graph with n vertices and m edges."""
    rng, keys = np.random.default_rng(seed), np.zeros(0, dtype=np.int64)
    while keys.size < m:
        pairs = rng.integers(0, n, (2, 2 * m))
        low, high = pairs.min(axis=0), pairs.max(axis=0)
        keys = np.unique(np.concatenate([keys, (low * n + high)[low < high]]))
    chosen = rng.permutation(keys)[:m]
    return symmetrised(np.ones(m), chosen // n, chosen % n, n)


def work(n: int) -> dict[str, Any]:
    """Solve one size in this process."""
    m, seconds = SIZES[n]
    model = condal.problems.theta(graph(n, m))
    began = time.process_time()
    result = condal.solve(model, tol=TOL, max_seconds=seconds)
    return {
        "n": n,
        "edges": m,
        "status": result.status.name,
        "method": result.method,
        "objective": result.objective,
        "gap": result.gap,
        "infeasibility": result.infeasibility,
        "cpu": time.process_time() - began,
    }


def eigh_seconds(n: int) -> float:
    """Return the CPU seconds of a dense eigenvalue decomposition."""
    a = np.random.default_rng(0).standard_normal((n, n))
    began = time.process_time()
    np.linalg.eigh(a + a.T)
    return time.process_time() - began


def csdp_seconds(n: int) -> float:
    """Return the CPU seconds of CSDP; nan if it is not installed or gives no answer."""
    program = shutil.which("csdp")
    if program is None or n > MAX_CSDP_SIDE:
        return np.nan
    m = SIZES[n][0]
    coo = graph(n, m).tocoo()
    edges = [(i + 1, j + 1) for i, j in zip(coo.row, coo.col, strict=True) if i < j]
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "p.dat-s").open("w", encoding="utf-8") as file:
            file.write(f"{m + 1}\n1\n{n}\n1 {'0 ' * m}\n")
            file.writelines(f"0 1 {i + 1} {j + 1} 1\n" for i in range(n) for j in range(i, n))
            file.writelines(f"1 1 {i + 1} {i + 1} 1\n" for i in range(n))
            file.writelines(f"{k + 2} 1 {i} {j} 1\n" for k, (i, j) in enumerate(edges))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            subprocess.run(
                [program, "p.dat-s", "p.sol"],
                cwd=folder,
                capture_output=True,
                timeout=CSDP_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return np.nan
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run every size in turn."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    sizes = [int(word) for word in only[0].split(",")] if only else list(SIZES)
    path = RESULTS / "general.json"
    earlier = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    rows = {row["n"]: row for row in earlier}
    for n in sizes:
        done = alone("benchmarks.general", n, timeout=6 * SIZES[n][1])
        if done.returncode:
            raise SystemExit(f"n = {n}: {done.stderr[-2000:]}")
        rows[n] = json.loads(done.stdout.splitlines()[-1])
        save("general", [rows[n] for n in sorted(rows)])


if __name__ == "__main__":
    size = int(sys.argv[1])
    row = work(size)
    row["csdp_cpu"] = csdp_seconds(size)
    unit = eigh_seconds(size) if size <= MAX_EIGH_SIDE else np.nan
    row["eigh_cpu"], row["in_eigh"] = unit, row["cpu"] / unit
    print(json.dumps(row))
