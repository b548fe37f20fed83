"""The terms of a symmetric operator, each stored in its own form.

A term T knows its product with vectors, its diagonal, a bound on |T| v, its assembled matrix and
how often that matrix and a product are rounded. `Symmetric` adds terms up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import (
    add_scaled_rows,
    block_slices,
    gram,
    gram_product,
    onto,
    row_blocks,
    threaded_product,
)
from condal.linalg.points import Array
from condal.linalg.rounding import gamma
from condal.linalg.sparse import (
    MIN_GATHERED_NUMBERS,
    diagonal_matrix,
    gathered_product,
    gathers,
    max_column_entries,
)

PIECE = 128  # entries of a row that are added up at once


class Term(ABC):
    """A symmetric n x n matrix T."""

    order: ClassVar[int]  # of summation: cheap terms first, operators last
    is_sparse: ClassVar[bool] = False  # `to_sparse` exists
    has_entries: ClassVar[bool] = True  # they are stored; else T is known by its products alone
    low_rank: ClassVar[bool] = False  # T is stored as factors, few or many
    by_entries: ClassVar[bool] = False  # `congruent` exists

    @abstractmethod
    def add_product(self, out: Array | None, v: Array) -> Array:
        """Return out + T v, written on `out`; T v if `out` is None. v is a vector or a block."""

    @abstractmethod
    def add_dense(self, out: Array | None) -> Array:
        """Return out + T as an n x n array, written on `out`; a copy of T if `out` is None."""

    @abstractmethod
    def scaled(self, c: float) -> Term:
        """Return c T."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return diag T."""

    def absolute_diagonal(self) -> Array:
        """Return the sum of the absolute values of the summands of diag T."""
        return np.abs(self.diagonal())

    @abstractmethod
    def absolute_product(self, v: Array) -> Array:
        """Return an upper bound on |T| v for v >= 0."""

    def arrays(self) -> Iterable[Array]:
        """Return the stored numbers that must be finite."""
        return ()

    def roundings(self) -> int:
        """Return the roundings that T adds to an entry of the assembled V, beside a few."""
        return 0

    def summands(self) -> Any:
        """Return the roundings of each entry of T v, at most, beside a few."""
        return len(self.diagonal()) + 2 * self.roundings()

    def in_pieces(self) -> Term:
        """Return T with products that add up few numbers at once."""
        return self

    def congruent(self, root: Array) -> Term:
        """Return Diag(root) T Diag(root), with each entry rounded at most three times."""
        raise TypeError(f"{type(self).__name__} has no entries to scale")

    def plus(self, other: Term) -> Term | None:
        """Return T + other as one term; None if the two stay apart."""
        return None

    def explicit(self) -> Term:
        """Return T as a term with known entries."""
        return self

    def reordered(self, terms: Iterable[Term]) -> tuple[list[Term], Any] | None:
        """Return the terms of V, of which T is one, with the rows of each rank in another order,
        and the order; None unless T has its rows on many ranks."""
        return None


