"""The walk of five solves: the modules of condal in the order in which a call first enters them.

A module is visited when one of its functions runs during the call, and a crossing is a call from a
function of one module to that of another. A first call, which is not traced, imports the modules.
`python -m condal_lab.benchmarks.walk` prints the walks, and stores nothing.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import condal
from condal_lab.benchmarks.runner import Benchmark, Case, Row
from condal_lab.generated import sparse_graph

SOURCE = f"{Path(condal.__file__).resolve().parent}/"
N = 300
# The most modules and crossings that are allowed; None is not limited.
LIMITS: dict[str, tuple[int | None, int | None]] = {
    "max-cut": (60, 3_000),
    "max-cut by CGAL": (50, None),
    "condal solve G.txt": (85, None),
    "conic program": (None, None),
    "CVXPY problem": (None, None),
}


def walked(call: Callable[[], Any]) -> tuple[list[str], int]:
    """Return the modules that a call visits, in order, and the crossings between them."""
    modules: dict[str, None] = {}
    crossings = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal crossings
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(SOURCE):
            return
        modules.setdefault(path[len(SOURCE) : -len(".py")])
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(SOURCE):
            caller = caller.f_back
        crossings += caller is not None and caller.f_code.co_filename != path

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(modules), crossings


def solves(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the five calls by name."""
    import cvxpy as cp
    from click.testing import CliRunner

    from condal.cli.app import cli
    from condal.cvxpy import CONDAL

    W = sparse_graph(N, degree=6.0)
    upper = W.tocoo()
    lines = [f"{i + 1} {j + 1} 1" for i, j in zip(upper.row, upper.col, strict=True) if i < j]
    graph = folder / "G.txt"
    graph.write_text("\n".join([f"{N} {len(lines)}", *lines, ""]))
    rng = np.random.default_rng(0)
    C = rng.standard_normal((10, 10))
    C = C + C.T
    program = condal.conic.Program(
        C.ravel(), np.eye(10).reshape(1, 100), np.ones(1), (condal.conic.Block("psd", 10),)
    )
    X = cp.Variable((10, 10), PSD=True)
    question = cp.Problem(cp.Minimize(cp.trace(C @ X)), [cp.trace(X) == 1])
    return {
        "max-cut": lambda: condal.solve(condal.problems.max_cut(W), tol=1e-3),
        "max-cut by CGAL": lambda: condal.solve(
            condal.problems.max_cut(W), tol=1e-2, method=condal.CGAL()
        ),
        "condal solve G.txt": lambda: CliRunner().invoke(
            cli, ["solve", str(graph), "--as", "max-cut"], catch_exceptions=False
        ),
        "conic program": lambda: condal.solve(condal.conic.conic_model(program)),
        "CVXPY problem": lambda: question.solve(solver=CONDAL()),
    }


def measure() -> list[Row]:
    """Return the lengths of the walks, and print them."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, call in solves(Path(folder)).items():
            call()
            modules, crossings = walked(call)
            print(f"{name}:", *modules, sep="\n  ")
            facts = {"solve": name, "modules": len(modules), "at most": LIMITS[name][0]}
            limit = {"crossings": crossings, "at most (crossings)": LIMITS[name][1]}
            rows.append({**facts, **limit})
    return rows


BENCHMARK = Benchmark("walk", (Case("five solves", measure),))

if __name__ == "__main__":
    measure()
