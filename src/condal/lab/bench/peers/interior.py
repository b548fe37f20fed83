"""CSDP, SDPA and DSDP: interior-point programs that read and write files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from condal.io.formats.sdpa import write_sdpa
from condal.io.formats.sdpa_solution import read_result, read_solution
from condal.lab.bench.peers.files import (
    PROBLEM,
    SOLUTION,
    Program,
    banner,
    last_line,
    on_path,
    sdpa_problem,
    solved,
)
from condal.lab.bench.peers.peer import Limits, PeerAnswer, require_memory
from condal.lab.bench.standard import NUMBER, Standard, standard
from condal.problem import Model, Problem, problem_of


@dataclass(frozen=True)
class Csdp:
    """CSDP, its tolerances tol, else its defaults."""

    name: str = "CSDP"
    install: str = "apt-get install coinor-csdp libopenblas0-pthread"

    def version(self) -> str | None:
        """From its banner."""
        path = on_path("csdp")
        return path and banner([path], "CSDP ")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> Program:
        """The file, and `param.csdp` beside it."""
        form = _written(model, limits, matrices=15)
        # The two further tolerances are of infeasibility certificates.
        values = {"axtol": tol, "atytol": tol, "objtol": tol, "pinftol": 1e8, "dinftol": 1e8}
        values |= {"maxiter": 100, "minstepfrac": 0.9, "maxstepfrac": 0.97, "minstepp": 1e-8}
        values |= {"minstepd": 1e-8, "usexzgap": 1, "tweakgap": 0, "affine": 0, "printlevel": 1}
        values |= {"perturbobj": 1, "fastmode": 0}
        lines = "".join(f"{name}={value:g}\n" for name, value in values.items())
        (limits.folder / "param.csdp").write_text(lines, encoding="ascii")

        def read(folder: Path, log: str) -> PeerAnswer:
            solution = read_solution(folder / SOLUTION, sdpa_problem(form).sizes)
            return solved(form, solution, last_line(log, "Success", "Failure", "Declaring"))

        return Program(["csdp", PROBLEM, SOLUTION], limits, read)


@dataclass(frozen=True)
class Sdpa:
    """SDPA, one thread, its tolerances tol, else its default parameters."""

    name: str = "SDPA"
    install: str = "apt-get install sdpa"

    def version(self) -> str | None:
        """From `sdpa --version`."""
        path = on_path("sdpa")
        return path and banner([path, "--version"], "(Version")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> Program:
        """The file, and its parameters, with all digits printed."""
        form = _written(model, limits, matrices=14)
        digits = "%+.16e"
        values = (100, tol, 1e2, 2.0, -1e5, 1e5, 0.1, 0.2, 0.9, tol, digits, "NOPRINT", digits)
        # Without a word after each value SDPA skips lines.
        lines = "".join(f"{value} value\n" for value in (*values, "%+10.16e"))
        (limits.folder / "param.sdpa").write_text(lines, encoding="ascii")

        def read(folder: Path, log: str) -> PeerAnswer:
            solution = read_result(folder / SOLUTION, sdpa_problem(form).sizes)
            return solved(form, solution, last_line(log, "phase.value"))

        files = ["-ds", PROBLEM, "-o", SOLUTION, "-p", "param.sdpa", "-numThreads", "1"]
        return Program(["sdpa", *files], limits, read)


@dataclass(frozen=True)
class Dsdp:
    """DSDP, its gap tolerance tol, else its defaults."""

    name: str = "DSDP"
    install: str = "apt-get install dsdp libopenblas0-pthread"

    def version(self) -> str | None:
        """That of the Debian package: the program prints none."""
        if on_path("dsdp5") is None:
            return None
        found = banner(["dpkg-query", "-W", "dsdp"], "dsdp")
        return found or "unknown"

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> Program:
        """The file."""
        form = _written(model, limits, matrices=6)

        def read(folder: Path, log: str) -> PeerAnswer:
            solution = read_solution(folder / SOLUTION, sdpa_problem(form).sizes)
            return solved(form, solution, last_line(log, "DSDP Converged", "DSDP Terminated"))

        return Program(["dsdp5", PROBLEM, "-save", SOLUTION, "-gaptol", f"{tol:g}"], limits, read)


def _written(model: Problem | Model, limits: Limits, *, matrices: int) -> Standard:
    """The standard form, in a file; refused if m^2 and so many n^2 are too much."""
    problem = problem_of(model)
    n, p = getattr(problem.X, "n", 0), problem.A.size
    require_memory(NUMBER * (p**2 + matrices * n**2), limits)
    form = standard(problem)
    write_sdpa(limits.folder / PROBLEM, sdpa_problem(form))
    return form
