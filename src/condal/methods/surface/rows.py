"""The equations A(R R') = b of a factor R, with slacks for bounds, and their derivatives.

The rows of A are sparse matrices A_i, and the trace is one more row. With J D = A(R D' + D R') and
J'u = 2 (A'u) R, the entry (i, j) of J J' is 4 <A_i R, A_j R>; a slack s_i adds 4 s_i^2 to (i, i).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import add_multiple, subtract_product
from condal.linalg.gradients import SquareRows
from condal.linalg.points import Array, Indices
from condal.linalg.symmetric import Symmetric
from condal.methods.faces import Face
from condal.methods.surface.coupling import BLOCK_NUMBERS, Coupling
from condal.methods.surface.equations import (
    coordinate_bounds,
    equations,
    implied_trace,
)
from condal.types import Lifted, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_ENTRIES = 2 * 10**7  # of A
LEAST_SLACK = 0.1  # of the mean: a slack that starts near 0 stays there for long


@dataclass(frozen=True, eq=False)
class SurfaceRows:
    """Equations on a factor of trace 1: x = trace R R'.

    `matrix` is a CSR array over n^2 columns, whose rows are trace A_i, `b` the right-hand side. A
    row with a sign of -1 or 1 is a lower or upper bound: the sign times the square of its slack is
    added to its left-hand side. If `traced`, the last equation is |R|^2 = 1, or <= 1 by its sign.
    `origin` has the rows of A of the equations, and `count` is the number of rows of A. Equations
    <v v', x> = 0 are left out: R R' lies on the `face` that they tell. The equations `squares` have
    the rows c_k v_k v_k' with the columns v_k of `vectors`; their rows of `matrix` are empty.

    A vector is an array with the columns of R: R on top, and below it the slacks, row by row.
    """

    n: int
    matrix: Any
    b: Array
    traced: bool
    signs: Array
    origin: Indices
    count: int
    face: Face | None
    squares: Indices
    c: Array
    vectors: Array

    @classmethod
    def of(cls, problem: Problem) -> SurfaceRows | None:
        """Return the rows of a problem; None if it is not a linear program on one surface."""
        X = problem.X
        if not isinstance(X, Spectral) or isinstance(X, Lifted) or problem.f.L > 0:
            return None
        bounds = coordinate_bounds(problem.h)
        if bounds is None or problem.A.size == 0:
            return None
        split = SquareRows.of(problem.A)
        if split is None or split.matrix.shape[1] != X.n**2 or split.matrix.nnz > MAX_ENTRIES:
            return None
        split = split.scaled(np.full(problem.A.size, X.trace))
        A = split.matrix
        A.sum_duplicates()
        A.eliminate_zeros()
        origin, b, signs = equations(*bounds)
        face = Face.in_rows(split, origin[(signs == 0) & (b == 0)], X.n)
        if face is not None:
            kept = ~np.isin(origin, face.rows)
            origin, b, signs = origin[kept], b[kept], signs[kept]
        implied = implied_trace(A[origin[signs == 0]], b[signs == 0], X.n)
        count, A = A.shape[0], A if np.array_equal(origin, np.arange(A.shape[0])) else A[origin]
        traced = implied is None or not (
            abs(implied - 1.0) <= 1e-9 or (X.at_most and implied < 1.0)
        )
        if traced:
            b, signs = np.append(b, 1.0), np.append(signs, float(X.at_most))
        squares = np.flatnonzero(np.isin(origin, split.squares))
        which = np.searchsorted(split.squares, origin[squares])
        c, vectors = split.c[which], split.vectors[:, which]
        return cls(X.n, A, b, traced, signs, origin, count, face, squares, c, vectors)

    @property
    def null(self) -> Array:
        """An orthonormal basis of the v, to which R is orthogonal, as columns."""
        return np.zeros((self.n, 0)) if self.face is None else self.face.basis

    @cached_property
    def coupling(self) -> Coupling:
        """How the rows couple in J J'."""
        return Coupling(self.n, self.matrix, self.squares, self.null)

    @cached_property
    def bounded(self) -> Indices:
        """The equations with a slack."""
        return np.flatnonzero(self.signs)

    def height(self, rank: int) -> int:
        """The number of rows of a vector."""
        return self.n - (-self.bounded.size // rank)

    def slacks(self, D: Array) -> Array:
        """The slacks of a vector: a view."""
        return D[self.n :].reshape(-1)[: self.bounded.size]

    def joined(self, R: Array, slacks: Array) -> Array:
        """The vector of R and of slacks."""
        D = np.zeros((self.height(R.shape[1]), R.shape[1]))
        D[: self.n] = R
        self.restrict(D)
        self.slacks(D)[:] = slacks
        return D

    def padded(self, top: Any, D: Array) -> Array:
        """A vector of the shape of D with these first n rows, and 0 below; no copy without need."""
        if len(D) == self.n:
            return np.asarray(top)
        whole = np.zeros(D.shape)
        whole[: self.n] = top
        return whole

    def restrict(self, D: Array) -> None:
        """Make R orthogonal to the null vectors, in place."""
        if self.null.size:
            subtract_product(D[: self.n], self.null, self.null.T @ D[: self.n])

    def with_slacks(self, R: Array, least: float = LEAST_SLACK) -> Array:
        """The vector of R and of the slacks that it leaves, each at least a share of the usual."""
        rest = self.b - self.values(self.joined(R, np.zeros(self.bounded.size)))
        squares = (self.signs * rest)[self.bounded]
        usual = float(np.abs(squares).mean()) if squares.size else 0.0
        return self.joined(R, np.sqrt(np.maximum(squares, least * usual)))

    def folded(self, y: Array) -> Array:
        """The multipliers of the rows of A."""
        return np.asarray(
            np.bincount(self.origin, y[: self.size], minlength=self.count), dtype=np.float64
        )

    def unfolded(self, y: Array) -> Array:
        """Multipliers of the equations, without the trace, that fold to those of the rows of A."""
        u, first = np.zeros(self.size), np.unique(self.origin, return_index=True)
        u[first[1]] = y[first[0]]
        return u

    @property
    def size(self) -> int:
        """The number of equations without the trace."""
        return int(self.matrix.shape[0])

    def values(self, R: Array) -> Array:
        """A(R R'), with the squares of the slacks."""
        return self._image(self._products(R, R), R, R, 1.0)

    def along(self, R: Array, D: Array) -> Array:
        """J D = A(R D' + D R'), with twice the products of the slacks."""
        products = self._products(R, D)
        products += products if self._on_diagonal else self._products(D, R)
        return self._image(products, R, D, 2.0)

    def _products(self, R: Array, D: Array) -> Array:
        """<R_a, D_b> for the positions (a, b) of the entries of A."""
        products = np.empty(self._pairs[0].size)
        for block, left, right in self._gathered(R, D):
            np.einsum("kr,kr->k", left, right, out=products[block])
        return products

    def _image(self, products: Array, R: Array, D: Array, factor: float) -> Array:
        """The image of the products, with the squares, the trace and the slacks, times a factor."""
        image = self._weights @ products
        if self.squares.size:
            left = self.vectors.T @ R[: self.n]
            right = left if D is R else self.vectors.T @ D[: self.n]
            image[self.squares] += factor * self.c * np.sum(left * right, axis=1)
        if self.traced:
            inner = np.einsum("ij,ij->", R[: self.n], D[: self.n])
            image = np.append(image, factor * inner)
        image[self.bounded] += factor * self.signs[self.bounded] * self.slacks(R) * self.slacks(D)
        return np.asarray(image)

    def adjoint(self, u: Array) -> Any:
        """A'u, without the trace, for products: a CSR array unless there are squares."""
        data = self._spread @ u[: self.size]
        matrix = sp.csr_array((data, *self._pattern), shape=(self.n, self.n))
        if not self.squares.size:
            return matrix
        weights = self.c * u[self.squares]
        return Symmetric(self.n, sparse=(matrix,), grams=((self.vectors.T, weights),))

    def slack_matrix(self, C: Symmetric, u: Array) -> Symmetric:
        """C - A'u, with its sparse terms merged."""
        A = self.adjoint(-u)
        other = A if isinstance(A, Symmetric) else Symmetric(self.n, sparse=(A,))
        if self.traced:
            other += Symmetric(self.n, diagonal=np.full(self.n, -u[-1]))
        return (C + other).merged()

    def adjoint_product(self, u: Array, R: Array) -> Array:
        """(A'u) R, so that J'u is twice this."""
        product = self.padded(self._adjoint_rows(u, R[: self.n]), R)
        if self.traced:
            add_multiple(product[: self.n], R[: self.n], float(u[-1]))
        self.slacks(product)[:] = (self.signs * u)[self.bounded] * self.slacks(R)
        self.restrict(product)
        return product

    def _adjoint_rows(self, u: Array, R: Array) -> Any:
        """(A'u) R without the trace."""
        if self._on_diagonal and self._columns.size == self.n and not self.squares.size:
            return (self._spread @ u[: self.size])[:, None] * R
        return self.adjoint(u) @ R

    def _gathered(self, R: Array, D: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of pairs (a, b) of the entries of A, with the rows R_a and D_b."""
        a, b = self._pairs
        if self._on_diagonal and a.size == self.n:
            yield slice(0, self.n), R[: self.n], D[: self.n]
            return
        step = max(1, BLOCK_NUMBERS // R.shape[1])
        for begin in range(0, a.size, step):
            block = slice(begin, begin + step)
            yield block, R.take(a[block], axis=0), D.take(b[block], axis=0)

    @cached_property
    def _columns(self) -> Indices:
        return np.unique(self.matrix.indices)

    @cached_property
    def _compact(self) -> Any:
        """A without its empty columns."""
        place = np.searchsorted(self._columns, self.matrix.indices)
        shape = (self.size, self._columns.size)
        return sp.csr_array((self.matrix.data, place, self.matrix.indptr), shape=shape)

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices]:
        """The positions a <= b of the entries of A."""
        a, b = np.divmod(self._columns, self.n)
        return a[a <= b], b[a <= b]

    @cached_property
    def _on_diagonal(self) -> bool:
        """Whether all entries of A are on the diagonal of x."""
        return np.array_equal(*self._pairs)

    @cached_property
    def _weights(self) -> Any:
        """A as a function of the entries of x on and above its diagonal."""
        a, b = np.divmod(self._columns, self.n)
        twice = np.where(a == b, 1.0, 2.0)[a <= b]
        weights = sp.csr_array(self._compact[:, a <= b])
        weights.data *= twice[weights.indices]
        return weights

    @cached_property
    def _pattern(self) -> tuple[Any, Any]:
        """The column indices and row pointers of A'u."""
        a, b = np.divmod(self._columns, self.n)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=self.n))])
        return b.astype(np.int32), pointers.astype(np.int32)

    @cached_property
    def _spread(self) -> Any:
        return sp.csr_array(self._compact.T)

    def wide_products(self, R: Array) -> list[Array]:
        """Half of J' for the wide i and the trace."""
        products = []
        for i in [*self.coupling.wide, *([self.size] if self.traced else [])]:
            product, unit = np.zeros(R.shape), np.zeros(self.b.size)
            product[: self.n] = self._row_product(int(i), R[: self.n])
            unit[i] = 1.0
            self.slacks(product)[:] = (self.signs * unit)[self.bounded] * self.slacks(R)
            self.restrict(product)
            products.append(product)
        return products

    def _row_product(self, i: int, R: Array) -> Array:
        """A_i R; R itself for the trace."""
        if i == self.size:
            return R
        square = np.flatnonzero(self.squares == i)
        if square.size:
            v = self.vectors[:, square]
            return np.asarray(self.c[square] * v @ (v.T @ R))
        entries = self.matrix[[i]].tocoo()
        a, b = np.divmod(entries.col.astype(np.int64), self.n)
        single = sp.csr_array((entries.data, (a, b)), shape=(self.n, self.n))
        return np.asarray(single @ R)
