"""CPU time to import condal and to run short commands, against NumPy, SciPy and an older revision.

`python -m condal_lab.benchmarks startup --against=REV` takes the older revision from git; `--demo`
also times `make demo` in two fresh clones, which takes minutes. Commands run in turns, and each
time is the least of several, in seconds of user and system CPU. The first model and solve of a
process imports what it needs: what that costs beyond the second is a row of its own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from condal_lab.benchmarks.record import DATA, ROOT, random_graph, save

AGAINST = "a945574"  # before packages became lazy
TURNS = 7
# Command, reference, and the largest allowed ratio of their CPU times.
FIGURES = (
    ("import condal", "import numpy, scipy", 1.25),
    ("condal --version", "import click, numpy", 1.5),
    ("condal solve", "condal solve, before", 0.5),
)
BEYOND = "first solve, beyond the second"
MAX_BEYOND = 0.12  # seconds
FIRST_SOLVES = """
from time import process_time
import numpy, scipy.sparse
from condal_lab.benchmarks.record import random_graph
W = random_graph(300, 6.0)
began = process_time()
import condal
condal.solve(condal.problems.max_cut(W), tol=1e-3, seed=0)
between = process_time()
condal.solve(condal.problems.max_cut(W), tol=1e-3, seed=0)
print(2 * between - began - process_time())
"""
DEMO = ("make demo", "make demo, before", 1 / 3)


def cpu_seconds(command: Sequence[str], env: Mapping[str, str], cwd: Path) -> float:
    """Run a command and return the CPU seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, cwd=cwd, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(
    commands: Mapping[str, tuple[Sequence[str], Mapping[str, str]]], cwd: Path
) -> dict[str, float]:
    """Return the least CPU seconds of each command over several turns."""
    seconds = dict.fromkeys(commands, float("inf"))
    for _ in range(TURNS):
        for name, (command, env) in commands.items():
            seconds[name] = min(seconds[name], cpu_seconds(command, env, cwd))
    return seconds


def beyond_the_second(env: Mapping[str, str], source: Path) -> float:
    """Return the CPU seconds of the first solve of a process beyond those of the second."""
    path = os.pathsep.join([str(source), str(ROOT / "lab" / "src")])
    script = [sys.executable, "-c", FIRST_SOLVES]
    output = [
        subprocess.run(
            script, env={**env, "PYTHONPATH": path}, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(TURNS)
    ]
    return min(map(float, output))


def checkout(revision: str, folder: Path) -> Path:
    """Clone a revision of the project into a folder."""
    target = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(target)], check=True)
    subprocess.run(["git", "checkout", "-q", revision], cwd=target, check=True)
    return target


def graph(folder: Path) -> str:
    """Return the path of a graph with 800 vertices: G1, or a generated one."""
    public = DATA / "gset" / "G1.txt.xz"
    if public.is_file():
        return str(public)
    from condal.io.formats import write_rudy

    write_rudy(folder / "graph.txt", random_graph(800, 48.0, seed=1))
    return str(folder / "graph.txt")


def demo_seconds(revision: str) -> float:
    """Return the CPU seconds of `make demo` in a fresh clone of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        return cpu_seconds(["make", "demo"], os.environ, checkout(revision, Path(folder)))


def main() -> None:
    """Measure, and save the ratios with the figures that they should reach."""
    against = next((w.partition("=")[2] for w in sys.argv if w.startswith("--against=")), AGAINST)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        now = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
        # Bytecode is cached, as it is for users, and outside the trees that are compared.
        now.pop("PYTHONDONTWRITEBYTECODE", None)
        now["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        then = {**now, "PYTHONPATH": str(checkout(against, folder) / "src")}
        python, solve = sys.executable, ("solve", graph(folder), "--as", "max-cut", "--tol", "1e-3")
        seconds = least(
            {
                "import numpy, scipy": (
                    [python, "-c", "import numpy, scipy.sparse, scipy.linalg"],
                    now,
                ),
                "import condal": ([python, "-c", "import condal"], now),
                "import condal, before": ([python, "-c", "import condal"], then),
                "import click, numpy": ([python, "-c", "import click, numpy"], now),
                "condal --version": ([python, "-m", "condal", "--version"], now),
                "condal --version, before": ([python, "-m", "condal", "--version"], then),
                "condal solve": ([python, "-m", "condal", *solve], now),
                "condal solve, before": ([python, "-m", "condal", *solve], then),
            },
            folder,
        )
        beyond = {
            BEYOND: beyond_the_second(now, ROOT / "src"),
            f"{BEYOND}, before": beyond_the_second(then, Path(then["PYTHONPATH"])),
        }
    seconds |= beyond
    figures = [*FIGURES, (BEYOND, f"{BEYOND}, before", MAX_BEYOND / beyond[f"{BEYOND}, before"])]
    if "--demo" in sys.argv:
        seconds |= {"make demo": demo_seconds("HEAD"), "make demo, before": demo_seconds(against)}
        figures.append(DEMO)
    save(
        "startup",
        [
            {
                "what": what,
                "seconds": seconds[what],
                "against": other,
                "its seconds": seconds[other],
                "ratio": seconds[what] / seconds[other],
                "at most": limit,
            }
            for what, other, limit in figures
        ],
    )


if __name__ == "__main__":
    main()
