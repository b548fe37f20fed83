"""The rudy (Gset) format: a line `n m`, then m lines `i j [w]`, vertices from 1."""

from __future__ import annotations

from itertools import chain

import numpy.typing as npt
from scipy import sparse

from condal.io.formats.adjacency import Edges, EntryStream, graph_of
from condal.io.formats.entries import Layout, check_claims, read_count, read_entries
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.pieces import TextPieces
from condal.io.formats.text import Source, quote
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
    return graph_of(rudy_entries(TextPieces.of_whole(path)))[0]


def rudy_entries(pieces: TextPieces) -> EntryStream:
    """Return the entries of a rudy file."""
    header = pieces.header(comment=None)
    text, tokens = header.text, header.content.split(None, 2)
    if len(tokens) != 2:
        edge = len(tokens) == 3 and all(DECIMAL.fullmatch(token.strip()) for token in tokens)
        raise text.error(
            "the first line must be 'n m', the numbers of vertices and edges, got "
            f"{quote(header.content)}; if this is another format, convert it to rudy or Matrix "
            "Market" + _HINT * edge,
            1,
        )
    n = read_count(text, tokens[0], 1, "vertices", hint=_HINT)
    m = read_count(text, tokens[1], 1, "edges", hint=_HINT)
    layout = Layout(n, m, "edges", (2, 3), hint=_HINT)
    check_claims(pieces, layout, header)
    return EntryStream(n, Edges(pieces.name), read_entries(pieces, layout, header))


def write_rudy(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write a graph in the rudy format; `read_rudy` gives it back exactly.

    Parameters
    ----------
    path : str or os.PathLike
        The file, packed if its name ends in .gz or .xz. It appears whole or not at all.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`. Zeros are not written.
    """
    # Imported here, as most solves read and do not write.
    from condal.io.formats.writing import triples, upper_triangle, write_text

    upper = upper_triangle(W)
    header = f"{upper.shape[0]} {upper.nnz}\n"
    write_text(path, chain([header], triples(upper.row + 1, upper.col + 1, upper.data)))
