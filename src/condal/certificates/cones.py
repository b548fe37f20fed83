"""Cones and conic programs in the form that proofs take."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.certificates.row_space import RowSpace
from condal.linalg.points import Array, Indices

SQRT2_ABOVE = 1.4142135623730952  # the least double above the square root of 2


@lru_cache(maxsize=64)
def _triangle(n: int) -> tuple[Indices, Indices]:
    """The columns and rows of the lower triangle, column by column."""
    cols, rows = np.triu_indices(n)
    cols.flags.writeable = rows.flags.writeable = False
    return cols, rows


@dataclass(frozen=True)
class Cone:
    """A block of x: n free or nonnegative numbers, |(u_2, ..., u_n)| <= u_1, or a psd matrix.

    A psd matrix of side n takes n^2 numbers, row by row. If `packed` it takes n (n + 1) / 2: its
    lower triangle column by column. In the dual cone the coordinates off the diagonal are
    `doubled`, so that <x, z> is the inner product of the matrices. No coordinate is rounded.
    """

    kind: Literal["free", "orthant", "second-order", "psd"]
    n: int
    packed: bool = False
    doubled: bool = False

    @property
    def dual(self) -> Cone:
        """The cone of z with <x, z> >= 0 for all x of this one, which is not free."""
        return replace(self, doubled=not self.doubled) if self.packed else self

    @property
    def stretch(self) -> float:
        """The norm of a matrix over the norm of its coordinates, at most."""
        return SQRT2_ABOVE if self.packed and not self.doubled else 1.0

    @property
    def length(self) -> int:
        """The number of coordinates."""
        if self.kind != "psd":
            return self.n
        return self.n * (self.n + 1) // 2 if self.packed else self.n**2

    def matrix(self, v: Array) -> Array:
        """Return the symmetric matrix of the coordinates of a psd block."""
        if not self.packed:
            full = v.reshape(self.n, self.n)
            return 0.5 * (full + full.T)
        cols, rows = _triangle(self.n)
        full = np.zeros((self.n, self.n))
        full[rows, cols] = np.where(rows == cols, v, 0.5 * v) if self.doubled else v
        full[cols, rows] = full[rows, cols]
        return full

    def matrices(self, entries: Array) -> Array:
        """Return the symmetric matrices of rows of coordinates of psd blocks."""
        n = self.n
        if not self.packed:
            full = entries.reshape(-1, n, n)
            return np.asarray(0.5 * (full + full.swapaxes(1, 2)))
        cols, rows = _triangle(n)
        if self.doubled:
            entries = entries * np.where(rows == cols, 1.0, 0.5)
        full = np.zeros((len(entries), n, n))
        full[:, rows, cols] = full[:, cols, rows] = entries
        return full

    def exact(self, v: Array) -> bool:
        """Whether `matrix` does not round the coordinates of a psd block."""
        if self.packed:
            return not self.doubled or np.array_equal(2.0 * (0.5 * v), v)
        return np.array_equal(self.matrix(v).ravel(), v)

    def coordinates(self, full: Any) -> Array:
        """Return the entries of a matrix in the order of the coordinates, none of them doubled."""
        if not self.packed:
            return np.asarray(full, dtype=np.float64).ravel()
        cols, rows = _triangle(self.n)
        return np.asarray(full[rows, cols], dtype=np.float64)

    def vector(self, full: Array) -> Array:
        """Return the coordinates of a symmetric matrix, doubled if those of the block are."""
        v = self.coordinates(full)
        return v * (2.0 - self.coordinates(np.eye(self.n))) if self.doubled else v


@dataclass(frozen=True, eq=False)
class ConicForm:
    """minimise <c, x> + 1/2 <x, Px> subject to Ax = b, x in the product of the cones.

    P, in CSR, is None without a quadratic term. Entries of A that are stored twice are added up
    here, once: each proof sees the same matrix.
    """

    c: Array = field(repr=False)
    A: Any = field(repr=False)
    b: Array = field(repr=False)
    cones: tuple[Cone, ...]
    P: Any = field(default=None, repr=False)
    known_rows: RowSpace | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.A.format != "csr" or not self.A.has_canonical_format:
            A = sp.csr_array(self.A, copy=True)
            A.sum_duplicates()
            object.__setattr__(self, "A", A)

    @cached_property
    def row_space(self) -> RowSpace:
        """The rows of A: `known_rows` if they are the rows of this A."""
        if self.known_rows is not None and self.known_rows.A is self.A:
            return self.known_rows
        return RowSpace(self.A)

    @cached_property
    def curvature(self) -> RowSpace:
        """The rows of P."""
        return RowSpace(self.P)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each cone stands in x."""
        ends = np.cumsum([0, *(cone.length for cone in self.cones)]).tolist()
        return tuple(slice(a, b) for a, b in itertools.pairwise(ends))

    @cached_property
    def dual(self) -> ConicForm:
        """minimise -<b, y> subject to A'y + z = c, y free, z in the dual cones: minus the bound.

        z is 0 where x is free, and not part of the vector (y, z).
        """
        m, n = self.A.shape
        kept = np.setdiff1d(np.arange(n), self.free)
        slack = sp.csr_array((np.ones(kept.size), (kept, np.arange(kept.size))), (n, kept.size))
        cones = (cone.dual for cone in self.cones if cone.kind != "free")
        return ConicForm(
            np.concatenate([-self.b, np.zeros(kept.size)]),
            sp.csr_array(sp.hstack([self.A.T, slack])),
            self.c,
            (Cone("free", m), *cones),
        )

    def dual_vector(self, y: Array) -> Array:
        """Return (y, c - A'y), about, for `dual`."""
        z = self.c - self.A.T @ y
        return np.concatenate([y, np.delete(z, self.free)])

    @cached_property
    def directions(self) -> ConicForm:
        """minimise <c, d> subject to Ad = 0, Pd = 0, d in the cones: the objective is linear."""
        A = self.A
        if self.P is not None:
            A = sp.csr_array(sp.vstack([A, self.P[np.diff(self.P.indptr) > 0]]))
        return replace(self, A=A, b=np.zeros(A.shape[0]), P=None)

    @property
    def feasibility(self) -> ConicForm:
        """The form without its objective."""
        return replace(self, c=np.zeros(self.c.size), P=None)

    @cached_property
    def free(self) -> Indices:
        """The free coordinates of x."""
        kinds = [np.full(cone.length, cone.kind == "free") for cone in self.cones]
        return np.flatnonzero(np.concatenate(kinds))
