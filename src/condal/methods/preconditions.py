"""Checks that a method applies to a problem, each with a one-line error."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from condal.errors import ProblemError
from condal.types import Spectral, spectral_parts

if TYPE_CHECKING:
    from condal.problem import Problem


def require_linear(problem: Problem, method: str) -> None:
    """Raise ProblemError unless f is linear."""
    if problem.f.L != 0:
        raise ProblemError(
            f"{method} needs a linear objective: got {type(problem.f).__name__}, with curvature "
            f"L = {problem.f.L:.3g}; use condal.CGAL()"
        )


def require_spectral(problem: Problem, method: str) -> Spectral:
    """Return X; raise ProblemError unless its points have factors."""
    if not isinstance(problem.X, Spectral):
        raise ProblemError(
            f"{method} needs a spectral domain, such as condal.Spectrahedron(n): this problem has "
            "another; use condal.CGAL()"
        )
    return problem.X


def require_blocks(problem: Problem, method: str) -> None:
    """Raise ProblemError unless the points of X, or of its blocks, have factors."""
    if spectral_parts(problem.X) is None:
        require_spectral(problem, method)


def require_lipschitz(problem: Problem, method: str) -> None:
    """Raise ProblemError unless h is finite everywhere, so without a constraint Ax in K."""
    if problem.h.lipschitz == inf:
        raise ProblemError(
            f"{method} needs a problem without a constraint Ax in K: got one with {problem.A.size} "
            "rows; use condal.CGAL()"
        )


def require_unconstrained(problem: Problem, method: str) -> None:
    """Raise ProblemError unless there is neither a constraint nor a nonsmooth term."""
    if problem.A.size:
        raise ProblemError(
            f"{method} needs a smooth objective over X alone: got Ax with {problem.A.size} rows; "
            "use condal.CGAL()"
        )
