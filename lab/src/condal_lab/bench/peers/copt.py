"""COPT: an interior-point method; without a licence, only up to 2000 rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.problem import Model, Problem, problem_of
from condal.problems.conic.files import write_sdpa
from condal_lab.bench.peers.files import PROBLEM, sdpa_of
from condal_lab.bench.peers.peer import CallTask, Limits, PeerAnswer, Refusal, package_version
from condal_lab.bench.standard import standard_form


@dataclass(frozen=True)
class Copt:
    """COPT on one thread with tolerances tol, other settings by default."""

    name: str = "COPT"
    install: str = "pip install coptpy"

    def version(self) -> str | None:
        return package_version("coptpy")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> CallTask:
        import coptpy

        form = standard_form(problem_of(model))
        path = limits.folder / PROBLEM
        write_sdpa(path, sdpa_of(form.program))
        program = coptpy.Envr().createModel("condal")
        program.setParam("Logging", 0)
        program.setParam("Threads", 1)
        program.readSdpa(str(path))
        for name in ("RelGap", "FeasTol", "DualTol"):
            program.setParam(name, tol)

        def run() -> Any:
            try:
                program.solve()
            except coptpy.CoptError as error:
                if "size" in str(error).lower() or "license" in str(error).lower():
                    raise Refusal("more than its free size, 2000 rows") from None
                raise
            return program

        def read(solved: Any) -> PeerAnswer:
            # COPT returns the lower triangle of x, column by column.
            n = form.n
            x = np.zeros((n, n))
            x.T[np.triu_indices(n)] = np.asarray(solved.getPsdSolution()[0])[: n * (n + 1) // 2]
            x += np.tril(x, -1).T
            y = form.dual(np.asarray(solved.getPsdDuals()))
            optimal = solved.status == coptpy.COPT.OPTIMAL
            return PeerAnswer(x, y, message="optimal" if optimal else f"status {solved.status}")

        return CallTask(run, read)
