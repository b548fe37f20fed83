"""The sparse SDPA format: minimise b'z with sum_i z_i F_i - F_0 psd, block diagonal.

Its dual is: maximise <F_0, X> with <F_i, X> = b_i, X psd. The solvers that read this format write
z and X in two manners: `z` on a line and then entries (CSDP, DSDP), or `xVec` and `yMat` (SDPA).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.formats.regular import PathLike
from condal.formats.text import Text, quote, read_text
from condal.formats.writing import write_text
from condal.points import Array

_LINES_PER_PIECE = 1 << 16
_MATRIX = 2  # of the numbers that begin an entry of a solution: 1 is the slack, 2 is X
_NUMBERS = re.compile(rb"[{},()\s]+")


@dataclass(frozen=True, eq=False)
class SdpaProblem:
    """b, the sizes of the blocks (negative for a diagonal one), and the entries of F_0, F_1, ...

    An entry k is values[k] at (rows[k], cols[k]) of the block blocks[k] of F_{matrices[k]}, and at
    its mirror image: blocks, rows and columns are counted from 0, and rows <= cols.
    """

    b: Array
    sizes: tuple[int, ...]
    matrices: Any = field(repr=False)
    blocks: Any = field(repr=False)
    rows: Any = field(repr=False)
    cols: Any = field(repr=False)
    values: Array = field(repr=False)

    def __post_init__(self) -> None:
        lengths = {len(part) for part in self._columns}
        if len(lengths) != 1:
            raise ProblemError(
                f"the entries have {sorted(lengths)} matrices, blocks, rows, columns and values: "
                "give as many of each"
            )
        if not self.sizes or 0 in self.sizes:
            raise ProblemError(f"every block must have a size; got {self.sizes}")
        if np.any(np.asarray(self.rows) > np.asarray(self.cols)):
            raise ProblemError("an entry lies below the diagonal: give the upper triangle alone")

    @property
    def _columns(self) -> tuple[Any, ...]:
        return (self.matrices, self.blocks, self.rows, self.cols, self.values)


@dataclass(frozen=True, eq=False)
class SdpaSolution:
    """z, and X block by block: n x n, or the diagonal of a diagonal block."""

    z: Array
    X: tuple[Array, ...]


def write_sdpa(path: PathLike, problem: SdpaProblem) -> None:
    """Write the problem; packed if named .gz or .xz. The file appears whole or not at all."""
    write_text(path, _lines(problem))


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


def _lines(problem: SdpaProblem) -> Iterator[str]:
    """The text in pieces of bounded size."""
    yield f"{problem.b.size}\n{len(problem.sizes)}\n{' '.join(map(str, problem.sizes))}\n"
    yield " ".join(map(repr, np.asarray(problem.b, dtype=float).tolist())) + "\n"
    shifts = (0, 1, 1, 1)
    whole = [
        np.asarray(part) + shift for part, shift in zip(problem._columns[:4], shifts, strict=True)
    ]
    for begin in range(0, len(problem.values), _LINES_PER_PIECE):
        piece = slice(begin, begin + _LINES_PER_PIECE)
        columns = [part[piece].tolist() for part in whole]
        values = np.asarray(problem.values[piece], dtype=float).tolist()
        entries = zip(*columns, values, strict=True)
        yield "".join(f"{k} {block} {i} {j} {v!r}\n" for k, block, i, j, v in entries)


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
