"""What a new process costs: imports, a tiny problem, and its answer, from start to end."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from condal.problems.conic.files import write_sdpa
from condal_lab.bench.conic.question import ConicAnswer, Truth
from condal_lab.bench.conic.through_file import TINY
from condal_lab.bench.peers.files import PROBLEM, ProgramTask, sdpa_of
from condal_lab.bench.peers.interior import csdp_command, sdpa_command
from condal_lab.bench.peers.peer import Limits, PeerAnswer, Refusal

IMPORTS = {
    "condal": "from condal.cvxpy import CONDAL; solver = CONDAL()",
    "SCS": "solver = cp.SCS",
    "Clarabel": "solver = cp.CLARABEL",
}
SCRIPT = (
    "import cvxpy as cp; {}; x = cp.Variable(2); "
    "problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1]); problem.solve(solver=solver); "
    "print(problem.status, problem.value)"
)
SOLVED = ("status         solved", "Success: SDP solved", "pdOPT")  # condal, CSDP, SDPA


@dataclass(frozen=True)
class CvxpyStart:
    """Import CVXPY and a solver in a new process, and solve a linear program of two variables."""

    @property
    def truth(self) -> Truth:
        return Truth(optimum=2.0)

    def prepare(self, solver: str, tol: float, limits: Limits) -> ProgramTask:
        if solver not in IMPORTS:
            raise Refusal("is not among the solvers of CVXPY that are compared")
        script = SCRIPT.format(IMPORTS[solver])
        return ProgramTask([sys.executable, "-c", script], limits, _read_printed)


def _read_printed(folder: Path, log: str) -> PeerAnswer:
    status, _, value = (log.strip().splitlines() or ["none"])[-1].partition(" ")
    answer = ConicAnswer(status, float(value or "nan"))
    return PeerAnswer(message=status, recovered=answer)


@dataclass(frozen=True)
class FileStart:
    """The whole command on an SDPA file of one matrix of side 2."""

    @property
    def truth(self) -> Truth:
        return Truth(optimum=1.0)

    def prepare(self, solver: str, tol: float, limits: Limits) -> ProgramTask:
        write_sdpa(limits.folder / PROBLEM, sdpa_of(TINY))
        ours = [sys.executable, "-m", "condal", "solve", PROBLEM, "--tol", f"{tol:g}"]
        commands = {"CSDP": csdp_command, "SDPA": sdpa_command, "condal": lambda *_: ours}
        if solver not in commands:
            raise Refusal("is no command")
        return ProgramTask(commands[solver](limits.folder, tol), limits, _read_log)


def _read_log(folder: Path, log: str) -> PeerAnswer:
    """Read whether the command solved the program; only the time of this one counts."""
    status = "optimal" if any(text in log for text in SOLVED) else "no verdict"
    return PeerAnswer(message=status, recovered=ConicAnswer(status, 1.0))
