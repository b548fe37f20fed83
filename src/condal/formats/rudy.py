"""The rudy (Gset) format: a line `n m`, then m lines `i j [w]`, vertices from 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.formats.adjacency import from_edges
from condal.formats.coordinate import read_entries
from condal.formats.header import Layout, read_count
from condal.formats.numerals import DECIMAL
from condal.formats.regular import PathLike
from condal.formats.text import Text, quote, read_text
from condal.formats.writing import write_text

# Above this a float may stand for several integers, and repr is the shorter text.
_LARGEST_INTEGER = 2**53
_LINES_PER_PIECE = 1 << 16
# What a list of edges alone meets first.
_HINT = "; is the first line 'n m' missing?"


def read_rudy(path: PathLike) -> sparse.csr_array:
    """W = W^T; a missing w is 1, parallel edges are summed, a self-loop is once on the diagonal."""
    return parse_rudy(read_text(path))


def parse_rudy(text: Text) -> sparse.csr_array:
    """`read_rudy` for a file already read."""
    header, start = next(text.lines())
    tokens = header.split(None, 2)
    if len(tokens) != 2:
        edge = len(tokens) == 3 and all(DECIMAL.fullmatch(token.strip()) for token in tokens)
        raise text.error(
            f"the first line must be 'n m', the numbers of vertices and edges, got {quote(header)};"
            " if this is another format, convert it to rudy or Matrix Market" + _HINT * edge,
            1,
        )
    n = read_count(text, tokens[0], 1, "vertices")
    m = read_count(text, tokens[1], 1, "edges")
    i, j, w = read_entries(text, Layout(n, m, "edges", (2, 3), hint=_HINT), start, 2)
    return from_edges(text, n, i, j, w)


def write_rudy(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write W = W^T so that `read_rudy` gives it back exactly; packed if named .gz or .xz.

    The file appears whole or not at all. Entries that are zero are not written.
    """
    write_text(path, _lines(_upper_triangle(W)))


def _upper_triangle(given: sparse.csr_array | npt.ArrayLike) -> sparse.coo_array:
    W: Any = given if sparse.issparse(given) else np.asarray(given)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        raise ProblemError(f"W has shape {W.shape}; wanted an adjacency matrix, n x n with n >= 1")
    if W.dtype.kind not in "biuf":
        raise ProblemError(f"W has dtype {W.dtype}; wanted real numbers: use W.astype(float)")
    # A copy: to sum duplicates would change the caller's matrix.
    W = sparse.csr_array(W, dtype=np.float64, copy=True)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise ProblemError("W holds nan or infinite weights; remove them or give them a value")
    if (W - W.T.tocsr()).nnz:
        raise ProblemError("W is not symmetric; give (W + W.T) / 2, or W + W.T for one triangle")
    W.eliminate_zeros()
    return sparse.coo_array(sparse.triu(W))


def _lines(upper: sparse.coo_array) -> Iterator[str]:
    """The text in pieces of bounded size."""
    yield f"{upper.shape[0]} {upper.nnz}\n"
    for begin in range(0, upper.nnz, _LINES_PER_PIECE):
        piece = slice(begin, begin + _LINES_PER_PIECE)
        i, j, w = ((upper.row[piece] + 1), (upper.col[piece] + 1), upper.data[piece])
        triples = zip(i.tolist(), j.tolist(), map(_spell, w.tolist()), strict=True)
        yield "".join(f"{i} {j} {w}\n" for i, j, w in triples)


def _spell(w: float) -> str:
    return str(int(w)) if w.is_integer() and abs(w) <= _LARGEST_INTEGER else repr(w)
