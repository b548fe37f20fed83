"""The template: minimise f(x) subject to x in X, Ax in K."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from condal.errors import ProblemError
from condal.maps import Stack
from condal.points import Point
from condal.sets import Separable
from condal.smooth import Linear
from condal.types import Domain, LinearMap, Proximable, Smooth


@dataclass(frozen=True, eq=False)
class Problem:
    """minimise f(x) + h(Ax) over x in X; `maximise` says that the user's objective is -f.

    `repair` takes a point of X near {x : Ax in K} to a feasible one, where the problem has such a
    thing. Build with `Problem.of`.
    """

    f: Smooth
    X: Domain
    A: LinearMap
    h: Proximable
    maximise: bool = False
    repair: Callable[[Point], Point] | None = None
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
        name: str = "problem",
    ) -> Problem:
        """The problem of minimising (or maximising) f over x in X with Ax in K.

        Parameters
        ----------
        f : the objective; to maximise it must be `Linear`.
        X : the domain, such as `Spectrahedron(n, trace=...)`.
        A, K : the constraint Ax in K; leave both out for none.
        """
        if (A is None) != (K is None):
            raise ProblemError("A and K go together: give both for Ax in K, or neither")
        if maximise:
            if not isinstance(f, Linear):
                raise ProblemError(
                    f"only a linear objective can be maximised; got {type(f).__name__}: "
                    "to maximise a concave function, minimise its negative"
                )
            f = f.scaled(-1.0)
        return cls(f, X, A or Stack(), K or Separable(), maximise, repair, name)

    @property
    def sense(self) -> float:
        """-1 for a maximisation, else 1: the user's objective is sense * (f + h)."""
        return -1.0 if self.maximise else 1.0

    def objective(self, x: Point) -> float:
        """The user's objective at x."""
        return self.sense * (self.f.value(self.f.M(x)) + self.h.value(self.A(x)))

    def infeasibility(self, x: Point) -> float:
        """dist(Ax, K) / max(1, dist(0, K)): for Ax = b, |Ax - b| / max(1, |b|)."""
        return self.h.distance(self.A(x)) / self.reach

    @cached_property
    def reach(self) -> float:
        """max(1, dist(0, K)): the unit of infeasibility."""
        return max(1.0, self.h.distance(np.zeros(self.A.size)))


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
