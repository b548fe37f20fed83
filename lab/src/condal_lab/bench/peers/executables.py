"""Programs that read and write files, with tolerances tol and other settings by default: CSDP, SDPA
and DSDP, which are interior-point methods, and SDPLR, LoRADS and the Mixing method, which optimise
a factor of x."""

from __future__ import annotations

import json
import re
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
from condal.io.formats.answers import SdpaSolution, read_factors, read_result, read_solution
from condal.io.formats.coordinate import write_rudy
from condal.linalg.points import LowRank
from condal.problem import Model, Problem, problem_of
from condal.problems.conic.files import SdpaProblem, write_sdpa
from condal.problems.conic.program import Program
from condal_lab.bench import launch
from condal_lab.bench.peers.peer import (
    Ask,
    ConeAnswer,
    Limits,
    Peer,
    PeerAnswer,
    Prepare,
    ReadCone,
    Refusal,
    StandardForm,
    TimeExceeded,
    Usage,
    require_cut,
    standard_form,
)

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


_CLAIM = re.compile(r"Primal Objective:\s*:?\s*([-+.\deE]+)")


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


def sdpa_command(folder: Path, tol: float) -> list[str]:
    """Write the parameters of SDPA for tolerances tol and return the command, on one thread."""
    digits = "%+.16e"
    values = (100, tol, 1e2, 2.0, -1e5, 1e5, 0.1, 0.2, 0.9, tol, digits, "NOPRINT", digits)
    # SDPA skips lines unless a word follows each value.
    lines = "".join(f"{value} value\n" for value in (*values, "%+10.16e"))
    (folder / "param.sdpa").write_text(lines, encoding="ascii")
    return [
        *("sdpa", "-ds", PROBLEM, "-o", SOLUTION, "-p", "param.sdpa"),
        *("-numThreads", "1"),
    ]


def _dsdp_command(folder: Path, tol: float) -> list[str]:
    return ["dsdp5", PROBLEM, "-save", SOLUTION, "-gaptol", f"{tol:g}"]


# What the programs print, and what it says about maximise <F_0, X> subject to <F_i, X> = b_i.
CSDP_SAYS = {
    "Partial Success": "reduced accuracy",
    "Success: SDP solved": "optimal",
    "Success: SDP is primal infeasible": "infeasible",
    "Success: SDP is dual infeasible": "unbounded",
}
SDPA_SAYS = {"pdOPT": "optimal", "pUNBD": "infeasible", "dUNBD": "unbounded"}


def _by_files(
    command: Callable[[Path, float], list[str]],
    read_file: Callable[[Path, tuple[int, ...]], SdpaSolution],
    says: dict[str, str],
) -> Ask:
    """Return a function that writes a program for a command, and reads the answer from a file; the
    log says the status, or ends with another word."""

    def ask(program: Program, tol: float, limits: Limits, read: ReadCone) -> ProgramTask:
        problem = sdpa_of(program)
        write_sdpa(limits.folder / PROBLEM, problem)

        def read_files(folder: Path, log: str) -> PeerAnswer:
            said = (word for text, word in says.items() if text in log)
            verdict = next(said, last_line(log, ""))
            if verdict in ("infeasible", "unbounded"):
                return read(ConeAnswer(verdict))
            solution = read_file(folder / SOLUTION, problem.sizes)
            return read(ConeAnswer(verdict, solution.X, solution.z))

        return ProgramTask(command(limits.folder, tol), limits, read_files)

    return ask


