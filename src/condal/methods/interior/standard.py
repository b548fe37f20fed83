"""The standard form of a linear problem: minimise <c, u>, A u = b, u in a product of cones.

    x = shift + u, with a cone for each section of X and slacks for bounded sums and rows of Ax

The sums that bound X are rows of A as well, so the problem and its dual have a solution, and z can
be arbitrarily large. Dependent rows are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.linalg.cone_slices import ConeSlice
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.methods.projection.vectorise import Vectoriser

SPARSE_CALL = 3e4  # numbers of a dense product that take as long as the call of a sparse one
SPARSE_ENTRY = 5.0  # numbers of a dense product that take as long as an entry of a sparse one
MAX_PAIRS = 2**21
PAIR = 5.0  # ns per pair of entries of a column
GEMM = 0.06  # ns per multiplication and addition of a product


def is_small(A: Any) -> bool:
    """Return whether products with A are faster if it is dense."""
    return bool(A.shape[0] * A.shape[1] <= SPARSE_CALL + SPARSE_ENTRY * A.nnz)


@dataclass(frozen=True, eq=False)
class Cone:
    """A part of u: psd matrices of side n, u >= 0 of length n, or |(u_2, ..., u_n)| <= u_1.

    `c` and `A` are its columns of the objective and of the rows, `first` is an interior point, and
    `cap` is the upper bound of u in an orthant.
    """

    kind: Literal["psd", "orthant", "second-order"]
    n: int
    c: Array
    A: Any
    first: Array
    cap: Array

    @cached_property
    def adjoint(self) -> Any:
        """A', in CSR."""
        return sp.csr_array(self.A.T)

    @cached_property
    def gram(self) -> ScaledGram:
        """The plan for A H A' with diagonal H."""
        return ScaledGram.of(self.A)

    def reduced(self, y: Array) -> Array:
        """c - A'y."""
        return np.asarray(self.c - self.adjoint @ y)


@dataclass(frozen=True, eq=False)
class StandardForm:
    """minimise <c, u> + constant, A u = b, u in the cones.

    Row i of A is row rows[i] of the problem; the last `sums` rows bound X. `columns` are the places
    in x of the entries of the orthant, the first cone; the other cones follow in their order, and
    slacks have no place. `clash` is a y with A'y = 0 and <b, y> = 1, one number for each row of the
    problem, if the dependent rows contradict the others.
    """

    cones: tuple[Cone, ...]
    b: Array
    constant: float
    rows: Indices
    sums: int
    places: tuple[tuple[ConeSlice, slice], ...]
    columns: Indices
    shift: Array
    flat: Vectoriser
    matrix: Any
    cost: Array
    clash: Array | None

    @cached_property
    def _sizes(self) -> Any:
        """|A|' for the A of the problem."""
        return sp.csr_array(abs(self.matrix).T)

    def rounding(self, y: Array) -> float:
        """Return the norm of |A|'|y|, of which the rounding error of A'y is a small multiple."""
        return float(np.linalg.norm(self._sizes @ np.abs(y)))

    def dual(self, y: Array) -> Array:
        """Return the y of the problem, where <y, Ax> is added, from the y of A'y + z = c."""
        dual = np.zeros(self.matrix.shape[0])
        dual[self.rows] = -y[: self.rows.size]
        return dual

    def point(self, parts: Sequence[Array]) -> tuple[Array, Point]:
        """Return x as one vector and as a point of X with exact sums.

        `parts` are the parts of u; a matrix is given by its Cholesky factor.
        """
        x = self.shift.copy()
        x[self.columns] += parts[0][: self.columns.size]
        others, factors = iter(parts[1:]), []
        for section, entries in self.places:
            if section.kind == "orthant":
                x[entries] *= _fitted(section, float(x[entries].sum()))
            elif section.kind == "second-order":
                cone = next(others)[0]
                x[entries] = _fitted(section, float(cone[0])) * cone
            elif section.kind == "psd":
                factor = next(others)[0]
                factor = sqrt(_fitted(section, float(np.vdot(factor, factor)))) * factor
                x[entries] = (factor @ factor.T).ravel()
                factors.append(factor)
        return x, _factored(self.flat.point(x), iter(factors))


def share_of(section: ConeSlice) -> float:
    """Return the initial eigenvalues of u in a section with a sum."""
    parts = 1 if section.kind == "second-order" else section.n
    return section.bound / (parts + section.at_most)


def _fitted(section: ConeSlice, total: float) -> float:
    """The factor that gives the total its required value."""
    return 1.0 if section.at_most and total <= section.bound else section.bound / total


