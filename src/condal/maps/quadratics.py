"""Rank-one quadratic forms: the intensities of linear measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from condal.errors import ProblemError
from condal.linalg.blocked import weighted_squares
from condal.linalg.gradients import SquareRows
from condal.linalg.lifting import (
    complex_vectors,
    is_complex,
    real_matrix,
    real_vectors,
    require_finite_parts,
)
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.rounding import row_norms
from condal.linalg.sparse import diagonal_matrix, require_sound, stored_matrix
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.maps.diffraction import CodedDiffraction
from condal.runtime.arguments import finite_array

ROWS_PER_BLOCK = 4096  # their images stay in the cache until they are squared and summed
MAX_BLOCK_COLUMNS = 32  # of a product with a matrix-free a,
MAX_BLOCK_NUMBERS = 2**24  # and numbers of its image (but at least one column)
MAX_EXACT_NORM_ROWS = 400  # up to here |A| is computed from all inner products of rows
MAX_MATRIX_ENTRIES = 1.5e7  # of the matrices a_i a_i', multiplied out: 12 or 16 bytes each
MIN_SQUARE_ENTRIES = 32  # of an a_i that is kept as a vector, not multiplied out,
MAX_SQUARES = 64  # if there are no more of these
ENTRIES_PER_BLOCK = 2**17  # computed together, from indices of several times their size


@dataclass(frozen=True, eq=False)
class Quadratics(BasicMap):
    r"""Quadratic forms :math:`(A x)_i = s_i a_i^T x a_i` of the rows of a matrix.

    The matrix a is only multiplied by blocks of vectors: no :math:`a_i a_i^T` is formed, and
    :math:`A^T y = a^T \mathrm{Diag}(s y) a` is stored as its three factors. For complex a, x is
    Hermitian, and the image of :math:`u u^*` is :math:`s_i |(a u)_i|^2`, the intensities of a
    linear measurement; the real form of a has two rows for each measurement.

    Parameters
    ----------
    a : array_like, sparse matrix or LinearOperator of shape (p, n)
        The matrix, real or complex.
    scale : array_like of shape (p,), optional
        The factors :math:`s_i`; by default 1.
    lengths : array_like of shape (p,), optional
        The norms :math:`|a_i|`. A LinearOperator without them, or an attribute `lengths`, takes n
        products to compute them.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Quadratics
    >>> Quadratics([[1.0, 1.0], [1.0, 0.0]])(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([8., 1.])
    """

    terms = 1  # a gradient stores a and scale y apart

    a: Any
    scale: Any = None
    lengths: Any = None
    each: int = field(default=1, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.lengths is None and hasattr(self.a, "lengths"):
            object.__setattr__(self, "lengths", self.a.lengths)
        stored, each = _stored(self.a)
        object.__setattr__(self, "a", stored)
        object.__setattr__(self, "each", each)
        for name in ("scale", "lengths"):
            given = getattr(self, name)
            values = np.ones(self.size) if given is None else finite_array(given, name, ndim=1)
            if values.size != self.size:
                raise ProblemError(
                    f"{name} must have a number for each of the {self.size} rows of a; "
                    f"got {values.size}"
                )
            if name == "scale" or given is not None:
                object.__setattr__(self, name, values.copy())

    @property
    def n(self) -> int:
        """The side of x, or of its real form."""
        return int(self.a.shape[1])

    @property
    def size(self) -> int:
        return int(self.a.shape[0]) // self.each

    @cached_property
    def norm(self) -> float:
        """|A| from all (a_i' a_j)^2 for few rows, else the upper bound max |b_i| |b|.

        With b_i = sqrt(|scale_i|) a_i, AA' is, up to signs, b b' squared entry by entry, whose norm
        Schur's theorem bounds. Two rows per measurement add a factor of at most sqrt(2).
        """
        roots = np.sqrt(np.abs(self.scale))
        if self._streams:  # a*a is diagonal
            most = float(roots.max()) * float(np.sqrt(self.a.of.frame.max()))
            return float(np.sqrt(self.each)) * float((roots * self._lengths).max()) * most
        weights = self._spread(roots)
        scaling = sp.dia_array((weights[None, :], [0]), shape=2 * weights.shape).tocsr()
        if self._hidden or self.size > MAX_EXACT_NORM_ROWS:
            b = aslinearoperator(scaling) @ aslinearoperator(self.a)
            longest = float((roots * self._lengths).max())
            return float(np.sqrt(self.each)) * longest * operator_norm(b, "a of Quadratics")
        b = scaling @ self.a
        squares = sp.csr_array(b @ b.T).toarray() ** 2
        p, each = self.size, self.each
        squares = squares.reshape(p, each, p, each).sum(axis=(1, 3))
        return float(np.sqrt(max(np.linalg.eigvalsh(squares)[-1], 0.0)))

    def scaled(self, rows: Array) -> Quadratics:
        new = object.__new__(Quadratics)  # shares a
        for name, value in (
            ("a", self.a),
            ("scale", self.scale * rows),
            ("lengths", self._lengths),
            ("each", self.each),
        ):
            object.__setattr__(new, name, value)
        return new

    def row_norms(self) -> Array:
        """|scale_i| |a_i|^2; sqrt(2) times this for complex rows."""
        return float(np.sqrt(self.each)) * np.abs(self.scale) * self._lengths**2

    def as_matrix(self) -> Any | None:
        """scale_i a_i a_i', flattened; None for a matrix-free a or if these do not fit."""
        if self._hidden:
            return None
        counts = self._row_entries
        ends = np.concatenate([[0], np.cumsum(counts.astype(np.float64) ** 2)])
        if ends[-1] > MAX_MATRIX_ENTRIES:
            return None
        a = sp.csr_array(self.a)
        each = np.repeat(counts, counts)  # an entry of row i is multiplied by all of row i,
        first = np.repeat(a.indptr[:-1], counts)  # which begins here
        scaled = np.repeat(self._spread(self.scale), counts) * a.data
        begin = np.concatenate([[0], np.cumsum(each, dtype=np.int64)])
        kind = np.int32 if max(self.n**2, begin[-1]) <= np.iinfo(np.int32).max else np.int64
        places, values = np.empty(begin[-1], dtype=kind), np.empty(begin[-1])
        cuts = np.searchsorted(begin, np.arange(0, begin[-1], ENTRIES_PER_BLOCK))
        for low, high in pairwise([*np.unique(cuts), a.nnz]):
            block = slice(begin[low], begin[high])
            left = np.repeat(np.arange(low, high), each[low:high])
            right = first[left] + np.arange(block.start, block.stop) - begin[left]
            places[block] = a.indices[left].astype(kind) * self.n + a.indices[right]
            values[block] = scaled[left] * a.data[right]
        rows = sp.csr_array((values, places, ends.astype(kind)), shape=(len(counts), self.n**2))
        return rows if self.each == 1 else sp.csr_array(rows[::2] + rows[1::2])

    def split_squares(self) -> SquareRows | None:
        """Return a few dense a_i as vectors and the others multiplied out, as for `SplitMap`."""
        if not self._hidden and self.each == 1:
            dense = np.flatnonzero(self._row_entries >= MIN_SQUARE_ENTRIES)
            if 0 < dense.size <= MAX_SQUARES:
                kept = self.scale.copy()
                kept[dense] = 0.0
                a = sp.csr_array(self.a)
                rest = Quadratics(diagonal_matrix(kept != 0.0) @ a, kept)
                matrix = rest.as_matrix()
                vectors = a[dense].toarray().T
                if matrix is not None:
                    return SquareRows(matrix, dense, self.scale[dense], vectors)
        matrix = self.as_matrix()
        return None if matrix is None else SquareRows.without_squares(matrix)

    @property
    def _row_entries(self) -> Any:
        """The number of entries of each row of a, which is not hidden."""
        if sp.issparse(self.a):
            return np.diff(self.a.indptr)
        return np.count_nonzero(self.a, axis=1)

    def __call__(self, x: Point) -> Array:
        if self._hidden and not isinstance(x, LowRank):
            values, vectors = np.linalg.eigh(np.asarray(x))
            x = LowRank(vectors, values)
        if self._streams:
            assert isinstance(x, LowRank)
            return self._streamed(x)
        image = np.zeros(self.a.shape[0])
        if self._hidden:
            assert isinstance(x, LowRank)
            for columns, Z in self._products(x.U):
                image += weighted_squares(Z, x.weights[columns])
        elif isinstance(x, LowRank):
            for rows, a in self._row_blocks:
                image[rows] = weighted_squares(a @ x.U, x.weights)
        else:
            for rows, a in self._row_blocks:
                products = a @ np.asarray(x)
                both = a.multiply(products) if sp.issparse(a) else a * products
                image[rows] = np.asarray(both.sum(axis=1)).ravel()
        return self.scale * (image if self.each == 1 else image[::2] + image[1::2])

    def adjoint(self, y: Array) -> Symmetric:
        if self._streams:
            return Symmetric(self.n, operators=(_streamed_gram(self.a.of, self.scale * y),))
        weights = self._spread(self.scale * y)
        if self._hidden:
            return Symmetric(self.n, operators=(_gram(self.a, weights),))
        return Symmetric(self.n, grams=((self.a, weights),))

    def _spread(self, rows: Array) -> Array:
        """Repeat a number per measurement for each row of the real form."""
        return rows if self.each == 1 else np.repeat(rows, self.each)

    @property
    def _hidden(self) -> bool:
        return isinstance(self.a, LinearOperator)

    @property
    def _streams(self) -> bool:
        """Whether a computes intensities and a* Diag(w) a without storing all its images."""
        return self.each == 2 and isinstance(getattr(self.a, "of", None), CodedDiffraction)

    def _streamed(self, x: LowRank) -> Array:
        image = np.zeros(self.size)
        for u, weight in zip(x.U.T, x.weights, strict=True):
            intensities = self.a.of.intensities(complex_vectors(u))
            intensities *= weight
            image += intensities
        image *= self.scale
        return image

    @cached_property
    def _lengths(self) -> Array:
        """|a_i|."""
        if self.lengths is not None:
            return np.abs(self.lengths)
        if not self._hidden:
            return row_norms(self.a)[:: self.each]  # the two rows of a complex row have one norm
        squares = np.zeros(self.a.shape[0])
        for _, Z in self._products(np.eye(self.n)):
            squares += (Z * Z).sum(axis=1)
        return np.sqrt(squares[:: self.each])

    @cached_property
    def _row_blocks(self) -> list[tuple[slice, Any]]:
        """The rows of a, ROWS_PER_BLOCK at a time."""
        p = self.a.shape[0]
        if p <= ROWS_PER_BLOCK:
            return [(slice(0, p), self.a)]
        blocks = [slice(k, min(k + ROWS_PER_BLOCK, p)) for k in range(0, p, ROWS_PER_BLOCK)]
        return [(rows, self.a[rows]) for rows in blocks]

    def _products(self, U: Array) -> Iterator[tuple[slice, Array]]:
        """Yield a U, a few columns at a time."""
        count = max(1, min(MAX_BLOCK_COLUMNS, MAX_BLOCK_NUMBERS // self.a.shape[0]))
        for k in range(0, U.shape[1], count):
            columns = slice(k, min(k + count, U.shape[1]))
            yield columns, np.asarray(self.a.matmat(U[:, columns]))


def _streamed_gram(a: CodedDiffraction, w: Array) -> LinearOperator:
    """Return the real form of a* Diag(w) a."""

    def image(v: Array) -> Array:
        return real_vectors(a.weighted(w, complex_vectors(np.ravel(v))))

    return LinearOperator(2 * (2 * a.shape[1],), matvec=image, dtype=np.float64)


def _gram(a: LinearOperator, w: Array) -> LinearOperator:
    """Return a' Diag(w) a."""
    return LinearOperator(
        (a.shape[1], a.shape[1]),
        matvec=lambda v: a.rmatvec(w * a.matvec(np.ravel(v))),
        matmat=lambda V: a.rmatmat(w[:, None] * a.matmat(V)),
        dtype=np.float64,
    )


def _stored(a: Any) -> tuple[Any, int]:
    """Return a checked copy of the user's matrix (a LinearOperator unchanged) in real form.

    The second value is its number of rows per measurement: 2 for a complex matrix.
    """
    name = "the matrix a of Quadratics"
    if is_complex(a):
        a = a if hasattr(a, "dtype") else np.asarray(a)
        if sp.issparse(a):
            require_sound(a, name)
        if not isinstance(a, LinearOperator):
            require_finite_parts(a, name)
        return _stored(real_matrix(a))[0], 2
    if not isinstance(a, LinearOperator):
        return stored_matrix(a, name), 1
    if 0 in a.shape:
        raise ProblemError(f"{name} must be at least 1 x 1; got shape {a.shape}")
    return a, 1
