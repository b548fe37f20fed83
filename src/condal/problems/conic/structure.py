"""A folded program as structured maps and costs: diagonals, few entries, rank one.

A bound on the trace of each part completes it to a problem, and its points map back to the blocks
of the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.cones import CutCone, CutOrthant
from condal.domains.product import Product
from condal.domains.spectral import Spectrahedron
from condal.domains.vectors import Simplex
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Across, Stack
from condal.maps.inner import Inner
from condal.maps.matrices import Diagonal
from condal.maps.quadratics import Quadratics
from condal.maps.vectors import Matrix
from condal.problem import Problem
from condal.problems.conic.folded import Folded, Part
from condal.sets.boxes import Box, Equal
from condal.sets.cones import SecondOrder
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear
from condal.types import Domain, LinearMap, Provable

MIN_ENTRIES_PER_ROW = 4  # of a matrix, from which a rank-one form pays off


@dataclass(frozen=True, eq=False)
class Shape:
    """minimise sum <c_j, x_j> subject to sum A_j x_j in K, x_j in the cone of part j.

    The trace of a part is that of a matrix, the sum of numbers, or the first entry of a
    second-order block.
    """

    folded: Folded
    K: Provable = field(repr=False)

    @classmethod
    def of(cls, folded: Folded) -> Shape:
        """Return the shape of a folded program."""
        return cls(folded, rows_of(folded))

    @cached_property
    def maps(self) -> tuple[LinearMap, ...]:
        """The rows of each part."""
        return tuple(map(map_of, self.folded.parts))

    @cached_property
    def costs(self) -> tuple[Any, ...]:
        """The cost of each part."""
        return tuple(map(cost_of, self.folded.parts))

    def domain(self, traces: Array, *, exact: bool = False) -> Domain:
        """Return the parts with at most these traces, or exactly one trace."""
        domains = tuple(
            _domain(part, float(trace), exact)
            for part, trace in zip(self.folded.parts, traces, strict=True)
        )
        return domains[0] if len(domains) == 1 else Product(*domains)

    def problem(self, traces: Array, *, exact: bool = False) -> Problem:
        """Return the problem with these traces, in the user's sense."""
        program, single = self.folded.program, len(self.maps) == 1
        f = Linear(self.costs[0] if single else self.costs)
        return Problem.of(
            f=f.scaled(-1.0) if program.maximise else f,
            X=self.domain(traces, exact=exact),
            A=(self.maps[0] if single else Across(*self.maps)) if self.K.size else None,
            K=self.K if self.K.size else None,
            maximise=program.maximise,
            name=program.name,
        )


def _domain(part: Part, trace: float, exact: bool) -> Domain:
    if part.kind == "psd":
        return Spectrahedron(part.n, trace, at_most=not exact)
    if part.kind == "orthant":
        return Simplex(part.n, trace) if exact else CutOrthant(part.n, trace)
    return CutCone(part.n, trace)


def rows_of(folded: Folded) -> Provable:
    """Return K of the rows: a point, a box, and cones."""
    low, high = folded.low[: folded.bounded], folded.high[: folded.bounded]
    first = Equal(low) if np.array_equal(low, high) else Box(low, high)
    cones = [SecondOrder(cone.stop - cone.start) for cone in folded.cones]
    if not cones:
        return first
    return Separable(*([first] if low.size else []), *cones)


def map_of(part: Part) -> LinearMap:
    """Return the rows of a part as a map."""
    if part.kind != "psd":
        return Matrix(part.A)
    diagonal = _diagonal(part)
    if diagonal is not None:
        return diagonal
    return _inner(part)


