"""What a user gives for a linear map: converted, with defaults for what it lacks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.matrix_free import is_operator
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Scaled
from condal.runtime.arguments import copy_members, has_member, require_members
from condal.types import LinearMap, MapLike

MAX_ROWS_MEASURED = 2000  # one adjoint per row; the norms of more rows are bounded by |A|
OPTIONAL = ("norm", "terms", "diagonal_rows", "row_norms", "as_matrix")


class UserMap:
    """A user's map, with defaults for the members of `LinearMap` that it lacks.

    |A| is bounded by about 60 products with A A', up to a failure probability of 1e-6.
    """

    of_user = True
    diagonal_rows: Array | None = None

    def __init__(self, A: Any, name: str) -> None:
        self.A, self._name = A, name
        self.size = self.terms = int(A.size)
        copy_members(self, A, OPTIONAL)

    def __call__(self, x: Point) -> Array:
        return self.A(x)

    def adjoint(self, y: Array) -> Gradient | None:
        return self.A.adjoint(y)

    @cached_property
    def norm(self) -> float:
        from scipy.sparse.linalg import LinearOperator

        def product(y: Any) -> Array:
            return self.A(_as_point(self.A.adjoint(np.ravel(y))))

        shape = (self.size, self.size)
        gram = LinearOperator(shape, matvec=product, rmatvec=product, dtype=np.float64)
        return float(np.sqrt(operator_norm(gram, type(self.A).__name__)))

    def row_norms(self) -> Array:
        return self._row_norms.copy()

    @cached_property
    def _row_norms(self) -> Array:
        if self.size > MAX_ROWS_MEASURED:
            return np.full(self.size, self.norm)
        return np.array([_norm(self.A.adjoint(unit)) for unit in np.eye(self.size)])

    def as_matrix(self) -> Any | None:
        return None

    def scaled(self, rows: Array) -> LinearMap:
        if has_member(self.A, "scaled"):
            return complete_map(self.A.scaled(rows), self._name)
        return Scaled(self, rows)


def as_map(a: Any, name: str = "op") -> LinearMap:
    """Return a map unchanged, the Operator of a LinearOperator or the Matrix of an array."""
    if is_operator(a):  # first: its `adjoint` is of another kind
        from condal.maps.operator import Operator

        return Operator(a, name=name)
    if hasattr(a, "adjoint"):
        return complete_map(a, name)
    from condal.maps.vectors import Matrix

    return Matrix(a)


def complete_map(A: MapLike, name: str) -> Any:
    """Return A, or a `UserMap` if A lacks members; ProblemError names those it must have."""
    purposes = {"size": "the length of Ax", "__call__(x)": "Ax"}
    require_members(A, f"the map {name}", purposes)
    return A if all(has_member(A, member) for member in (*OPTIONAL, "scaled")) else UserMap(A, name)


def _as_point(v: Any) -> Any:
    """Return the gradient v as a point of its space."""
    if isinstance(v, tuple):
        return tuple(_as_point(block) for block in v)
    return v.to_dense() if isinstance(v, Symmetric) else v


def _norm(v: Any) -> float:
    """Return |v|, the Euclidean norm."""
    if isinstance(v, tuple):
        return float(np.linalg.norm([_norm(block) for block in v]))
    return float(np.linalg.norm(_as_point(v)))
