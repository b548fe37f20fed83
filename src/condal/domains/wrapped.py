"""A domain behind another object: to count or watch its oracle, or to represent another domain."""

from __future__ import annotations

from copy import copy
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.proof import Proof
from condal.types import Domain, Spectral

if TYPE_CHECKING:
    from condal.linalg.cone_slices import ConeSlice


class Wrapped:
    """X itself; subclasses extend some of its members."""

    guards: ClassVar[bool] = False  # it only checks what X, the user's, returns

    def __init__(self, X: Domain) -> None:
        self.X = X

    @property
    def diameter(self) -> float:
        return self.X.diameter

    @property
    def max_norm(self) -> float:
        return self.X.max_norm

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        return self.X.lmo(v, tol, guess)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        return self.X.bound(v, slack=slack, failure=failure, seed=seed, enough=enough)

    @property
    def sections(self) -> tuple[ConeSlice, ...] | None:
        from condal.linalg.cone_slices import sections

        return sections(self.X)

    def distance(self, x: Point) -> float:
        return self.X.distance(x)

    def check(self, v: Gradient, name: str) -> None:
        self.X.check(v, name)


class WrappedSpectral(Wrapped):
    """X itself, a spectral domain."""

    X: Spectral

    def with_engine(self, engine: Any) -> Self:
        """Return X with another eigenvalue solver; AttributeError if it has none."""
        wrapper = copy(self)
        wrapper.X = self.X.with_engine(engine)  # type: ignore[attr-defined]  # some have none
        return wrapper

    @property
    def n(self) -> int:
        return self.X.n

    @property
    def trace(self) -> float:
        return self.X.trace

    @property
    def at_most(self) -> bool:
        return self.X.at_most

    @property
    def normals(self) -> Any:
        """The random rows of a factor, if X distributes these over ranks; else None."""
        return getattr(self.X, "normals", None)

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        return self.X.lowest(v, count, tol, beside=beside)

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        return self.X.project(v, guess, tol=tol)


def unguarded(X: Domain) -> Domain:
    """Return the domain that the user gave."""
    return X.X if isinstance(X, Wrapped) and X.guards else X
