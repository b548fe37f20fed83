"""SCS: operator splitting on the dual of the standard form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.bench.peers.peer import Answer, Limits, package_version, require_memory
from condal.bench.standard import NUMBER, Standard, standard
from condal.problem import Model, Problem, problem_of

VECTORS = 25  # of the length of the data, that its workspace amounts to


@dataclass
class ScsTask:
    """minimise b'z, z_i >= 0 for inequalities, C + A'z psd: the multiplier of the last is x."""

    form: Standard
    solver: Any
    found: Any = None

    def solve(self) -> None:
        """Set-up, with its factorisation, and iterations."""
        self.found = self.solver()

    def answer(self) -> Answer:
        """x, y from its multipliers."""
        slack = self.form.m - self.form.equalities
        x = self.form.whole(np.asarray(self.found["y"])[slack:], upper=False)
        y = self.form.dual(np.asarray(self.found["x"]))
        return Answer(x, y, said=str(self.found["info"]["status"]))


@dataclass(frozen=True)
class Scs:
    """SCS, eps_abs = eps_rel = tol, else its defaults."""

    name: str = "SCS"
    install: str = "pip install scs"

    def version(self) -> str | None:
        """That of the package."""
        return package_version("scs")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ScsTask:
        """The cone program."""
        import scs

        problem = problem_of(model)
        triangle = getattr(problem.X, "n", 0) * (getattr(problem.X, "n", 0) + 1) / 2
        require_memory(NUMBER * VECTORS * (triangle + problem.A.size), limits)
        form = standard(problem)
        A, cost, slack = *form.triangle(upper=False), form.m - form.equalities
        signs = sp.hstack([sp.csc_array((slack, form.equalities)), sp.identity(slack)])
        data = {
            "A": sp.csc_matrix(-sp.vstack([signs, A])),
            "b": np.concatenate([np.zeros(slack), cost]),
            "c": form.b,
        }
        cone = {"l": slack, "s": [form.n]}

        def run() -> Any:
            return scs.SCS(data, cone, eps_abs=tol, eps_rel=tol, verbose=False).solve()

        return ScsTask(form, run)
