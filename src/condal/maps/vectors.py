"""Maps of vectors: matrices, the identity, and finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, pi, prod, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.linalg.rounding import row_norms
from condal.linalg.sparse import is_operator, max_column_entries, require_sound
from condal.maps.combined import BasicMap
from condal.runtime.arguments import finite_array, require_whole


@dataclass(frozen=True, eq=False)
class Matrix(BasicMap):
    r"""The map :math:`A x = a x` of a matrix, for x a vector.

    Parameters
    ----------
    a : array_like or sparse matrix of shape (p, n)
        The matrix, or one row of length n. It is copied.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Matrix
    >>> Matrix([[1.0, 2.0], [0.0, 1.0]])(np.ones(2))
    array([3., 1.])
    """

    a: Any

    def __post_init__(self) -> None:
        if is_operator(self.a):
            raise ProblemError("Matrix takes a matrix; for a LinearOperator use condal.Operator")
        if sp.issparse(self.a):
            require_sound(self.a, "the matrix")
            finite_array(self.a.tocoo().data, "the matrix's stored entries")
            stored: Any = sp.csr_array(self.a, dtype=np.float64, copy=True)
        else:
            stored = np.atleast_2d(finite_array(self.a, "the matrix")).copy()
        if stored.ndim != 2:
            raise ProblemError(f"Matrix takes a 2-D array; got shape {stored.shape}")
        object.__setattr__(self, "a", stored)

    @property
    def size(self) -> int:
        return int(self.a.shape[0])

    @cached_property
    def norm(self) -> float:
        return operator_norm(self.a)

    def scaled(self, rows: Array) -> Matrix:
        if sp.issparse(self.a):
            return Matrix(self.a.multiply(rows[:, None]))
        return Matrix(rows[:, None] * self.a)

    @cached_property
    def terms(self) -> int:
        return max_column_entries(self.a)

    def row_norms(self) -> Array:
        return row_norms(self.a)

    def as_matrix(self) -> Any:
        return sp.csr_array(self.a)

    def __call__(self, x: Point) -> Array:
        return np.asarray(self.a @ np.asarray(x))

    def adjoint(self, y: Array) -> Gradient:
        return np.asarray(self.a.T @ y)


@dataclass(frozen=True)
class Identity(BasicMap):
    """The identity, A x = x, for x a vector.

    Parameters
    ----------
    n : int
        The length of x.
    """

    norm = 1.0
    terms = 1

    n: int

    def __post_init__(self) -> None:
        require_whole(self.n, "n")

    @property
    def size(self) -> int:
        return self.n

    def row_norms(self) -> Array:
        return np.ones(self.n)

    def as_matrix(self) -> Any:
        return sp.csr_array(sp.eye(self.n, format="csr"))

    def __call__(self, x: Point) -> Array:
        return np.array(x, dtype=np.float64)

    def adjoint(self, y: Array) -> Gradient:
        return np.array(y, dtype=np.float64)


@dataclass(frozen=True)
class FiniteDifferences(BasicMap):
    r"""Forward differences of an array x with N entries, flattened in C order.

    .. math:: (A x)_{k N + p} = x_{p + e_k} - x_p, \quad 0 \text{ at the border},

    where :math:`p + e_k` is the neighbour of p along axis k. The N differences along axis 0 come
    first, then those along axis 1. In an image of h x w pixels, entries p and h w + p are the
    gradient at pixel p.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import FiniteDifferences
    >>> FiniteDifferences((3,))(np.array([1.0, 4.0, 2.0]))
    array([ 3., -2.,  0.])
    """

    shape: Sequence[int]

    def __post_init__(self) -> None:
        sides = (self.shape,) if isinstance(self.shape, int | np.integer) else tuple(self.shape)
        if not sides:
            raise ProblemError("FiniteDifferences takes the shape of an array, such as (h, w)")
        for side in sides:
            require_whole(side, "each side of the shape")
        object.__setattr__(self, "shape", tuple(int(side) for side in sides))

    @property
    def n(self) -> int:
        """N, the length of x."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        return self.n * len(self.shape)

    @property
    def norm(self) -> float:
        """sqrt(sum_k 4 cos^2(pi / (2 n_k))), n_k the sides.

        A'A is the sum over the axes of Laplacians of paths, which have the eigenvectors
        cos(pi j (i + 1/2) / n_k) for the eigenvalues 4 sin^2(pi j / (2 n_k)), j < n_k.
        """
        return sqrt(sum((2 * cos(pi / (2 * side))) ** 2 for side in self.shape if side > 1))

    @property
    def terms(self) -> int:
        return 2 * len(self.shape)

    def row_norms(self) -> Array:
        return np.where(self._inside, sqrt(2.0), 0.0)

    def as_matrix(self) -> Any:
        rows = np.flatnonzero(self._inside)
        start = rows % self.n
        strides = [prod(self.shape[k + 1 :]) for k in range(len(self.shape))]
        neighbour = start + np.repeat(strides, self.n)[rows]
        values = np.repeat([-1.0, 1.0], rows.size)
        places = (np.tile(rows, 2), np.concatenate([start, neighbour]))
        return sp.csr_array(sp.coo_array((values, places), shape=(self.size, self.n)))

    def __call__(self, x: Point) -> Array:
        grid = np.asarray(x).reshape(self.shape)
        image = np.zeros((len(self.shape), *self.shape))
        for axis, out in enumerate(image):
            low, high = self._ends(axis)
            np.subtract(grid[high], grid[low], out=out[low])
        return image.ravel()

    def adjoint(self, y: Array) -> Gradient:
        """Minus the divergence of y."""
        v = np.zeros(self.shape)
        for axis, flow in enumerate(y.reshape(len(self.shape), *self.shape)):
            low, high = self._ends(axis)
            v[high] += flow[low]
            v[low] -= flow[low]
        return v.ravel()

    @staticmethod
    def _ends(axis: int) -> tuple[Any, Any]:
        """Where the differences along an axis begin and where they end."""
        before = (slice(None),) * axis
        return (*before, slice(None, -1)), (*before, slice(1, None))

    @cached_property
    def _inside(self) -> Any:
        """Which rows are not at the border."""
        inside = np.ones((len(self.shape), *self.shape), dtype=bool)
        for axis, rows in enumerate(inside):
            rows[(slice(None),) * axis + (-1,)] = False
        return inside.ravel()
