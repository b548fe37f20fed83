"""Map the parts of a folded program back to the blocks of the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array, Indices, LowRank, Point
from condal.problems.conic.folded import Folded


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
    for owner in np.unique(owners).tolist():
        inside, block = owners == owner, program.blocks[owner]
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
    owners = program.owners(entries.col)
    values = np.zeros(entries.nnz)
    for owner in np.unique(owners).tolist():
        inside, block, x = owners == owner, program.blocks[owner], blocks[owner]
        places = entries.col[inside].astype(np.int64) - int(program.offsets[owner])
        if isinstance(x, LowRank):
            i, j = np.divmod(places, block.n)
            values[inside] = (x.U[i] * x.weights * x.U[j]).sum(axis=1)
        else:
            values[inside] = np.ravel(x)[places]
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
