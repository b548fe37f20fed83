"""Peers that are programs: a file for them, their run, and what they wrote."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import CondalError
from condal.io.formats.sdpa import SdpaProblem
from condal.io.formats.sdpa_solution import SdpaSolution
from condal.lab.bench import launch
from condal.lab.bench.peers.peer import Limits, PeerAnswer, TimeExceeded, Usage
from condal.lab.bench.standard import Standard

PROBLEM, SOLUTION = "problem.dat-s", "solution"  # the names of a program's files
WALL = 10  # times the CPU time, before a program that hangs is ended
MORE = 60.0  # seconds on the clock beyond that


def sdpa_problem(form: Standard) -> SdpaProblem:
    """F_0 = -C and F_i = A_i; a diagonal block of slacks makes equalities of inequalities."""
    n, slack = form.n, form.m - form.equalities
    C, A = sp.coo_array(form.C), sp.coo_array(form.rows)
    row, col = A.col // n, A.col % n
    upper, above = C.row <= C.col, row <= col
    more = np.arange(slack)
    zeros = np.zeros(upper.sum() + above.sum(), dtype=np.int64)
    return SdpaProblem(
        form.b,
        (n, -slack) if slack else (n,),
        np.concatenate([np.zeros(upper.sum(), int), A.row[above] + 1, form.equalities + more + 1]),
        np.concatenate([zeros, np.ones(slack, int)]),
        np.concatenate([C.row[upper], row[above], more]),
        np.concatenate([C.col[upper], col[above], more]),
        np.concatenate([-C.data[upper], A.data[above], np.ones(slack)]),
    )


@dataclass
class Program:
    """A command in a folder, and how its answer is read."""

    command: list[str]
    limits: Limits
    read: Callable[[Path, str], PeerAnswer]
    usage: Usage | None = None
    log: str = ""

    def solve(self) -> None:
        """Run it; what it used is measured by its own launcher."""
        report, seconds = self.limits.folder / "usage.json", self.limits.seconds
        limits = (seconds, self._clock, self.limits.memory, report)
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
        """What it wrote."""
        found = self.read(self.limits.folder, self.log)
        return PeerAnswer(found.x, found.y, found.claim, found.said, self.usage)

    @property
    def _clock(self) -> float:
        return WALL * self.limits.seconds + MORE

    def _judge(self, record: dict[str, Any]) -> None:
        self.usage = Usage(record["cpu"], record["wall"], record["memory"])
        killed, seconds = record["code"] == -signal.SIGKILL, self.limits.seconds
        # A program that does not heed SIGXCPU is killed, but so is one that takes too much memory.
        if record["code"] == -signal.SIGXCPU or (killed and record["cpu"] >= seconds):
            raise TimeExceeded(f"no answer within {seconds:g} s")
        if killed and record["wall"] >= self._clock:
            raise TimeExceeded(f"no answer within {self._clock:g} s on the clock")
        if killed:
            raise CondalError(
                f"ended by SIGKILL after {record['cpu']:.1f} s, as the system does out of memory"
            )
        path = self.limits.folder / "log"
        self.log = path.read_text(errors="replace") if path.stat().st_size else ""
        if record["code"] == 127:
            raise CondalError(f"{self.command[0]} could not be started")
        if record["code"] < 0:
            raise CondalError(f"ended by {signal.Signals(-record['code']).name}")


def on_path(*names: str) -> str | None:
    """The first of these programs that can be run."""
    return next((found for name in names if (found := shutil.which(name))), None)


def banner(command: list[str], marker: str) -> str | None:
    """The word after `marker` in what a program prints of itself; `unknown` if it says nothing."""
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=20, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    printed = (done.stdout + done.stderr).decode(errors="replace")
    after = printed.partition(marker)[2].split()
    return after[0].strip("(),") if after else "unknown"


def solved(form: Standard, solution: SdpaSolution, said: str) -> PeerAnswer:
    """x and y of the problem, from z and X of the file."""
    return PeerAnswer(solution.X[0], form.dual(solution.z), said=said)


def last_line(log: str, *markers: str) -> str:
    """The last line of a log that holds one of the words."""
    lines = [line.strip() for line in log.splitlines() if any(m in line for m in markers)]
    return lines[-1] if lines else ""
