"""The template: minimise f(x) subject to x in X, Ax in K."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from condal.errors import ProblemError
from condal.maps import Stack
from condal.points import Array, Point
from condal.sets import Separable
from condal.smooth import Linear
from condal.types import Domain, LinearMap, Proximable, Smooth


@dataclass(frozen=True, eq=False)
class Problem:
    """minimise f(x) + h(Ax) over x in X; `maximise` says that the user's objective is -f.

    `repair` takes a point of X near {x : Ax in K} to a feasible one, where the problem has such a
    thing. `propose` guesses a feasible point and a dual from a point of X: the pair is tried beside
    the method's own, and counts for nothing but what is proved of it. Build with `Problem.of`.
    """

    f: Smooth
    X: Domain
    A: LinearMap
    h: Proximable
    maximise: bool = False
    repair: Callable[[Point], Point] | None = None
    propose: Callable[[Point], tuple[Point, Array]] | None = None
    name: str = "problem"

    def __post_init__(self) -> None:
        if self.A.size != self.h.size:
            raise ProblemError(
                f"A makes images of length {self.A.size}, but K is a set of vectors of length "
                f"{self.h.size}: they must agree"
            )
        gradient = self.f.M.adjoint(np.zeros(self.f.M.size))
        if gradient is not None:
            self.X.check(gradient, "the objective f")
        adjoint = self.A.adjoint(np.zeros(self.A.size))
        if adjoint is not None:
            self.X.check(adjoint, "the constraint map A")

    @classmethod
    def of(
        cls,
        f: Smooth,
        X: Domain,
        A: LinearMap | None = None,
        K: Proximable | None = None,
        *,
        maximise: bool = False,
        repair: Callable[[Point], Point] | None = None,
        propose: Callable[[Point], tuple[Point, Array]] | None = None,
        name: str = "problem",
    ) -> Problem:
        """The problem of minimising (or maximising) f over x in X with Ax in K.

        Parameters
        ----------
        f : the objective; to maximise it must be `Linear`.
        X : the domain, such as `Spectrahedron(n, trace=...)`.
        A, K : the constraint Ax in K; leave both out for none.
        """
        for value, kind, verb in (
            (f, "the objective f, such as condal.Linear(C)", "gradient"),
            (X, "the domain X, such as condal.Spectrahedron(n)", "lmo"),
            (A, "the map A, such as condal.Diagonal(n) or condal.Matrix(a)", "adjoint"),
            (K, "the set K, such as condal.Equal(b)", "prox"),
        ):
            if value is not None and not hasattr(value, verb):
                raise ProblemError(f"wanted {kind}; got {type(value).__name__}")
        if (A is None) != (K is None):
            raise ProblemError("A and K go together: give both for Ax in K, or neither")
        if maximise:
            if not isinstance(f, Linear):
                raise ProblemError(
                    f"only a linear objective can be maximised; got {type(f).__name__}: "
                    "to maximise a concave function, minimise its negative"
                )
            f = f.scaled(-1.0)
        A = Stack() if A is None else A
        K = Separable() if K is None else K
        return cls(f, X, A, K, maximise, repair, propose, name)

    @property
    def sense(self) -> float:
        """-1 for a maximisation, else 1: the user's objective is sense * (f + h)."""
        return -1.0 if self.maximise else 1.0

    def objective(self, x: Point) -> float:
        """The user's objective at x."""
        return self.sense * (self.f.value(self.f.M(x)) + self.h.value(self.A(x)))

    def infeasibility(self, x: Point) -> float:
        """dist(Ax, K) / reach: for Ax = b, |Ax - b| / max(1, |b|)."""
        return self.h.distance(self.A(x)) / self.reach

    @cached_property
    def reach(self) -> float:
        """The unit of infeasibility: dist(0, K), or 1 where that is less and Ax can reach it."""
        attainable = min(1.0, self.A.norm * self.X.size)
        return max(attainable or 1.0, self.h.distance(np.zeros(self.A.size)))

    def unit(self, objective: float) -> float:
        """What tol is relative to: |objective|, or 1 where that is less and f can reach it."""
        return max(self._attainable, abs(objective))

    @cached_property
    def _attainable(self) -> float:
        # |C||x| overestimates what <C, x> can be: a hundredth of it is within reach.
        return min(1.0, 0.01 * self.f.magnitude(self.X.size)) or 1.0


@runtime_checkable
class Model(Protocol):
    """An application: a problem, and what its solution means."""

    @property
    def problem(self) -> Problem:
        """The problem to solve."""


def problem_of(model: Problem | Model) -> Problem:
    """The problem of a model, or the problem itself."""
    if isinstance(model, Problem):
        return model
    if isinstance(model, Model) and isinstance(model.problem, Problem):
        return model.problem
    raise ProblemError(
        f"solve takes a Problem or a model such as condal.problems.max_cut(W); "
        f"got {type(model).__name__}"
    )
