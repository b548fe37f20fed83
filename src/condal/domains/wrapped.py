"""A domain behind another object: to count or watch its oracle, to represent another domain, or to
complete a domain of a user that has only an oracle; and whether a map acts on its space.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property
from inspect import signature
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from condal.domains.product import Product
from condal.errors import CondalError, PieceError, ProblemError
from condal.linalg.gradients import Gradient, norm, zeros_of
from condal.linalg.guarded import Products
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import Proof
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import copy_members, has_member
from condal.types import Domain, DomainLike, Lifted, LinearMap, Spectral

if TYPE_CHECKING:
    from condal.linalg.cone_slices import ConeSlice

MEMBERS = ("diameter", "max_norm", "bound", "distance", "check")
SAMPLES = 16  # oracle calls that estimate max |x|
TO_PROVE = {
    "bound": (
        "bound(v, *, slack, failure, seed, enough), which returns a condal.types.Proof of a lower "
        "bound on <v, x> over X"
    ),
    "max_norm": "max_norm, an upper bound on |x| over X",
}


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


class UserDomain:
    """A user's domain, with defaults for the members of `Domain` that it lacks.

    Without `bound` or `max_norm` nothing can be proved: `unprovable` says so. Without `max_norm`,
    |x| is estimated from the oracle. Without `distance`, proofs say that they trust the oracle.
    """

    of_user = True

    def __init__(self, X: Any, like: Gradient | None) -> None:
        self.X, self._like = X, like
        self._takes_tol = _takes_three(X.lmo)
        copy_members(self, X, ("diameter", "max_norm", "distance", "check"))
        missing = [text for name, text in TO_PROVE.items() if not has_member(X, name)]
        self.unprovable = ""
        if missing:
            self.unprovable = (
                f"nothing is proved: the domain X, a {type(X).__name__}, lacks what a proof needs; "
                f"add {' and '.join(missing)}"
            )

    @cached_property
    def diameter(self) -> float:
        return 2.0 * self.max_norm

    @cached_property
    def max_norm(self) -> float:
        """The largest |x| that the oracle returns in random directions; 1 if they are all 0."""
        rng = np.random.default_rng(0)
        if self._like is None:
            return 1.0
        return max(norm(self.lmo(_random(self._like, rng)), rng) for _ in range(SAMPLES)) or 1.0

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        return self.X.lmo(v, tol, guess) if self._takes_tol else self.X.lmo(v)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        if self.unprovable:
            return Proof(-inf, self.unprovable)
        proof = self.X.bound(v, slack=slack, failure=failure, seed=seed, enough=enough)
        known = has_member(self.X, "distance") or has_member(self.X, "project")
        if known or not isinstance(proof, Proof):
            return proof
        return replace(proof, how=f"{proof.how}, trusting that the oracle lmo returns points of X")

    def distance(self, x: Point) -> float:
        return 0.0

    def check(self, v: Gradient, name: str) -> None:
        """Nothing: a gradient of another space fails in the oracle."""


class UserProjectable(UserDomain):
    """A `UserDomain` with a projection, which gives the distance."""

    def distance(self, x: Point) -> float:
        return float(np.linalg.norm(np.asarray(x) - np.asarray(self.X.project(np.asarray(x)))))

    def project(self, v: Any) -> Point:
        return self.X.project(v)


def complete_domain(X: DomainLike, gradient: Callable[[], Gradient | None]) -> Any:
    """Return X, or an adapter if X lacks members of `Domain`; `gradient` makes one on its space."""
    return X if _is_complete(X) else _completed(X, gradient())


def _is_complete(X: Any) -> bool:
    if isinstance(X, Product):
        return all(_is_complete(part) for part in X.parts)
    return all(has_member(X, name) for name in MEMBERS) and _takes_three(X.lmo)


def _completed(X: Any, like: Gradient | None) -> Any:
    if _is_complete(X):
        return X
    if not isinstance(X, Product):
        return (UserProjectable if has_member(X, "project") else UserDomain)(X, like)
    blocks: Any = (None,) * len(X.parts)  # if they do not fit, the check of the fit says so
    if isinstance(like, tuple) and len(like) == len(X.parts):
        blocks = like
    return Product(*(_completed(part, block) for part, block in zip(X.parts, blocks, strict=True)))


def _takes_three(lmo: Any) -> bool:
    """Return whether lmo takes tol and guess, too."""
    try:
        signature(lmo).bind(None, 0.0, None)
    except TypeError:
        return False
    except ValueError:  # a builtin without a signature
        return True
    return True


def _random(like: Gradient, rng: np.random.Generator) -> Any:
    """Return a random gradient of the same space."""
    if isinstance(like, tuple):
        return tuple(_random(block, rng) for block in like)
    if isinstance(like, Symmetric):
        return Symmetric(like.n, diagonal=rng.standard_normal(like.n))
    return rng.standard_normal(np.shape(like))


def require_fit(X: Domain, M: LinearMap, part: str, what: str) -> None:
    """Raise ProblemError unless the map acts on the space of X."""
    y = zeros_of(M)
    if _lifted(X):  # other matrices may have the same side: the entries distinguish them
        y = np.random.default_rng(0).standard_normal(M.size)
    gradient = adjoint_of(M, y, part, what)
    if gradient is None:
        return
    try:
        X.check(_guarded(gradient, part), what)
    except ProblemError as error:
        raise ProblemError(
            f"{part} and X do not fit: {error} ({part} acts on {_shape(gradient)})"
        ) from None


def adjoint_of(M: LinearMap, y: Array, part: str, what: str) -> Gradient | None:
    """Return M'y; PieceError names a map that raises."""
    try:
        with Products(part, "the adjoint", what).asked():
            return M.adjoint(y)
    except PieceError as error:
        if isinstance(error.__cause__, CondalError):  # raised by condal: it says all
            raise error.__cause__ from None
        raise


def _lifted(X: Domain) -> bool:
    """Return whether points of X, or of a part of it, represent other matrices."""
    return isinstance(X, Lifted) or any(_lifted(part) for part in getattr(X, "parts", ()))


def _guarded(v: Gradient, part: str) -> Gradient:
    """Return v with its operators guarded: a check may multiply by them."""
    if isinstance(v, tuple):
        return tuple(_guarded(block, part) for block in v)
    if not isinstance(v, Symmetric) or not v.operators:
        return v
    from condal.linalg.guarded_operators import guard_operators

    return guard_operators(v, part)


def _shape(v: Gradient) -> str:
    """Return the space of a gradient, in words."""
    if isinstance(v, tuple):
        return f"({', '.join(_shape(part) for part in v)})"
    return f"shape {v.shape}"
