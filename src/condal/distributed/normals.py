"""Standard normal numbers, the same for a row whichever rank owns it."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team

BLOCK = 4096  # rows of one generator


def normals(team: Team, n: int, *, seed: list[int], columns: int | None = None) -> ShardedArray:
    """This rank's rows of n normal numbers, or of n rows of so many `columns`."""
    begin, end = team.range(n)
    first, last = begin // BLOCK, -(-end // BLOCK)
    width = () if columns is None else (columns,)
    local = np.empty((end - begin, *width))
    for block in range(first, last):
        here = slice(max(begin, block * BLOCK), min(end, (block + 1) * BLOCK))
        rows: Any = np.random.default_rng([*seed, block]).standard_normal((BLOCK, *width))
        local[here.start - begin : here.stop - begin] = rows[
            here.start - block * BLOCK : here.stop - block * BLOCK
        ]
    return ShardedArray(local, team)
