"""Benchmark instances, and the results files, which include the machine and the versions."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

import condal
from condal_lab.experiments.instances import read_gd97b

ROOT = Path(__file__).resolve().parents[4]  # of the clone
RESULTS = ROOT / "lab" / "results"
DATA = Path(os.environ.get("CONDAL_DATA", ROOT.parent / "shared" / "data"))


def save(name: str, rows: list[dict[str, Any]]) -> None:
    """Write rows to results/NAME.json and print them as a table."""
    write(name, rows)
    show(name, rows)


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    widths = {key: max(len(key), *(len(_cell(row[key])) for row in rows)) for key in rows[0]}
    print(f"\n{title}")
    print("  ".join(key.rjust(width) for key, width in widths.items()))
    for row in rows:
        print("  ".join(_cell(row[key]).rjust(width) for key, width in widths.items()))


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """Write rows to results/NAME.json, with the machine and the versions."""
    machine = {
        "cpu": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "condal": condal.__version__,
    }
    RESULTS.mkdir(exist_ok=True)
    finite = [{k: None if v != v else v for k, v in row.items()} for row in rows]
    text = json.dumps({"machine": machine, "rows": finite}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def instances() -> dict[str, Any]:
    """Return G1, G40 and GD97_b, or generated stand-ins if the data are missing, and a torus."""
    torus_50_40 = torus(50, 40)
    if not DATA.is_dir():
        return {
            "G1-like": random_graph(800, 48.0, seed=1),
            "G40-like": random_signs(random_graph(2000, 11.8, seed=2)),
            "torus 50x40": torus_50_40,
        }
    return {
        "G1": condal.read_graph(DATA / "gset" / "G1.txt.xz"),
        "G40": condal.read_graph(DATA / "gset" / "G40.txt.xz"),
        "GD97_b": read_gd97b(DATA / "gd97b" / "GD97_b.rb"),
        "torus 50x40": torus_50_40,
    }


def torus(rows: int, cols: int, seed: int = 0) -> Any:
    """Return a torus with weights +1 and -1."""
    rng = np.random.default_rng(seed)
    vertex = np.arange(rows * cols).reshape(rows, cols)
    j = np.concatenate([np.roll(vertex, 1, axis).ravel() for axis in (0, 1)])
    i = np.tile(vertex.ravel(), 2)
    return symmetrised(rng.choice([-1.0, 1.0], i.size), i, j, rows * cols)


def random_graph(n: int, degree: float, seed: int = 0) -> Any:
    """Return a random graph of the given average degree."""
    rng = np.random.default_rng(seed)
    m = int(n * degree / 2)
    i, j = rng.integers(0, n, m), rng.integers(0, n, m)
    keep = i != j
    W = symmetrised(np.ones(keep.sum()), i[keep], j[keep], n)
    W.data[:] = 1.0
    return W


def random_signs(W: Any, seed: int = 0) -> Any:
    """Return the graph with random weights +1 and -1."""
    upper = sp.coo_array(sp.triu(W))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], upper.nnz)
    return symmetrised(signs, upper.row, upper.col, W.shape[0])


def symmetrised(data: Any, i: Any, j: Any, n: int) -> Any:
    """Return the symmetric matrix of a graph given by its edges."""
    W = sp.coo_array((data, (i, j)), shape=(n, n)).tocsr()
    return W + W.T
