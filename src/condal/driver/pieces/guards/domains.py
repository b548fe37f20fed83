"""Guards of user-supplied domains."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from condal.domains.wrapped import Wrapped, WrappedSpectral
from condal.linalg.gradients import Gradient, functional
from condal.linalg.guarded import UserPiece
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import Proof
from condal.linalg.symmetric import Symmetric
from condal.types import Domain, Projectable, Spectral, projects


def guarded_domain(X: Domain, letter: str) -> Domain:
    """Guard X; the guard is spectral if X is, and has a projection if X has one."""
    if isinstance(X, Spectral):
        return GuardedSpectral(X, letter)
    return (GuardedProjectable if projects(X) else GuardedDomain)(X, letter)


class GuardedDomain(Wrapped):
    """X, whose points and proofs are checked."""

    guards = True

    def __init__(self, X: Domain, letter: str) -> None:
        super().__init__(X)
        names = "the oracle lmo", "the bound", "the distance", "the size"
        pieces = [UserPiece(letter, name) for name in names]
        self._lmo, self._bound, self._distance, self._size = pieces

    @property
    def diameter(self) -> float:
        with self._size.asked():
            return self._size.number(super().diameter)

    @property
    def max_norm(self) -> float:
        with self._size.asked():
            return self._size.number(super().max_norm)

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        with self._lmo.asked():
            s = super().lmo(v, tol, guess)
        return self._lmo.point(s, v)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        with self._bound.asked():
            proof = super().bound(v, slack=slack, failure=failure, seed=seed, enough=enough)
        if not isinstance(proof, Proof):
            self._bound.wrong(f"a {type(proof).__name__}", "a condal.types.Proof")
        self._bound.number(proof.value)
        return proof

    def distance(self, x: Point) -> float:
        with self._distance.asked():
            distance = super().distance(x)
        return self._distance.number(distance)


class GuardedProjectable(GuardedDomain):
    """X with a projection, guarded."""

    X: Projectable

    def __init__(self, X: Domain, letter: str) -> None:
        super().__init__(X, letter)
        self._project = UserPiece(letter, "the projection")

    def project(self, v: Any) -> Point:
        with self._project.asked():
            x = self.X.project(v)
        return self._project.point(x, functional(v))


class GuardedSpectral(GuardedDomain, WrappedSpectral):
    """A spectral X, guarded."""

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        with self._lmo.asked():
            values, vectors = super().lowest(v, count, tol, beside=beside)
        columns = np.shape(values)[:1]
        return self._lmo.array(values, columns), self._lmo.array(vectors, (self.n, *columns))

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        with self._lmo.asked():
            x = super().project(v, guess, tol=tol)
        self._lmo.point(x, Symmetric(self.n))
        return x
