"""SDPLR, LoRADS and the Mixing method: programs that optimise a factor of x."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from condal.io.formats.answers import read_factors
from condal.io.formats.coordinate import write_rudy
from condal.linalg.points import LowRank
from condal.problem import Model, Problem, problem_of
from condal.problems.conic.files import write_sdpa
from condal_lab.bench.peers.files import (
    PROBLEM,
    SOLUTION,
    ProgramTask,
    last_line,
    on_path,
    sdpa_of,
)
from condal_lab.bench.peers.peer import Limits, PeerAnswer, TimeExceeded, require_cut
from condal_lab.bench.standard import StandardForm, standard_form

_CLAIM = re.compile(r"Primal Objective:\s*:?\s*([-+.\deE]+)")


@dataclass(frozen=True)
class Sdplr:
    """SDPLR with feasibility and gap tolerances tol, other settings by default."""

    name: str = "SDPLR"
    install: str = "build github.com/sburer/sdplr, and put `sdplr` on the PATH"

    def version(self) -> str | None:
        return on_path("sdplr") and "unknown"

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
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


@dataclass(frozen=True)
class Lorads:
    """LoRADS with final tolerance tol, other settings by default; it writes no solution.

    Its build for Linux counts the n (n + 1) / 2 entries of x in 32 bits. Above n = 46,340 it ends
    at once with code 0 and no value.
    """

    name: str = "LoRADS"
    install: str = "build github.com/COPT-Public/LoRADS, and put `lorads` on the PATH"

    def version(self) -> str | None:
        return on_path("lorads") and "unknown"

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
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


@dataclass(frozen=True)
class Mixing:
    """The Mixing method (max-cut only) with threshold tol, other settings by default."""

    name: str = "mixing"
    install: str = "build github.com/locuslab/mixing, and put `mixing` on the PATH"

    def version(self) -> str | None:
        return on_path("mixing") and "unknown"

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ProgramTask:
        """Write the graph whose weights are the entries of 4 C off the diagonal."""
        W = 4.0 * sp.csr_array(require_cut(model))
        W = sp.csr_array(W - sp.dia_array((W.diagonal()[None, :], [0]), shape=W.shape))
        W.eliminate_zeros()
        write_rudy(limits.folder / "graph", W)

        def read(folder: Path, log: str) -> PeerAnswer:
            R = np.loadtxt(folder / "graph.sol", ndmin=2)
            return PeerAnswer(LowRank(R, np.ones(R.shape[1])), message=last_line(log, "iter"))

        options = ["-s", "maxcut", "-e", f"{tol:g}", "-t", "max"]
        return ProgramTask(["mixing", *options, "graph"], limits, read)


def read_factor(path: Path, form: StandardForm) -> PeerAnswer:
    """Read x = R R' and y from SDPLR's solution."""
    solution = read_factors(path, sdpa_of(form.program).sizes, form.m)
    return PeerAnswer(solution.X[0], form.dual(solution.z))
