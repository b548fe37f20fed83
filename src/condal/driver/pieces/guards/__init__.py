"""The user's own pieces, guarded: what they give is looked at, what they raise is named.

A piece is the user's own if its class is none of condal's; condal's may hold some, as a Product
its parts and an Operator its LinearOperator. A problem that has none is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from condal.domains.lifted import from_user
from condal.driver.pieces.guards.domains import guarded_domain, unguarded
from condal.driver.pieces.guards.functions import GuardedFunction, GuardedObjective
from condal.driver.pieces.guards.maps import GuardedMap
from condal.driver.pieces.letters import rows_of
from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.guarded import GuardedOperator, UserPiece
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.maps import Stack
from condal.maps.diffraction import CodedDiffraction
from condal.problem import Problem
from condal.sets import Separable
from condal.types import Domain, LinearMap, Provable

__all__ = ["guarded", "unguarded"]


def guarded(problem: Problem) -> Problem:
    """The same problem; a PieceError names a piece of the user's that raises, or gives what it
    did not promise."""
    X = _seen(problem.X, "X")
    A, h = _rows(problem.A, problem.h)
    f = _seen(problem.f, "f")
    repair, propose = _repair(problem), _propose(problem)
    now = {"f": f, "X": X, "A": A, "h": h, "repair": repair, "propose": propose}
    changed = {name: piece for name, piece in now.items() if piece is not getattr(problem, name)}
    return replace(problem, **changed, checked=True) if changed else problem


def _rows(A: LinearMap, h: Provable) -> tuple[LinearMap, Provable]:
    """A and K, and B and g where they are stacked."""
    rows = rows_of(A, h)
    if len(rows) == 1:
        return _seen(A, rows[0].letters[0]), _seen(h, rows[0].letters[1])
    maps = [_seen(row.A, row.letters[0]) for row in rows]
    parts = [_seen(row.h, row.letters[1]) for row in rows]
    if _same(maps, [row.A for row in rows]) and _same(parts, [row.h for row in rows]):
        return A, h
    return Stack(*maps), Separable(*parts)


def _seen(value: Any, letter: str) -> Any:
    """A piece, guarded if it is the user's; condal's own with what is the user's in it guarded."""
    if isinstance(value, LinearOperator):
        ours = isinstance(getattr(value, "of", None), CodedDiffraction)
        return (
            value if ours or isinstance(value, GuardedOperator) else GuardedOperator(value, letter)
        )
    if isinstance(value, Symmetric):
        return value.map_operators(lambda op: _seen(op, letter))
    if isinstance(value, tuple | list):
        parts = [_seen(part, letter) for part in value]
        return value if _same(parts, value) else type(value)(parts)
    if not any(hasattr(value, verb) for verb in ("lmo", "adjoint", "gradient", "prox")):
        return value
    if _of_condal(value):
        return _rebuilt(value, letter)
    if hasattr(value, "lmo"):
        return guarded_domain(value, letter)
    if hasattr(value, "adjoint"):
        return GuardedMap(value, letter, _seen)
    kind = GuardedObjective if hasattr(value, "gradient") else GuardedFunction
    return kind(value, letter, _seen)


def _same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))


def _rebuilt(piece: Any, letter: str) -> Any:
    """A piece of condal's with the user's pieces in it guarded; itself where there are none."""
    inner = "M" if letter == "f" else letter
    kept, changed = {}, {}
    # A copy: another thread may solve with the same piece, and keep in it what it has computed.
    for name, value in dict(getattr(piece, "__dict__", {})).items():
        if isinstance(getattr(type(piece), name, None), cached_property):
            continue  # made of the others, and made again if they change
        kept[name] = value
        seen = _seen(value, letter if name == "C" else inner)
        if seen is not value:
            changed[name] = seen
    if not changed:
        return piece
    twin = copy(piece)
    vars(twin).clear()
    vars(twin).update(kept | changed)
    return twin


def _repair(problem: Problem) -> Callable[[Point], Point] | None:
    """The repair, if it is the user's own."""
    call, piece = problem.repair, UserPiece("repair")
    if call is None or _of_condal(call):
        return call
    like = _zero(problem)

    def repair(x: Point) -> Point:
        with piece.asked():
            repaired = call(x)
        return _point(problem.X, repaired, piece, like)

    return repair


def _propose(problem: Problem) -> Callable[[Point], tuple[Point, Array]] | None:
    """The proposal, if it is the user's own."""
    call, piece = problem.propose, UserPiece("propose")
    if call is None or _of_condal(call):
        return call
    like = _zero(problem)

    def propose(x: Point) -> tuple[Point, Array]:
        with piece.asked():
            point, y = call(x)
        y = piece.array(y, (problem.A.size,))
        return _point(problem.X, point, piece, like), y

    return propose


def _point(X: Domain, x: Any, piece: UserPiece, like: Gradient) -> Point:
    """The point of X that the user means by x, looked at."""
    try:
        point = from_user(X, x)
    except ProblemError as error:
        raise PieceError(
            f"{piece.name} returned no point of X: {error}", piece=piece.letter
        ) from None
    return piece.point(point, like)


def _of_condal(value: Any) -> bool:
    """Whether a function, or the class of an object, is condal's."""
    if getattr(value, "of_user", False):  # an adapter of the user's
        return False
    module = getattr(value, "__module__", "") or ""
    return module.partition(".")[0] == "condal"


def _zero(problem: Problem) -> Any:
    """0, as a gradient on the space of X."""
    for M in (problem.f.M, problem.A):
        gradient = M.adjoint(np.zeros(M.size))
        if gradient is not None:
            return gradient
    return None
