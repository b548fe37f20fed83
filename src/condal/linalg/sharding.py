"""Arrays whose rows may be distributed over ranks: what needs to know which rows are here.

An array of one process has all of its rows here. A sharded one has those of its rank as `local`,
and makes arrays with the same distribution. Most code needs none of this: operations on rows and
sums over them are the same for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.linalg.points import Array


def local_rows(a: Array) -> Array:
    """Return the rows of an array that this process has."""
    local: Array = getattr(a, "local", a)
    return local


def with_rows(like: Any, local: Array) -> Array:
    """Return the array with these rows in this process, distributed as `like` is."""
    make = getattr(like, "with_local", None)
    array: Array = local if make is None else make(local)
    return array


def total_rows(a: Array) -> int:
    """Return the number of rows on all ranks together."""
    return int(getattr(a, "total", len(a)))


def normals_like(a: Array, seed: Any, columns: int) -> Array:
    """Return standard normal numbers, `columns` for each row of a, whoever has it."""
    make = getattr(a, "normals", None)
    if make is not None:
        sharded: Array = make(seed, columns)
        return sharded
    return np.random.default_rng(seed).standard_normal((len(a), columns))
