"""Maps of inner products with given symmetric matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.norms import row_norms
from condal.linalg.operator_norm import operator_norm
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Entries
from condal.maps.pattern import Pattern
from condal.maps.triplets import from_matrices, from_rows, from_triplets


@dataclass(frozen=True, eq=False)
class Inner:
    """(Ax)_i = <A_i, x>, for a list of sparse symmetric n x n matrices A_i.

    All matrices live on one pattern: Ax = G x[pattern], so that neither an image nor an adjoint
    loops over the constraints. `from_triplets` and `from_matrix` take all of them at once.
    """

    diagonal_rows = None

    matrices: Iterable[Any]
    _entries: Entries = field(init=False, repr=False)
    _G: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._keep(*from_matrices(self.matrices))

    @classmethod
    def from_triplets(
        cls, n: int, owner: Any, *, rows: Any, cols: Any, values: Any, size: int | None = None
    ) -> Inner:
        """The n x n matrices A_i with values_k at (rows_k, cols_k) and its mirror, i = owner_k.

        An entry off the diagonal is given once and stands for both triangles; what is given again
        is added. There are `size` matrices, or as many as the largest owner asks for.
        """
        return cls._of(*from_triplets(n, owner, rows, cols, values, size))

    @classmethod
    def from_matrix(cls, a: Any) -> Inner:
        """The matrices A_i flattened, both triangles, as the rows of a sparse p x n^2 matrix."""
        return cls._of(*from_rows(a))

    @classmethod
    def _of(cls, n: int, G: Any) -> Inner:
        made = object.__new__(cls)
        made._keep(n, G)
        return made

    def _keep(self, n: int, upper: Any) -> None:
        """From the upper triangles as rows, flattened: the pattern, and G on it alone."""
        slots, where = np.unique(upper.indices, return_inverse=True)
        rows, cols = slots // n, slots % n
        data = upper.data * np.where(rows == cols, 1.0, 2.0)[where.ravel()]
        places = where.ravel().astype(upper.indptr.dtype)
        shape = (upper.shape[0], slots.size)
        object.__setattr__(self, "matrices", upper.shape[0])
        object.__setattr__(self, "_entries", Entries(n, rows, cols))
        object.__setattr__(self, "_G", sp.csr_array((data, places, upper.indptr), shape=shape))

    @property
    def n(self) -> int:
        """The side of the matrices."""
        return self._entries.n

    @property
    def size(self) -> int:
        """How many matrices."""
        return int(self._G.shape[0])

    @cached_property
    def norm(self) -> float:
        """|A|, from the Gram matrix of the rows."""
        weighted = self._G @ _diagonal_array(self._row_weights)
        return operator_norm(weighted)

    @cached_property
    def _row_weights(self) -> Array:
        # <A_i, A_j> sums twice off the diagonal, and G already holds the factor two.
        return np.where(self._entries.rows == self._entries.cols, 1.0, np.sqrt(0.5))

    def scaled(self, rows: Array) -> Inner:
        """<rows_i A_i, x>."""
        copy = object.__new__(Inner)
        G = sp.csr_array(_diagonal_array(rows) @ self._G)
        for name, value in (("matrices", self.size), ("_entries", self._entries), ("_G", G)):
            object.__setattr__(copy, name, value)
        return copy

    @cached_property
    def terms(self) -> int:
        """The most matrices that share an entry, and the two triangles."""
        shared = np.bincount(self._G.indices, minlength=1).max(initial=0)
        return int(shared) + self._entries.terms

    def row_norms(self) -> Array:
        """The Frobenius norms of the matrices."""
        weighted = self._G @ _diagonal_array(self._row_weights)
        return row_norms(sp.csr_array(weighted))

    def as_matrix(self) -> Any:
        """The matrices, flattened."""
        return sp.csr_array(self._G @ self._entries.as_matrix())

    def __call__(self, x: Point) -> Array:
        """<A_i, x> for all i."""
        return np.asarray(self._G @ self._entries(x))

    def adjoint(self, y: Array) -> Symmetric:
        """sum_i y_i A_i."""
        return Symmetric(self.n, sparse=(self._pattern.fill(y),))

    @cached_property
    def _pattern(self) -> Pattern:
        return self._entries.pattern.after(self._G.T)


@dataclass(frozen=True, eq=False)
class Cost:
    """Mx = <C, x>, one number: the map of a linear objective on symmetric matrices."""

    diagonal_rows = None

    C: Symmetric

    @property
    def size(self) -> int:
        """1."""
        return 1

    @cached_property
    def norm(self) -> float:
        """|C|_F, or an estimate from products for a matrix-free C."""
        return self.C.frobenius_norm()

    def scaled(self, rows: Array) -> Cost:
        """<rows C, x>."""
        return Cost(self.C.scaled(float(rows[0])))

    @property
    def terms(self) -> int:
        """1."""
        return 1

    def row_norms(self) -> Array:
        """[|C|_F]."""
        return np.array([self.norm])

    def as_matrix(self) -> Any | None:
        """C, flattened; None for a matrix-free C."""
        if self.C.operators:
            return None
        C = sp.coo_array(self.C.to_sparse() if self.C.factorable else self.C.to_dense())
        places = C.row.astype(np.int64) * self.C.n + C.col
        row = sp.coo_array((C.data, (np.zeros_like(places), places)), (1, self.C.n**2))
        return sp.csr_array(row)

    def __call__(self, x: Point) -> Array:
        """[<C, x>]."""
        assert not isinstance(x, tuple)
        return np.array([self.C.quadratic(x)])

    def adjoint(self, y: Array) -> Symmetric:
        """y C."""
        return self.C.scaled(float(y[0]))


def _diagonal_array(d: Array) -> Any:
    return sp.dia_array((d[None, :], [0]), shape=(d.size, d.size)).tocsr()
