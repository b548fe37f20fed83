"""CVXOPT: an interior-point method on the dual of the standard form."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal_lab.bench.peers.conic import Conic, DualProgram
from condal_lab.bench.peers.peer import CallTask, PeerAnswer
from condal_lab.bench.standard import StandardForm


def numbers(n: int, m: int) -> float:
    """CVXOPT scales an n^2 x m matrix as a dense one, and factors an m x m matrix."""
    return n**2 * m + m**2


def task(form: StandardForm, tol: float) -> CallTask:
    """Run `conelp` with tolerances tol and other settings by default."""
    from cvxopt import matrix, solvers, spmatrix

    C = form.C if isinstance(form.C, np.ndarray) else form.C.toarray()
    cone = DualProgram.of(form, form.rows.T, C.ravel())
    G = sp.coo_matrix(cone.G)
    sparse = spmatrix(G.data.tolist(), G.row.tolist(), G.col.tolist(), G.shape)
    dims = {"l": cone.slack, "q": [], "s": [form.n]}
    options = {"show_progress": False, "abstol": tol, "reltol": tol, "feastol": tol}

    def run() -> Any:
        return solvers.conelp(matrix(form.b), sparse, matrix(cone.right), dims, options=options)

    def read(output: Any) -> PeerAnswer:
        message = str(output["status"])
        if output["x"] is None or output["z"] is None:
            return PeerAnswer(message=message)
        columns = cone.psd(output["z"]).reshape(form.n, form.n).T
        x = np.tril(columns) + np.tril(columns, -1).T  # only its lower triangle is valid
        return PeerAnswer(x, cone.dual(output["x"]), message=message)

    return CallTask(run, read)


CVXOPT = Conic("CVXOPT", "cvxopt", numbers, task)