def _sdplr(model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
    form = standard_form(problem_of(model))
    write_sdpa(limits.folder / PROBLEM, sdpa_of(form.program))
    values = {"Input type": 1, "Feasibility tolerance": tol, "Centrality tolerance": 0.1}
    values |= {"Penalty factor increase": 2.0, "Rank reduction": 0}
    values |= {"Time limit": round(limits.seconds) + 1, "Print level": 1}
    values |= {"Dimension threshold for dense matrices": 10}
    values |= {"Density threshold for dense matrices": 0.75, "Number of LBFGS vectors": 4}
    values |= {"Rank tolerance": 2.2e-16, "Duality gap tolerance": tol}
    values |= {"Check dual bound": -1, "Dual bound type": 1}
    lines = "".join(f"{name} : {value:g}\n" for name, value in values.items())
    (limits.folder / "params").write_text(lines, encoding="ascii")
    return ProgramTask(
        # The third file would be a starting point; there is none.
        ["sdplr", PROBLEM, "params", "none", SOLUTION],
        limits,
        lambda folder, log: read_factor(folder / SOLUTION, form),
    )


def read_factor(path: Path, form: StandardForm) -> PeerAnswer:
    """Read x = R R' and y from SDPLR's solution."""
    solution = read_factors(path, sdpa_of(form.program).sizes, form.m)
    return PeerAnswer(solution.X[0], form.dual(solution.z))


def _lorads(model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
    """Run LoRADS with final tolerance tol; it writes no solution.

    Its build for Linux counts the n (n + 1) / 2 entries of x in 32 bits. Above n = 46,340 it ends
    at once with code 0 and no value.
    """
    problem = problem_of(model)
    write_sdpa(limits.folder / PROBLEM, sdpa_of(standard_form(problem).program))

    def read(folder: Path, log: str) -> PeerAnswer:
        end = last_line(log, "End Program")
        if "time limit" in end:  # the values that follow are those of an unfinished iterate
            raise TimeExceeded(f"no answer within {limits.seconds:g} s")
        claims = _CLAIM.findall(log)
        claim = problem.sense * float(claims[-1]) if claims else None
        return PeerAnswer(claim=claim, message=end.rstrip(":"))

    tolerances = ["--phase1Tol", f"{max(tol, 1e-3):g}", "--phase2Tol", f"{tol:g}"]
    limit = ["--timeSecLimit", f"{limits.seconds:g}"]
    return ProgramTask(["lorads", PROBLEM, *tolerances, *limit], limits, read)


def _mixing(model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
    """Write the graph whose weights are the entries of 4 C off the diagonal: max-cut only."""
    W = 4.0 * sp.csr_array(require_cut(model))
    W = sp.csr_array(W - sp.dia_array((W.diagonal()[None, :], [0]), shape=W.shape))
    W.eliminate_zeros()
    write_rudy(limits.folder / "graph", W)

    def read(folder: Path, log: str) -> PeerAnswer:
        R = np.loadtxt(folder / "graph.sol", ndmin=2)
        return PeerAnswer(LowRank(R, np.ones(R.shape[1])), message=last_line(log, "iter"))

    options = ["-s", "maxcut", "-e", f"{tol:g}", "-t", "max"]
    return ProgramTask(["mixing", *options, "graph"], limits, read)


def _built(name: str, home: str, program: str, prepare: Prepare) -> Peer:
    """Return a program that is built from its sources, and prints no version."""
    install = f"build github.com/{home}, and put `{program}` on the PATH"
    return Peer(name, install, lambda: on_path(program) and "unknown", prepare)


EXECUTABLES = (
    Peer(
        "CSDP",
        "apt-get install coinor-csdp libopenblas0-pthread",
        lambda: on_path("csdp") and banner(["csdp"], "CSDP "),
        ask=_by_files(csdp_command, read_solution, CSDP_SAYS),
        numbers=lambda n, m: m**2 + 15 * n**2,
    ),
    Peer(
        "SDPA",
        "apt-get install sdpa",
        lambda: on_path("sdpa") and banner(["sdpa", "--version"], "(Version"),
        ask=_by_files(sdpa_command, read_result, SDPA_SAYS),
        numbers=lambda n, m: m**2 + 14 * n**2,
    ),
    Peer(
        "DSDP",  # it prints no version: that of the Debian package counts
        "apt-get install dsdp libopenblas0-pthread",
        lambda: on_path("dsdp5") and (banner(["dpkg-query", "-W", "dsdp"], "dsdp") or "unknown"),
        ask=_by_files(_dsdp_command, read_solution, {"DSDP Converged": "optimal"}),
        numbers=lambda n, m: m**2 + 6 * n**2,
    ),
    _built("LoRADS", "COPT-Public/LoRADS", "lorads", _lorads),
    _built("SDPLR", "sburer/sdplr", "sdplr", _sdplr),
    _built("mixing", "locuslab/mixing", "mixing", _mixing),
)