@dataclass(frozen=True, eq=False)
class SparseTerm(Term):
    """A sparse matrix; a distributed one supports only products and `scaled`."""

    order = 0
    is_sparse = True
    by_entries = True
    matrix: Any

    def add_product(self, out: Array | None, v: Array) -> Array:
        if v.size >= MIN_GATHERED_NUMBERS and gathers(self.matrix, v):
            image = gathered_product(self.matrix, v)
        else:
            blocks = self._blocks
            image = self.matrix @ v if blocks is None else threaded_product(blocks, v)
        return image if out is None else np.add(out, image, out=out)

    @cached_property
    def _blocks(self) -> list[tuple[slice, Any]] | None:
        """Blocks of rows for several threads."""
        return row_blocks(self.matrix)

    def congruent(self, root: Array) -> SparseTerm:
        matrix = sp.csr_array(self.matrix)
        rows = np.repeat(root, np.diff(matrix.indptr))
        data = matrix.data * (rows * root[matrix.indices])
        return SparseTerm(sp.csr_array((data, matrix.indices, matrix.indptr), matrix.shape))

    def add_dense(self, out: Array | None) -> Array:
        return onto(out, self.matrix.toarray())

    def to_sparse(self) -> Any:
        return sp.csc_array(self.matrix)

    def scaled(self, c: float) -> SparseTerm:
        S = self.matrix
        if not (isinstance(S, sp.csr_array) and S.has_sorted_indices):
            return SparseTerm(c * S)
        # The pattern is shared: its indices are sorted already.
        return SparseTerm(sp.csr_array((c * S.data, S.indices, S.indptr), shape=S.shape))

    def diagonal(self) -> Array:
        return np.asarray(self.matrix.diagonal())

    def absolute_product(self, v: Array) -> Array:
        return np.asarray(abs(self.matrix) @ v)

    def arrays(self) -> Iterable[Array]:
        return (self.matrix.data,)

    def roundings(self) -> int:
        return 1

    def summands(self) -> Any:
        return np.diff(sp.csr_array(self.matrix).indptr)

    def in_pieces(self) -> SparseTerm:
        a = sp.csr_array(self.matrix)
        if np.diff(a.indptr).max(initial=0) <= PIECE:
            return self
        ends = np.union1d(a.indptr, np.arange(0, a.nnz, PIECE, dtype=a.indptr.dtype))
        count, begins = ends.size - 1, np.searchsorted(ends, a.indptr)
        pieces = sp.csr_array((a.data, a.indices, ends), (count, a.shape[1]))
        sums = sp.csr_array((np.ones(count), np.arange(count), begins), (a.shape[0], count))
        return PiecewiseTerm(a, SparseTerm(pieces), SparseTerm(sums))


@dataclass(frozen=True, eq=False)
class PiecewiseTerm(SparseTerm):
    """A sparse matrix = sums * pieces: products add up long rows piece by piece."""

    pieces: SparseTerm
    sums: SparseTerm

    def add_product(self, out: Array | None, v: Array) -> Array:
        return self.sums.add_product(out, self.pieces.add_product(None, v))

    def summands(self) -> Any:
        counts = super().summands()
        return np.minimum(counts, PIECE) + counts // PIECE + 2


@dataclass(frozen=True, eq=False)
class DiagonalTerm(Term):
    """Diag(d)."""

    order = 1
    is_sparse = True
    by_entries = True
    d: Array

    def add_product(self, out: Array | None, v: Array) -> Array:
        if out is None:
            return (self.d if v.ndim == 1 else self.d[:, None]) * v
        if v.ndim == 1:
            return np.add(out, self.d * v, out=out)
        add_scaled_rows(out, self.d, v)
        return out

    def add_dense(self, out: Array | None) -> Array:
        if out is None:
            return np.diag(self.d)
        out[np.diag_indices(self.d.size)] += self.d
        return out

    def to_sparse(self) -> Any:
        return diagonal_matrix(self.d)

    def scaled(self, c: float) -> DiagonalTerm:
        return DiagonalTerm(c * self.d)

    def congruent(self, root: Array) -> DiagonalTerm:
        return DiagonalTerm(self.d * root**2)

    def diagonal(self) -> Array:
        return self.d

    def absolute_product(self, v: Array) -> Array:
        return np.abs(self.d) * v

    def arrays(self) -> Iterable[Array]:
        return (self.d,)

    def summands(self) -> int:
        return 1

    def plus(self, other: Term) -> DiagonalTerm | None:
        return DiagonalTerm(self.d + other.d) if isinstance(other, DiagonalTerm) else None


