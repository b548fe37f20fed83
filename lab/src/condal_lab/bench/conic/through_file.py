"""Questions with a known answer: those that are conic programs, as files hold them, and what a new
process costs.

What a solver says about a question is right, wrong or no verdict.

The programs are for condal, CSDP, SDPA, SCS and Clarabel. A start is a process from its imports to
the answer of a tiny problem.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from condal.errors import CondalError
from condal.problems.conic.files import write_sdpa
from condal.problems.conic.modelling import conic_model
from condal.problems.conic.program import Block, Program
from condal.result import Status
from condal_lab.bench.peers import PEERS
from condal_lab.bench.peers.executables import (
    PROBLEM,
    ProgramTask,
    csdp_command,
    sdpa_command,
    sdpa_of,
)
from condal_lab.bench.peers.peer import (
    CallTask,
    ConeAnswer,
    Limits,
    PeerAnswer,
    PeerTask,
    ReadCone,
    Refusal,
)
from condal_lab.bench.results import Outcome

Known = Literal["optimal", "infeasible", "unbounded"]
VERDICTS = ("optimal", "infeasible", "unbounded")
WRONG = 10.0  # times the tolerance: an optimum claimed farther away is wrong, a nearer one short


@dataclass(frozen=True)
class Truth:
    """The status of a program and, if it is optimal, its optimum."""

    status: Known = "optimal"
    optimum: float = float("nan")


@dataclass(frozen=True)
class ConicAnswer:
    """What a solver says: its status, one of `VERDICTS` or its own word, and its value.

    `violation` is the largest violation of a constraint by its point, relative to the larger of 1
    and the point; `setup` the CPU seconds before and after the solve, such as CVXPY's compilation;
    `later_share` the time of a later solve with new data over the time of the first.
    """

    status: str
    value: float = float("nan")
    violation: float = 0.0
    setup: float | None = None
    later_share: float | None = None

    def distance(self, truth: Truth) -> float:
        """Return the distance of the value from the optimum, relative to the larger of 1 and it."""
        return abs(self.value - truth.optimum) / max(1.0, abs(truth.optimum))


@runtime_checkable
class Question(Protocol):
    """A program with a known answer that every solver can be asked."""

    @property
    def truth(self) -> Truth:
        """The known answer."""

    def prepare(self, solver: str, tol: float, limits: Limits) -> PeerTask:
        """Return the solver's task, whose answer has `recovered`, a ConicAnswer."""


def judge(truth: Truth, answer: ConicAnswer, tol: float) -> Outcome:
    """Judge an answer by the truth: solved, short, wrong, or unproved for no verdict."""
    if answer.status not in VERDICTS:
        return "unproved"
    if answer.status != truth.status:
        return "wrong"
    if truth.status != "optimal":
        return "solved"
    error = max(answer.distance(truth), answer.violation)
    if not np.isfinite(error) or error > WRONG * tol:
        return "wrong"
    return "solved" if error <= tol else "short"


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
class StartQuestion:
    """A process from its imports to the answer of a tiny problem."""

    truth: Truth
    command: Callable[[str, float, Path], list[str]]
    read: Callable[[Path, str], PeerAnswer]

    def prepare(self, solver: str, tol: float, limits: Limits) -> ProgramTask:
        return ProgramTask(self.command(solver, tol, limits.folder), limits, self.read)


def _cvxpy_command(solver: str, tol: float, folder: Path) -> list[str]:
    """Import CVXPY and a solver, and solve a linear program of two variables."""
    if solver not in IMPORTS:
        raise Refusal("is not among the solvers of CVXPY that are compared")
    return [sys.executable, "-c", SCRIPT.format(IMPORTS[solver])]


def _read_printed(folder: Path, log: str) -> PeerAnswer:
    status, _, value = (log.strip().splitlines() or ["none"])[-1].partition(" ")
    answer = ConicAnswer(status, float(value or "nan"))
    return PeerAnswer(message=status, recovered=answer)


def _file_command(solver: str, tol: float, folder: Path) -> list[str]:
    """The whole command on an SDPA file of one matrix of side 2."""
    write_sdpa(folder / PROBLEM, sdpa_of(TINY))
    ours = [sys.executable, "-m", "condal", "solve", PROBLEM, "--tol", f"{tol:g}"]
    commands = {"CSDP": csdp_command, "SDPA": sdpa_command, "condal": lambda *_: ours}
    if solver not in commands:
        raise Refusal("is no command")
    return commands[solver](folder, tol)


def _read_log(folder: Path, log: str) -> PeerAnswer:
    """Read whether the command solved the program; only the time of this one counts."""
    status = "optimal" if any(text in log for text in SOLVED) else "no verdict"
    return PeerAnswer(message=status, recovered=ConicAnswer(status, 1.0))


CVXPY_START = StartQuestion(Truth(optimum=2.0), _cvxpy_command, _read_printed)
FILE_START = StartQuestion(Truth(optimum=1.0), _file_command, _read_log)
WORDS = {
    Status.SOLVED: "optimal",
    Status.INFEASIBLE: "infeasible",
    Status.UNBOUNDED: "unbounded",
}
TINY = Program([1.0, 0, 0, 1.0], [[1.0, 0, 0, 1.0]], np.ones(1), (Block("psd", 2),))


@dataclass(frozen=True, eq=False)
class FileQuestion:
    """A conic program and what is known about it; sizes and entries as in an SDPA file."""

    program: Program
    truth: Truth

    def prepare(self, solver: str, tol: float, limits: Limits) -> PeerTask:
        """Return the solver's task; programs are charged for reading their file."""
        ask = _ask_condal if solver == "condal" else PEERS[solver].ask
        if ask is None:
            raise Refusal("takes no conic program of several blocks")
        tiny = ask(TINY, tol, limits, self._read)
        if isinstance(tiny, CallTask):
            tiny.solve()  # so that no import falls into the time of a solve
        return ask(self.program, tol, limits, self._read)

    def _read(self, found: ConeAnswer) -> PeerAnswer:
        answer = _measured(self.program, found.verdict, found.blocks)
        return PeerAnswer(message=found.verdict, recovered=answer)


def _ask_condal(program: Program, tol: float, limits: Limits, read: ReadCone) -> CallTask:
    return CallTask(lambda: _solve(program, tol), read)


def _solve(program: Program, tol: float) -> ConeAnswer:
    """Solve as `condal solve FILE` does; a program without a proof has no verdict."""
    try:
        model = conic_model(program)
        result = model.solve(tol=tol)
    except CondalError as error:
        return ConeAnswer(type(error).__name__)
    verdict = WORDS.get(result.status, result.status.name.lower())
    return ConeAnswer(verdict, model.blocks(result, full=True) if verdict == "optimal" else ())


def _measured(program: Program, verdict: str, blocks: Sequence[Any]) -> ConicAnswer:
    """Return the value and the violation of a point given block by block."""
    if verdict != "optimal":
        return ConicAnswer(verdict)
    x = np.concatenate([np.ravel(block) for block in blocks])
    value = program.offset + float((program.c @ x)[0])
    rows = np.abs(program.A @ x - program.b).max(initial=0.0)
    least = [
        float(np.linalg.eigvalsh(block)[0] if np.ndim(block) == 2 else np.min(block))
        for block in blocks
    ]
    rows /= 1 + np.abs(program.b).max(initial=0.0)
    below = max(0.0, -min(least)) / max(1.0, float(np.abs(x).max(initial=0.0)))
    return ConicAnswer(verdict, value, max(float(rows), below))
