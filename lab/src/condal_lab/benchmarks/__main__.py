"""Run benchmarks by name: `python -m condal_lab.benchmarks oracle penalty --only=G1`.

`--only=A,B` runs the cases whose names begin with A or B, and keeps the stored rows of the others.
`quotes` measures nothing: it copies stored times into the tables of the documents. `crossover`,
`large` and `ranks` take hours, `ranks` needs MPI, PETSc and SLEPc, and `threads` two idle cores.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    *("crossover", "cvxpy_maxcut", "iteration", "large", "oracle", "penalty"),
    *("proofs", "ranks", "startup", "threads", "walk"),
)

if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    only = [name for word in sys.argv if word.startswith("--only=") for name in word[7:].split(",")]
    if not words or not set(words) <= {*NAMES, "quotes"}:
        raise SystemExit(f"{__doc__}\nThe benchmarks are {', '.join((*NAMES, 'quotes'))}.")
    for word in words:
        module = import_module(f"condal_lab.benchmarks.{word}")
        module.main() if word == "quotes" else module.BENCHMARK.run(only)
