"""User-supplied pieces of a problem, each behind an object that checks what it returns.

An exception that a piece raises, and a value that it did not promise, become a PieceError that
names the piece. Each guard lists the members of its piece: what they are called in errors, and what
they must return.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf
from typing import Any, TypeVar

import numpy as np

from condal.domains.wrapped import Wrapped, WrappedSpectral
from condal.driver.guards import guard
from condal.linalg.gradients import Gradient, functional
from condal.linalg.guarded import UserPiece
from condal.linalg.points import Array, LowRank
from condal.linalg.rounding import Errors, Proof, Rounded
from condal.linalg.symmetric import Symmetric
from condal.sets.defaults import ProximableDefaults
from condal.types import Domain, LinearMap, Projectable, Provable, Smooth, Spectral, projects

T = TypeVar("T")


class Guarded:
    """A piece, with its letter in the template."""

    def __init__(self, piece: Any, letter: str) -> None:
        self.piece, self.letter = piece, letter

    def asked(self, name: str, called: str, *args: Any, **options: Any) -> tuple[UserPiece, Any]:
        """Return what a method of the piece returns, and who answers for it."""
        user_piece = UserPiece(self.letter, called)
        with user_piece.asked():
            return user_piece, getattr(self.piece, name)(*args, **options)


def _given(name: str) -> Any:
    """Return a property that is that of the piece."""
    return property(lambda self: getattr(self.piece, name))


def _constant(name: str, called: str) -> Any:
    """Return a property that is a number of the piece."""

    def number(self: Guarded) -> float:
        user_piece = UserPiece(self.letter, called)
        with user_piece.asked():
            return user_piece.number(getattr(self.piece, name))

    return property(number)


def _method(name: str, called: str, checked: Callable[..., Any]) -> Any:
    """Return a method that asks the piece, and passes who answers, the answer and the arguments to
    `checked`."""

    def method(self: Guarded, *args: Any, **options: Any) -> Any:
        return checked(*self.asked(name, called, *args, **options), *args)

    return method


def _number(name: str, called: str) -> Any:
    return _method(name, called, lambda user_piece, value, *args: user_piece.number(value))


def _array(name: str, called: str) -> Any:
    """Return a method whose answer is an array like its first argument."""
    return _method(
        name, called, lambda user_piece, value, z, *args: user_piece.array(value, np.shape(z))
    )


def _rows(name: str, called: str) -> Any:
    """Return a method of a map whose answer has a number for each of its rows."""

    def image(self: Any, *args: Any) -> Array:
        user_piece, value = self.asked(name, called, *args)
        return user_piece.array(value, (self.size,))

    return image


def _again(name: str, called: str) -> Any:
    """Return a method whose answer is a piece of the same kind."""
    return lambda self, *args: guard(self.asked(name, called, *args)[1], self.letter)


class GuardedDomain(Guarded, Wrapped):
    """X, whose points and proofs are checked."""

    guards = True

    def __init__(self, X: Domain, letter: str) -> None:
        Wrapped.__init__(self, X)
        self.letter = letter

    piece = property(lambda self: self.X)  # which `with_engine` changes
    diameter, max_norm = _constant("diameter", "the size"), _constant("max_norm", "the size")
    distance = _number("distance", "the distance")
    lmo = _method("lmo", "the oracle lmo", lambda user_piece, s, v, *args: user_piece.point(s, v))

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        options = {"slack": slack, "failure": failure, "seed": seed, "enough": enough}
        user_piece, proof = self.asked("bound", "the bound", v, **options)
        if not isinstance(proof, Proof):
            user_piece.wrong(f"a {type(proof).__name__}", "a condal.types.Proof")
        user_piece.number(proof.value)
        return proof


class GuardedProjectable(GuardedDomain):
    """X with a projection, guarded."""

    X: Projectable
    project = _method(
        "project", "the projection", lambda user_piece, x, v: user_piece.point(x, functional(v))
    )


class GuardedSpectral(GuardedDomain, WrappedSpectral):
    """A spectral X, guarded."""

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        named = "lowest", "the oracle lmo"
        user_piece, (values, vectors) = self.asked(*named, v, count, tol, beside=beside)
        columns = np.shape(values)[:1]
        return user_piece.array(values, columns), user_piece.array(vectors, (self.n, *columns))

    def project(self, v: Array, guess: Any = None, *, tol: float = 0.0) -> LowRank:
        user_piece, x = self.asked("project", "the oracle lmo", v, guess, tol=tol)
        user_piece.point(x, Symmetric(self.n))
        projected: LowRank = x
        return projected


class GuardedMap(Guarded):
    """A, whose images and gradients are checked."""

    def __init__(self, A: LinearMap, letter: str) -> None:
        super().__init__(A, letter)
        zeros = np.zeros(A.size)
        self._like = self.asked("adjoint", "the adjoint", zeros)[1]  # the space of its gradients

    size, terms, diagonal_rows = map(_given, ("size", "terms", "diagonal_rows"))
    norm, row_norms = _constant("norm", "the norms"), _rows("row_norms", "the norms")
    scaled, __call__ = _again("scaled", "the scaled form"), _rows("__call__", "")
    as_matrix = _method("as_matrix", "the matrix", lambda user_piece, matrix: matrix)

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
        return guard(self.piece.M, "M")

    L, scaled = _constant("L", "the constant L"), _again("scaled", "the value")
    value, variation = _number("value", "the value"), _number("variation", "the value")
    gradient = _array("gradient", "the gradient")

    def errors(self, u: Array) -> Errors | None:
        if not isinstance(self.piece, Rounded):
            return None
        user_piece, errors = self.asked("errors", "the errors", u)
        if not isinstance(errors, Errors | None):
            user_piece.wrong(f"a {type(errors).__name__}", "a condal.linalg.rounding.Errors")
        return errors


def _support(name: str, called: str) -> Any:
    """Return a method that asks h for a number, and derives it if h cannot tell."""
    asks, derives = _number(name, called), getattr(ProximableDefaults, name)
    return lambda self, d: (asks if hasattr(self.piece, name) else derives)(self, d)


class GuardedFunction(Guarded, ProximableDefaults):
    """h, whose prox, values and multipliers are checked."""

    piece: Provable
    h = property(lambda self: self.piece)  # what a proof trusts of it is found there

    size, separable, lipschitz, fixed = map(_given, ("size", "separable", "lipschitz", "fixed"))
    prox, multiplier = _array("prox", "the prox"), _array("multiplier", "the multiplier")
    dual_point = _array("dual_point", "the dual point")
    normal_residual = _array("normal_residual", "the normal")
    value, distance = _number("value", "the value"), _number("distance", "the distance")
    conjugate = _number("conjugate", "the conjugate")
    dual_error = _number("dual_error", "the dual error")
    conjugate_abs_sum = _number("conjugate_abs_sum", "the size of the conjugate")
    support = _support("support", "the support")
    support_abs_sum = _support("support_abs_sum", "the size of the support")
    support_error = _support("support_error", "the error of the support")
    scaled = _again("scaled", "the scaled form")

    @once
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return [
            (places, self if piece is self.piece else guard(piece, self.letter))
            for places, piece in self.piece.pieces
        ]


def kind_of(piece: Any) -> type[Guarded]:
    """Return the guard of a user-supplied piece, by its members."""
    if hasattr(piece, "lmo"):
        kind = GuardedProjectable if projects(piece) else GuardedDomain
        return GuardedSpectral if isinstance(piece, Spectral) else kind
    if hasattr(piece, "adjoint"):
        return GuardedMap
    return GuardedObjective if hasattr(piece, "gradient") else GuardedFunction
