"""From the parts of a folded program back to the blocks of the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices, LowRank, Point
from condal.problems.conic.folded import Folded


def blocks_of(folded: Folded, x: Point, Ax: Array) -> tuple[Any, ...]:
    """The program's blocks at the point x of the parts, whose image is Ax: matrices as they are,
    factored or not, and vectors. Slacks are what the rows leave; of several in a row one has it."""
    program, parts = folded.program, folded.parts
    values: Any = (x,) if len(parts) == 1 else x
    found: list[Any] = [
        np.zeros(block.n) if block.kind != "psd" or block.n == 1 else None
        for block in program.blocks
    ]
    numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    for part, value in zip(parts, values, strict=True):
        if part.kind == "second-order":
            found[part.block] = np.asarray(value)
        elif part.kind == "orthant":
            numbers = part.index, np.asarray(value)[: part.index.size]
        else:
            side = program.blocks[part.block].n
            found[part.block] = _joined(found[part.block], part.index, value, side)
    for j, block in enumerate(program.blocks):
        if found[j] is None:
            found[j] = np.zeros((block.n, block.n))
    _place(folded, found, *numbers)
    _place(folded, found, *_slack_values(folded, found, Ax))
    return tuple(
        value.reshape(1, 1) if block.kind == "psd" and block.n == 1 else value
        for block, value in zip(program.blocks, found, strict=True)
    )


def _place(folded: Folded, found: list[Any], columns: Indices, numbers: Array) -> None:
    """Put numbers where they stand in x: in vectors, or on the diagonals of matrices."""
    program = folded.program
    owners = program.owners(columns)
    for owner in np.unique(owners).tolist():
        mine, block = owners == owner, program.blocks[owner]
        places = columns[mine] - int(program.offsets[owner])
        if block.kind == "psd" and block.n > 1:
            units = np.zeros((block.n, places.size))
            units[places // (block.n + 1), np.arange(places.size)] = 1.0
            found[owner] = _added(found[owner], LowRank(units, numbers[mine]))
        else:
            found[owner] = np.array(found[owner])
            found[owner][places] = numbers[mine]


def _slack_values(folded: Folded, found: list[Any], Ax: Array) -> tuple[Indices, Array]:
    """The columns of the slacks, and what their rows leave: of the slacks of a row the one of the
    right sign has it. `found` is x without them."""
    program = folded.program
    made = _free_rows(folded, found)
    made |= dict(zip(folded.rows.tolist(), (Ax / folded.scale).tolist(), strict=True))
    in_cones = {int(row) for here in folded.cones for row in folded.rows[here]}
    left: dict[int, float] = {}
    values = []
    for slack in folded.slacks:
        before = left.get(slack.row, float(program.b[slack.row]) - made[slack.row])
        value = before / slack.coefficient
        if slack.row not in in_cones:
            value = max(value, 0.0)
        values.append(value)
        left[slack.row] = before - value * slack.coefficient
    columns = np.array([slack.column for slack in folded.slacks], dtype=np.int64)
    return columns, np.array(values, dtype=np.float64)


def _free_rows(folded: Folded, found: list[Any]) -> dict[int, float]:
    """What x makes of the rows that slacks of either sign leave free, by row."""
    program = folded.program
    rows = np.setdiff1d([slack.row for slack in folded.slacks], folded.rows).astype(np.int64)
    entries = sp.coo_array(program.A[rows])
    owners = program.owners(entries.col)
    values = np.zeros(entries.nnz)
    for owner in np.unique(owners).tolist():
        mine, block, x = owners == owner, program.blocks[owner], found[owner]
        places = entries.col[mine].astype(np.int64) - int(program.offsets[owner])
        if isinstance(x, LowRank):
            i, j = np.divmod(places, block.n)
            values[mine] = (x.U[i] * x.weights * x.U[j]).sum(axis=1)
        else:
            values[mine] = np.ravel(x)[places]
    made = np.bincount(entries.row, entries.data * values, rows.size)
    return dict(zip(rows.tolist(), made.tolist(), strict=True))


def _joined(before: Any, index: Any, value: Any, side: int) -> Any:
    """The matrix with `value` at the rows and columns `index`, and `before` elsewhere."""
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
