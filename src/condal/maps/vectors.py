"""Maps of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.maps.norms import operator_norm
from condal.operators import Gradient
from condal.points import Array, Point, finite_array


@dataclass(frozen=True, eq=False)
class Matrix:
    """Ax = a x, for x a vector and a dense or sparse p x n matrix (or one row of length n)."""

    diagonal_rows = None

    a: Any

    def __post_init__(self) -> None:
        if sp.issparse(self.a):
            finite_array(self.a.tocoo().data, "the matrix's stored entries")
            stored: Any = sp.csr_array(self.a, dtype=np.float64, copy=True)
        else:
            stored = np.atleast_2d(finite_array(self.a, "the matrix")).copy()
        if stored.ndim != 2:
            raise ProblemError(f"Matrix takes a 2-D array; got shape {stored.shape}")
        object.__setattr__(self, "a", stored)

    @property
    def size(self) -> int:
        """p."""
        return int(self.a.shape[0])

    @cached_property
    def norm(self) -> float:
        """The largest singular value."""
        return operator_norm(self.a)

    def scaled(self, rows: Array) -> Matrix:
        """The matrix with scaled rows."""
        if sp.issparse(self.a):
            return Matrix(self.a.multiply(rows[:, None]))
        return Matrix(rows[:, None] * self.a)

    @cached_property
    def terms(self) -> int:
        """The most entries of a column."""
        if sp.issparse(self.a):
            return int(np.bincount(self.a.indices, minlength=1).max(initial=0))
        return self.size

    def row_norms(self) -> Array:
        """The Euclidean norms of the rows."""
        squared = self.a.multiply(self.a) if sp.issparse(self.a) else self.a * self.a
        return np.sqrt(np.asarray(squared.sum(axis=1)).ravel())

    def as_matrix(self) -> Any:
        """a."""
        return sp.csr_array(self.a)

    def __call__(self, x: Point) -> Array:
        """a x."""
        return np.asarray(self.a @ np.asarray(x))

    def adjoint(self, y: Array) -> Gradient:
        """a' y."""
        return np.asarray(self.a.T @ y)
