"""Pymanopt: a Riemannian trust region over x = R R', the rows of R unit vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.linalg.points import LowRank
from condal.problem import Model, Problem, problem_of
from condal_lab.bench.peers.peer import CallTask, Limits, PeerAnswer, package_version, require_cut

SEED = 0


@dataclass(frozen=True)
class Pymanopt:
    """Pymanopt's trust region, rank ceil(sqrt(2n)), to a gradient norm of tol |C|."""

    name: str = "Pymanopt"
    install: str = "pip install pymanopt"

    def version(self) -> str | None:
        return package_version("pymanopt")

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> CallTask:
        """Build the problem on the oblique manifold; the random start is not timed."""
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
