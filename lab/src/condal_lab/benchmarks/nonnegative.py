"""Doubly nonnegative programs: theta+ and quadratic assignment, from the G set and QAPLIB."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from condal.io.formats import read_graph, read_qaplib
from condal.problems import QuadraticAssignment, quadratic_assignment, theta
from condal_lab.benchmarks.instance import DATA, Instance, modelled
from condal_lab.benchmarks.programs import Make, engines

TIGHT = 0.1  # times the usual tolerance and goal


def theta_plus(name: str) -> Instance:
    """Theta+ of a graph of the G set, to a tenth of the usual tolerance."""
    W = read_graph(DATA / "gset" / f"{name}.txt.xz")
    instance = modelled(
        f"theta+ of {name}, n = {W.shape[0]}", lambda: theta(W, theta_plus=True), {}
    )

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        return instance.ours(TIGHT * tol, max_seconds)

    return replace(instance, ours=ours, goal=TIGHT * instance.goal)


def assignment(name: str, *rivals: str) -> Instance:
    """The relaxation of an instance of QAPLIB."""
    with tarfile.open(DATA / "qaplib" / "qaplib_dat_sln.tar.xz") as archive:
        file = archive.extractfile(f"./{name}.dat")
        assert file is not None
        with TemporaryDirectory() as folder:
            path = Path(folder, f"{name}.dat")
            path.write_bytes(file.read())
            data = read_qaplib(path)
    return _relaxed(name, data.A, data.B, *rivals)


def random_assignment(n: int, *rivals: str) -> Instance:
    """Whole numbers below 9."""
    A, B = np.random.default_rng(0).integers(0, 9, (2, n, n)).astype(float)
    return _relaxed(f"n = {n}", A, B, *rivals)


def _relaxed(name: str, A: Any, B: Any, *rivals: str) -> Instance:
    return modelled(
        f"quadratic assignment, {name}",
        lambda: quadratic_assignment(A, B),
        engines(relaxation(quadratic_assignment(A, B)), *rivals),
    )


def relaxation(model: QuadraticAssignment) -> Make:
    """Return the relaxation of de Klerk and Sotirov (2010): equivalent, and without a face."""

    def make(cp: Any) -> Any:
        n = model.n
        i, p = np.divmod(np.arange(n * n), n)
        zero = (i[:, None] == i) != (p[:, None] == p)
        x = cp.Variable((n * n, n * n), PSD=True)
        d = cp.diag(x)
        rows = [cp.sum(d[i == k]) == 1 for k in range(n)]
        columns = [cp.sum(d[p == k]) == 1 for k in range(n)]
        constraints = [cp.sum(x) == n * n, x[zero] == 0, x >= 0, *rows, *columns]
        return cp.Minimize(cp.sum(cp.multiply(model.cost_matrix.toarray(), x))), x, constraints

    return make
