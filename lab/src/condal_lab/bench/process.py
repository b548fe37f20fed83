"""Work in a process of its own, or on MPI's ranks, with limits on wall time and memory.

python -m condal_lab.bench.process WORK REPLY: the files hold a function and its arguments, and what
it returns, as JSON. A reply of the first rank counts for all; the others return None. The work can
measure the peak memory of this process over a period.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from pydoc import locate
from typing import Any, Literal

from condal_lab.sweeps.processes import ONE_THREAD

LOG_CHARACTERS = 300  # quoted from the output of a process that ended without a reply
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe")
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # a rank that waits lets others use its core


@dataclass(frozen=True)
class Ended:
    """How a process ended: with a reply, or else because of time or a failure, with the reason."""

    outcome: Literal["done", "time", "failed"]
    reply: Any = None
    reason: str = ""


def run_alone(
    work: Callable[..., Any],
    *arguments: Any,
    wall: float,
    memory: int | None = None,
    ranks: int = 0,
) -> Ended:
    """Call a function of a module in a process of its own, or on MPI's ranks, on one thread."""
    with tempfile.TemporaryDirectory(prefix="condal-bench-") as folder:
        question, reply = Path(folder, "work.json"), Path(folder, "reply.json")
        named = f"{work.__module__}.{work.__qualname__}"
        question.write_text(json.dumps([named, arguments, memory]), encoding="utf-8")
        start = (*MPIRUN, "-n", f"{ranks}") if ranks else ()
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*start, sys.executable, "-P", "-m", __name__, str(question), str(reply)],
                env={**os.environ, **ONE_THREAD, **_waiting(ranks), "TMPDIR": folder},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            process.wait(wall)
        except subprocess.TimeoutExpired:
            return Ended("time", reason=f"no answer within {wall:g} s of wall time")
        finally:
            _end(process)
        if reply.is_file():
            return Ended("done", json.loads(reply.read_text(encoding="utf-8")))
        printed = log.read_text(encoding="utf-8", errors="replace")
    code = process.returncode
    if code in (-signal.SIGPROF, -signal.SIGXCPU):
        return Ended("time", reason="no answer within the limit of CPU time")
    last = " ".join(printed.split())[-LOG_CHARACTERS:]
    ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return Ended("failed", reason=f"{ended} {last}".strip())


def finite(value: Any) -> Any:
    """Return a value for JSON, with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


def _waiting(ranks: int) -> dict[str, str]:
    return YIELD if ranks > (os.cpu_count() or 1) else {}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children, which form a process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main(question: str, reply: str) -> None:
    """Read the work, do it, and write what it returns."""
    named, arguments, memory = json.loads(Path(question).read_text(encoding="utf-8"))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    work: Any = locate(named)
    value = work(*arguments)
    if value is not None:
        text = json.dumps(finite(value), allow_nan=False)
        partial = Path(reply).with_suffix(".part")
        partial.write_text(text, encoding="utf-8")
        partial.replace(reply)


_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
_RESET_PEAK = "5"


def begin_peak() -> bool:
    """Reset the peak; return whether the system allows it."""
    try:
        _CLEAR.write_text(_RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


def peak() -> int:
    """Return the peak memory in bytes since `begin_peak`, or of the process if that failed."""
    try:
        for line in _STATUS.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main(*sys.argv[1:])
