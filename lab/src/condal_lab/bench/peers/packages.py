"""Python packages with interfaces of their own: condal with default options, COPT and Pymanopt; and
a yardstick, one dense eigenvalue decomposition."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

import numpy as np

import condal
from condal.linalg.points import LowRank
from condal.problem import Model, Problem, problem_of
from condal.problems.conic import ConicModel, conic_model
from condal.problems.conic.files import write_sdpa
from condal.result import Result
from condal_lab.bench.peers.files import PROBLEM, sdpa_of
from condal_lab.bench.peers.peer import (
    CallTask,
    Limits,
    Peer,
    PeerAnswer,
    Refusal,
    package_version,
    require_cut,
    standard_form,
)

SHARE_OF_TIME = 0.9  # of condal; the rest is for a last proof
SEED = 0  # of the starting point of Pymanopt


def _condal(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Solve with default options, including the certificate and, for a conic program, the bound on
    the trace. It stops a little before its CPU time is over, to show the gap that it reached.
    """

    def run() -> Result:
        # A conic model is built again, because users with a file pay for its bound too.
        fresh = conic_model(model.program) if isinstance(model, ConicModel) else model
        end = time.process_time() + SHARE_OF_TIME * limits.seconds
        solve = fresh.solve if isinstance(fresh, ConicModel) else partial(condal.solve, fresh)
        return solve(tol=tol, callback=lambda row: time.process_time() >= end)

    def read(result: Result) -> PeerAnswer:
        message = f"{result.status.name.lower()} by {result.method}"
        return PeerAnswer(result.x, result.y, message=message, certificate=result.certificate)

    return CallTask(run, read)


def _eigh(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Decompose a random symmetric matrix of the side of x; it solves nothing."""
    n = getattr(problem_of(model).X, "n", 0)
    a = np.random.default_rng(0).standard_normal((n, n))
    a += a.T
    return CallTask(lambda: np.linalg.eigh(a), lambda pairs: PeerAnswer(recovered=pairs))


def _copt(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Run an interior-point method on one thread with tolerances tol, other settings by default.

    Without a licence, it takes only up to 2000 rows.
    """
    import coptpy

    form = standard_form(problem_of(model))
    path = limits.folder / PROBLEM
    write_sdpa(path, sdpa_of(form.program))
    program = coptpy.Envr().createModel("condal")
    program.setParam("Logging", 0)
    program.setParam("Threads", 1)
    program.readSdpa(str(path))
    for name in ("RelGap", "FeasTol", "DualTol"):
        program.setParam(name, tol)

    def run() -> Any:
        try:
            program.solve()
        except coptpy.CoptError as error:
            if "size" in str(error).lower() or "license" in str(error).lower():
                raise Refusal("more than its free size, 2000 rows") from None
            raise
        return program

    def read(solved: Any) -> PeerAnswer:
        # COPT returns the lower triangle of x, column by column.
        n = form.n
        x = np.zeros((n, n))
        x.T[np.triu_indices(n)] = np.asarray(solved.getPsdSolution()[0])[: n * (n + 1) // 2]
        x += np.tril(x, -1).T
        y = form.dual(np.asarray(solved.getPsdDuals()))
        optimal = solved.status == coptpy.COPT.OPTIMAL
        return PeerAnswer(x, y, message="optimal" if optimal else f"status {solved.status}")

    return CallTask(run, read)


def _pymanopt(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Run a Riemannian trust region over x = R R', the rows of R unit vectors, of rank
    ceil(sqrt(2n)), to a gradient norm of tol |C|; the random start is not timed.
    """
    import pymanopt
    from pymanopt.manifolds import Oblique
    from pymanopt.optimizers import TrustRegions

    C = require_cut(model)
    n = C.shape[0]
    manifold = Oblique(math.ceil(math.sqrt(2 * n)), n)

    def cost(R: Any) -> float:
        return float(np.vdot(R.T, C @ R.T))

    def gradient(R: Any) -> Any:
        return 2 * (C @ R.T).T

    def hessian(R: Any, D: Any) -> Any:
        return 2 * (C @ D.T).T

    on_manifold = pymanopt.function.numpy(manifold)
    task = pymanopt.Problem(
        manifold,
        on_manifold(cost),
        euclidean_gradient=on_manifold(gradient),
        euclidean_hessian=on_manifold(hessian),
    )
    start = np.random.default_rng(SEED).standard_normal((manifold._m, n))
    start /= np.linalg.norm(start, axis=0)
    region = TrustRegions(
        min_gradient_norm=tol * problem_of(model).f.M.norm,
        max_iterations=10**6,
        max_time=float("inf"),
        verbosity=0,
    )

    def read(output: Any) -> PeerAnswer:
        R = np.ascontiguousarray(output.point.T)
        return PeerAnswer(LowRank(R, np.ones(R.shape[1])), message=output.stopping_criterion)

    return CallTask(lambda: region.run(task, initial_point=start), read)


OURS = Peer("condal", "pip install condal", lambda: condal.__version__, _condal)
EIGH = Peer("eigh", "pip install numpy", lambda: np.__version__, _eigh)
COPT = Peer("COPT", "pip install coptpy", lambda: package_version("coptpy"), _copt)
PYMANOPT = Peer("Pymanopt", "pip install pymanopt", lambda: package_version("pymanopt"), _pymanopt)
