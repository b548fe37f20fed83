"""Programs on many ranks, each of which a process of its own: how they are started and ended."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parents[1]
PATHS = (TESTS, ROOT / "tests", ROOT, *(ROOT / of / "src" for of in ("", "lab", "mpi")))
PATIENCE = 3600  # seconds, after which ranks count as deadlocked
# A rank that waits lets another go on, which may be the one that it waits for.
ENVIRONMENT = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PYTHONPATH": os.pathsep.join(map(str, PATHS)),
}
# As root, in a container, and on fewer cores than ranks: what Open MPI refuses unless it is asked.
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")

needed = pytest.mark.skipif(
    shutil.which("mpirun") is None or find_spec("mpi4py") is None,
    reason="no MPI, PETSc and SLEPc here: make test-distributed",
)


def run(ranks: int, *words: object) -> subprocess.CompletedProcess[str]:
    """What Python does with these words on so many ranks, to its end."""
    with started(ranks, *words) as process:
        output, errors = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


@contextmanager
def started(ranks: int, *words: object) -> Iterator[subprocess.Popen[str]]:
    """It, under way; at the end no rank is left."""
    process = subprocess.Popen(
        [*MPIRUN, "-n", f"{ranks}", sys.executable, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
    )
    try:
        yield process
    finally:
        # Not killed: it is to end its ranks first.
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=PATIENCE)
