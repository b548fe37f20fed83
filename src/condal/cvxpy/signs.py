"""Rows that no point of the cones satisfies, by their signs alone.

Entries of an orthant, diagonal entries and the first entry of a second-order block are never
negative. A row of such entries, with coefficients >= 0 and b < 0 or vice versa, is infeasible
without any bound.
"""

from __future__ import annotations

import numpy as np

from condal.linalg.points import Array
from condal.problems.conic.program import Block, Program


def refuting_row(program: Program) -> Array | None:
    """Return y, nonzero in one row, with A'y in the dual cone and <b, y> < 0; or None."""
    A, b = program.A, program.b
    if A.nnz == 0:
        return None
    block = program.owners(A.indices)
    steps = np.array([_step(cone) for cone in program.blocks])[block]
    nonnegative = (A.indices - program.offsets[block]) % steps == 0
    owner = np.repeat(np.arange(b.size), np.diff(A.indptr))
    counts = [
        np.bincount(owner[of], minlength=b.size) for of in (~nonnegative, A.data < 0, A.data > 0)
    ]
    other, negative, positive = (count > 0 for count in counts)
    rows = np.flatnonzero(~other & (((b < 0) & ~negative) | ((b > 0) & ~positive)))
    if rows.size == 0:
        return None
    y = np.zeros(b.size)
    y[rows[0]] = -np.sign(b[rows[0]])
    return y


def _step(block: Block) -> int:
    """Return the distance from one entry that is never negative to the next."""
    return {"orthant": 1, "psd": block.n + 1, "second-order": block.n}[block.kind]
