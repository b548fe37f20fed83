"""Conic programs in files.

The sparse SDPA format minimises b'z subject to sum_i z_i F_i - F_0 psd, block diagonal. Condal
solves its dual: maximise <F_0, X> subject to <F_i, X> = b_i, X psd. SeDuMi's files are MATLAB's.
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

from condal.errors import FormatError, ProblemError
from condal.io.formats.sdpa_parser import parse_sdpa
from condal.io.formats.sedumi import read_cones
from condal.io.formats.text import read_text
from condal.io.formats.writing import LINES_PER_PIECE, write_text
from condal.io.safe_files import PathLike
from condal.linalg.points import Array
from condal.problems.conic.program import Block, Program
from condal.runtime.arguments import finite_array


@dataclass(frozen=True, eq=False)
class SdpaProblem:
    """A semidefinite program in the sparse SDPA format.

    Entry k is values[k] at (rows[k], cols[k]) of block blocks[k] of :math:`F_{matrices[k]}`, and at
    its mirror image. Blocks, rows and columns are counted from 0, and rows <= cols.

    Parameters
    ----------
    b : ndarray
        The right-hand side.
    sizes : tuple of int
        The sizes of the blocks, negative for a diagonal block.
    matrices, blocks, rows, cols : ndarray of int
        The places of the entries.
    values : ndarray
        The entries.
    name : str
        The name of the problem.
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
        lengths = {len(column) for column in self._columns}
        if len(lengths) != 1:
            raise ProblemError(
                f"the entries have {sorted(lengths)} matrices, blocks, rows, columns and values: "
                "give the same number of each"
            )
        if not self.sizes or 0 in self.sizes:
            raise ProblemError(f"every block must have a size; got {self.sizes}")
        matrices, blocks, rows, cols = map(np.asarray, self._columns[:4])
        finite_array(self.b, "b", ndim=1)
        finite_array(self.values, "values", ndim=1)
        if np.any(rows > cols):
            raise ProblemError("an entry lies below the diagonal: give only the upper triangle")
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
        """The program: maximise <F_0, X> subject to <F_i, X> = b_i, with one cone per block."""
        cones = tuple(Block("psd", n) if n > 0 else Block("orthant", -n) for n in self.sizes)
        begins = np.cumsum([0, *(cone.length for cone in cones)], dtype=np.int64)
        places = (np.asarray(column, dtype=np.int64) for column in self._columns[:4])
        matrices, blocks, rows, cols = places
        sizes = np.asarray(self.sizes)[blocks]
        step = np.where(sizes > 0, sizes, 0)
        upper, lower = (begins[blocks] + i * step + j for i, j in ((rows, cols), (cols, rows)))
        off = rows != cols
        where = np.concatenate([matrices, matrices[off]]), np.concatenate([upper, lower[off]])
        values = np.concatenate([self.values, np.asarray(self.values)[off]])
        F = sp.csr_array((values, where), shape=(len(self.b) + 1, int(begins[-1])))
        F.eliminate_zeros()
        return Program(F[[0]], F[1:], self.b, cones, maximise=True, name=self.name)


def read_sdpa(path: PathLike) -> SdpaProblem:
    """Read a semidefinite program in the sparse SDPA format.

    Lines that begin with " or * are comments; they stand before the numbers of matrices and blocks.
    Commas, braces and parentheses may separate the sizes and b. A remark may follow a number of the
    header on its line. An entry of the lower triangle is mirrored; a repeated entry is refused.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.

    Returns
    -------
    SdpaProblem
        The problem, named after the file.
    """
    b, sizes, columns = parse_sdpa(read_text(path, wanted="a problem in the SDPA format"))
    name = Path(os.fsdecode(path)).name.split(".")[0] or SdpaProblem.name
    return SdpaProblem(b, sizes, *columns, name=name)


def read_sedumi(path: PathLike) -> Program:
    """Read a conic program from a SeDuMi file; only numbers are read from it.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.

    Returns
    -------
    Program
        The conic program.
    """
    c, A, b, cones, name = read_cones(path)
    try:
        return Program(c, A, b, tuple(Block(*cone) for cone in cones), name=name)
    except ProblemError as error:
        raise FormatError(str(error), path=os.fsdecode(path)) from error


def write_sdpa(path: PathLike, problem: SdpaProblem) -> None:
    """Write a semidefinite program in the sparse SDPA format.

    Parameters
    ----------
    path : str or os.PathLike
        The file, packed if its name ends in .gz or .xz. It appears whole or not at all.
    problem : SdpaProblem
        The problem.
    """
    write_text(path, _lines(problem))


def _lines(problem: SdpaProblem) -> Iterator[str]:
    """Yield the text in pieces of bounded size."""
    yield f"{problem.b.size}\n{len(problem.sizes)}\n{' '.join(map(str, problem.sizes))}\n"
    yield " ".join(map(repr, np.asarray(problem.b, dtype=float).tolist())) + "\n"
    matrices, *places, values = map(np.asarray, problem._columns)
    columns = [matrices, *(place + 1 for place in places), values.astype(float)]
    for begin in range(0, len(values), LINES_PER_PIECE):
        piece = (column[begin : begin + LINES_PER_PIECE].tolist() for column in columns)
        entries = zip(*piece, strict=True)
        yield "".join(f"{k} {block} {i} {j} {v!r}\n" for k, block, i, j, v in entries)
