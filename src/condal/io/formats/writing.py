"""Text files that are written completely or not at all."""

from __future__ import annotations

import errno
import gzip
import lzma
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import FormatError, ProblemError
from condal.io.container.atomic import replacing, write_errors
from condal.io.formats.numerals import spell
from condal.io.safe_files import PathLike
from condal.runtime.arguments import refuse_masked

LINES_PER_PIECE = 1 << 16


def write_text(path: PathLike, pieces: Iterable[str]) -> None:
    """Write a temporary file beside `path`, then rename it; packed if named .gz or .xz."""
    name = os.fsdecode(path)
    with write_errors(name):
        # Through a link to its file, as open() would; a bare rename would replace the link.
        target = Path(name).resolve()
        if target.is_symlink():  # Python 3.13 leaves a loop of links as it is
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            raise FormatError(
                "is not a regular file, so it is not overwritten; give another path", path=name
            )
        with replacing(target) as file:
            _pack(file, target.suffix.lower(), pieces)


def upper_triangle(matrix: sparse.csr_array | npt.ArrayLike) -> sparse.coo_array:
    """Return the upper triangle of W = W^T without zeros; ProblemError if W is not symmetric."""
    refuse_masked(matrix, "W")
    W: Any = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        raise ProblemError(f"W has shape {W.shape}; wanted an adjacency matrix, n x n with n >= 1")
    if W.dtype.kind not in "biuf":
        raise ProblemError(f"W has dtype {W.dtype}; wanted real numbers: use W.astype(float)")
    # A copy: summing duplicates would change the caller's matrix.
    W = sparse.csr_array(W, dtype=np.float64, copy=True)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise ProblemError("W holds nan or infinite weights; remove them or give them a value")
    if (W - W.T.tocsr()).nnz:
        raise ProblemError("W is not symmetric; give (W + W.T) / 2, or W + W.T for one triangle")
    W.eliminate_zeros()
    return sparse.coo_array(sparse.triu(W))


def triples(i: Any, j: Any, w: Any, separator: str = " ") -> Iterator[str]:
    """Yield lines `i j w` in pieces of bounded size."""
    for begin in range(0, len(w), LINES_PER_PIECE):
        columns = [column[begin : begin + LINES_PER_PIECE].tolist() for column in (i, j, w)]
        lines = zip(*columns[:2], map(spell, columns[2]), strict=True)
        yield "".join(f"{a}{separator}{b}{separator}{c}\n" for a, b, c in lines)


def _pack(file: IO[bytes], suffix: str, pieces: Iterable[str]) -> None:
    if suffix == ".gz":
        # No name and no time inside: the same graph makes the same bytes.
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            packed.writelines(piece.encode("ascii") for piece in pieces)
    elif suffix == ".xz":
        with lzma.LZMAFile(file, "wb") as packed:
            packed.writelines(piece.encode("ascii") for piece in pieces)
    else:
        file.writelines(piece.encode("ascii") for piece in pieces)