def _factored(x: Any, factors: Iterator[Array]) -> Point:
    """x with its matrices as factors."""
    if isinstance(x, tuple):
        return tuple(_factored(part, factors) for part in x)
    if x.ndim == 1:
        return np.asarray(x)
    factor = next(factors)
    return LowRank(factor, np.ones(factor.shape[1]))


@dataclass(frozen=True, eq=False)
class ScaledGram:
    """A H A' for a fixed sparse A and many diagonal H, added to a dense matrix, the cheapest way.

    It takes pairs of entries of a column, a dense product, or a sparse one.
    Pair k adds products[k] times the H of columns[k] at places[k] of the matrix.
    """

    A: Any
    places: Indices | None = None
    products: Array | None = None
    columns: Indices | None = None

    @classmethod
    def of(cls, A: Any) -> ScaledGram:
        """Plan for a matrix in CSR."""
        m, n = A.shape
        lengths = np.bincount(A.indices, minlength=n)
        pairs = float((lengths.astype(np.float64) ** 2).sum())
        if GEMM * m * m * n <= PAIR * pairs:
            return cls(A.toarray())
        if pairs > MAX_PAIRS:
            return cls(A)
        by_column = sp.csc_array(A)
        column = np.repeat(np.arange(n), lengths)
        times = lengths[column]  # each entry meets all entries of its column
        first = np.repeat(np.arange(A.nnz), times)
        begins = np.cumsum(times) - times
        second = by_column.indptr[column[first]] + np.arange(first.size) - begins[first]
        rows, data = by_column.indices.astype(np.int64), by_column.data
        return cls(A, m * rows[first] + rows[second], data[first] * data[second], column[first])

    def add(self, M: Array, H: Array) -> None:
        """M += A H A', with H the diagonal."""
        A = self.A
        if self.places is not None and self.products is not None:
            np.add.at(M.reshape(-1), self.places, self.products * H[self.columns])
        elif isinstance(A, np.ndarray):
            M += (A * H) @ A.T
        else:
            scaled = sp.csr_array((A.data * H[A.indices], A.indices, A.indptr), A.shape)
            M += (scaled @ A.T).toarray()


@dataclass(frozen=True, eq=False)
class Step:
    """du and dz, and dv for capped entries."""

    u: Array
    z: Array
    v: Array | None = None


@dataclass(frozen=True, eq=False)
class Aim:
    """r, and for an orthant the target products of u and z and of w and v."""

    r: Array
    uz: Array | None = None
    wv: Array | None = None


class ConePoint(ABC):
    """u inside a cone, z inside its dual, and the Newton step for u z = mu from them.

        du = r - H dz,    dz = -A'dy

    for each cone, with H positive definite: X . Z^-1 for matrices (Helmberg et al. 1996, Kojima et
    al. 1997, Monteiro 1997), 1 / (z/u + v/w) for 0 <= u <= cap, w = cap - u, whose duals are z and
    v, and the square of the Nesterov-Todd scaling for second-order cones. A H A', summed over the
    cones, is the Schur complement. `cone` holds the columns of the data.
    """

    cone: Cone

    @property
    def gap(self) -> float:
        """<u, z>, and <w, v>."""
        return float(self.flat @ self.dual)

    @property
    @abstractmethod
    def degree(self) -> float:
        """The gap at mu = 1."""

    @property
    def point(self) -> Array:
        """u; for matrices, their Cholesky factors."""
        return self.flat

    @property
    @abstractmethod
    def flat(self) -> Array:
        """u as a vector."""

    @property
    @abstractmethod
    def dual(self) -> Array:
        """z as a vector."""

    def price(self) -> float:
        """Return <cap, v>, the price of the caps in the dual objective."""
        return 0.0

    @abstractmethod
    def add_to(self, M: Array) -> None:
        """M += A H A'."""

    @abstractmethod
    def aim(self, mu: float, past: Step | None) -> Aim:
        """Return the target u z = mu, with the second-order term of the predictor step, if any."""

    @abstractmethod
    def scaled(self, dz: Array) -> Array:
        """Return H dz."""

    def step(self, aim: Aim, dz: Array) -> Step:
        """Return the step with du = r - H dz."""
        return Step(aim.r - self.scaled(dz), dz)

    @abstractmethod
    def longest(self, step: Step) -> tuple[float, float]:
        """Return the largest feasible lengths for u and for z."""

    def gap_at(self, step: Step, primal: float, dual: float) -> float:
        """Return the gap after steps of these lengths."""
        return float((self.flat + primal * step.u) @ (self.dual + dual * step.z))

    @abstractmethod
    def moved(self, step: Step, primal: float, dual: float, cost: Array | None) -> ConePoint | None:
        """Return the next pair, with z = cost if it is given; None unless it is inside."""
