"""User-supplied pieces of a problem, each behind an object that checks what it returns.

An exception that a piece raises, and a value that it did not promise, become a PieceError that
names the piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf
from typing import Any, TypeVar

import numpy as np

from condal.domains.wrapped import Wrapped, WrappedSpectral
from condal.linalg.gradients import Gradient, functional
from condal.linalg.guarded import UserPiece
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import Errors, Proof, Rounded
from condal.linalg.symmetric import Symmetric
from condal.sets.defaults import ProximableDefaults
from condal.types import Domain, LinearMap, Projectable, Provable, Smooth, Spectral, projects

T = TypeVar("T")
Guard = Callable[[Any, str], Any]


class Guarded:
    """A piece, with its letter in the template; `again` guards what is made from it."""

    def __init__(self, piece: Any, letter: str, again: Guard) -> None:
        self.piece, self.letter, self.again = piece, letter, again

    def asked(self, name: str, called: str, *args: Any, **options: Any) -> tuple[UserPiece, Any]:
        """Return what a method of the piece returns, and who answers for it."""
        user_piece = UserPiece(self.letter, called)
        with user_piece.asked():
            return user_piece, getattr(self.piece, name)(*args, **options)

    def constant(self, name: str, called: str) -> float:
        """Return a number that the piece has."""
        user_piece = UserPiece(self.letter, called)
        with user_piece.asked():
            return user_piece.number(getattr(self.piece, name))

    def number(self, name: str, called: str, *args: Any) -> float:
        """Return a number that the piece computes."""
        user_piece, value = self.asked(name, called, *args)
        return user_piece.number(value)

    def array(
        self, shape: tuple[int, ...], name: str, called: str, *args: Any, **options: Any
    ) -> Array:
        """Return an array of this shape that the piece computes."""
        user_piece, value = self.asked(name, called, *args, **options)
        return user_piece.array(value, shape)

    def guarded(self, name: str, called: str, *args: Any) -> Any:
        """Return what the piece makes of itself, guarded as it is."""
        return self.again(self.asked(name, called, *args)[1], self.letter)


def guarded_domain(X: Domain, letter: str, again: Guard) -> Domain:
    """Guard X; the guard is spectral if X is, and has a projection if X has one."""
    if isinstance(X, Spectral):
        return GuardedSpectral(X, letter, again)
    return (GuardedProjectable if projects(X) else GuardedDomain)(X, letter, again)


class GuardedDomain(Guarded, Wrapped):
    """X, whose points and proofs are checked."""

    guards = True

    def __init__(self, X: Domain, letter: str, again: Guard) -> None:
        Wrapped.__init__(self, X)
        self.letter, self.again = letter, again

    @property
    def piece(self) -> Any:
        """The domain that the user gave."""
        return self.X

    @property
    def diameter(self) -> float:
        return self.constant("diameter", "the size")

    @property
    def max_norm(self) -> float:
        return self.constant("max_norm", "the size")

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        user_piece, s = self.asked("lmo", "the oracle lmo", v, tol, guess)
        return user_piece.point(s, v)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        options = {"slack": slack, "failure": failure, "seed": seed, "enough": enough}
        user_piece, proof = self.asked("bound", "the bound", v, **options)
        if not isinstance(proof, Proof):
            user_piece.wrong(f"a {type(proof).__name__}", "a condal.types.Proof")
        user_piece.number(proof.value)
        return proof

    def distance(self, x: Point) -> float:
        return self.number("distance", "the distance", x)


class GuardedProjectable(GuardedDomain):
    """X with a projection, guarded."""

    X: Projectable

    def project(self, v: Any) -> Point:
        user_piece, x = self.asked("project", "the projection", v)
        return user_piece.point(x, functional(v))


class GuardedSpectral(GuardedDomain, WrappedSpectral):
    """A spectral X, guarded."""

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        named = "lowest", "the oracle lmo"
        user_piece, (values, vectors) = self.asked(*named, v, count, tol, beside=beside)
        columns = np.shape(values)[:1]
        return user_piece.array(values, columns), user_piece.array(vectors, (self.n, *columns))

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        user_piece, x = self.asked("project", "the oracle lmo", v, guess, tol=tol)
        user_piece.point(x, Symmetric(self.n))
        projected: LowRank = x
        return projected


def _given(name: str) -> Any:
    """Return a property that is that of the piece."""
    return property(lambda self: getattr(self.piece, name))


class GuardedMap(Guarded):
    """A, whose images and gradients are checked."""

    def __init__(self, A: LinearMap, letter: str, again: Guard) -> None:
        super().__init__(A, letter, again)
        zeros = np.zeros(A.size)
        self._like = self.asked("adjoint", "the adjoint", zeros)[1]  # the space of its gradients

    size, terms, diagonal_rows = map(_given, ("size", "terms", "diagonal_rows"))

    @property
    def norm(self) -> float:
        return self.constant("norm", "the norms")

    def scaled(self, rows: Array) -> Any:
        return self.guarded("scaled", "the scaled form", rows)

    def row_norms(self) -> Array:
        return self.array((self.size,), "row_norms", "the norms")

    def as_matrix(self) -> Any | None:
        return self.asked("as_matrix", "the matrix")[1]

    def __call__(self, x: Point) -> Array:
        return self.array((self.size,), "__call__", "", x)

    def adjoint(self, y: Array) -> Gradient | None:
        user_piece, v = self.asked("adjoint", "the adjoint", y)
        return user_piece.gradient(v, self._like)


class once(cached_property[T]):
    """A cached_property without the class-wide lock of Python 3.11.

    h may contain other guarded functions, so two threads that compute their properties in another
    order would deadlock. A value that is computed twice is the same.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value


