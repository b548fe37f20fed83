"""Clarabel: an interior-point method on the dual of the standard form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.bench.peers.peer import Answer, Limits, package_version, require_memory
from condal.bench.standard import NUMBER, Standard, standard
from condal.problem import Model, Problem, problem_of


@dataclass
class ClarabelTask:
    """minimise b'z, z_i >= 0 for inequalities, C + A'z psd: the multiplier of the last is x."""

    form: Standard
    run: Any
    found: Any = None

    def solve(self) -> None:
        """Set-up and iterations."""
        self.found = self.run()

    def answer(self) -> Answer:
        """x, y from its multipliers."""
        slack = self.form.m - self.form.equalities
        x = self.form.whole(np.asarray(self.found.z)[slack:], upper=True)
        y = self.form.dual(np.asarray(self.found.x))
        return Answer(x, y, said=str(self.found.status))


@dataclass(frozen=True)
class Clarabel:
    """Clarabel, one thread, its gap and feasibility tolerances tol, else its defaults."""

    name: str = "Clarabel"
    install: str = "pip install clarabel"

    def version(self) -> str | None:
        """That of the package."""
        return package_version("clarabel")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ClarabelTask:
        """The cone program."""
        import clarabel

        problem = problem_of(model)
        n = getattr(problem.X, "n", 0)
        # The scaling of the psd cone is a dense block of half the square of n(n + 1)/2.
        require_memory(NUMBER * (n * (n + 1) / 2) ** 2, limits)
        form = standard(problem)
        A, cost, slack = *form.triangle(upper=True), form.m - form.equalities
        signs = sp.hstack([sp.csc_array((slack, form.equalities)), sp.identity(slack)])
        constraints = sp.csc_matrix(-sp.vstack([signs, A]))
        right = np.concatenate([np.zeros(slack), cost])
        cones = [clarabel.NonnegativeConeT(slack)] if slack else []
        cones.append(clarabel.PSDTriangleConeT(form.n))
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        none = sp.csc_matrix((form.m, form.m))

        def run() -> Any:
            solver = clarabel.DefaultSolver(none, form.b, constraints, right, cones, settings)
            return solver.solve()

        return ClarabelTask(form, run)