@dataclass(frozen=True, eq=False)
class PairTerm(Term):
    """The sum of (a b' + b a')/2 over pairs (a, b) of vectors."""

    order = 2
    low_rank = True
    pairs: tuple[tuple[Array, Array], ...]
    pairwise: bool = False  # whether sums over v are pairwise, as those of NumPy's `sum` are

    def add_product(self, out: Array | None, v: Array) -> Array:
        left, right = self._factors
        inner = (right * v).sum(axis=1) if self.pairwise and v.ndim == 1 else right @ v
        if out is None:
            return left @ inner
        for rows in block_slices(*out.shape):
            out[rows] += left[rows] @ inner
        return out

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """The term as a product of two matrices: columns a, b, ... and rows b/2, a/2, ..."""
        left = np.column_stack([vector for pair in self.pairs for vector in pair])
        return left, 0.5 * np.stack([vector for a, b in self.pairs for vector in (b, a)])

    def add_dense(self, out: Array | None) -> Array:
        size = self.pairs[0][0].size
        out = np.zeros((size, size)) if out is None else out
        for rows in block_slices(*out.shape):  # the sums stay symmetric, bit for bit
            for a, b in self.pairs:
                out[rows] += 0.5 * (np.outer(a[rows], b) + np.outer(b[rows], a))
        return out

    def scaled(self, c: float) -> PairTerm:
        return PairTerm(tuple((c * a, b) for a, b in self.pairs))

    def diagonal(self) -> Array:
        return np.sum([a * b for a, b in self.pairs], axis=0)

    def absolute_diagonal(self) -> Array:
        return np.sum([np.abs(a * b) for a, b in self.pairs], axis=0)

    def absolute_product(self, v: Array) -> Array:
        sizes = [(np.abs(a), np.abs(b)) for a, b in self.pairs]
        return np.sum([0.5 * (a * (b @ v) + b * (a @ v)) for a, b in sizes], axis=0)

    def arrays(self) -> Iterable[Array]:
        return (vector for pair in self.pairs for vector in pair)

    def roundings(self) -> int:
        return len(self.pairs)

    def summands(self) -> int:
        return super().summands() if not self.pairwise else 2 * PIECE + 2 * len(self.pairs)

    def in_pieces(self) -> PairTerm:
        return PairTerm(self.pairs, pairwise=True)

    def plus(self, other: Term) -> PairTerm | None:
        return PairTerm(self.pairs + other.pairs) if isinstance(other, PairTerm) else None


@dataclass(frozen=True, eq=False)
class GramTerm(Term):
    """a' Diag(w) a for a p x n matrix a, dense or CSR, which is never multiplied out."""

    order = 5
    low_rank = True
    a: Any
    w: Array

    def add_product(self, out: Array | None, v: Array) -> Array:
        return onto(out, gram_product(self.a, self.w, v))

    def add_dense(self, out: Array | None) -> Array:
        return onto(out, gram(self.a, self.w))

    def scaled(self, c: float) -> GramTerm:
        return GramTerm(self.a, c * self.w)

    def diagonal(self) -> Array:
        squares = self.a.multiply(self.a) if sp.issparse(self.a) else self.a * self.a
        return np.asarray(squares.T @ self.w)

    def absolute_diagonal(self) -> Array:
        return GramTerm(self.a, np.abs(self.w)).diagonal()

    def absolute_product(self, v: Array) -> Array:
        sums = abs(self.a).T @ (np.abs(self.w) * (abs(self.a) @ v))
        return np.asarray(sums * (1 + 4 * gamma(sum(self.a.shape) + 4)))  # long sums: round up

    def arrays(self) -> Iterable[Array]:
        return self.a.data if sp.issparse(self.a) else self.a, self.w

    def roundings(self) -> int:
        return self.w.size + 2

    def summands(self) -> Any:
        if not sp.issparse(self.a):
            return super().summands()
        counts = np.diff(sp.csr_array(self.a).indptr)
        return int(counts.max(initial=0)) + max_column_entries(self.a) + 4


@dataclass(frozen=True, eq=False)
class OperatorTerm(Term):
    """A SciPy LinearOperator, known by its products alone."""

    order = 6
    has_entries = False
    operator: Any

    def add_product(self, out: Array | None, v: Array) -> Array:
        image: Array = self.operator.matvec(v) if v.ndim == 1 else self.operator.matmat(v)
        # The operator may return its argument or memory of its own: never write on that.
        return image if out is None else out + image

    def add_dense(self, out: Array | None) -> Array:
        image = self.operator.matmat(np.eye(self.operator.shape[0]))
        return onto(out, 0.5 * (image + image.T))

    def scaled(self, c: float) -> OperatorTerm:
        return OperatorTerm(c * self.operator)

    def diagonal(self) -> Array:
        """Zeros: the diagonal is unknown."""
        return np.zeros(self.operator.shape[0])

    def absolute_product(self, v: Array) -> Array:
        return np.full(v.size, np.inf)

    def explicit(self) -> Term:
        return SparseTerm(sp.csr_array(self.add_dense(None)))
