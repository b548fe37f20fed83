"""Digests of sharded data, which do not depend on how the entries are distributed over ranks.

Each entry is mixed with its place and a key to 64 bits, and these are summed modulo 2^64. Two keys
give 128 bits: different data have the same digest by chance once in 10^38 times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from condal_mpi.diffraction import (
    DistributedDiffraction,
    DistributedLeastSquares,
    ReplicatedHermitian,
)
from condal_mpi.edges import Edges
from condal_mpi.maps import SparseMatrices
from condal_mpi.matrix import ShardedRows
from condal_mpi.oracle import Slepc
from condal_mpi.sharded_array import ShardedArray, mix
from condal_mpi.team import Team

KEYS = (0x243F6A8885A308D3, 0x13198A2E03707344)  # digits of pi
ENTRIES_PER_PIECE = 1 << 20


def shard_words(value: Any) -> Sequence[str] | None:
    """Return words that identify sharded data on any number of ranks; None for other values."""
    if isinstance(value, Team | Slepc):
        return (type(value).__qualname__,)
    if isinstance(value, ShardedArray):
        counts = value.team.gathered(len(value))
        begin = sum(counts[: value.team.rank])
        shape = (sum(counts), *value.shape[1:])
        return ("rows", str(value.dtype), str(shape), *_sums(value.team, _entries(value, begin)))
    if isinstance(value, Edges):
        sums = _sums(value.entries.team, _pieces(*value.entries.entries()))
        return ("edges", str(value.count), *sums)
    if isinstance(value, ShardedRows):
        sums = _sums(value.team, _pieces(*value.entries()))
        return ("matrix", str(value.n), repr(value.factor), *sums)
    if isinstance(value, SparseMatrices):
        sums = _sums(value.team, _pieces(*value.entries()))
        return ("matrices", str(value.count), *sums)
    if isinstance(value, DistributedDiffraction):
        return value.words
    if isinstance(value, DistributedLeastSquares):  # without its weight, a sum over all ranks
        return ("least squares", *value.M.words, *(shard_words(value.c) or ()))
    if isinstance(value, ReplicatedHermitian):  # its trace is given with the masks, or follows
        return ("replicated", str(value.n))
    return None


def mask_words(masks: Any, trace: float | None, team: Team) -> tuple[str, ...]:
    """Return words that identify the masks of all ranks and the trace that was given."""
    parts = np.ascontiguousarray(masks, dtype=np.complex128).reshape(len(masks), -1)
    stacked = ShardedArray(parts.view(np.float64), team)
    return ("masks", repr(masks.shape[1:]), repr(trace), *(shard_words(stacked) or ()))


def _entries(value: ShardedArray, begin: int) -> Iterator[tuple[Any, ...]]:
    """Yield rows, columns and numbers, some at a time."""
    local = value.local.reshape(len(value), -1)
    width = max(1, local.shape[1])
    step = max(1, ENTRIES_PER_PIECE // width)
    for first in range(0, len(local), step):
        piece = np.ascontiguousarray(local[first : first + step], dtype=np.float64)
        rows = np.repeat(np.arange(begin + first, begin + first + len(piece)), local.shape[1])
        yield rows, np.tile(np.arange(local.shape[1]), len(piece)), piece.ravel()


def _pieces(*entries: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the indices and numbers of some entries at a time."""
    *indices, numbers = entries
    for first in range(0, len(numbers), ENTRIES_PER_PIECE):
        some = slice(first, first + ENTRIES_PER_PIECE)
        yield *(index[some].astype(np.int64) for index in indices), numbers[some]


def _sums(team: Team, pieces: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    """Yield the sum over all ranks for each key, in hexadecimal."""
    sums = [0] * len(KEYS)
    for columns in pieces:
        for k, key in enumerate(KEYS):
            sums[k] += _mixed(key, *columns)
    for of_ranks in zip(*team.gathered(sums), strict=True):
        yield f"{sum(of_ranks) % 2**64:016x}"


def _mixed(key: int, *columns: Any) -> int:
    """Return the sum of the entries, each mixed with its place."""
    words = np.full(columns[0].size, key, dtype=np.uint64)
    for column in columns:
        words = mix(words ^ column.view(np.uint64))
    return int(words.sum(dtype=np.uint64))
