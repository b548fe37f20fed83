"""Matrices as `scipy.sparse.save_npz` saves them, of which each rank reads some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from condal.distributed.reading.coordinates import summed, symmetric
from condal.distributed.reading.members import Vector, read_part, vectors_of
from condal.distributed.reading.sameness import require_same_file
from condal.distributed.team import Team
from condal.io.formats.arrays import read_arrays
from condal.io.formats.sparse_arrays import (
    ARRAYS,
    HINT,
    falling,
    kind_of,
    outside,
    require_real,
    require_whole,
    side_of,
    unequal,
)
from condal.io.formats.text import Text


def archive_rows(team: Team, path: str) -> sparse.csr_array:
    """This rank's rows of what `read_sparse_array` gives of a .npz file."""
    text = Text(path, b"")
    with team.together():
        kind, n, one, other, data = _promised(path, text)
    require_same_file(team, path)
    if kind == "coo":
        begin, end = (data.size * rank // team.size for rank in (team.rank, team.rank + 1))
        lines = read_part(team, other, begin, end).astype(np.int64)
    else:
        begin, end, lines = _pointed(team, text, other, n, data.size)
    along = read_part(team, one, begin, end).astype(np.int64)
    w = read_part(team, data, begin, end).astype(np.float64)
    with team.together():
        for places in (along, lines):
            if places.size and not 0 <= places.min() <= places.max() < n:
                raise outside(text, n)
    i, j = (lines, along) if kind == "csr" else (along, lines)
    return symmetric(team, text, summed(team, text, n, i, j, w), hint=HINT)


def _promised(path: str, text: Text) -> tuple[str, int, Vector, Vector, Vector]:
    """How the matrix is stored, n, and the vectors of indices, of the others or the pointers, and
    of entries."""
    kind = kind_of(path, text)
    vectors = vectors_of(path)
    data, wanted = vectors["data"], ARRAYS[kind]
    require_real(text, data, "data")
    n, most = side_of(text, read_arrays(path, ("shape",))["shape"], data.size)
    for name in wanted:
        require_whole(text, vectors.get(name), name, most + 1)
    one, other = (vectors[name] for name in wanted)
    if kind != "coo" and other.size != n + 1:
        raise falling(text, n, one.size)
    if data.ndim != 1 or one.size != data.size or (kind == "coo" and other.size != data.size):
        raise unequal(text, wanted[0], one.size, data.size)
    return kind, n, one, other, data


def _pointed(
    team: Team, text: Text, pointers: Vector, n: int, entries: int
) -> tuple[int, int, Any]:
    """Which entries belong to the rows of this rank, or to its columns, and the row of each."""
    begin, end = team.range(n)
    own = read_part(team, pointers, begin, end if team.rank + 1 < team.size else n + 1)
    own = own.astype(np.int64)
    heads = team.gathered(int(own[0]))
    if team.rank + 1 < team.size:
        own = np.append(own, heads[team.rank + 1])
    rising = bool((np.diff(own) >= 0).all())
    ends = team.gathered((rising, int(own[-1])))
    if not all(one for one, _ in ends) or heads[0] != 0 or ends[-1][1] != entries:
        raise falling(text, n, entries)
    return int(own[0]), int(own[-1]), np.repeat(np.arange(begin, end), np.diff(own))
