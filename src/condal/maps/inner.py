"""Maps of inner products with given symmetric matrices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.maps.entries import Entries
from condal.maps.norms import operator_norm
from condal.operators import Symmetric, symmetric
from condal.points import Array, Point


@dataclass(frozen=True, eq=False)
class Inner:
    """(Ax)_i = <A_i, x>, for a list of sparse symmetric n x n matrices A_i.

    All matrices live on one pattern: Ax = G x[pattern], so that neither an image nor an adjoint
    loops over the constraints.
    """

    diagonal_rows = None

    matrices: Iterable[Any]
    _entries: Entries = field(init=False, repr=False)
    _G: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        uppers = [self._upper(a, i) for i, a in enumerate(self.matrices)]
        if not uppers:
            raise ProblemError("Inner needs at least one matrix; leave A out for no constraint")
        n = uppers[0].shape[0]
        for i, upper in enumerate(uppers):
            if upper.shape[0] != n:
                raise ProblemError(
                    f"the matrices of Inner differ in size: number 0 is {n} x {n}, "
                    f"number {i} is {upper.shape[0]} x {upper.shape[0]}"
                )
        key = np.concatenate([u.row.astype(np.int64) * n + u.col for u in uppers])
        slots, where = np.unique(key, return_inverse=True)
        owner = np.repeat(np.arange(len(uppers)), [u.nnz for u in uppers])
        data = np.concatenate([np.where(u.row == u.col, 1.0, 2.0) * u.data for u in uppers])
        G = sp.csr_array(
            sp.coo_array((data, (owner, where.ravel())), shape=(len(uppers), slots.size))
        )
        object.__setattr__(self, "matrices", len(uppers))
        object.__setattr__(self, "_entries", Entries(n, slots // n, slots % n))
        object.__setattr__(self, "_G", G)

    @staticmethod
    def _upper(a: Any, i: int) -> Any:
        checked = symmetric(a, f"matrix {i} of Inner")
        if checked.operators:
            raise ProblemError(f"matrix {i} of Inner must be a matrix; got a LinearOperator")
        stored = checked.to_sparse() if checked.factorable else sp.csr_array(checked.to_dense())
        return sp.coo_array(sp.triu(stored))

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
        object.__setattr__(copy, "matrices", self.matrices)
        object.__setattr__(copy, "_entries", self._entries)
        object.__setattr__(copy, "_G", sp.csr_array(_diagonal_array(rows) @ self._G))
        return copy

    @cached_property
    def terms(self) -> int:
        """The most matrices that share an entry, and the two triangles."""
        shared = np.bincount(self._G.indices, minlength=1).max(initial=0)
        return int(shared) + self._entries.terms

    def row_norms(self) -> Array:
        """The Frobenius norms of the matrices."""
        weighted = self._G @ _diagonal_array(self._row_weights)
        return np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())

    def __call__(self, x: Point) -> Array:
        """<A_i, x> for all i."""
        return np.asarray(self._G @ self._entries(x))

    def adjoint(self, y: Array) -> Symmetric:
        """sum_i y_i A_i."""
        return self._entries.adjoint(self._G.T @ y)


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
        C = self.C
        if C.operators:
            block = np.random.default_rng(0).standard_normal((C.n, min(C.n, 16)))
            return float(np.linalg.norm(C @ block) / np.sqrt(block.shape[1]))
        if C.factorable:
            return float(np.linalg.norm(C.to_sparse().data))
        return float(np.linalg.norm(C.to_dense()))

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

    def __call__(self, x: Point) -> Array:
        """[<C, x>]."""
        assert not isinstance(x, tuple)
        return np.array([self.C.quadratic(x)])

    def adjoint(self, y: Array) -> Symmetric:
        """y C."""
        return self.C.scaled(float(y[0]))


def _diagonal_array(d: Array) -> Any:
    return sp.dia_array((d[None, :], [0]), shape=(d.size, d.size)).tocsr()
