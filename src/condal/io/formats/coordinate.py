"""Lists of entries with a header, read as the adjacency matrix of a graph.

The rudy (Gset) format has a line `n m`, then m lines `i j [w]`, vertices from 1. The coordinate
format of Matrix Market has a banner, comments, and a line of sizes before them.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.io.formats.adjacency import BOTH_TRIANGLES, Edges, EntryStream, Matrix, graph_of, joined
from condal.io.formats.entries import (
    Entries,
    Header,
    Layout,
    TextPieces,
    check_claims,
    read_count,
    read_entries,
)
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.signatures import MATRIX_MARKET
from condal.io.formats.text import Source, Text, quote
from condal.io.safe_files import PathLike

# For a list of edges without a header.
_HINT = "; is the first line 'n m' missing? A file of edges alone must be named .edges or .csv"


def read_rudy(path: Source) -> sparse.csr_array:
    """Read a graph in the rudy format.

    A missing weight is 1, parallel edges are summed, and a self-loop is stored once.

    The file and the result are as in `read_graph`.
    """
    return graph_of(rudy_entries(TextPieces.of_whole(path)))[0]


def rudy_entries(pieces: TextPieces) -> EntryStream:
    """Return the entries of a rudy file."""
    header = pieces.header(comment=None)
    tokens = header.content.split(None, 2)
    if len(tokens) != 2:
        edge = len(tokens) == 3 and all(DECIMAL.fullmatch(token.strip()) for token in tokens)
        raise header.error(
            "the first line must be 'n m', the numbers of vertices and edges, got "
            f"{quote(header.content)}; if this is another format, convert it to rudy or Matrix "
            "Market" + _HINT * edge
        )
    n = read_count(header.error, tokens[0], "vertices", hint=_HINT)
    m = read_count(header.error, tokens[1], "edges", hint=_HINT)
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


_WANTED = "'%%MatrixMarket matrix coordinate real|integer|pattern symmetric|general'"
_FIELDS = ("real", "integer", "pattern")
_SYMMETRIES = ("symmetric", "general")
_REFUSED = {
    "array": "the dense 'array' format is not read; save the matrix in coordinate format, with"
    " scipy.io.mmwrite(path, scipy.sparse.coo_array(A))",
    "complex": "a 'complex' matrix is not read; a graph has real weights: save its real part or"
    " its absolute values",
    "hermitian": "a 'hermitian' matrix is not read; a graph has real weights: save it as real"
    " symmetric",
    "skew-symmetric": "a 'skew-symmetric' matrix is not an undirected graph; save its absolute"
    " values as symmetric",
}


def read_matrix_market(path: Source) -> sparse.csr_array:
    """Read a graph from a Matrix Market coordinate file.

    A pattern has weights 1, and duplicates are summed. A symmetric file holds one triangle, lower
    or upper. A general file must be symmetric to 1e-12 of each entry; its upper triangle counts.

    The file and the result are as in `read_graph`.
    """
    return graph_of(matrix_market_entries(TextPieces.of_whole(path)))[0]


def matrix_market_entries(pieces: TextPieces) -> EntryStream:
    """Return the entries of the matrix of a graph."""
    field, symmetry = _banner(pieces)
    header, rows, columns, layout = _sizes(pieces, field)
    if rows != columns:
        raise header.error(
            f"the matrix is {rows} x {columns}; a graph needs a square adjacency matrix"
        )
    check_claims(pieces, layout, header)
    if symmetry == "general":
        rule: Edges = Matrix(pieces.name, BOTH_TRIANGLES)
        return EntryStream(rows, rule, read_entries(pieces, layout, header))
    entries = read_entries(pieces, layout, header, _OneTriangle().check)
    return EntryStream(rows, Edges(pieces.name), entries)


def read_rectangle(text: Text) -> tuple[tuple[int, int], Entries]:
    """Return (m, n) and the entries of an m x n matrix: 0-based rows and columns, and values."""
    pieces = TextPieces.of_whole(text)
    field, symmetry = _banner(pieces)
    header, m, n, layout = _sizes(pieces, field)
    if symmetry != "general":
        raise text.error("wanted some entries of any matrix: write 'general' in the banner", 1)
    check_claims(pieces, layout, header)

    def check(text: Text, begin: int, entries: Entries) -> None:
        for noun, places, count in (("row", entries[0], m), ("column", entries[1], n)):
            if places.max(initial=0) >= count:
                k = int(np.argmax(places >= count))
                raise text.error(
                    f"got {noun} {places[k] + 1}, but the header says {count} {noun}s",
                    text.line_of_row(begin, k),
                )

    i, j, w = joined(read_entries(pieces, layout, header, check))
    return (m, n), (i, j, w)


def write_matrix_market(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write the lower triangle of a graph's matrix; `read_matrix_market` gives it back exactly.

    The file and the matrix are as in `write_rudy`.
    """
    from condal.io.formats.writing import triples, upper_triangle, write_text

    upper = upper_triangle(W)
    n = upper.shape[0]
    header = f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {upper.nnz}\n"
    write_text(path, chain([header], triples(upper.col + 1, upper.row + 1, upper.data)))


