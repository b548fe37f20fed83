"""CPU time to import condal and to run short commands, against NumPy, SciPy and an older revision.

The older revision is named by the variable CONDAL_AGAINST, and is taken from git; by default it is
the last commit. Commands run in turns, and each time is the least of several, in seconds of user
and system CPU. The first solve of a process imports what it needs: what that costs beyond the
second is a row of its own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from condal.io.formats import write_rudy
from condal_lab.benchmarks.runner import ROOT, Benchmark, Case, Row, graph

TURNS = 7
# Command, reference, and the largest allowed ratio of their CPU times.
FIGURES = (
    ("import condal", "import numpy, scipy", 1.25),
    ("condal --version", "import click, numpy", 1.5),
    ("condal solve", "condal solve, before", 1.0),
)
BEYOND = "first solve, beyond the second"
MAX_BEYOND = 0.12  # seconds
FIRST_SOLVES = """
from time import process_time
import numpy, scipy.sparse
W = scipy.sparse.random(300, 300, 0.01, "csr", random_state=0)
W = W + W.T
began = process_time()
import condal
condal.solve(condal.problems.max_cut(W), tol=1e-3, seed=0)
between = process_time()
condal.solve(condal.problems.max_cut(W), tol=1e-3, seed=0)
print(2 * between - began - process_time())
"""


def first_solve(env: Mapping[str, str]) -> float:
    """Return the CPU seconds of the first solve of a process beyond those of the second."""
    command = [sys.executable, "-c", FIRST_SOLVES]
    printed = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return float(printed)


def cpu_seconds(command: Sequence[str], env: Mapping[str, str], cwd: Path) -> float:
    """Run a command and return the CPU seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, cwd=cwd, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> list[Row]:
    """Measure, and return the ratios with the figures that they should reach."""
    against = os.environ.get("CONDAL_AGAINST", "HEAD")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for git in (["clone", "-q", str(ROOT), "clone"], ["-C", "clone", "checkout", against]):
            subprocess.run(["git", *git], cwd=folder, check=True, capture_output=True)
        now = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        # Bytecode is cached, as it is for users, and outside the trees that are compared.
        now.pop("PYTHONDONTWRITEBYTECODE", None)
        now["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        then = {**now, "PYTHONPATH": str(folder / "clone/src")}
        write_rudy(folder / "graph.txt", graph("G1"))
        python, solve = sys.executable, ("solve", "graph.txt", "--as", "max-cut", "--tol", "1e-3")
        commands = {
            "import numpy, scipy": ("-c", "import numpy, scipy.sparse, scipy.linalg"),
            "import condal": ("-c", "import condal"),
            "import click, numpy": ("-c", "import click, numpy"),
            "condal --version": ("-m", "condal", "--version"),
            "condal solve": ("-m", "condal", *solve),
            "condal solve, before": ("-m", "condal", *solve),
        }
        seconds = dict.fromkeys(commands, float("inf"))
        for _ in range(TURNS):
            for what, words in commands.items():
                env = then if what.endswith("before") else now
                seconds[what] = min(seconds[what], cpu_seconds([python, *words], env, folder))
        beyond = min(first_solve(now) for _ in range(TURNS))
    ratios = [
        {
            "what": what,
            "seconds": seconds[what],
            "against": other,
            "its seconds": seconds[other],
            "ratio": seconds[what] / seconds[other],
            "at most": limit,
        }
        for what, other, limit in FIGURES
    ]
    return [*ratios, {"what": BEYOND, "seconds": beyond, "at most": MAX_BEYOND}]


BENCHMARK = Benchmark("startup", (Case("start-up", measure),))
