"""The sparse SDPA format: minimise b'z with sum_i z_i F_i - F_0 psd, block diagonal.

Its dual is: maximise <F_0, X> with <F_i, X> = b_i, X psd, which is what is solved here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.io.formats.sdpa_reading import parse_sdpa
from condal.io.formats.text import read_text
from condal.io.formats.writing import LINES_PER_PIECE, write_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array
from condal.problems.conic.program import Block, Program
from condal.runtime.arguments import finite_array


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
    name: str = "SDPA problem"

    def __post_init__(self) -> None:
        lengths = {len(part) for part in self._columns}
        if len(lengths) != 1:
            raise ProblemError(
                f"the entries have {sorted(lengths)} matrices, blocks, rows, columns and values: "
                "give as many of each"
            )
        if not self.sizes or 0 in self.sizes:
            raise ProblemError(f"every block must have a size; got {self.sizes}")
        matrices, blocks, rows, cols = (np.asarray(part) for part in self._columns[:4])
        finite_array(self.b, "b", ndim=1)
        finite_array(self.values, "values", ndim=1)
        if np.any(rows > cols):
            raise ProblemError("an entry lies below the diagonal: give the upper triangle alone")
        for name, places, count in (
            ("matrices", matrices, len(self.b) + 1),
            ("blocks", blocks, len(self.sizes)),
        ):
            if places.size and (places.min() < 0 or places.max() >= count):
                raise ProblemError(f"{name} must lie in 0..{count - 1}; got {places.max()}")
        sizes = np.asarray(self.sizes)[blocks.astype(np.intp)]
        if np.any(rows < 0) or np.any(cols >= abs(sizes)):
            raise ProblemError("an entry lies beyond the size of its block: check rows and cols")
        if np.any((sizes < 0) & (rows != cols)):
            raise ProblemError("an entry of a diagonal block lies off its diagonal: remove it")

    @property
    def _columns(self) -> tuple[Any, ...]:
        return (self.matrices, self.blocks, self.rows, self.cols, self.values)

    @cached_property
    def program(self) -> Program:
        """maximise <F_0, X> subject to <F_i, X> = b_i, X psd: a psd cone or an orthant a block."""
        cones = tuple(Block("psd", n) if n > 0 else Block("orthant", -n) for n in self.sizes)
        begins = np.cumsum([0, *(cone.length for cone in cones)], dtype=np.int64)
        matrices, blocks, rows, cols = (
            np.asarray(part, dtype=np.int64) for part in self._columns[:4]
        )
        sizes = np.asarray(self.sizes)[blocks]
        step = np.where(sizes > 0, sizes, 0)
        upper, lower = (begins[blocks] + i * step + j for i, j in ((rows, cols), (cols, rows)))
        off = rows != cols
        places = np.concatenate([upper, lower[off]])
        which = np.concatenate([matrices, matrices[off]])
        values = np.concatenate([self.values, np.asarray(self.values)[off]])
        kept = values != 0
        whole = sp.csr_array(
            (values[kept], (which[kept], places[kept])), shape=(len(self.b) + 1, int(begins[-1]))
        )
        return Program(whole[[0]], whole[1:], self.b, cones, maximise=True, name=self.name)


def read_sdpa(path: PathLike) -> SdpaProblem:
    """The problem of a file, plain, gzip or xz.

    Comments (lines that begin with " or *) may stand before the numbers of matrices and blocks; the
    sizes and b may be set off by commas, braces and parentheses; a remark may follow a number of
    the header on its line. An entry of the lower triangle is mirrored; one given twice is refused.
    """
    b, sizes, columns = parse_sdpa(read_text(path, wanted="a problem in the SDPA format"))
    name = Path(os.fsdecode(path)).name.split(".")[0] or SdpaProblem.name
    return SdpaProblem(b, sizes, *columns, name=name)


def write_sdpa(path: PathLike, problem: SdpaProblem) -> None:
    """Write the problem; packed if named .gz or .xz. The file appears whole or not at all."""
    write_text(path, _lines(problem))


def _lines(problem: SdpaProblem) -> Iterator[str]:
    """The text in pieces of bounded size."""
    yield f"{problem.b.size}\n{len(problem.sizes)}\n{' '.join(map(str, problem.sizes))}\n"
    yield " ".join(map(repr, np.asarray(problem.b, dtype=float).tolist())) + "\n"
    shifts = (0, 1, 1, 1)
    whole = [
        np.asarray(part) + shift for part, shift in zip(problem._columns[:4], shifts, strict=True)
    ]
    for begin in range(0, len(problem.values), LINES_PER_PIECE):
        piece = slice(begin, begin + LINES_PER_PIECE)
        columns = [part[piece].tolist() for part in whole]
        values = np.asarray(problem.values[piece], dtype=float).tolist()
        entries = zip(*columns, values, strict=True)
        yield "".join(f"{k} {block} {i} {j} {v!r}\n" for k, block, i, j, v in entries)
