"""COPT: an interior-point method; without a licence, up to the size that it gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.io.formats.sdpa import write_sdpa
from condal.lab.bench.peers.files import sdpa_problem
from condal.lab.bench.peers.peer import Limits, PeerAnswer, Refusal, package_version
from condal.lab.bench.standard import Standard, standard
from condal.problem import Model, Problem, problem_of


@dataclass
class CoptTask:
    """The model, read from a file."""

    form: Standard
    model: Any

    def solve(self) -> None:
        """The solve, or its refusal of the size."""
        import coptpy

        try:
            self.model.solve()
        except coptpy.CoptError as error:
            if "size" in str(error).lower() or "license" in str(error).lower():
                raise Refusal("more than its free size, 2000 rows") from None
            raise

    def answer(self) -> PeerAnswer:
        """x, y; x comes as its lower triangle, column by column."""
        import coptpy

        n = self.form.n
        triangle = np.asarray(self.model.getPsdSolution()[0])[: n * (n + 1) // 2]
        x = np.zeros((n, n))
        x.T[np.triu_indices(n)] = triangle
        x += np.tril(x, -1).T
        y = self.form.dual(np.asarray(self.model.getPsdDuals()))
        optimal = self.model.status == coptpy.COPT.OPTIMAL
        return PeerAnswer(x, y, said="optimal" if optimal else f"status {self.model.status}")


@dataclass(frozen=True)
class Copt:
    """COPT, one thread, its tolerances tol, else its defaults."""

    name: str = "COPT"
    install: str = "pip install coptpy"

    def version(self) -> str | None:
        """That of the package."""
        return package_version("coptpy")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> CoptTask:
        """The model, by way of a file."""
        import coptpy

        form = standard(problem_of(model))
        path = limits.folder / "problem.dat-s"
        write_sdpa(path, sdpa_problem(form))
        task = coptpy.Envr().createModel("condal")
        task.setParam("Logging", 0)
        task.setParam("Threads", 1)
        task.readSdpa(str(path))
        for name in ("RelGap", "FeasTol", "DualTol"):
            task.setParam(name, tol)
        return CoptTask(form, task)
