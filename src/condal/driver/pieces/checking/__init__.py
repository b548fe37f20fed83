"""Checks of a problem, of the user's own pieces above all, before it is solved."""

from __future__ import annotations

import numpy as np

from condal.driver.pieces.checking.functions import check_function, check_objective
from condal.driver.pieces.checking.linear import check_domain, check_map
from condal.driver.pieces.checking.notes import Check, Notes, Report
from condal.driver.pieces.checking.samples import Samples
from condal.driver.pieces.guards import guarded
from condal.driver.pieces.letters import rows_of
from condal.errors import PieceError, ProblemError
from condal.problem import Model, Problem, problem_of
from condal.runtime.arguments import require_positive, require_whole

__all__ = ["Check", "Report", "check_problem"]


def check_problem(model: Problem | Model, *, seed: int = 0, tol: float = 1e-6) -> Report:
    """The laws that the pieces of a problem must obey, tried on random points.

    The adjoints of A, B and M, and their norms; the gradient of f against differences of its
    values, its convexity and its L; the prox of K and g, and that conjugates and supports fit; that
    the oracle of X gives members that are optimal among those tried, the bound is one, and the
    diameter is true; shapes, NaN, the same answer twice, and arguments that stay as they are.

    Parameters
    ----------
    model : a `Problem`, or a model that has one.
    seed : of the points.
    tol : the largest relative error that passes; ProblemError names a piece that has a larger one.
    """
    require_whole(seed, "seed", least=0)
    require_positive(tol, "tol")
    rng, notes = np.random.default_rng(seed), Notes()
    try:
        problem = guarded(problem_of(model))
        samples = Samples.of(problem, rng)
        # What f is made of comes first: its gradients are what the domain is tried on.
        check_map("M", problem.f.M, samples, notes, tol=tol, rng=rng)
        check_domain(problem.X, samples, notes, tol=tol, seed=seed)
        check_objective(problem.f, samples, notes, tol=tol)
        for A, h, (of_map, of_function) in rows_of(problem.A, problem.h):
            check_map(of_map, A, samples, notes, tol=tol, rng=rng)
            images = [A(x) for x in samples.points]
            check_function(of_function, h, images, notes, tol=tol, rng=rng)
    except PieceError as error:
        raise ProblemError(str(error)) from error
    return notes.report(problem.name)
