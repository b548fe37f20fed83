"""Clarabel: an interior-point method on the dual of the standard form."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from condal.lab.bench.peers.conic import Cone, Conic, ConicTask
from condal.lab.bench.peers.peer import PeerAnswer
from condal.lab.bench.standard import Standard


def numbers(n: int, m: int) -> float:
    """The scaling of the psd cone is a dense block of half the square of n(n + 1)/2."""
    return (n * (n + 1) / 2) ** 2


def task(form: Standard, tol: float) -> ConicTask:
    """One thread, its gap and feasibility tolerances tol, else its defaults."""
    import clarabel

    cone = Cone.of(form, *form.triangle(upper=True))
    G, none = sp.csc_matrix(cone.G), sp.csc_matrix((form.m, form.m))
    cones = [clarabel.NonnegativeConeT(cone.slack)] if cone.slack else []
    cones.append(clarabel.PSDTriangleConeT(form.n))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol

    def run() -> Any:
        return clarabel.DefaultSolver(none, form.b, G, cone.right, cones, settings).solve()

    def read(found: Any) -> PeerAnswer:
        x = form.whole(cone.psd(found.z), upper=True)
        return PeerAnswer(x, cone.dual(found.x), said=str(found.status))

    return ConicTask(run, read)


CLARABEL = Conic("Clarabel", "clarabel", numbers, task)
