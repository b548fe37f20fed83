"""Gradients, the linear functions on the space of X: arrays, `Symmetric`s and tuples of these.

A map with long images may update its images and gradients block by block (`BlockedMap`), with as
few passes over memory as possible. Methods that need the rows of a map take them as `SquareRows`:
a row v v' of a map of symmetric matrices has n^2 entries, and v has n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.blocked import lerp
from condal.linalg.points import Array, Indices, LowRank, Point, combine
from condal.linalg.rounding import gamma, stable_norm
from condal.linalg.symmetric import Symmetric, require_same_space
from condal.linalg.terms import PairTerm

if TYPE_CHECKING:
    from condal.types import LinearMap

NORM_PROBES = 16  # random vectors that estimate the norm of a matrix-free operator

Gradient: TypeAlias = Array | Symmetric | tuple["Gradient", ...]


def add(a: Gradient | None, b: Gradient | None) -> Gradient:
    """Return a + b; None is a zero of any space."""
    if a is None:
        if b is None:
            raise ProblemError("the problem has neither an objective nor a constraint")
        return b
    if b is None:
        return a
    require_same_space(_shape(a), _shape(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(add(p, q) for p, q in zip(a, b, strict=True))
    if isinstance(a, Symmetric) and isinstance(b, Symmetric):
        return a + b
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    return a + b


def _shape(v: Gradient) -> Any:
    return len(v) if isinstance(v, tuple) else v.shape


def dot(v: Gradient, x: Point) -> float:
    """Return <v, x>."""
    if isinstance(v, tuple):
        assert isinstance(x, tuple)
        return sum(dot(p, q) for p, q in zip(v, x, strict=True))
    assert not isinstance(x, tuple)
    if isinstance(v, Symmetric):
        return v.quadratic(x)
    return float(np.vdot(v, np.asarray(x)))


def norm(v: Gradient | Point, rng: np.random.Generator) -> float:
    """Return the Euclidean norm |v|; an estimate from one random product for a Symmetric."""
    if isinstance(v, tuple):
        return float(np.linalg.norm([norm(block, rng) for block in v]))
    if isinstance(v, Symmetric):  # the mean of |Vz|^2 is |V|_F^2
        return float(np.linalg.norm(v @ rng.standard_normal(v.n)))
    if isinstance(v, LowRank):
        gram = (v.U.T @ v.U) ** 2
        return float(np.sqrt(abs(float(v.weights @ gram @ v.weights))))
    return float(np.linalg.norm(v))


def frobenius_norm(V: Symmetric) -> float:
    """Return |V|_F, or slightly more; an estimate from products for a matrix-free V."""
    if V.matrix_free:
        block = np.random.default_rng(0).standard_normal((V.n, min(V.n, NORM_PROBES)))
        return stable_norm(np.ravel(V @ block)) / float(np.sqrt(block.shape[1]))
    if V.factorable:
        return stable_norm(V.to_sparse().data)
    if all(term.is_sparse or isinstance(term, PairTerm) for term in V.terms):
        return _norm_with_pairs(V)
    if all(term.low_rank for term in V.terms):
        from condal.linalg.reductions import factor_columns, factor_norm

        if factor_columns(V):
            return factor_norm(V)
    return stable_norm(np.ravel(V.to_dense()))


def _norm_with_pairs(V: Symmetric) -> float:
    """|S + sum of (a b' + b a')/2|_F by inner products, as n^2 entries may be too many."""
    S = Symmetric(V.n, [term for term in V.terms if term.is_sparse]).to_sparse()
    sized = [(stable_norm(a), stable_norm(b), a, b) for a, b in V.pairs]
    largest = max(stable_norm(S.data), *(p * q for p, q, _, _ in sized))
    sized = [pair for pair in sized if pair[0] * pair[1] > 0]
    if not 0.0 < largest < np.inf or not sized:
        return largest
    # Unit vectors, each with a share of the largest: no square overflows or underflows.
    shares = np.array([p * q for p, q, _, _ in sized]) / largest
    A, B = np.stack([a / p for p, _, a, _ in sized]), np.stack([b / q for _, q, _, b in sized])
    S = S / largest
    products = 0.5 * ((A @ A.T) * (B @ B.T) + (A @ B.T) * (B @ A.T))
    mixed = np.einsum("ki,ik->k", A, S @ B.T)
    square = float(S.data @ S.data) + 2 * float(shares @ mixed) + float(shares @ products @ shares)
    rounding = gamma(V.n + S.nnz + 16) * (1.0 + float(shares.sum())) ** 2
    return largest * float(np.sqrt(max(square, 0.0) + rounding))


def functional(x: Point) -> Gradient:
    """Return <x, .> for a point x stored as arrays: vectors or symmetric matrices."""
    if isinstance(x, tuple):
        return tuple(functional(block) for block in x)
    array = np.asarray(x)
    return Symmetric(len(array), dense=array) if array.ndim == 2 else array


def zeros_of(A: LinearMap) -> Array:
    """Return A0: zeros of the length of an image, or what `A.zeros` returns."""
    zeros = getattr(A, "zeros", None)
    return np.zeros(A.size) if zeros is None else zeros()


@runtime_checkable
class BlockedMap(Protocol):
    """A map that computes its images block by block, because they are long."""

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """Yield the blocks of Ax: the slice of each and its numbers."""

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Gradient | None:
        """Return v + A'y; None is the zero gradient."""


