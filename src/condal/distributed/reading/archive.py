"""Matrices saved by `scipy.sparse.save_npz`, of which each rank reads some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from condal.distributed.reading.coordinates import sum_rows, symmetric_rows
from condal.distributed.reading.members import Vector, read_part, vectors_of
from condal.distributed.reading.slices import require_same_file
from condal.distributed.team import Team
from condal.io.formats.arrays import read_arrays
from condal.io.formats.sparse_arrays import (
    INDEX_ARRAYS,
    SYMMETRY_HINT,
    index_error,
    length_error,
    pointer_error,
    require_real,
    require_whole,
    sparse_format,
    vertex_count,
)
from condal.io.formats.text import Text


def archive_rows(team: Team, path: str) -> sparse.csr_array:
    """Return this rank's rows of what `read_sparse_array` returns for a .npz file."""
    text = Text(path, b"")
    with team.together():
        kind, n, indices, others, data = _headers(path, text)
    require_same_file(team, path)
    if kind == "coo":
        begin, end = (data.size * rank // team.size for rank in (team.rank, team.rank + 1))
        outer = read_part(team, others, begin, end).astype(np.int64)
    else:
        begin, end, outer = _read_pointers(team, text, others, n, data.size)
    inner = read_part(team, indices, begin, end).astype(np.int64)
    w = read_part(team, data, begin, end).astype(np.float64)
    with team.together():
        for places in (inner, outer):
            if places.size and not 0 <= places.min() <= places.max() < n:
                raise index_error(text, n)
    i, j = (outer, inner) if kind == "csr" else (inner, outer)
    return symmetric_rows(team, text, sum_rows(team, text, n, i, j, w), hint=SYMMETRY_HINT)


def _headers(path: str, text: Text) -> tuple[str, int, Vector, Vector, Vector]:
    """Return the sparse format, n, and the vectors of indices, pointers (or columns) and data."""
    kind = sparse_format(path, text)
    vectors = vectors_of(path)
    data, wanted = vectors["data"], INDEX_ARRAYS[kind]
    require_real(text, data, "data")
    n, most = vertex_count(text, read_arrays(path, ("shape",))["shape"], data.size)
    for name in wanted:
        require_whole(text, vectors.get(name), name, most + 1)
    indices, others = (vectors[name] for name in wanted)
    if kind != "coo" and others.size != n + 1:
        raise pointer_error(text, n, indices.size)
    sizes = {indices.size, others.size if kind == "coo" else data.size}
    if data.ndim != 1 or sizes != {data.size}:
        raise length_error(text, wanted[0], indices.size, data.size)
    return kind, n, indices, others, data


def _read_pointers(
    team: Team, text: Text, pointers: Vector, n: int, entries: int
) -> tuple[int, int, Any]:
    """Return the range of the entries in this rank's rows (or columns), and the row of each."""
    begin, end = team.range(n)
    own = read_part(team, pointers, begin, end if team.rank + 1 < team.size else n + 1)
    own = own.astype(np.int64)
    heads = team.gathered(int(own[0]))
    if team.rank + 1 < team.size:
        own = np.append(own, heads[team.rank + 1])
    rising = bool((np.diff(own) >= 0).all())
    ends = team.gathered((rising, int(own[-1])))
    if not all(rises for rises, _ in ends) or heads[0] != 0 or ends[-1][1] != entries:
        raise pointer_error(text, n, entries)
    return int(own[0]), int(own[-1]), np.repeat(np.arange(begin, end), np.diff(own))
