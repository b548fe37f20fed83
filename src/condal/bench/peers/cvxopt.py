"""CVXOPT: an interior-point method on the dual of the standard form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.bench.peers.peer import Answer, Limits, package_version, require_memory
from condal.bench.standard import NUMBER, Standard, standard
from condal.problem import Model, Problem, problem_of


@dataclass
class CvxoptTask:
    """minimise b'z, z_i >= 0 for inequalities, C + A'z psd: the multiplier of the last is x."""

    form: Standard
    run: Any
    found: Any = None

    def solve(self) -> None:
        """`conelp`."""
        self.found = self.run()

    def answer(self) -> Answer:
        """x, y from its multipliers; of x its lower triangle is meant."""
        if self.found["x"] is None or self.found["z"] is None:
            return Answer(said=str(self.found["status"]))
        slack, n = self.form.m - self.form.equalities, self.form.n
        columns = np.asarray(self.found["z"]).ravel()[slack:].reshape(n, n).T
        x = np.tril(columns) + np.tril(columns, -1).T
        y = self.form.dual(np.asarray(self.found["x"]).ravel())
        return Answer(x, y, said=str(self.found["status"]))


@dataclass(frozen=True)
class Cvxopt:
    """CVXOPT's `conelp`, its tolerances tol, else its defaults."""

    name: str = "CVXOPT"
    install: str = "pip install cvxopt"

    def version(self) -> str | None:
        """That of the package."""
        return package_version("cvxopt")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> CvxoptTask:
        """The cone program."""
        from cvxopt import matrix, solvers, spmatrix

        problem = problem_of(model)
        n, p = getattr(problem.X, "n", 0), problem.A.size
        # It scales its n^2 x m matrix as a dense one, and factors an m x m one.
        require_memory(NUMBER * (n**2 * p + p**2), limits)
        form = standard(problem)
        slack = form.m - form.equalities
        signs = sp.hstack([sp.csc_array((slack, form.equalities)), sp.identity(slack)])
        G = sp.coo_matrix(-sp.vstack([signs, form.rows.T]))
        C = form.C if isinstance(form.C, np.ndarray) else form.C.toarray()
        right = np.concatenate([np.zeros(slack), C.ravel()])
        sparse = spmatrix(G.data.tolist(), G.row.tolist(), G.col.tolist(), G.shape)
        dims = {"l": slack, "q": [], "s": [n]}
        options = {"show_progress": False, "abstol": tol, "reltol": tol, "feastol": tol}

        def run() -> Any:
            return solvers.conelp(matrix(form.b), sparse, matrix(right), dims, options=options)

        return CvxoptTask(form, run)
