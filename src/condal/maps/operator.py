"""Maps that only their products tell: SciPy's LinearOperator, and what is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.maps.combined import Scaled
from condal.maps.norms import operator_norm
from condal.maps.user import complete_map
from condal.maps.vectors import Matrix
from condal.runtime.arguments import refuse_complex, require_positive
from condal.types import LinearMap

MOST_PRODUCTS = 2000  # that the lengths of the rows are worth
BLOCK = 64  # of the unit vectors that are multiplied at a time


@dataclass(frozen=True, eq=False)
class Operator:
    """Ax = op x, for x a vector and a real LinearOperator of SciPy, or of PyLops.

    `norm` is an upper bound on |op|, if one is known; else the op is asked for some 60 products,
    which bound it but for a probability of 1e-6. `name` is what errors call it.
    """

    diagonal_rows = None

    op: Any
    norm: Any = None
    name: str = field(default="op", repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.op, LinearOperator):
            raise ProblemError(
                f"Operator takes a SciPy LinearOperator; got {type(self.op).__name__}: for a "
                "matrix, dense or sparse, use condal.Matrix"
            )
        refuse_complex(self.op.dtype, "the operator")
        if self.op.dtype is not None and self.op.dtype in (np.float16, np.float32):
            raise ProblemError(
                f"the operator computes in {self.op.dtype}, too coarse for a proof: make it one of "
                "float64"
            )
        if self.norm is None:
            object.__setattr__(self, "norm", operator_norm(self.op, self.name))
        else:
            require_positive(self.norm, "norm")

    @property
    def size(self) -> int:
        """p, for a p x n operator."""
        return int(self.op.shape[0])

    def scaled(self, rows: Array) -> Scaled:
        """rows * Ax."""
        return Scaled(self, rows)

    @property
    def terms(self) -> int:
        """p: as many as a matrix would have."""
        return self.size

    def row_norms(self) -> Array:
        """The Euclidean norms of the rows, by min(p, n) products; where these are too many, |op|,
        which is no less."""
        return self._row_norms.copy()

    def as_matrix(self) -> None:
        """None: nobody knows its numbers."""

    def __call__(self, x: Point) -> Array:
        """op x."""
        return _real(self.op.matvec(np.asarray(x)))

    def adjoint(self, y: Array) -> Gradient:
        """op' y."""
        return _real(self.op.rmatvec(y))

    @cached_property
    def _row_norms(self) -> Array:
        p, n = self.op.shape
        if min(p, n) > MOST_PRODUCTS:
            return np.full(p, self.norm)
        squares, by_rows = np.zeros(p), p <= n
        for first in range(0, min(p, n), BLOCK):
            units = np.eye(min(p, n))[:, first : first + BLOCK]
            if by_rows:
                squares[first : first + BLOCK] = (_real(self.op.rmatmat(units)) ** 2).sum(axis=0)
            else:
                squares += (_real(self.op.matmat(units)) ** 2).sum(axis=1)
        return np.sqrt(squares)


def as_map(a: Any, name: str = "op") -> LinearMap:
    """a, if it is a map; the Operator of a LinearOperator, the Matrix of any other array."""
    if isinstance(a, LinearOperator):  # which has an `adjoint` of another kind
        return Operator(a, name=name)
    return complete_map(a, name) if hasattr(a, "adjoint") else Matrix(a)


def _real(image: Any) -> Array:
    """A copy: an operator may give its argument back."""
    return np.array(image, dtype=np.float64)
