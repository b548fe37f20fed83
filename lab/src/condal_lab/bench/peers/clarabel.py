"""Clarabel: an interior-point method on the dual of the standard form."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from condal_lab.bench.peers.conic import Conic, DualProgram
from condal_lab.bench.peers.peer import CallTask, PeerAnswer
from condal_lab.bench.standard import StandardForm


def numbers(n: int, m: int) -> float:
    """The scaling of the psd cone is a dense matrix of side n(n + 1)/2."""
    return (n * (n + 1) / 2) ** 2


def task(form: StandardForm, tol: float) -> CallTask:
    """Run on one thread, with gap and feasibility tolerances tol and other settings by default."""
    import clarabel

    cone = DualProgram.of(form, *form.triangle(upper=True))
    G, none = sp.csc_matrix(cone.G), sp.csc_matrix((form.m, form.m))
    cones = [clarabel.NonnegativeConeT(cone.slack)] if cone.slack else []
    cones.append(clarabel.PSDTriangleConeT(form.n))
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol

    def run() -> Any:
        return clarabel.DefaultSolver(none, form.b, G, cone.right, cones, settings).solve()

    def read(output: Any) -> PeerAnswer:
        x = form.whole(cone.psd(output.z), upper=True)
        return PeerAnswer(x, cone.dual(output.x), message=str(output.status))

    return CallTask(run, read)


CLARABEL = Conic("Clarabel", "clarabel", numbers, task)
