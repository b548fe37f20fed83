"""Python in a process of its own, by itself or on MPI's ranks, one thread each."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from condal_lab.benchmarks.record import ROOT
from condal_lab.sweeps.processes import ONE_THREAD

MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # a rank that waits lets others use its core


def run_python(
    *words: Any, ranks: int, patience: float, yields: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the module `words[0]` with the other words, without MPI if `ranks` is 0."""
    start = (*MPIRUN, "-n", f"{ranks}") if ranks else ()
    return subprocess.run(
        [*start, sys.executable, "-m", *map(str, words)],
        env={**os.environ, **ONE_THREAD, **(YIELD if yields else {})},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )


def failure(what: Any, done: subprocess.CompletedProcess[str]) -> SystemExit:
    """Return the error of a run that ended without a reply."""
    return SystemExit(f"{what}: {done.stdout[-500:]}{done.stderr[-2000:]}")
