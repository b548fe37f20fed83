"""Quadratic forms of rank one, many at a time: the intensities of linear measurements."""

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
from condal.linalg.lifting import (
    complex_vectors,
    is_complex,
    real_matrix,
    real_vectors,
    require_finite_parts,
)
from condal.linalg.operator_norm import operator_norm
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.sparse import require_sound, stored_rows
from condal.linalg.symmetric import Symmetric
from condal.maps.diffraction import CodedDiffraction
from condal.runtime.arguments import finite_array

ROWS = 4096  # of a piece: its images stay in the cache until they are squared and summed
COLUMNS = 32  # of a block of vectors that a matrix-free a is asked for,
IMAGES = 2**24  # and numbers of its image: but a column at least
EXACT_NORM = 400  # rows: up to here |A| is taken from all of their inner products
MOST_ENTRIES = 1.5e7  # of the matrices a_i a_i', multiplied out: 12 bytes each, or 16
PIECE = 2**17  # of these entries that are made at a time, from indices of some times their size


@dataclass(frozen=True, eq=False)
class Quadratics:
    """(Ax)_i = scale_i a_i' x a_i, for the rows a_i of a p x n matrix a and x symmetric n x n.

    a is dense, sparse or a LinearOperator. It is only multiplied by blocks of vectors: no a_i a_i'
    is formed, and A'y = a' Diag(scale y) a is kept as these three. `scale` is 1 where it is left
    out. `lengths` are |a_i|, if they are known: a LinearOperator that has no `lengths` of its own
    else gives them by n products.

    For a complex, x is Hermitian, and the image of u u* is scale_i |(a u)_i|^2: the intensities of
    a linear measurement. Its real form has two rows for each.
    """

    diagonal_rows = None

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
        """p."""
        return int(self.a.shape[0]) // self.each

    @cached_property
    def norm(self) -> float:
        """|A| from all (a_i' a_j)^2, for few rows; else max |b_i| |b|, which is no less.

        With b_i = sqrt(|scale_i|) a_i, up to signs AA' is b b' squared entry by entry; Schur bounds
        the norm of that. Sums of two add a factor of sqrt(2) at most.
        """
        roots = np.sqrt(np.abs(self.scale))
        if self._streams:  # a*a is diagonal
            most = float(roots.max()) * float(np.sqrt(self.a.of.frame.max()))
            return float(np.sqrt(self.each)) * float((roots * self._lengths).max()) * most
        weights = self._spread(roots)
        scaling = sp.dia_array((weights[None, :], [0]), shape=2 * weights.shape).tocsr()
        if self._hidden or self.size > EXACT_NORM:
            b = aslinearoperator(scaling) @ aslinearoperator(self.a)
            longest = float((roots * self._lengths).max())
            return float(np.sqrt(self.each)) * longest * operator_norm(b, "a of Quadratics")
        b = scaling @ self.a
        squares = sp.csr_array(b @ b.T).toarray() ** 2
        p, each = self.size, self.each
        squares = squares.reshape(p, each, p, each).sum(axis=(1, 3))
        return float(np.sqrt(max(np.linalg.eigvalsh(squares)[-1], 0.0)))

    def scaled(self, rows: Array) -> Quadratics:
        """The same a, with scale * rows."""
        made = object.__new__(Quadratics)  # without another copy of a
        for name, value in (
            ("a", self.a),
            ("scale", self.scale * rows),
            ("lengths", self._lengths),
            ("each", self.each),
        ):
            object.__setattr__(made, name, value)
        return made

    @property
    def terms(self) -> int:
        """1: a gradient keeps a and scale y apart."""
        return 1

    def row_norms(self) -> Array:
        """|scale_i| |a_i|^2; sqrt(2) times that for the two rows of a complex one."""
        return float(np.sqrt(self.each)) * np.abs(self.scale) * self._lengths**2

    def as_matrix(self) -> Any | None:
        """scale_i a_i a_i', flattened; None for a matrix-free a, or where they would not fit."""
        if self._hidden:
            return None
        counts = np.diff(self.a.indptr) if sp.issparse(self.a) else np.count_nonzero(self.a, axis=1)
        ends = np.concatenate([[0], np.cumsum(counts.astype(np.float64) ** 2)])
        if ends[-1] > MOST_ENTRIES:
            return None
        a = sp.csr_array(self.a)
        each = np.repeat(counts, counts)  # an entry of row i meets all entries of row i,
        first = np.repeat(a.indptr[:-1], counts)  # from here on
        scaled = np.repeat(self._spread(self.scale), counts) * a.data
        begin = np.concatenate([[0], np.cumsum(each, dtype=np.int64)])
        kind = np.int32 if max(self.n**2, begin[-1]) <= np.iinfo(np.int32).max else np.int64
        places, values = np.empty(begin[-1], dtype=kind), np.empty(begin[-1])
        cuts = np.searchsorted(begin, np.arange(0, begin[-1], PIECE))
        for low, high in pairwise([*np.unique(cuts), a.nnz]):
            here = slice(begin[low], begin[high])
            left = np.repeat(np.arange(low, high), each[low:high])
            right = first[left] + np.arange(here.start, here.stop) - begin[left]
            places[here] = a.indices[left].astype(kind) * self.n + a.indices[right]
            values[here] = scaled[left] * a.data[right]
        rows = sp.csr_array((values, places, ends.astype(kind)), shape=(len(counts), self.n**2))
        return rows if self.each == 1 else sp.csr_array(rows[::2] + rows[1::2])

    def __call__(self, x: Point) -> Array:
        """scale_i a_i' x a_i for all i."""
        if self._hidden and not isinstance(x, LowRank):
            values, vectors = np.linalg.eigh(np.asarray(x))
            x = LowRank(vectors, values)
        if self._streams:
            assert isinstance(x, LowRank)
            return self._streamed(x)
        image = np.zeros(self.a.shape[0])
        if self._hidden:
            assert isinstance(x, LowRank)
            for here, Z in self._blocks(x.U):
                image += weighted_squares(Z, x.weights[here])
        elif isinstance(x, LowRank):
            for here, a in self._pieces:
                image[here] = weighted_squares(a @ x.U, x.weights)
        else:
            for here, a in self._pieces:
                products = a @ np.asarray(x)
                both = a.multiply(products) if sp.issparse(a) else a * products
                image[here] = np.asarray(both.sum(axis=1)).ravel()
        return self.scale * (image if self.each == 1 else image[::2] + image[1::2])

    def adjoint(self, y: Array) -> Symmetric:
        """sum_i y_i scale_i a_i a_i'."""
        if self._streams:
            return Symmetric(self.n, operators=(_streamed_gram(self.a.of, self.scale * y),))
        weights = self._spread(self.scale * y)
        if self._hidden:
            return Symmetric(self.n, operators=(_gram(self.a, weights),))
        return Symmetric(self.n, grams=((self.a, weights),))

    def _spread(self, rows: Array) -> Array:
        """A number for each row of the real form, from one a measurement."""
        return rows if self.each == 1 else np.repeat(rows, self.each)

    @property
    def _hidden(self) -> bool:
        return isinstance(self.a, LinearOperator)

    @property
    def _streams(self) -> bool:
        """Whether a makes intensities, and a* Diag(w) a, without holding all of its images."""
        return self.each == 2 and isinstance(getattr(self.a, "of", None), CodedDiffraction)

    def _streamed(self, x: LowRank) -> Array:
        image = np.zeros(self.size)
        for u, weight in zip(x.U.T, x.weights, strict=True):
            part = self.a.of.intensities(complex_vectors(u))
            part *= weight
            image += part
        image *= self.scale
        return image

    @cached_property
    def _lengths(self) -> Array:
        """|a_i|."""
        if self.lengths is not None:
            return np.abs(self.lengths)
        squares = np.zeros(self.a.shape[0])
        if self._hidden:
            for _, Z in self._blocks(np.eye(self.n)):
                squares += (Z * Z).sum(axis=1)
        else:
            for here, a in self._pieces:
                both = a.multiply(a) if sp.issparse(a) else a * a
                squares[here] = np.asarray(both.sum(axis=1)).ravel()
        return np.sqrt(squares[:: self.each])  # the two of a complex row are equally long

    @cached_property
    def _pieces(self) -> list[tuple[slice, Any]]:
        """The rows of a, ROWS at a time."""
        rows = self.a.shape[0]
        if rows <= ROWS:
            return [(slice(0, rows), self.a)]
        places = [slice(k, min(k + ROWS, rows)) for k in range(0, rows, ROWS)]
        return [(here, self.a[here]) for here in places]

    def _blocks(self, U: Array) -> Iterator[tuple[slice, Array]]:
        """a U, a few columns at a time."""
        columns = max(1, min(COLUMNS, IMAGES // self.a.shape[0]))
        for k in range(0, U.shape[1], columns):
            here = slice(k, min(k + columns, U.shape[1]))
            yield here, np.asarray(self.a.matmat(U[:, here]))


def _streamed_gram(a: CodedDiffraction, w: Array) -> LinearOperator:
    """a* Diag(w) a, in real numbers."""

    def image(v: Array) -> Array:
        return real_vectors(a.weighted(w, complex_vectors(np.ravel(v))))

    return LinearOperator(2 * (2 * a.shape[1],), matvec=image, dtype=np.float64)


def _gram(a: LinearOperator, w: Array) -> LinearOperator:
    """a' Diag(w) a."""
    return LinearOperator(
        (a.shape[1], a.shape[1]),
        matvec=lambda v: a.rmatvec(w * a.matvec(np.ravel(v))),
        matmat=lambda V: a.rmatmat(w[:, None] * a.matmat(V)),
        dtype=np.float64,
    )


def _stored(a: Any) -> tuple[Any, int]:
    """The caller's matrix, checked, in memory of our own; a LinearOperator as it is; and how many
    rows it has for each measurement: 2 in the real form of a complex one."""
    name = "the matrix a of Quadratics"
    if is_complex(a):
        a = a if hasattr(a, "dtype") else np.asarray(a)
        if sp.issparse(a):
            require_sound(a, name)
        if not isinstance(a, LinearOperator):
            require_finite_parts(a, name)
        return _stored(real_matrix(a))[0], 2
    if isinstance(a, LinearOperator):
        stored: Any = a
    elif sp.issparse(a):
        stored = stored_rows(a, name)
    else:
        stored = np.ascontiguousarray(finite_array(a, name, ndim=2)).copy()
    if 0 in stored.shape:
        raise ProblemError(f"{name} must be at least 1 x 1; got shape {stored.shape}")
    return stored, 1
