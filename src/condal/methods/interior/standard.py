"""The cones of a conic program, the cost of a step, and points inside the cones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices
from condal.methods.choice import (
    INTERIOR_CALLS,
    INTERIOR_FACTOR,
    INTERIOR_PRODUCT,
    INTERIOR_WRITE,
)
from condal.methods.interior.schur_stack import StackSchur, schur_nanoseconds
from condal.runtime.meter import spend

SPARSE_CALL = 3e4  # numbers of a dense product that take as long as the call of a sparse one
SPARSE_ENTRY = 5.0  # numbers of a dense product that take as long as an entry of a sparse one
MAX_PAIRS = 2**21
FULL_ROW = 0.2  # share of nonzeros above which a row is stored as an array
PAIR = 5.0  # ns per pair of entries of a column
GEMM = 0.06  # ns per multiplication and addition of a product
READ = 2e-8  # seconds per entry of A, all reads together
STACK_CALLS = 4e-4  # seconds per stack of equal blocks
MAX_ENGINE_SECONDS = 2.0  # of a step of an engine, before methods with cheaper steps are tried


def is_small(A: Any) -> bool:
    """Return whether products with A are faster if it is dense."""
    return bool(A.shape[0] * A.shape[1] <= SPARSE_CALL + SPARSE_ENTRY * A.nnz)


class Sized(Protocol):
    """A block of x: its kind, its side, and the number of its coordinates in x."""

    @property
    def kind(self) -> str:
        """Of "free", "orthant", "second-order" and "psd"."""

    @property
    def n(self) -> int:
        """The side of a matrix, or the length."""

    @property
    def length(self) -> int:
        """The number of coordinates in x."""


class Block(Sized, Protocol):
    """A block of x, as `condal.certificates.cones.Cone` describes it."""

    @property
    def packed(self) -> bool:
        """Whether a matrix is its lower triangle, column by column."""

    @property
    def doubled(self) -> bool:
        """Whether the entries off the diagonal of such a triangle are doubled."""


def step_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of a step: the Schur complement and its factor, and the matrices."""
    matrices = sum(part.kind == "psd" for part in parts)
    return arithmetic_seconds(A, parts) + INTERIOR_CALLS * (1 + matrices)


def stacked_step_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of a step in which equal matrices are one stack."""
    stacks = len({part.n for part in parts if part.kind == "psd"})
    return arithmetic_seconds(A, parts) + STACK_CALLS * (2 + stacks)


def arithmetic_seconds(A: Any, parts: Sequence[Sized]) -> float:
    """Estimate the seconds of the arithmetic of a step, without its calls."""
    rows, columns, end = A.shape[0] + len(parts), sp.csc_array(A), 0
    total = INTERIOR_FACTOR * rows**3 + INTERIOR_WRITE * rows**2 + READ * A.nnz
    for part in parts:
        spend(0.0)
        begin, end = end, end + part.length
        if part.kind == "psd":
            counts = np.bincount(columns.indices[columns.indptr[begin] : columns.indptr[end]])
            schur = 1e-9 * schur_nanoseconds(counts[counts > 0], part.n)
            total += INTERIOR_PRODUCT * part.n**3 + schur
    return float(total)


@dataclass(frozen=True, eq=False)
class Cone:
    """A part of u: psd matrices of side n, u >= 0 of length n, or |(u_2, ..., u_n)| <= u_1.

    `c` and `A` are its columns of the objective and of the rows, `first` is an interior point.
    Several equal cones are one stack.
    """

    kind: Literal["psd", "orthant", "second-order"]
    n: int
    c: Array
    A: Any
    first: Array

    @cached_property
    def gram(self) -> ScaledGram:
        """The plan for A H A' with diagonal H."""
        return ScaledGram.of(self.A)

    @cached_property
    def schur(self) -> StackSchur:
        """The plan for the Schur complement of matrices."""
        return StackSchur.of(self.A, self.n)


