"""What is seen of data that many ranks hold together: sums over their entries, which do not depend
on how these are shared out.

An entry is mixed with its place to 64 bits, by a key, and these are added up modulo 2^64; with two
keys, 128 bits: chance makes other data look the same once in 10^38 times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from condal.distributed.matrix import ShardedRows
from condal.distributed.oracle import Slepc
from condal.distributed.sharded_array import ShardedArray
from condal.distributed.team import Team

Words = npt.NDArray[np.uint64]

KEYS = (0x243F6A8885A308D3, 0x13198A2E03707344)  # of pi
PIECE = 1 << 20  # entries that are mixed at a time


def told(value: Any) -> Sequence[str] | None:
    """Words for what ranks hold together, the same on any number of them; None for all else."""
    if isinstance(value, Team | Slepc):
        return (type(value).__qualname__,)
    if isinstance(value, ShardedArray):
        total = sum(value.team.gathered(len(value)))
        begin, _ = value.team.range(total)
        shape = (total, *value.shape[1:])
        return ("rows", str(value.dtype), str(shape), *_sums(value.team, _entries(value, begin)))
    if isinstance(value, ShardedRows):
        return ("matrix", str(value.n), repr(value.factor), *_sums(value.team, _sparse(value)))
    return None


def _entries(value: ShardedArray, begin: int) -> Iterator[tuple[Any, ...]]:
    """Rows, columns and numbers, some at a time."""
    local = value.local.reshape(len(value), -1)
    width = max(1, local.shape[1])
    step = max(1, PIECE // width)
    for first in range(0, len(local), step):
        piece = np.ascontiguousarray(local[first : first + step], dtype=np.float64)
        rows = np.repeat(np.arange(begin + first, begin + first + len(piece)), local.shape[1])
        yield rows, np.tile(np.arange(local.shape[1]), len(piece)), piece.ravel()


def _sparse(matrix: ShardedRows) -> Iterator[tuple[Any, ...]]:
    rows, columns, numbers = matrix.entries()
    for first in range(0, len(numbers), PIECE):
        here = slice(first, first + PIECE)
        yield rows[here], columns[here].astype(np.int64), numbers[here]


def _sums(team: Team, pieces: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    """In hexadecimal, one for each key."""
    sums = [0] * len(KEYS)
    for columns in pieces:
        for k, key in enumerate(KEYS):
            sums[k] += _mixed(key, *columns)
    for one in zip(*team.gathered(sums), strict=True):
        yield f"{sum(one) % 2**64:016x}"


def _mixed(key: int, *columns: Any) -> int:
    """The sum of the entries, each mixed with its place."""
    words: Words = np.full(columns[0].size, key, dtype=np.uint64)
    for column in columns:
        words = _mix(words ^ column.view(np.uint64))
    return int(words.sum(dtype=np.uint64))


def _mix(words: Words) -> Words:
    """A bijection of 64 bits in which each depends on all (Steele, Lea and Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
