"""User-supplied LinearOperators whose products are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from condal.linalg.guarded import Products, UserPiece
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric


class GuardedOperator(LinearOperator):
    """A LinearOperator whose products are checked."""

    def __init__(self, op: Any, letter: str, called: str = "") -> None:
        super().__init__(op.dtype, op.shape)
        self.op = op
        advice = ": look at its product with a random vector" if called else ""
        self._forward = Products(letter, "" if called else "the operator", called, advice)
        self._backward = Products(letter, "the adjoint", called, advice)

    def _matvec(self, x: Any) -> Any:
        return _checked(self._forward, self.op.matvec, x, self.shape[0])

    def _rmatvec(self, y: Any) -> Any:
        return _checked(self._backward, self.op.rmatvec, y, self.shape[1])

    def _matmat(self, X: Any) -> Any:
        return _checked(self._forward, self.op.matmat, X, self.shape[0])

    def _rmatmat(self, Y: Any) -> Any:
        return _checked(self._backward, self.op.rmatmat, Y, self.shape[1])


def _checked(piece: UserPiece, product: Callable[[Any], Any], x: Any, rows: int) -> Array:
    with piece.asked():
        image = product(x)
    return piece.array(np.asarray(image), (rows, *np.shape(x)[1:]))


def named_operator(op: LinearOperator, name: str) -> GuardedOperator:
    """Return op, guarded while something is built from it; errors call it the operator `name`."""
    return GuardedOperator(op, name, f"the operator {name}")


def guard_operators(v: Symmetric, letter: str, called: str = "") -> Symmetric:
    """Return v with its operators guarded."""
    return v.map_operators(lambda op: GuardedOperator(op, letter, called))