def step(A: LinearMap, Ax: Array, s: Point, eta: float) -> Array:
    """Return Ax + eta (As - Ax); a BlockedMap does not form As as a whole."""
    if not isinstance(A, BlockedMap):
        return lerp(Ax, A(s), eta)
    image = np.empty_like(Ax)
    for block, numbers in A.pieces(combine([s], np.array([eta]))):
        np.multiply(Ax[block], 1 - eta, out=image[block])
        image[block] += numbers
    return image


def difference(A: LinearMap, Ax: Array, s: Point) -> Array:
    """Return As - Ax; a BlockedMap does not form As as a whole."""
    if not isinstance(A, BlockedMap):
        return A(s) - Ax
    image = np.empty_like(Ax)
    for block, numbers in A.pieces(s):
        np.subtract(numbers, Ax[block], out=image[block])
    return image


def adjoint_onto(v: Gradient | None, A: LinearMap, y: Array) -> Gradient | None:
    """Return v + A'y, in one pass if A is a BlockedMap."""
    if isinstance(A, BlockedMap):
        return A.adjoint_onto(v, y)
    gradient = A.adjoint(y)
    return gradient if v is None else v if gradient is None else add(v, gradient)


@dataclass(frozen=True, eq=False)
class SquareRows:
    """A = `matrix`, in which the rows `squares` are empty, plus the rows c_k v_k v_k'.

    `matrix` is as `LinearMap.as_matrix` returns it. The v_k are the columns of `vectors`.
    """

    matrix: Any
    squares: Indices
    c: Array
    vectors: Array

    @classmethod
    def of(cls, A: LinearMap) -> SquareRows | None:
        """Return the rows of A; None if its entries are hidden or too many."""
        if isinstance(A, SplitMap):
            return A.split_squares()
        matrix = A.as_matrix()
        return None if matrix is None else cls.without_squares(matrix)

    @classmethod
    def without_squares(cls, matrix: Any) -> SquareRows:
        """Return the rows of a matrix."""
        return cls(matrix, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)))

    @classmethod
    def stacked(cls, parts: list[SquareRows]) -> SquareRows:
        """Return the rows of all parts, one under the other."""
        ends = np.cumsum([0, *(part.matrix.shape[0] for part in parts)])
        some = [part for part in parts if part.squares.size]
        matrix = sp.csr_array(sp.vstack([part.matrix for part in parts], format="csr"))
        if not some:
            return cls.without_squares(matrix)
        places = [part.squares + end for part, end in zip(parts, ends, strict=False)]
        c = np.concatenate([part.c for part in some])
        return cls(matrix, np.concatenate(places), c, np.hstack([part.vectors for part in some]))

    def scaled(self, rows: Array) -> SquareRows:
        """Return the rows of A, each multiplied by a number."""
        matrix, each = self.matrix, np.repeat(rows, np.diff(self.matrix.indptr))
        data = each * matrix.data
        matrix = sp.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)
        return SquareRows(matrix, self.squares, self.c * rows[self.squares], self.vectors)


@runtime_checkable
class SplitMap(Protocol):
    """A map that keeps some of its rows as vectors."""

    def split_squares(self) -> SquareRows | None:
        """Return the rows in this form; None as for `as_matrix`."""
