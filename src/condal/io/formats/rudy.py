"""The rudy (Gset) format: a line `n m`, then m lines `i j [w]`, vertices from 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy.typing as npt
from scipy import sparse

from condal.io.formats.adjacency import from_edges, upper_triangle
from condal.io.formats.coordinate import read_entries
from condal.io.formats.header import Layout, read_count
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.text import Source, Text, quote, read_text
from condal.io.safe_files import PathLike

# For a list of edges without a header.
_HINT = "; is the first line 'n m' missing? A file of edges alone must be named .edges or .csv"


def read_rudy(path: Source) -> sparse.csr_array:
    """Read a graph in the rudy format.

    A missing weight is 1, parallel edges are summed, and a self-loop is stored once.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.

    Returns
    -------
    csr_array
        The adjacency matrix :math:`W = W^T`.
    """
    text = read_text(path)
    layout, start = read_header(text)
    return from_edges(text, layout.n, *read_entries(text, layout, start))


def read_header(text: Text) -> tuple[Layout, int]:
    """Return the claim of the first line, and the offset of the second."""
    header, start = next(text.lines())
    tokens = header.split(None, 2)
    if len(tokens) != 2:
        edge = len(tokens) == 3 and all(DECIMAL.fullmatch(token.strip()) for token in tokens)
        raise text.error(
            f"the first line must be 'n m', the numbers of vertices and edges, got {quote(header)};"
            " if this is another format, convert it to rudy or Matrix Market" + _HINT * edge,
            1,
        )
    n = read_count(text, tokens[0], 1, "vertices", hint=_HINT)
    m = read_count(text, tokens[1], 1, "edges", hint=_HINT)
    return Layout(n, m, "edges", (2, 3), hint=_HINT), start


def write_rudy(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write a graph in the rudy format; `read_rudy` gives it back exactly.

    Parameters
    ----------
    path : str or os.PathLike
        The file, packed if its name ends in .gz or .xz. It appears whole or not at all.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`. Zeros are not written.
    """
    from condal.io.formats.writing import write_text

    write_text(path, _lines(upper_triangle(W)))


def _lines(upper: sparse.coo_array) -> Iterator[str]:
    from condal.io.formats.writing import triples

    yield f"{upper.shape[0]} {upper.nnz}\n"
    yield from triples(upper.row + 1, upper.col + 1, upper.data)
