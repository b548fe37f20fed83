"""Guards of user-supplied pieces: what a piece returns is checked, what it raises is named.

A piece is user-supplied if its class is not one of condal's. A piece of condal's may contain some,
as a Product its parts and an Operator its LinearOperator. A problem without any stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from condal.driver.guarded_pieces import guard, of_condal, same
from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.guarded import UserPiece
from condal.linalg.points import Point
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
