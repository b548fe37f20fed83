"""The standard form of a linear problem: minimise <c, u>, A u = b, u in a product of cones.

    x = shift + u, a cone for each section of X;   what a sum or a row of Ax may leave is a slack

The sums that bound X are rows of A as well, so that both this and its dual have a solution, and z
can be as large as one likes. Rows that others make up are left out.
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
from condal.methods.projection.vectorise import Vectoriser


@dataclass(frozen=True, eq=False)
class Cone:
    """A part of u: psd matrices of side n, u >= 0 of length n, or |(u_2, ..., u_n)| <= u_1.

    `c` and `A` are what it has of the objective and of the rows, `first` is a point inside, and
    `cap` bounds u from above, in an orthant.
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

    def reduced(self, y: Array) -> Array:
        """c - A'y."""
        return np.asarray(self.c - self.adjoint @ y)


@dataclass(frozen=True, eq=False)
class StandardForm:
    """minimise <c, u> + constant, A u = b, u in the cones.

    Row i of A is row rows[i] of the problem's, the last `sums` of them bound X. `columns` says
    where the entries of the orthant, the first cone, stand in x; those of the others follow in
    their order, and slacks stand nowhere. `clash` is a y of A'y = 0 and <b, y> = 1 where the rows
    left out ask for something else than those that are kept; it has a number for each row of the
    problem.
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
        """|A|', of the problem's A."""
        return sp.csr_array(abs(self.matrix).T)

    def rounding(self, y: Array) -> float:
        """The length of |A|'|y|, of the y of the problem: what A'y is rounded by is part of."""
        return float(np.linalg.norm(self._sizes @ np.abs(y)))

    def dual(self, y: Array) -> Array:
        """y of the problem, of which <y, Ax> is added, from that of A'y + z = c."""
        found = np.zeros(self.matrix.shape[0])
        found[self.rows] = -y[: self.rows.size]
        return found

    def point(self, parts: Sequence[Array]) -> tuple[Array, Point]:
        """x from the parts of u, of which a matrix is given by its Cholesky factor: as one vector,
        and as a point of X, whose sums are as they should be."""
        x = self.shift.copy()
        x[self.columns] += parts[0][: self.columns.size]
        others, factors = iter(parts[1:]), []
        for section, here in self.places:
            if section.kind == "orthant":
                x[here] *= _fitted(section, float(x[here].sum()))
            elif section.kind == "second-order":
                cone = next(others)
                x[here] = _fitted(section, float(cone[0])) * cone
            elif section.kind == "psd":
                factor = next(others)
                factor = sqrt(_fitted(section, float(np.vdot(factor, factor)))) * factor
                x[here] = (factor @ factor.T).ravel()
                factors.append(factor)
        return x, _factored(self.flat.point(x), iter(factors))


def share_of(section: ConeSlice) -> float:
    """What each eigenvalue of u begins with, of a section that a sum bounds."""
    parts = 1 if section.kind == "second-order" else section.n
    return section.bound / (parts + section.at_most)


def _fitted(section: ConeSlice, total: float) -> float:
    """The factor that makes the total what the section asks for."""
    return 1.0 if section.at_most and total <= section.bound else section.bound / total


def _factored(x: Any, factors: Iterator[Array]) -> Point:
    """x, its matrices as their factors."""
    if isinstance(x, tuple):
        return tuple(_factored(part, factors) for part in x)
    if x.ndim == 1:
        return np.asarray(x)
    factor = next(factors)
    return LowRank(factor, np.ones(factor.shape[1]))
