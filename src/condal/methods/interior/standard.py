"""The standard form of a linear problem: minimise <c, u>, A u = b, u in a product of cones.

    x = shift + u, with a cone for each section of X and slacks for bounded sums and rows of Ax

The sums that bound X are rows of A as well, so the problem and its dual have a solution, and z can
be arbitrarily large. Dependent rows are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.linalg.cone_slices import ConeSlice
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.methods.interior.scaled_gram import ScaledGram
from condal.methods.projection.vectorise import Vectoriser

SPARSE_CALL = 3e4  # numbers of a dense product that take as long as the call of a sparse one
SPARSE_ENTRY = 5.0  # numbers of a dense product that take as long as an entry of a sparse one


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
