"""What solvers write for a problem in the SDPA format: z, and X block by block.

There are two manners: `z` on a line and then entries (CSDP, DSDP), or `xVec` and `yMat` (SDPA).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.formats.regular import PathLike
from condal.formats.text import Text, quote, read_text
from condal.formats.writing import write_text
from condal.points import Array

_SLACK, _MATRIX = 1, 2  # the numbers that begin an entry of a solution
_NUMBERS = re.compile(rb"[{},()\s]+")


@dataclass(frozen=True, eq=False)
class SdpaSolution:
    """z, and X block by block: n x n, or the diagonal of a diagonal block."""

    z: Array
    X: tuple[Array, ...]


def write_solution(path: PathLike, z: Array, slack: Sequence[Any], X: Sequence[Any]) -> None:
    """Write z, and the entries of the slack sum_i z_i F_i - F_0 and of X, in CSDP's manner."""
    write_text(path, (f"{line}\n" for line in solution_lines(z, slack, X)))


def solution_lines(z: Array, slack: Sequence[Any], X: Sequence[Any]) -> Iterator[str]:
    """The lines of a solution in CSDP's manner: zeros are not written, and of matrices, sparse or
    not, the upper triangle is; a block that is a vector is a diagonal."""
    yield " ".join(map(repr, np.asarray(z, dtype=float).tolist()))
    for number, blocks in ((_SLACK, slack), (_MATRIX, X)):
        for place, block in enumerate(blocks, 1):
            if np.ndim(block) == 1 and not sp.issparse(block):
                i = j = np.flatnonzero(block)
                values = np.asarray(block)[i]
            else:
                upper = sp.coo_array(sp.triu(block))
                order = np.lexsort((upper.col, upper.row))
                i, j, values = upper.row[order], upper.col[order], upper.data[order]
            entries = zip((i + 1).tolist(), (j + 1).tolist(), values.tolist(), strict=True)
            yield from (f"{number} {place} {i} {j} {v!r}" for i, j, v in entries if v)


def read_solution(path: PathLike, sizes: Sequence[int]) -> SdpaSolution:
    """z and X of a file that CSDP or DSDP wrote for a problem of blocks of these sizes."""
    text = read_text(path)
    first, after = next(text.lines())
    z = _numbers(text, first, "the dual, on the first line,")
    X = tuple(np.zeros((n, n) if n > 0 else -n) for n in sizes)
    rest = text.data[after:]
    if not rest.strip():
        return SdpaSolution(z, X)
    try:
        table = np.loadtxt(io.BytesIO(rest), ndmin=2)
    except ValueError as error:
        raise text.error(
            f"its entries cannot be read ({error}); wanted lines 'matrix block i j value'"
        ) from error
    if table.shape[1] != 5:
        raise text.error(f"entries have {table.shape[1]} columns; wanted 'matrix block i j value'")
    for number, block in enumerate(X, 1):
        mine = table[(table[:, 0] == _MATRIX) & (table[:, 1] == number)]
        i, j = mine[:, 2].astype(int) - 1, mine[:, 3].astype(int) - 1
        if mine.size and (min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= len(block)):
            raise text.error(f"block {number} has entries beyond its size, {len(block)}")
        if block.ndim == 1:
            block[i] = mine[:, 4]
        else:
            block[i, j] = block[j, i] = mine[:, 4]
    return SdpaSolution(z, X)


def read_result(path: PathLike, sizes: Sequence[int]) -> SdpaSolution:
    """z and X of a file that SDPA wrote, its `xVec` and `yMat`."""
    text = read_text(path)
    z = _numbers(text, _section(text, b"xVec", b"xMat"), "xVec")
    flat = _numbers(text, _section(text, b"yMat", b"main loop time"), "yMat")
    lengths = [n * n if n > 0 else -n for n in sizes]
    if flat.size != sum(lengths):
        raise text.error(f"yMat holds {flat.size} numbers; wanted {sum(lengths)}, all its blocks")
    pieces = np.split(flat, np.cumsum(lengths)[:-1])
    X = (p.reshape(n, n) if n > 0 else p for p, n in zip(pieces, sizes, strict=True))
    return SdpaSolution(z, tuple(X))


def _section(text: Text, begin: bytes, end: bytes) -> bytes:
    """What stands after `begin =`, up to `end` or the end of the file."""
    start = text.data.rfind(begin)
    if start < 0:
        raise text.error(f"has no {begin.decode()}; wanted the result of a solve by SDPA")
    stop = text.data.find(end, start)
    return text.data[start : stop if stop >= 0 else None].partition(b"=")[2]


def _numbers(text: Text, piece: bytes, name: str) -> Array:
    words = _NUMBERS.sub(b" ", piece).split()
    try:
        found = np.array(words, dtype="S").astype(np.float64) if words else np.zeros(0)
    except ValueError as error:
        raise text.error(f"{name} must be numbers; got {quote(piece)} ({error})") from error
    if found.size == 0 or not np.isfinite(found).all():
        raise text.error(f"{name} must be finite numbers; got {quote(piece)}")
    return found
