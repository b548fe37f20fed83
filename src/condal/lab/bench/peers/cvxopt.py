"""CVXOPT: an interior-point method on the dual of the standard form."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.lab.bench.peers.conic import Cone, Conic, ConicTask
from condal.lab.bench.peers.peer import PeerAnswer
from condal.lab.bench.standard import Standard


def numbers(n: int, m: int) -> float:
    """It scales its n^2 x m matrix as a dense one, and factors an m x m one."""
    return n**2 * m + m**2


def task(form: Standard, tol: float) -> ConicTask:
    """`conelp`, its tolerances tol, else its defaults."""
    from cvxopt import matrix, solvers, spmatrix

    C = form.C if isinstance(form.C, np.ndarray) else form.C.toarray()
    cone = Cone.of(form, form.rows.T, C.ravel())
    G = sp.coo_matrix(cone.G)
    sparse = spmatrix(G.data.tolist(), G.row.tolist(), G.col.tolist(), G.shape)
    dims = {"l": cone.slack, "q": [], "s": [form.n]}
    options = {"show_progress": False, "abstol": tol, "reltol": tol, "feastol": tol}

    def run() -> Any:
        return solvers.conelp(matrix(form.b), sparse, matrix(cone.right), dims, options=options)

    def read(found: Any) -> PeerAnswer:
        said = str(found["status"])
        if found["x"] is None or found["z"] is None:
            return PeerAnswer(said=said)
        columns = cone.psd(found["z"]).reshape(form.n, form.n).T
        x = np.tril(columns) + np.tril(columns, -1).T  # its lower triangle is what is meant
        return PeerAnswer(x, cone.dual(found["x"]), said=said)

    return ConicTask(run, read)


CVXOPT = Conic("CVXOPT", "cvxopt", numbers, task)
