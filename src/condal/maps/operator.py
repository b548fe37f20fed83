"""Matrix-free maps: SciPy's LinearOperator."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.matrix_free import is_operator
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.maps.combined import BasicMap
from condal.runtime.arguments import refuse_complex, require_positive

MAX_NORM_PRODUCTS = 2000  # to compute the norms of the rows
UNIT_VECTORS_PER_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Operator(BasicMap):
    """The map A x = op x of a linear operator, for x a vector.

    Parameters
    ----------
    op : LinearOperator of shape (p, n)
        A real operator of SciPy or PyLops, in double precision.
    norm : float, optional
        An upper bound on |op|. Without one, about 60 products bound it, but for a probability of
        1e-6.
    name : str, default "op"
        The name of the operator in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse.linalg import LinearOperator
    >>> from condal.maps import Operator
    >>> op = LinearOperator((2, 2), matvec=np.flip, rmatvec=np.flip, dtype=float)
    >>> Operator(op, norm=1.0)(np.array([1.0, 2.0]))
    array([2., 1.])
    """

    op: Any
    norm: Any = None
    name: str = field(default="op", repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not is_operator(self.op):
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
        return int(self.op.shape[0])

    @property
    def terms(self) -> int:
        """p, as for a dense matrix."""
        return self.size

    def row_norms(self) -> Array:
        """The norms of the rows, by min(p, n) products; if these are too many, the bound |op|."""
        return self._row_norms.copy()

    def as_matrix(self) -> None:
        """None: the entries are unknown."""

    def __call__(self, x: Point) -> Array:
        return _real(self.op.matvec(np.asarray(x)))

    def adjoint(self, y: Array) -> Gradient:
        return _real(self.op.rmatvec(y))

    @cached_property
    def _row_norms(self) -> Array:
        p, n = self.op.shape
        if min(p, n) > MAX_NORM_PRODUCTS:
            return np.full(p, self.norm)
        squares, by_rows = np.zeros(p), p <= n
        for first in range(0, min(p, n), UNIT_VECTORS_PER_BLOCK):
            block = slice(first, first + UNIT_VECTORS_PER_BLOCK)
            units = np.eye(min(p, n))[:, block]
            if by_rows:
                squares[block] = (_real(self.op.rmatmat(units)) ** 2).sum(axis=0)
            else:
                squares += (_real(self.op.matmat(units)) ** 2).sum(axis=1)
        return np.sqrt(squares)


def _real(image: Any) -> Array:
    """Return a copy: an operator may return its argument."""
    return np.array(image, dtype=np.float64)