@dataclass(frozen=True, eq=False)
class ScaledGram:
    """A H A' for a fixed sparse A and many diagonal H, added to a dense matrix, the cheapest way.

    The `full` rows take dense products, the `rest` pairs of entries of a column, or sparse products
    if these are too many. Pair k adds products[k] times the H of columns[k] at places[k] of the
    matrix.
    """

    full: Indices
    rest: Indices
    dense: Array
    sparse: Any
    places: Indices | None = None
    products: Array | None = None
    columns: Indices | None = None

    @classmethod
    def of(cls, A: Any) -> ScaledGram:
        """Plan for a matrix in CSR."""
        m, n = A.shape
        is_full = np.diff(A.indptr) > FULL_ROW * n
        if GEMM * m * m * n <= PAIR * _pairs(A):
            is_full[:] = True
        full, rest = np.flatnonzero(is_full), np.flatnonzero(~is_full)
        parts = full, rest, A[full].toarray(), sp.csr_array(A[rest])
        sparse = sp.csc_array(parts[-1])
        if _pairs(parts[-1]) > MAX_PAIRS:
            return cls(*parts)
        lengths = np.diff(sparse.indptr)
        column = np.repeat(np.arange(n), lengths)
        times = lengths[column]  # each entry meets all entries of its column
        first = np.repeat(np.arange(sparse.nnz), times)
        begins = np.cumsum(times) - times
        second = sparse.indptr[column[first]] + np.arange(first.size) - begins[first]
        rows, data = rest[sparse.indices], sparse.data
        places = m * rows[first] + rows[second]
        return cls(*parts, places, data[first] * data[second], column[first])

    def add(self, M: Array, H: Array) -> None:
        """M += A H A', with H the diagonal."""
        if not H.size:
            return
        S, scaled = self.sparse, self.dense * H
        if self.full.size == len(M):
            M += scaled @ self.dense.T
            return
        if self.full.size:
            beside = S @ scaled.T
            M[np.ix_(self.full, self.full)] += scaled @ self.dense.T
            M[np.ix_(self.rest, self.full)] += beside
            M[np.ix_(self.full, self.rest)] += beside.T
        if self.places is not None and self.products is not None:
            np.add.at(M.reshape(-1), self.places, self.products * H[self.columns])
        else:
            scaled = sp.csr_array((S.data * H[S.indices], S.indices, S.indptr), S.shape)
            M[np.ix_(self.rest, self.rest)] += (scaled @ S.T).toarray()


def _pairs(A: Any) -> float:
    """The number of pairs of entries in a column."""
    lengths = np.bincount(A.indices, minlength=A.shape[1])
    return float((lengths.astype(np.float64) ** 2).sum())


@dataclass(frozen=True, eq=False)
class Step:
    """du and dz."""

    u: Array
    z: Array


@dataclass(frozen=True, eq=False)
class ConePoint(ABC):
    """u inside a cone, z inside its dual, and the Newton step for u z = mu from them.

        du = r - H dz

    for each cone, with H positive definite: X . Z^-1 for matrices (Helmberg et al. 1996, Kojima et
    al. 1997, Monteiro 1997), u/z for u >= 0, and the square of the Nesterov-Todd scaling for
    second-order cones. A H A', summed over the cones, is the Schur complement. `cone` holds the
    columns of the data; u and z are stacks where it is one.
    """

    cone: Cone
    u: Array
    z: Array

    @classmethod
    @abstractmethod
    def of(cls, cone: Cone, u: Array, z: Array) -> ConePoint | None:
        """Return the pair of two vectors; None unless both are inside."""

    def moved(self, step: Step, primal: float, dual: float) -> ConePoint | None:
        """Return the next pair; None unless it is inside."""
        return self.of(self.cone, self.flat + primal * step.u, self.dual + dual * step.z)

    @property
    def flat(self) -> Array:
        """u as a vector."""
        return self.u.ravel()

    @property
    def dual(self) -> Array:
        """z as a vector."""
        return self.z.ravel()

    @property
    def gap(self) -> float:
        """<u, z>."""
        return float(self.flat @ self.dual)

    @property
    @abstractmethod
    def degree(self) -> float:
        """The gap at mu = 1."""

    @abstractmethod
    def add_to(self, M: Array) -> None:
        """M += A H A'."""

    @abstractmethod
    def aim(self, mu: float, past: Step | None) -> Array:
        """Return r for u z = mu, with the second-order term of the predictor step, if any."""

    @abstractmethod
    def scaled(self, dz: Array) -> Array:
        """Return H dz."""

    @abstractmethod
    def longest(self, step: Step) -> tuple[float, float]:
        """Return the largest feasible lengths for u and for z."""