def cost_of(part: Part) -> Any:
    """Return the cost of a part: a vector, or a sparse, dense or rank-one symmetric matrix."""
    if part.kind != "psd":
        return part.c.toarray().ravel()
    n, places = part.n, part.c.indices
    if part.c.nnz > MIN_ENTRIES_PER_ROW * n:
        rank_one = _rank_one(part.c.data, places, n)
        if rank_one is not None:
            u, sign = rank_one
            return Symmetric(n, pairs=((sign * u, u),))
    matrix = sp.csr_array((part.c.data, (places // n, places % n)), (n, n))
    if part.c.nnz > 0.3 * n * n:
        return Symmetric(n, dense=matrix.toarray())
    return Symmetric(n, sparse=(matrix,))


def _diagonal(part: Part) -> LinearMap | None:
    """Return a map that reads the diagonal in order; None if the rows do not."""
    A, n = part.A, part.n
    if A.shape[0] != n or not np.array_equal(A.indptr, np.arange(n + 1)):
        return None
    if not np.array_equal(A.indices, np.arange(n) * (n + 1)) or not A.data.all():
        return None
    return Diagonal(n) if np.all(A.data == 1.0) else Diagonal(n).scaled(A.data)


def _inner(part: Part) -> LinearMap:
    """Return dense rows of rank one as quadratic forms, and runs of others as inner products."""
    A, n = part.A, part.n
    maps: list[LinearMap] = []
    begin = 0
    for i in np.flatnonzero(np.diff(A.indptr) > MIN_ENTRIES_PER_ROW * n):
        row = slice(A.indptr[i], A.indptr[i + 1])
        rank_one = _rank_one(A.data[row], A.indices[row], n)
        if rank_one is None:
            continue
        u, sign = rank_one
        if i > begin:
            maps.append(_plain(A[begin:i], n))
        maps.append(Quadratics(u[None, :], np.array([sign])))
        begin = int(i) + 1
    if begin < A.shape[0]:
        maps.append(_plain(A[begin:], n))
    return maps[0] if len(maps) == 1 else Stack(*maps)


def _plain(A: Any, n: int) -> LinearMap:
    whole = Part("psd", n, sp.csr_array(A), None)
    return _diagonal(whole) or Inner.from_matrix(whole.A)


def _rank_one(values: Array, places: Any, n: int) -> tuple[Array, float] | None:
    """Return u and a sign with sign u u' the matrix of these entries; None if its rank is not one.

    The entries equal u_i u_j in floating point, each rounded once: proofs allow for that.
    """
    rows, cols = places // n, places % n
    diagonal = np.zeros(n)
    diagonal[rows[rows == cols]] = values[rows == cols]
    support = np.flatnonzero(diagonal)
    if support.size**2 != values.size:
        return None
    sign = float(np.sign(diagonal[support[0]]))
    if np.any(sign * diagonal[support] < 0):
        return None
    u = np.sqrt(np.abs(diagonal))
    first = np.zeros(n)
    first[cols[rows == support[0]]] = values[rows == support[0]]
    u = np.copysign(u, sign * first)
    return (u, sign) if np.array_equal(sign * u[rows] * u[cols], values) else None


def blocks_of(folded: Folded, x: Point) -> tuple[Any, ...]:
    """Return the program's blocks at the point x of the parts.

    Matrices stay factored if they are. A slack takes the remainder of its row; if a row has several
    slacks, the one of the right sign takes it.
    """
    program, parts = folded.program, folded.parts
    values: Any = (x,) if len(parts) == 1 else x
    blocks: list[Any] = [
        np.zeros(block.n) if block.kind != "psd" or block.n == 1 else None
        for block in program.blocks
    ]
    numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    for part, value in zip(parts, values, strict=True):
        if part.kind == "second-order":
            blocks[part.block] = np.asarray(value)
        elif part.kind == "orthant":
            numbers = part.index, np.asarray(value)[: part.index.size]
        else:
            side = program.blocks[part.block].n
            blocks[part.block] = _joined(blocks[part.block], part.index, value, side)
    for j, block in enumerate(program.blocks):
        if blocks[j] is None:
            blocks[j] = np.zeros((block.n, block.n))
    _place(folded, blocks, *numbers)
    _place(folded, blocks, *_slack_values(folded, blocks))
    return tuple(
        value.reshape(1, 1) if block.kind == "psd" and block.n == 1 else value
        for block, value in zip(program.blocks, blocks, strict=True)
    )


def _place(folded: Folded, blocks: list[Any], columns: Indices, numbers: Array) -> None:
    """Put numbers at their columns of x: into vectors, or onto the diagonals of matrices."""
    program = folded.program
    owners = program.owners(columns)
    order = np.argsort(owners, kind="stable")
    found, begins = np.unique(owners[order], return_index=True)
    for owner, inside in zip(found.tolist(), np.split(order, begins[1:]), strict=False):
        block = program.blocks[owner]
        places = columns[inside] - int(program.offsets[owner])
        if block.kind == "psd" and block.n > 1:
            units = np.zeros((block.n, places.size))
            units[places // (block.n + 1), np.arange(places.size)] = 1.0
            blocks[owner] = _added(blocks[owner], LowRank(units, numbers[inside]))
        else:
            blocks[owner] = np.array(blocks[owner])
            blocks[owner][places] = numbers[inside]


def _slack_values(folded: Folded, blocks: list[Any]) -> tuple[Indices, Array]:
    """Return the columns and values of the slacks; `blocks` is x without them."""
    program, images = folded.program, _slack_rows(folded, blocks)
    in_cones = {int(row) for cone in folded.cones for row in folded.rows[cone]}
    remainders: dict[int, float] = {}
    values = []
    for slack in folded.slacks:
        remainder = remainders.get(slack.row, float(program.b[slack.row]) - images[slack.row])
        value = remainder / slack.coefficient
        if slack.row not in in_cones:
            value = max(value, 0.0)
        values.append(value)
        remainders[slack.row] = remainder - value * slack.coefficient
    columns = np.array([slack.column for slack in folded.slacks], dtype=np.int64)
    return columns, np.array(values, dtype=np.float64)


def _slack_rows(folded: Folded, blocks: list[Any]) -> dict[int, float]:
    """Return Ax without slacks in the rows that have some, by row."""
    program = folded.program
    rows = np.unique([slack.row for slack in folded.slacks]).astype(np.int64)
    entries = sp.coo_array(program.A[rows])
    values = program.entries(blocks, entries.col)
    images = np.bincount(entries.row, entries.data * values, rows.size)
    return dict(zip(rows.tolist(), images.tolist(), strict=True))


def _joined(before: Any, index: Any, value: Any, side: int) -> Any:
    """Return the matrix with `value` at the rows and columns `index`, plus `before`."""
    if index.size == side:
        return value
    if isinstance(value, LowRank):
        U = np.zeros((side, value.rank))
        U[index] = value.U
        moved: Any = LowRank(U, value.weights)
    else:
        moved = np.zeros((side, side))
        moved[np.ix_(index, index)] = value
    return moved if before is None else _added(before, moved)


def _added(a: Any, b: Any) -> Any:
    if isinstance(a, LowRank) and isinstance(b, LowRank):
        return LowRank(np.hstack([a.U, b.U]), np.concatenate([a.weights, b.weights]))
    return np.asarray(a) + np.asarray(b)
