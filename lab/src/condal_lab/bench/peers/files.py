"""Peers that are programs: write their input file, run them, read their output."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import CondalError
from condal.problems.conic.files import SdpaProblem
from condal.problems.conic.program import Program
from condal_lab.bench import launch
from condal_lab.bench.peers.peer import Limits, PeerAnswer, Refusal, TimeExceeded, Usage

PROBLEM, SOLUTION = "problem.dat-s", "solution"  # the names of a program's files
# A program that hangs is killed after WALL_PER_CPU times its CPU limit plus EXTRA_SECONDS.
WALL_PER_CPU = 10
EXTRA_SECONDS = 60.0


def sdpa_of(program: Program) -> SdpaProblem:
    """Return maximise <F_0, X>: a minimisation is written with the opposite sign."""
    if any(block.kind == "second-order" for block in program.blocks):
        raise Refusal("takes psd blocks and orthants only")
    sign = 1.0 if program.maximise else -1.0
    entries = sp.coo_array(sp.vstack([sign * program.c, program.A]))
    owner = program.owners(entries.col)
    sides = np.array([block.n for block in program.blocks])[owner]
    psd = np.array([block.kind == "psd" for block in program.blocks])[owner]
    local = entries.col - program.offsets[owner]
    rows, cols = np.where(psd, local // sides, local), np.where(psd, local % sides, local)
    upper = rows <= cols
    matrices, blocks, i, j = (column[upper] for column in (entries.row, owner, rows, cols))
    sizes = tuple(block.n if block.kind == "psd" else -block.n for block in program.blocks)
    values = entries.data[upper]
    return SdpaProblem(program.b, sizes, matrices, blocks, i, j, values, program.name)


@dataclass
class ProgramTask:
    """A command to run in a folder; `read` converts its files and its log to an answer."""

    command: list[str]
    limits: Limits
    read: Callable[[Path, str], PeerAnswer]
    usage: Usage | None = None
    log: str = ""

    def solve(self) -> None:
        """Run the command by a launcher that measures it."""
        report, seconds = self.limits.folder / "usage.json", self.limits.seconds
        limits = (seconds, self._wall_limit, self.limits.memory, report)
        launcher = [sys.executable, "-S", "-E", str(launch.__file__), *map(str, limits)]
        done = subprocess.run(
            [*launcher, *self.command],
            cwd=self.limits.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        if done.returncode:
            raise CondalError(f"could not be run: {done.stderr.decode(errors='replace')[-200:]}")
        self._judge(json.loads(report.read_text(encoding="ascii")))

    def answer(self) -> PeerAnswer:
        return replace(self.read(self.limits.folder, self.log), usage=self.usage)

    @property
    def _wall_limit(self) -> float:
        return WALL_PER_CPU * self.limits.seconds + EXTRA_SECONDS

    def _judge(self, record: dict[str, Any]) -> None:
        self.usage = Usage(record["cpu"], record["wall"], record["memory"])
        killed, seconds = record["code"] == -signal.SIGKILL, self.limits.seconds
        # SIGKILL ends a program that ignores SIGXCPU, but also one that uses too much memory.
        if record["code"] == -signal.SIGXCPU or (killed and record["cpu"] >= seconds):
            raise TimeExceeded(f"no answer within {seconds:g} s")
        if killed and record["wall"] >= self._wall_limit:
            raise TimeExceeded(f"no answer within {self._wall_limit:g} s of wall time")
        if killed:
            raise CondalError(
                f"ended by SIGKILL after {record['cpu']:.1f} s, perhaps for lack of memory"
            )
        path = self.limits.folder / "log"
        self.log = path.read_text(errors="replace") if path.stat().st_size else ""
        if record["code"] == 127:
            raise CondalError(f"{self.command[0]} could not be started")
        if record["code"] < 0:
            raise CondalError(f"ended by {signal.Signals(-record['code']).name}")


def on_path(*names: str) -> str | None:
    """Return the path of the first of these programs on the PATH."""
    return next((path for name in names if (path := shutil.which(name))), None)


def banner(command: list[str], marker: str) -> str | None:
    """Return the word after `marker` in the output of a command; `unknown` if there is none."""
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=20, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    printed = (done.stdout + done.stderr).decode(errors="replace")
    after = printed.partition(marker)[2].split()
    return after[0].strip("(),") if after else "unknown"


def last_line(log: str, *markers: str) -> str:
    """Return the last line of a log that contains one of the markers."""
    lines = [line.strip() for line in log.splitlines() if any(m in line for m in markers)]
    return lines[-1] if lines else ""
