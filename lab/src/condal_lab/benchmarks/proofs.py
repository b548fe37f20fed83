"""Proof files of all graphs and programs in gset, sdplib and dimacs7, folders of $CONDAL_DATA.

`read` and `prove` are the CPU seconds in which condal reads a file and proves its bound, `check`
those in which checker/check.py reads file and proof, and checks this: the least of three each.
Files of MATLAB, which the checker does not read, are written in the SDPA format first.
"""

from __future__ import annotations

import os
import runpy
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import condal
from condal.conic import certify, conic_model
from condal.errors import CondalError
from condal.formats import read_graph
from condal_lab.bench.cases import program
from condal_lab.benchmarks.runner import ROOT, Benchmark, Case, Row, timed
from condal_lab.experiments.data import SOURCES

DATA = Path(os.environ.get("CONDAL_DATA") or ".")


def measure(place: str) -> list[Row]:
    """Solve an instance, write its proof, and check that."""
    path, output = next(DATA.glob(f"{place}*"), None), StringIO()
    if path is None:
        raise CondalError(f"{place} is not in {DATA.resolve()}: let CONDAL_DATA name a data folder")
    read: Any = program if {".mat", ".dat-s"} & set(path.suffixes) else read_graph
    data, cut = read(path), read is read_graph
    model: Any = condal.problems.max_cut(data) if cut else conic_model(data)
    result = condal.solve(model, tol=1e-4 if cut else 1e-6, max_seconds=100.0)
    row = {"tol": result.tol, "status": result.status.name.lower(), "bound": result.bound}
    check = runpy.run_path(str(ROOT / "checker" / "check.py"))["main"]
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(output):
        proof = f"{folder}/proof"
        try:
            file = result.save_proof(proof, model, None if ".mat" in path.suffixes else path)
        except CondalError as error:
            return [{**row, "verdict": str(error)}]
        calls = {"read": lambda: read(Path(file)), "check": lambda: check([file, proof])}
        if cut:
            calls["prove"] = lambda: condal.certify(model, result.x, result.y)
        elif result.x is not None:
            calls["prove"] = lambda: certify(data, None, model.dual(result))
        times = {what: min(timed(call)[2] for _ in range(3)) for what, call in calls.items()}
    ratio = times["check"] / (times["read"] + times["prove"]) if "prove" in times else None
    verdict = output.getvalue().splitlines()[-1].split(" in ")[0]
    return [{**row, **times, "ratio": ratio, "verdict": verdict}]


PLACES = (
    *(f"gset/G{k}.txt" for k in (1, 2, 11, 14, 22, 32, 40, 43, 48, 51, 55, 60, 67, 81)),
    *(known.place for known in SOURCES.values() if known.place.startswith(("sdplib", "dimacs7"))),
    *(f"dimacs7/torus{name}.mat" for name in ("g3-8", "pm3-8-50", "pm3-15-50")),
)
BENCHMARK = Benchmark("proofs", tuple(Case(place, measure, (place,)) for place in PLACES))