class GuardedObjective(Guarded):
    """f, whose values and gradients are checked."""

    piece: Smooth

    @once
    def M(self) -> LinearMap:
        return self.again(self.piece.M, "M")

    @property
    def L(self) -> float:
        return self.constant("L", "the constant L")

    def value(self, u: Array) -> float:
        return self.number("value", "the value", u)

    def gradient(self, u: Array) -> Array:
        return self.array(np.shape(u), "gradient", "the gradient", u)

    def errors(self, u: Array) -> Errors | None:
        if not isinstance(self.piece, Rounded):
            return None
        user_piece, errors = self.asked("errors", "the errors", u)
        if not isinstance(errors, Errors | None):
            user_piece.wrong(f"a {type(errors).__name__}", "a condal.linalg.rounding.Errors")
        return errors

    def scaled(self, c: float) -> Any:
        return self.guarded("scaled", "the value", c)

    def variation(self, max_norm: float) -> float:
        return self.number("variation", "the value", max_norm)


def _number(name: str, called: str) -> Any:
    """Return a method that asks h for a number."""
    return lambda self, z: self.number(name, f"the {called}", z)


def _array(name: str, called: str) -> Any:
    """Return a method that asks h for an array like its first argument."""
    return lambda self, z, *args, **options: self.array(
        z.shape, name, f"the {called}", z, *args, **options
    )


class GuardedFunction(Guarded, ProximableDefaults):
    """h, whose prox, values and multipliers are checked."""

    piece: Provable
    h = property(lambda self: self.piece)  # what a proof trusts of it is found there

    size, separable, lipschitz, fixed = map(_given, ("size", "separable", "lipschitz", "fixed"))
    prox, normal_residual = _array("prox", "prox"), _array("normal_residual", "normal")
    multiplier, dual_point = (
        _array("multiplier", "multiplier"),
        _array("dual_point", "dual point"),
    )
    value, distance = _number("value", "value"), _number("distance", "distance")
    conjugate, dual_error = _number("conjugate", "conjugate"), _number("dual_error", "dual error")
    conjugate_abs_sum = _number("conjugate_abs_sum", "size of the conjugate")

    @once
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return [
            (places, self if piece is self.piece else self.again(piece, self.letter))
            for places, piece in self.piece.pieces
        ]

    def support(self, d: Array) -> float:
        if not hasattr(self.piece, "support"):
            return super().support(d)
        return self.number("support", "the support", d)

    def support_abs_sum(self, d: Array) -> float:
        if not hasattr(self.piece, "support_abs_sum"):
            return super().support_abs_sum(d)
        return self.number("support_abs_sum", "the size of the support", d)

    def support_error(self, d: Array) -> float:
        if not hasattr(self.piece, "support_error"):
            return super().support_error(d)
        return self.number("support_error", "the error of the support", d)

    def scaled(self, rows: Array, c: float) -> Any:
        return self.guarded("scaled", "the scaled form", rows, c)
