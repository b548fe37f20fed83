"""Answers of other solvers to problems in the SDPA format: z, and X block by block.

CSDP and DSDP write z on a line and then entries; SDPA writes `xVec` and `yMat`; SDPLR writes its
factors. A .npz archive holds the answer of any other program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import FormatError
from condal.io.formats import numerals
from condal.io.formats.arrays import read_arrays
from condal.io.formats.entries import weight_fault
from condal.io.formats.sdpa_parser import parse_entries
from condal.io.formats.signatures import is_npz
from condal.io.formats.text import Text, quote, read_text
from condal.io.safe_files import PathLike, naming
from condal.linalg.points import Array, LowRank

HEAD_BYTES = 1 << 16
POINT, FACTOR, DUALS = "x", ("U", "weights"), ("y", "z")
_BLOCK = re.compile(r"X([1-9][0-9]{0,5})?")
DUAL = [b"dual", b"variable"]  # how a file of SDPLR begins
_SLACK, _MATRIX = 1, 2  # the first number of an entry of a solution
_SEPARATORS = bytes.maketrans(b"{},()\v\f", b"       ")


@dataclass(frozen=True, eq=False)
class GivenAnswer:
    """What a file holds: the point, as one array or block by block, and the dual.

    `writer` says who writes such files.
    """

    writer: str
    x: Any = None
    X: tuple[Any, ...] | None = None
    y: Any = None


def read_answer(path: PathLike, sizes: Sequence[int]) -> GivenAnswer:
    """Read the answer to an SDPA program: a file of CSDP, DSDP, SDPA or SDPLR, or a .npz archive.

    The contents tell which. `sizes` are the sizes of the program's blocks.
    """
    if is_npz(path):
        return read_pair(path)
    head = read_text(path, wanted="the solution of an SDPA program").data[:HEAD_BYTES]
    if head.split()[:2] == DUAL:
        name, solution = "SDPLR", read_factors(path, sizes)
    elif b"SDPA" in head or b"xVec" in head:
        name, solution = "SDPA", read_result(path, sizes)
    else:
        name, solution = "CSDP or DSDP", read_solution(path, sizes)
    # A solver that writes no entry of X has kept it to itself.
    has_point = any(isinstance(X, LowRank) or X.any() for X in solution.X)
    return GivenAnswer(name, X=solution.X if has_point else None, y=solution.z)


def read_pair(path: PathLike) -> GivenAnswer:
    """Read a .npz archive of a point and a dual.

    The dual is `y` (or `z`). The point is `x`, or `U` with `weights` for U diag(weights) U', or
    blocks `X` (a single one) or `X1`, `X2`, ...
    """
    with naming(path):
        return _pair(read_arrays(path))


def _pair(arrays: dict[str, Any]) -> GivenAnswer:
    for name in arrays:
        if name not in (POINT, *FACTOR, *DUALS) and not _BLOCK.fullmatch(name):
            raise FormatError(
                f"holds {name[:40]!a}; wanted y, and x, or U and weights, or X, or X1, X2, ..."
            )
    duals = [arrays[name] for name in DUALS if name in arrays]
    if len(duals) > 1:
        raise FormatError("holds y and z, of which one is the dual: leave one out")
    blocks = sorted((int(name[1:] or 1), name) for name in arrays if name.startswith("X"))
    if [number for number, _ in blocks] != list(range(1, 1 + len(blocks))):
        raise FormatError("has blocks that are not X1, X2, ... in order")
    x = arrays.get(POINT)
    if "U" in arrays:
        U, weights = arrays["U"], arrays.get("weights")
        if U.ndim != 2 or weights is None or weights.shape != U.shape[1:]:
            raise FormatError("needs weights, a number for each column of U")
        x = LowRank(U.astype(float), weights.astype(float))
    if (x is not None) and blocks:
        raise FormatError("holds the point twice: give x, or U and weights, or X")
    X = tuple(arrays[name] for _, name in blocks) or None
    return GivenAnswer(".npz", x, X, duals[0] if duals else None)


@dataclass(frozen=True, eq=False)
class SdpaSolution:
    """z, and the blocks of X: n x n or a factor of that, or the diagonal of a diagonal block."""

    z: Array
    X: tuple[Any, ...]


def solution_lines(z: Array, slack: Sequence[Any], X: Sequence[Any]) -> Iterator[str]:
    """Yield the lines of z, the slack sum_i z_i F_i - F_0 and X in CSDP's format.

    Of a matrix, sparse or dense, the nonzeros of the upper triangle are written. A vector stands
    for a diagonal block.
    """
    yield " ".join(map(repr, np.asarray(z, dtype=float).tolist()))
    for number, blocks in ((_SLACK, slack), (_MATRIX, X)):
        for place, block in enumerate(blocks, 1):
            if np.ndim(block) == 1 and not sp.issparse(block):
                i = j = np.flatnonzero(block)
                values = np.asarray(block)[i]
            else:
                upper = sp.coo_array(sp.triu(sp.coo_array(block)))
                order = np.lexsort((upper.col, upper.row))
                i, j, values = upper.row[order], upper.col[order], upper.data[order]
            entries = zip((i + 1).tolist(), (j + 1).tolist(), values.tolist(), strict=True)
            yield from (f"{number} {place} {i} {j} {v!r}" for i, j, v in entries if v)


def read_solution(path: PathLike, sizes: Sequence[int]) -> SdpaSolution:
    """Read z and X from a file that CSDP or DSDP wrote for a problem with blocks of these sizes."""
    text = read_text(path)
    first, after = next(text.lines())
    z = _numbers(text, first, "the dual, on the first line,")
    X = tuple(np.zeros((n, n) if n > 0 else -n) for n in sizes)
    columns = parse_entries(text.data[after:])
    if columns is None:
        text.refuse_first(after, _entry_fault)
    matrices, blocks, rows, cols, values = columns
    for number, block in enumerate(X, 1):
        entries = np.flatnonzero((matrices == _MATRIX) & (blocks == number))
        i, j = rows[entries] - 1, cols[entries] - 1
        if entries.size and (min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= len(block)):
            raise text.error(f"block {number} has entries beyond its size, {len(block)}")
        if block.ndim == 1 and (i != j).any():
            raise text.error(f"block {number} is diagonal, but has entries off the diagonal")
        place = (i,) if block.ndim == 1 else (np.minimum(i, j), np.maximum(i, j))
        block[place] = values[entries]
        if (block[place] != values[entries]).any():
            raise text.error(f"block {number} has an entry twice, with two values")
        block[place[::-1]] = block[place]
    return SdpaSolution(z, X)


def _entry_fault(line: bytes) -> str | None:
    words = numerals.WORD.findall(line)
    whole = all(map(numerals.is_count, words[:4]))
    if not words or (len(words) == 5 and whole and weight_fault(words[4]) is None):
        return None
    return f"wanted 'matrix block i j value', 5 finite numbers, 4 of them whole; got {quote(line)}"


def read_result(path: PathLike, sizes: Sequence[int]) -> SdpaSolution:
    """Read z and X from a file that SDPA wrote: its `xVec` and `yMat`."""
    text = read_text(path)
    z = _numbers(text, _section(text, b"xVec", b"xMat"), "xVec")
    flat = _numbers(text, _section(text, b"yMat", b"main loop time"), "yMat")
    lengths = [n * n if n > 0 else -n for n in sizes]
    if flat.size != sum(lengths):
        raise text.error(f"yMat holds {flat.size} numbers; wanted {sum(lengths)}, all its blocks")
    pieces = np.split(flat, np.cumsum(lengths)[:-1])
    X = (p.reshape(n, n) if n > 0 else p for p, n in zip(pieces, sizes, strict=True))
    return SdpaSolution(z, tuple(X))


def read_factors(path: PathLike, sizes: Sequence[int], rows: int | None = None) -> SdpaSolution:
    """Read z and X = R R', block by block, from a file that SDPLR wrote.

    SDPLR minimises <-F_0, X>, and its dual variables are -z. `rows` is the length of z, if known.
    """
    text = read_text(path)
    head, after = next(text.lines())
    words = head.split()
    if words[:2] != DUAL or len(words) != 3 or not numerals.is_count(words[2]):
        raise text.error("does not begin with 'dual variable' and its length, as SDPLR's files do")
    count = int(words[2])
    if rows is not None and count != rows:
        raise text.error(f"is not a solution of this problem of {rows} rows: it has {count}")
    pieces = text.data[after:].split(b"special")[0].split(b"primal variable")
    z = -_numbers(text, pieces[0], "the dual variable")
    if z.size != count:
        raise text.error(f"the dual variable has {z.size} numbers; wanted {count}")
    if len(pieces) != 1 + len(sizes):
        raise text.error(f"holds {len(pieces) - 1} blocks; wanted {len(sizes)}")
    blocks = (_factor(text, *pair) for pair in zip(pieces[1:], sizes, strict=True))
    return SdpaSolution(z, tuple(blocks))


def _factor(text: Text, piece: bytes, size: int) -> Any:
    """Return a block from its line 'block type side maxrank rank' and its factor by columns."""
    head, _, entries = piece.partition(b"\n")
    words, kind = head.split(), b"s" if size > 0 else b"d"
    sides = [int(word) for word in words[2:] if numerals.is_count(word)]
    if words[1:2] != [kind] or len(sides) != 3 or sides[0] != abs(size):
        raise text.error(f"is not a solution of this problem: a block is {quote(head)}")
    R = _numbers(text, entries, "a factor")
    if R.size != abs(size) * sides[2]:
        raise text.error(f"a factor holds {R.size} numbers; wanted {abs(size)} x {sides[2]}")
    R = R.reshape(sides[2], abs(size)).T
    return LowRank(R.copy(), np.ones(sides[2])) if size > 0 else (R * R).sum(axis=1)


def _section(text: Text, begin: bytes, end: bytes) -> bytes:
    """Return what stands after `begin =`, up to `end` or the end of the file."""
    start = text.data.rfind(begin)
    if start < 0:
        raise text.error(f"has no {begin.decode()}; wanted the result of a solve by SDPA")
    stop = text.data.find(end, start)
    return text.data[start : stop if stop >= 0 else None].partition(b"=")[2]


def _numbers(text: Text, piece: bytes, name: str) -> Array:
    plain = piece.translate(_SEPARATORS)
    numbers = numerals.parse_all(plain)
    if numbers is None or numbers.size == 0:
        bad = next((word for word in plain.split() if weight_fault(word) is not None), piece)
        raise text.error(f"{name} must be finite numbers; got {quote(bad)}")
    return numbers
