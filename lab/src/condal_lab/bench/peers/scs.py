"""SCS: operator splitting on the dual of the standard form."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from condal_lab.bench.peers.conic import Conic, DualProgram
from condal_lab.bench.peers.peer import CallTask, PeerAnswer
from condal_lab.bench.standard import StandardForm

WORK_VECTORS = 25  # of the length of the data, in the workspace of SCS


def numbers(n: int, m: int) -> float:
    """The workspace vectors are as long as the triangle of x and the rows."""
    return WORK_VECTORS * (n * (n + 1) / 2 + m)


def task(form: StandardForm, tol: float) -> CallTask:
    """Run with eps_abs = eps_rel = tol; the time includes the set-up and its factorisation."""
    import scs

    cone = DualProgram.of(form, *form.triangle(upper=False))
    data = {"A": sp.csc_matrix(cone.G), "b": cone.right, "c": form.b}
    cones = {"l": cone.slack, "s": [form.n]}

    def run() -> Any:
        return scs.SCS(data, cones, eps_abs=tol, eps_rel=tol, verbose=False).solve()

    def read(output: Any) -> PeerAnswer:
        x = form.whole(cone.psd(output["y"]), upper=False)
        return PeerAnswer(x, cone.dual(output["x"]), message=str(output["info"]["status"]))

    return CallTask(run, read)


SCS = Conic("SCS", "scs", numbers, task)
