"""Checks of the laws that the pieces of a problem must obey, before it is solved."""

from __future__ import annotations

import numpy as np

from condal.driver.pieces.checking.functions import check_function, check_objective
from condal.driver.pieces.checking.linear import check_domain, check_map
from condal.driver.pieces.checking.notes import Check, Notes, Report
from condal.driver.pieces.checking.samples import Samples
from condal.driver.pieces.guards import guarded, rows_of
from condal.errors import PieceError, ProblemError
from condal.problem import Model, Problem, problem_of
from condal.runtime.arguments import require_positive, require_whole

__all__ = ["Check", "Report", "check_problem"]


def check_problem(model: Problem | Model, *, seed: int = 0, tol: float = 1e-6) -> Report:
    """Check on random points the laws that the pieces of a problem must obey.

    The checks cover the adjoints and norms of A, B and M; the gradient of f against differences of
    its values, its convexity and its constant L; the prox of K and g, and their conjugates and
    supports; the oracle of X (its points are in X and optimal among those tried), its bound and its
    diameter; shapes, NaN, repeatability, and that no piece changes its argument.

    Parameters
    ----------
    model : Problem or Model
        The problem, or a model of one.
    seed : int
        The seed of the random points.
    tol : float
        The largest relative error that passes.

    Returns
    -------
    Report
        The worst error of each law.

    Raises
    ------
    ProblemError
        If a law is broken; the text names the piece and the law.

    Examples
    --------
    >>> import numpy as np, condal
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> report = condal.check_problem(condal.problems.max_cut(cycle + cycle.T))
    >>> max(check.error for check in report.checks) < 1e-6
    True
    """
    require_whole(seed, "seed", least=0)
    require_positive(tol, "tol")
    rng, notes = np.random.default_rng(seed), Notes()
    try:
        problem = guarded(problem_of(model))
        samples = Samples.of(problem, rng)
        # The map of f comes first: the domain is tried on its gradients.
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
