"""Gradients on symmetric matrices: sums of sparse, diagonal, dense, low-rank and matrix-free parts.

A gradient of the spectral domains is only ever multiplied by vectors. It is kept as the parts that
the maps produce, so that one product costs what its parts cost; the parts can also be assembled
into one matrix, which is what the proofs of eigenvalue bounds need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from condal.errors import ProblemError
from condal.linalg.blocked import add_scaled_rows, block_slices, gram, gram_product
from condal.linalg.points import Array, Indices, LowRank
from condal.linalg.roundoff import UNIT_ROUNDOFF, gamma
from condal.linalg.triangles import lower_matmul, lower_sum, symmetrize_lower
from condal.runtime.cancellation import check_cancelled

SCATTERED = 50_000  # numbers of a vector that the cache no longer holds


@dataclass(frozen=True, eq=False)
class Symmetric:
    """V = sum of sparse S_i + Diag(diagonal) + dense + lower + sum of (u v' + v u')/2 + operators
    + sum of a' Diag(w) a.

    `lower` is a dense part of which half is kept: an n x n array that is right on and below its
    diagonal blocks of BLOCK rows; above them anything may stand, and is not read. `grams` are
    pairs (a, w), with a p x n matrix a, dense or CSR, that is never multiplied out.
    """

    n: int
    sparse: tuple[Any, ...] = ()
    diagonal: Array | None = None
    dense: Array | None = None
    pairs: tuple[tuple[Array, Array], ...] = ()
    operators: tuple[Any, ...] = ()
    lower: Array | None = None
    grams: tuple[tuple[Any, Array], ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return (self.n, self.n)

    def __matmul__(self, v: Array) -> Array:
        """V v for a vector or a block of vectors."""
        if v.size == 0:
            return np.zeros_like(v)
        check_cancelled()
        out = self._light(v)
        for full in (self.dense, self.lower):
            if full is not None:
                half = v.ndim == 1 or full is self.lower
                out = _onto(out, lower_matmul(full, v) if half else full @ v)
        for a, w in self.grams:
            out = _onto(out, gram_product(a, w, v))
        for operator in self.operators:  # which may give its argument back: not to be written on
            image = operator.matvec(v) if v.ndim == 1 else operator.matmat(v)
            out = image if out is None else out + image
        return np.zeros_like(v) if out is None else out

    def _light(self, v: Array) -> Array | None:
        """The image under the sparse parts, the diagonal and the pairs; None if there are none."""
        out: Array | None = None
        for part in self.sparse:
            out = _onto(out, part @ v)
        if self.diagonal is not None:
            if out is None or v.ndim == 1:
                out = _onto(out, (self.diagonal if v.ndim == 1 else self.diagonal[:, None]) * v)
            else:
                add_scaled_rows(out, self.diagonal, v)
        if not self.pairs:
            return out
        left, right = self._columns
        inner = right @ v
        if out is None:
            return left @ inner
        for here in block_slices(*out.shape):
            out[here] += left[here] @ inner
        return out

    @cached_property
    def _columns(self) -> tuple[Array, Array]:
        """The pairs as a product of two matrices: columns a, b, ... and rows b/2, a/2, ..."""
        left = np.column_stack([part for pair in self.pairs for part in pair])
        return left, 0.5 * np.stack([part for a, b in self.pairs for part in (b, a)])

    def __add__(self, other: Symmetric) -> Symmetric:
        require_one_space(self.shape, other.shape)
        half = self.lower is not None or other.lower is not None
        return Symmetric(
            self.n,
            self.sparse + other.sparse,
            _sum(self.diagonal, other.diagonal),
            None if half else _sum(self.dense, other.dense),
            self.pairs + other.pairs,
            self.operators + other.operators,
            lower_sum(self.dense, self.lower, other.dense, other.lower) if half else None,
            self.grams + other.grams,
        )

    def scaled(self, c: float) -> Symmetric:
        """c V."""
        if c == 1.0:
            return self
        return Symmetric(
            self.n,
            tuple(_times(part, c) for part in self.sparse),
            None if self.diagonal is None else c * self.diagonal,
            None if self.dense is None else c * self.dense,
            tuple((c * a, b) for a, b in self.pairs),
            tuple(c * operator for operator in self.operators),
            None if self.lower is None else c * symmetrize_lower(self.lower),
            tuple((a, c * w) for a, w in self.grams),
        )

    def quadratic(self, x: LowRank | Array) -> float:
        """<V, x>."""
        if isinstance(x, LowRank) and x.rank == 1:
            return float(x.weights[0] * (x.U[:, 0] @ (self @ x.U[:, 0])))
        if isinstance(x, LowRank):
            return float(x.weights @ np.einsum("ij,ij->j", x.U, self @ x.U))
        return float(np.trace(self @ x))

    @property
    def factorable(self) -> bool:
        """Whether V is sparse plus diagonal, so that a sparse factorisation may be tried."""
        dense = self.dense is not None or self.lower is not None
        return not (dense or self.pairs or self.operators or self.grams)

    def to_sparse(self) -> Any:
        """V as a CSC array; only for a `factorable` V."""
        total = sp.csc_array((self.n, self.n), dtype=np.float64)
        for part in self.sparse:
            total = total + sp.csc_array(part)
        if self.diagonal is not None:
            total = total + sp.dia_array((self.diagonal[None, :], [0]), shape=self.shape).tocsc()
        return sp.csc_array(total)

    def gathered(self) -> tuple[Symmetric, Indices | None]:
        """P V P' as one sparse matrix, P the order that brings neighbours near each other, and P;
        V merged, and None, where it would not help.

        A product then reads less of its vector from beyond the cache.
        """
        merged = self.merged()
        if self.n < SCATTERED or not self.factorable or len(merged.sparse) != 1:
            return merged, None
        (S,) = merged.sparse
        order = reverse_cuthill_mckee(sp.csr_matrix(S), symmetric_mode=True).astype(np.int64)
        S = sp.csr_array(S[order][:, order])
        S.sort_indices()
        return replace(merged, sparse=(S,)), order

    def merged(self) -> Symmetric:
        """V with its sparse parts and its diagonal as one matrix: a product is one pass."""
        if len(self.sparse) + (self.diagonal is not None) < 2:
            return self
        light = Symmetric(self.n, self.sparse, self.diagonal)
        return replace(self, sparse=(sp.csr_array(light.to_sparse()),), diagonal=None)

    def to_dense(self) -> Array:
        """V as an n x n array."""
        sparse = self.sparse
        if self.dense is not None:
            total = self.dense.copy()
        elif sparse:
            total, sparse = sparse[0].toarray(), sparse[1:]
        else:
            total = np.zeros(self.shape)
        for part in sparse:
            total += part.toarray()
        if self.diagonal is not None:
            total[np.diag_indices(self.n)] += self.diagonal
        if self.lower is not None:
            total += symmetrize_lower(self.lower)
        for a, b in self.pairs:
            total += 0.5 * (np.outer(a, b) + np.outer(b, a))
        for a, w in self.grams:
            total += gram(a, w)
        for operator in self.operators:
            image = operator.matmat(np.eye(self.n))
            total += 0.5 * (image + image.T)
        return total

    def explicit(self) -> Symmetric:
        """V with its operators multiplied out, so that the size of every part is known."""
        if not self.operators:
            return self
        images = [operator.matmat(np.eye(self.n)) for operator in self.operators]
        known = tuple(sp.csr_array(0.5 * (image + image.T)) for image in images)
        return replace(self, sparse=self.sparse + known, operators=())

    def absolute_row_sums(self) -> Array | None:
        """An upper bound on each row sum of |V|, part by part; None if an operator hides them."""
        return self.absolute_product(np.ones(self.n))

    def absolute_product(self, v: Array) -> Array | None:
        """An upper bound on |V| v for v >= 0, part by part; None if an operator hides it."""
        if self.operators:
            return None
        total = np.zeros(self.n)
        for part in self.sparse:
            total += abs(part) @ v
        lower = () if self.lower is None else (symmetrize_lower(self.lower),)
        for full in lower if self.dense is None else (self.dense, *lower):
            for here in block_slices(self.n, self.n):
                total[here] += np.abs(full[here]) @ v
        if self.diagonal is not None:
            total += np.abs(self.diagonal) * v
        for a, b in self.pairs:
            total += 0.5 * (np.abs(a) * (np.abs(b) @ v) + np.abs(b) * (np.abs(a) @ v))
        for a, w in self.grams:
            sums = abs(a).T @ (np.abs(w) * (abs(a) @ v))
            total += sums * (1 + 4 * gamma(sum(a.shape) + 4))  # these sums are long: round upwards
        return total

    def diagonals(self) -> tuple[Array, Array]:
        """The diagonal of V, and the sum of the absolute values of what it is the sum of."""
        parts = [part.diagonal() for part in self.sparse]
        parts += [a * b for a, b in self.pairs]
        parts += [np.diagonal(part) for part in (self.dense, self.lower) if part is not None]
        parts += [] if self.diagonal is None else [self.diagonal]
        squares = [(a.multiply(a) if sp.issparse(a) else a * a, w) for a, w in self.grams]
        exact = parts + [square.T @ w for square, w in squares]
        sizes = [np.abs(part) for part in parts] + [sq.T @ np.abs(w) for sq, w in squares]
        return sum(exact, np.zeros(self.n)), sum(sizes, np.zeros(self.n))

    def assembly_error(self) -> float:
        """A bound on |V - its assembled matrix|_2: each entry is a sum of at most `parts` terms."""
        parts = len(self.sparse) + len(self.pairs) + 3 + sum(w.size + 2 for _, w in self.grams)
        sums = self.absolute_row_sums()
        return float("inf") if sums is None else 2 * parts * UNIT_ROUNDOFF * float(sums.max())


def require_one_space(a: Any, b: Any) -> None:
    """Raise ProblemError unless the shapes of two gradients are one."""
    if a != b:
        why = "cannot be added: the objective, the maps and the domain must agree on n"
        raise ProblemError(f"gradients of different sizes, {a} and {b}, {why}")


def _times(part: Any, c: float) -> Any:
    """c times a sparse part: one in CSR shares its pattern, in which there is nothing to sort."""
    if not (isinstance(part, sp.csr_array) and part.has_sorted_indices):
        return c * part
    return sp.csr_array((c * part.data, part.indices, part.indptr), shape=part.shape)


def _onto(out: Array | None, image: Array) -> Array:
    """out + image, on the memory of out; that of image where there is no out."""
    return image if out is None else np.add(out, image, out=out)


def _sum(a: Array | None, b: Array | None) -> Array | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
