"""Gradients on symmetric matrices: sums of sparse, diagonal, dense, rank-two and matrix-free parts.

A gradient of the spectral domains is only ever multiplied by vectors. It is kept as the parts that
the maps produce, so that one product costs what its parts cost; the parts can also be assembled
into one matrix, which is what the proofs of eigenvalue bounds need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymm, dsymv
from scipy.sparse.linalg import LinearOperator

from condal.errors import ProblemError
from condal.points import Array, LowRank, Point, finite_array, refuse_complex

BLOCK = 32  # rows of the blocks of a `lower`
UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2


def gamma(k: int) -> float:
    """k u / (1 - k u): the relative error of k roundings."""
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)


@dataclass(frozen=True, eq=False)
class Symmetric:
    """V = sum of sparse S_i + Diag(diagonal) + dense + lower + sum of (u v' + v u')/2 + operators.

    `lower` is a dense part of which half is kept: an n x n array that is right on and below its
    diagonal blocks of BLOCK rows; above them anything may stand, and is not read.
    """

    n: int
    sparse: tuple[Any, ...] = ()
    diagonal: Array | None = None
    dense: Array | None = None
    pairs: tuple[tuple[Array, Array], ...] = ()
    operators: tuple[Any, ...] = ()
    lower: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return (self.n, self.n)

    def __matmul__(self, v: Array) -> Array:
        """V v for a vector or a block of vectors."""
        if v.size == 0:
            return np.zeros_like(v)
        out: Array | None = None
        for part in self.sparse:
            out = part @ v if out is None else out + part @ v
        if self.dense is not None:
            image = _from_half(self.dense, v) if v.ndim == 1 else self.dense @ v
            out = image if out is None else out + image
        if self.lower is not None:
            image = _from_half(self.lower, v)
            out = image if out is None else out + image
        if self.diagonal is not None:
            scaled = self.diagonal * v if v.ndim == 1 else self.diagonal[:, None] * v
            out = scaled if out is None else out + scaled
        for a, b in self.pairs:
            both = 0.5 * (np.multiply.outer(a, b @ v) + np.multiply.outer(b, a @ v))
            out = both if out is None else out + both
        for operator in self.operators:
            image = operator.matvec(v) if v.ndim == 1 else operator.matmat(v)
            out = image if out is None else out + image
        return np.zeros_like(v) if out is None else out

    def __add__(self, other: Symmetric) -> Symmetric:
        if self.n != other.n:
            raise ProblemError(
                f"gradients of different sizes, {self.n} and {other.n}, cannot be added: "
                "the objective, the maps and the domain must agree on n"
            )
        half = self.lower is not None or other.lower is not None
        return Symmetric(
            self.n,
            self.sparse + other.sparse,
            _sum(self.diagonal, other.diagonal),
            None if half else _sum(self.dense, other.dense),
            self.pairs + other.pairs,
            self.operators + other.operators,
            _lower_sum(self.dense, self.lower, other.dense, other.lower) if half else None,
        )

    def scaled(self, c: float) -> Symmetric:
        """c V."""
        if c == 1.0:
            return self
        return Symmetric(
            self.n,
            tuple(c * part for part in self.sparse),
            None if self.diagonal is None else c * self.diagonal,
            None if self.dense is None else c * self.dense,
            tuple((c * a, b) for a, b in self.pairs),
            tuple(c * operator for operator in self.operators),
            None if self.lower is None else c * whole(self.lower),
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
        return not (dense or self.pairs or self.operators)

    def to_sparse(self) -> Any:
        """V as a CSC array; only for a `factorable` V."""
        total = sp.csc_array((self.n, self.n), dtype=np.float64)
        for part in self.sparse:
            total = total + sp.csc_array(part)
        if self.diagonal is not None:
            total = total + sp.dia_array((self.diagonal[None, :], [0]), shape=self.shape).tocsc()
        return sp.csc_array(total)

    def to_dense(self) -> Array:
        """V as an n x n array."""
        total = np.zeros(self.shape) if self.dense is None else self.dense.copy()
        for part in self.sparse:
            total += part.toarray()
        if self.diagonal is not None:
            total[np.diag_indices(self.n)] += self.diagonal
        if self.lower is not None:
            total += whole(self.lower)
        for a, b in self.pairs:
            total += 0.5 * (np.outer(a, b) + np.outer(b, a))
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
        return Symmetric(
            self.n, self.sparse + known, self.diagonal, self.dense, self.pairs, lower=self.lower
        )

    def absolute_row_sums(self) -> Array | None:
        """An upper bound on each row sum of |V|, part by part; None if an operator hides them."""
        if self.operators:
            return None
        total = np.zeros(self.n)
        for part in self.sparse:
            total += np.asarray(abs(part).sum(axis=1)).ravel()
        if self.dense is not None:
            total += np.abs(self.dense).sum(axis=1)
        if self.lower is not None:
            total += np.abs(whole(self.lower)).sum(axis=1)
        if self.diagonal is not None:
            total += np.abs(self.diagonal)
        for a, b in self.pairs:
            total += 0.5 * (np.abs(a) * np.abs(b).sum() + np.abs(b) * np.abs(a).sum())
        return total

    def diagonals(self) -> tuple[Array, Array]:
        """The diagonal of V, and the sum over the parts of the absolute values of theirs."""
        parts = [part.diagonal() for part in self.sparse]
        parts += [a * b for a, b in self.pairs]
        parts += [np.diagonal(part) for part in (self.dense, self.lower) if part is not None]
        parts += [] if self.diagonal is None else [self.diagonal]
        zero = np.zeros(self.n)
        return sum(parts, zero), sum(map(np.abs, parts), zero)

    def assembly_error(self) -> float:
        """A bound on |V - its assembled matrix|_2: each entry is a sum of at most `parts` terms."""
        parts = len(self.sparse) + len(self.pairs) + 3
        sums = self.absolute_row_sums()
        return float("inf") if sums is None else 2 * parts * UNIT_ROUNDOFF * float(sums.max())


Gradient: TypeAlias = Array | Symmetric | tuple["Gradient", ...]


def add(a: Gradient | None, b: Gradient | None) -> Gradient:
    """a + b; None is the gradient of nothing."""
    if a is None or b is None:
        if a is None and b is None:
            raise ProblemError("the problem has neither an objective nor a constraint")
        return b if a is None else a  # type: ignore[return-value]
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(add(p, q) for p, q in zip(a, b, strict=True))
    return a + b  # type: ignore[operator]


def dot(v: Gradient, x: Point) -> float:
    """<v, x>."""
    if isinstance(v, tuple):
        assert isinstance(x, tuple)
        return sum(dot(p, q) for p, q in zip(v, x, strict=True))
    assert not isinstance(x, tuple)
    if isinstance(v, Symmetric):
        return v.quadratic(x)
    return float(np.vdot(v, np.asarray(x)))


def functional(x: Point) -> Gradient:
    """<x, .>, for a point x kept as an array: n numbers, or n x n of a symmetric matrix."""
    if isinstance(x, tuple):
        return tuple(functional(part) for part in x)
    array = np.asarray(x)
    return Symmetric(len(array), dense=array) if array.ndim == 2 else array


def symmetric(C: Any, name: str = "C") -> Symmetric:
    """The Symmetric of a SciPy sparse matrix, a NumPy array or a LinearOperator, checked."""
    if isinstance(C, Symmetric):
        return C
    if isinstance(C, LinearOperator):
        refuse_complex(C.dtype, name)
        _square(C.shape, name)
        a, b = np.random.default_rng(0).standard_normal((2, C.shape[0]))
        left, right = float(a @ C.matvec(b)), float(b @ C.matvec(a))
        _same(abs(left - right), 1e4 * (abs(left) + abs(right)), name)
        return Symmetric(int(C.shape[0]), operators=(C,))
    if sp.issparse(C):
        _square(C.shape, name)
        finite_array(C.tocoo().data, f"{name} (its stored entries)")
        S = sp.csr_array(C, dtype=np.float64, copy=True)
        S.sum_duplicates()
        difference = float(abs(S - S.T).max())
        _same(difference, float(abs(S).max()) if S.nnz else 0.0, name)
        if difference > 0:  # rounding of the caller's: the proofs need exact symmetry
            S = sp.csr_array(0.5 * (S + S.T))
        return Symmetric(S.shape[0], sparse=(S,))
    dense = finite_array(C, name, ndim=2)
    _square(dense.shape, name)
    if dense.size:
        _same(float(np.abs(dense - dense.T).max()), float(np.abs(dense).max()), name)
    return Symmetric(dense.shape[0], dense=0.5 * (dense + dense.T))


def _sum(a: Array | None, b: Array | None) -> Array | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def block_rows(n: int) -> list[slice]:
    """0..n in the blocks of a `lower`."""
    return [slice(begin, min(begin + BLOCK, n)) for begin in range(0, n, BLOCK)]


def whole(lower: Array) -> Array:
    """Both triangles of a `lower`."""
    out = lower.copy()
    for here in block_rows(len(lower)):
        out[here, here.stop :] = lower[here.stop :, here].T
    return out


def _from_half(lower: Array, v: Array) -> Array:
    """A symmetric matrix times v, read on and below its diagonal: half the memory.

    To BLAS a lower triangle in rows is an upper one in columns.
    """
    return np.asarray(dsymv(1.0, lower.T, v) if v.ndim == 1 else dsymm(1.0, lower.T, v))


def _lower_sum(*parts: Array | None) -> Array:
    """The sum of dense parts, half of it."""
    first, *rest = [part for part in parts if part is not None]
    if not rest:
        return first
    total = first.copy()
    for here in block_rows(len(total)):
        for part in rest:
            total[here, : here.stop] += part[here, : here.stop]
    return total


def _square(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ProblemError(f"{name} must be a square matrix, at least 1 x 1; got shape {shape}")


def _same(difference: float, size: float, name: str) -> None:
    if difference > 1e-12 * size:
        raise ProblemError(
            f"{name} must be symmetric; the largest |{name} - {name}'| is {difference:.3g}: "
            f"pass ({name} + {name}') / 2 if that is what you mean"
        )
