"""Guards of user-supplied pieces: what a piece returns is checked, what it raises is named.

A piece is user-supplied if its class is not one of condal's. A piece of condal's may contain some,
as a Product its parts and an Operator its LinearOperator. A problem without any stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np

from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.guarded import UserPiece, is_ours
from condal.linalg.points import Point
from condal.linalg.sparse import is_operator
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Stack
from condal.problem import Problem
from condal.sets.separable import Separable
from condal.types import Domain, LinearMap, Provable, from_user


def guarded(problem: Problem) -> Problem:
    """Return the same problem, in which a PieceError names a user-supplied piece that raises or
    returns what it did not promise."""
    X = guard(problem.X, "X")
    A, h = _guarded_rows(problem.A, problem.h)
    f = guard(problem.f, "f")
    calls = {name: _guarded_call(problem, name) for name in ("repair", "propose")}
    pieces = {"f": f, "X": X, "A": A, "h": h, **calls}
    changed = {name: piece for name, piece in pieces.items() if piece is not getattr(problem, name)}
    return replace(problem, **changed, checked=True) if changed else problem


class ConstraintRows(NamedTuple):
    """A map and the function of its images, with the letters of both."""

    A: LinearMap
    h: Provable
    letters: tuple[str, str]


def rows_of(A: LinearMap, h: Provable) -> list[ConstraintRows]:
    """Return the pairs that h(Ax) is the sum of: Ax in K, or g(Bx) if it is finite everywhere."""
    if (
        isinstance(A, Stack)
        and isinstance(h, Separable)
        and [m.size for m in A.maps] == [part.size for part in h.parts]
    ):
        pairs = zip(A.maps, h.parts, strict=True)
        return [row for m, part in pairs for row in rows_of(m, part)]
    return [ConstraintRows(A, h, ("B", "g") if h.lipschitz < inf else ("A", "K"))]


def _guarded_rows(A: LinearMap, h: Provable) -> tuple[LinearMap, Provable]:
    """Guard A and K, and B and g where they are stacked."""
    rows = rows_of(A, h)
    if len(rows) == 1:
        return guard(A, rows[0].letters[0]), guard(h, rows[0].letters[1])
    maps = [guard(row.A, row.letters[0]) for row in rows]
    parts = [guard(row.h, row.letters[1]) for row in rows]
    if same(maps, [row.A for row in rows]) and same(parts, [row.h for row in rows]):
        return A, h
    return Stack(*maps), Separable(*parts)


def _guarded_call(problem: Problem, name: str) -> Any:
    """Guard the repair or the proposal, if it is user-supplied."""
    call, piece = getattr(problem, name), UserPiece(name)
    if call is None or of_condal(call):
        return call
    like = _zero(problem)

    def repair(x: Point) -> Any:
        with piece.asked():
            repaired = call(x)
        return _point(problem.X, repaired, piece, like)

    def propose(x: Point) -> Any:
        with piece.asked():
            point, y = call(x)
        y = piece.array(y, (problem.A.size,))
        return _point(problem.X, point, piece, like), y

    return repair if name == "repair" else propose


def _point(X: Domain, x: Any, piece: UserPiece, like: Gradient) -> Point:
    """Return the point of X that the user means by x, checked."""
    try:
        point = from_user(X, x)
    except ProblemError as error:
        raise PieceError(
            f"{piece.name} returned no point of X: {error}", piece=piece.letter
        ) from None
    return piece.point(point, like)


def _zero(problem: Problem) -> Any:
    """Return 0 as a gradient on the space of X."""
    for M in (problem.f.M, problem.A):
        gradient = M.adjoint(np.zeros(M.size))
        if gradient is not None:
            return gradient
    return None


def guard(value: Any, letter: str) -> Any:
    """Guard a user-supplied piece, or those inside a piece of condal's."""
    if is_operator(value):
        from condal.linalg.guarded_operators import GuardedOperator
        from condal.maps.diffraction import CodedDiffraction

        ours = isinstance(getattr(value, "of", None), CodedDiffraction)
        known = ours or isinstance(value, GuardedOperator)
        return value if known else GuardedOperator(value, letter)
    if isinstance(value, Symmetric):
        return value.map_operators(lambda op: guard(op, letter))
    if isinstance(value, tuple | list):
        parts = [guard(part, letter) for part in value]
        return value if same(parts, value) else type(value)(parts)
    if not any(hasattr(value, verb) for verb in ("lmo", "adjoint", "gradient", "prox")):
        return value
    if of_condal(value):
        return _rebuilt(value, letter)
    from condal.driver.guarded_pieces import kind_of

    return kind_of(value)(value, letter)


def same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    """Whether two sequences hold the same objects."""
    return all(a is b for a, b in zip(new, old, strict=True))


def _rebuilt(piece: Any, letter: str) -> Any:
    """Guard the user-supplied pieces inside a piece of condal's; return itself if it has none."""
    inner = "M" if letter == "f" else letter
    unchanged, changed = {}, {}
    # A copy: another thread may solve with the same piece, and cache in it what it has computed.
    for name, value in dict(getattr(piece, "__dict__", {})).items():
        if isinstance(getattr(type(piece), name, None), cached_property):
            continue  # made from the others, and made again if they change
        unchanged[name] = value
        piece_guarded = guard(value, letter if name == "C" else inner)
        if piece_guarded is not value:
            changed[name] = piece_guarded
    if not changed:
        return piece
    twin = copy(piece)
    vars(twin).clear()
    vars(twin).update(unchanged | changed)
    return twin


def of_condal(value: Any) -> bool:
    """Return whether a function, or the class of an object, is condal's, and no adapter of a
    user-supplied piece."""
    return not getattr(value, "of_user", False) and is_ours(value)
