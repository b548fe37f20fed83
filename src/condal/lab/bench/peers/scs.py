"""SCS: operator splitting on the dual of the standard form."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from condal.lab.bench.peers.conic import Cone, Conic, ConicTask
from condal.lab.bench.peers.peer import PeerAnswer
from condal.lab.bench.standard import Standard

VECTORS = 25  # of the length of the data, that its workspace amounts to


def numbers(n: int, m: int) -> float:
    """Vectors as long as the triangle of x and the rows."""
    return VECTORS * (n * (n + 1) / 2 + m)


def task(form: Standard, tol: float) -> ConicTask:
    """eps_abs = eps_rel = tol, else its defaults; its set-up, with its factorisation, is timed."""
    import scs

    cone = Cone.of(form, *form.triangle(upper=False))
    data = {"A": sp.csc_matrix(cone.G), "b": cone.right, "c": form.b}
    cones = {"l": cone.slack, "s": [form.n]}

    def run() -> Any:
        return scs.SCS(data, cones, eps_abs=tol, eps_rel=tol, verbose=False).solve()

    def read(found: Any) -> PeerAnswer:
        x = form.whole(cone.psd(found["y"]), upper=False)
        return PeerAnswer(x, cone.dual(found["x"]), said=str(found["info"]["status"]))

    return ConicTask(run, read)


SCS = Conic("SCS", "scs", numbers, task)
