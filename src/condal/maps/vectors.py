"""Maps of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.matrix_free import is_operator
from condal.linalg.norms import row_norms
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.linalg.sparse import max_column_entries, require_sound
from condal.maps.combined import BasicMap
from condal.maps.triplets import indices, require_within
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


@dataclass(frozen=True, eq=False)
class Sampling(BasicMap):
    r"""Entries of a vector, :math:`(A x)_k = x_{i_k}`.

    Parameters
    ----------
    n : int
        The length of x.
    indices : array_like of int
        The entries :math:`i_k`, from 0; an entry may appear several times.
    """

    n: int
    indices: Any

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        chosen = indices(self.indices, "indices")
        require_within(chosen, self.n, "indices")
        object.__setattr__(self, "indices", chosen)

    @property
    def size(self) -> int:
        return int(self.indices.size)

    @cached_property
    def norm(self) -> float:
        return float(np.sqrt(self.terms))

    @cached_property
    def terms(self) -> int:
        """How often an entry is sampled, at most."""
        return int(np.bincount(self.indices, minlength=1).max())

    def row_norms(self) -> Array:
        return np.ones(self.size)

    def as_matrix(self) -> Any:
        ends = np.arange(self.size + 1)
        return sp.csr_array((np.ones(self.size), self.indices, ends), shape=(self.size, self.n))

    def __call__(self, x: Point) -> Array:
        return np.asarray(x)[self.indices]

    def adjoint(self, y: Array) -> Gradient:
        return np.asarray(np.bincount(self.indices, y, self.n), dtype=np.float64)
