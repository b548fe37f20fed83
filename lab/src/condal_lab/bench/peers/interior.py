"""CSDP, SDPA and DSDP: interior-point programs that read and write files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from condal.io.formats.answers import SdpaSolution, read_result, read_solution
from condal.problem import Model, Problem, problem_of
from condal.problems.conic.files import write_sdpa
from condal_lab.bench.peers.files import (
    PROBLEM,
    SOLUTION,
    ProgramTask,
    banner,
    last_line,
    on_path,
    sdpa_of,
)
from condal_lab.bench.peers.peer import Limits, PeerAnswer, require_memory
from condal_lab.bench.standard import BYTES_PER_NUMBER, StandardForm, standard_form


@dataclass(frozen=True)
class Csdp:
    """CSDP with tolerances tol, other settings by default."""

    name: str = "CSDP"
    install: str = "apt-get install coinor-csdp libopenblas0-pthread"

    def version(self) -> str | None:
        path = on_path("csdp")
        return path and banner([path], "CSDP ")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
        form = _write_problem(model, limits, matrices=15)
        read = _reader(form, read_solution, "Success", "Failure", "Declaring")
        return ProgramTask(csdp_command(limits.folder, tol), limits, read)


def csdp_command(folder: Path, tol: float) -> list[str]:
    """Write the parameters of CSDP for tolerances tol and return the command."""
    # pinftol and dinftol are the tolerances of infeasibility certificates.
    values = {"axtol": tol, "atytol": tol, "objtol": tol, "pinftol": 1e8, "dinftol": 1e8}
    values |= {"maxiter": 100, "minstepfrac": 0.9, "maxstepfrac": 0.97, "minstepp": 1e-8}
    values |= {"minstepd": 1e-8, "usexzgap": 1, "tweakgap": 0, "affine": 0, "printlevel": 1}
    values |= {"perturbobj": 1, "fastmode": 0}
    lines = "".join(f"{name}={value:g}\n" for name, value in values.items())
    (folder / "param.csdp").write_text(lines, encoding="ascii")
    return ["csdp", PROBLEM, SOLUTION]


@dataclass(frozen=True)
class Sdpa:
    """SDPA on one thread with tolerances tol, other settings by default."""

    name: str = "SDPA"
    install: str = "apt-get install sdpa"

    def version(self) -> str | None:
        path = on_path("sdpa")
        return path and banner([path, "--version"], "(Version")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
        form = _write_problem(model, limits, matrices=14)
        command = sdpa_command(limits.folder, tol)
        return ProgramTask(command, limits, _reader(form, read_result, "phase.value"))


def sdpa_command(folder: Path, tol: float) -> list[str]:
    """Write the parameters of SDPA for tolerances tol and return the command."""
    digits = "%+.16e"
    values = (100, tol, 1e2, 2.0, -1e5, 1e5, 0.1, 0.2, 0.9, tol, digits, "NOPRINT", digits)
    # SDPA skips lines unless a word follows each value.
    lines = "".join(f"{value} value\n" for value in (*values, "%+10.16e"))
    (folder / "param.sdpa").write_text(lines, encoding="ascii")
    return [
        *("sdpa", "-ds", PROBLEM, "-o", SOLUTION, "-p", "param.sdpa"),
        *("-numThreads", "1"),
    ]


@dataclass(frozen=True)
class Dsdp:
    """DSDP with gap tolerance tol, other settings by default."""

    name: str = "DSDP"
    install: str = "apt-get install dsdp libopenblas0-pthread"

    def version(self) -> str | None:
        """Return the version of the Debian package: the program prints none."""
        if on_path("dsdp5") is None:
            return None
        return banner(["dpkg-query", "-W", "dsdp"], "dsdp") or "unknown"

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
        form = _write_problem(model, limits, matrices=6)
        read = _reader(form, read_solution, "DSDP Converged", "DSDP Terminated")
        command = ["dsdp5", PROBLEM, "-save", SOLUTION, "-gaptol", f"{tol:g}"]
        return ProgramTask(command, limits, read)


def _reader(
    form: StandardForm, read_file: Callable[[Path, tuple[int, ...]], SdpaSolution], *markers: str
) -> Callable[[Path, str], PeerAnswer]:
    """Return a function that reads x and y from the file and the status from the log."""

    def read(folder: Path, log: str) -> PeerAnswer:
        solution = read_file(folder / SOLUTION, sdpa_of(form.program).sizes)
        message = last_line(log, *markers)
        return PeerAnswer(solution.X[0], form.dual(solution.z), message=message)

    return read


def _write_problem(model: Problem | Model, limits: Limits, *, matrices: int) -> StandardForm:
    """Write the standard form to a file; refuse it if p^2 + matrices n^2 numbers do not fit."""
    problem = problem_of(model)
    n, p = getattr(problem.X, "n", 0), problem.A.size
    require_memory(BYTES_PER_NUMBER * (p**2 + matrices * n**2), limits)
    form = standard_form(problem)
    write_sdpa(limits.folder / PROBLEM, sdpa_of(form.program))
    return form