def _sizes(pieces: TextPieces, field: str) -> tuple[Header, int, int, Layout]:
    """Return the size line of a file of that field, the rows and columns, and the whole claim."""
    header = pieces.header()
    tokens = header.content.split(None, 3)
    if not tokens:
        raise header.error(
            "the file ends before the size line 'rows columns entries'; it is truncated"
        )
    if len(tokens) != 3:
        raise header.error(
            f"the size line must be 'rows columns entries', got {quote(header.content)};"
            " if this is a comment, start it with %"
        )
    pairs = zip(tokens, ("rows", "columns", "entries"), strict=True)
    rows, columns, m = (read_count(header.error, token, noun) for token, noun in pairs)
    width = 2 if field == "pattern" else 3
    layout = Layout(max(rows, columns), m, "entries", (width,), integer=field == "integer")
    return header, rows, columns, layout


def _banner(pieces: TextPieces) -> tuple[str, str]:
    """Return the field and the symmetry that the first line names."""
    text, first = next(iter(pieces)), pieces.header(comment=None).content
    words = first[:1000].decode("utf-8", "replace").lower().split()
    if not words or words[0] != MATRIX_MARKET.decode():
        raise text.error(f"the first line must be {_WANTED}, got {quote(first)}", 1)
    for word in words[1:]:
        if word in _REFUSED:
            raise text.error(_REFUSED[word], 1)
    if (
        len(words) != 5
        or words[1:3] != ["matrix", "coordinate"]
        or words[3] not in _FIELDS
        or words[4] not in _SYMMETRIES
    ):
        raise text.error(f"the banner must be {_WANTED}, got {quote(first)}", 1)
    return words[3], words[4]


class _OneTriangle:
    """The check that all entries are on one side of the diagonal.

    The standard asks for the lower triangle; many files in circulation hold the upper one. With
    both it would be unclear whether a mirrored pair is one edge or two.
    """

    first = (
        0  # 1 if the first entry off the diagonal is below it, -1 if above, 0 before there is one
    )

    def check(self, text: Text, begin: int, entries: Entries) -> None:
        """Refuse the first entry on another side than the first of the file."""
        i, j, _ = entries
        side = np.sign(i - j)
        if not self.first and side.size:
            self.first = int(side[np.argmax(side != 0)])
        if self.first and (bad := np.flatnonzero(side == -self.first)).size:
            k = int(bad[0])
            its, other = ("lower", "upper") if side[k] > 0 else ("upper", "lower")
            raise text.error(
                f"entry ({i[k] + 1}, {j[k] + 1}) is in the {its} triangle, those before it in the"
                f" {other}; a symmetric file holds one triangle: move the entry, or write 'general'"
                " in the banner and both triangles",
                text.line_of_row(begin, k),
            )
