"""The Matrix Market coordinate format, read as the adjacency matrix of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.io.formats.adjacency import check_symmetric, from_edges, sum_entries, upper_triangle
from condal.io.formats.coordinate import Entries, read_entries
from condal.io.formats.header import Layout, read_count
from condal.io.formats.signatures import MATRIX_MARKET
from condal.io.formats.text import Source, Text, quote, read_text
from condal.io.safe_files import PathLike

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
    field, symmetry = read_banner(text)
    sizes = read_sizes(text, field)
    require_square(text, sizes)
    entries = read_entries(text, sizes.layout, sizes.start)
    if symmetry == "general":
        return check_symmetric(text, sum_entries(text, sizes.rows, *entries))
    require_one_triangle(text, entries, first_side(entries), sizes.start)
    return from_edges(text, sizes.rows, *entries)


def write_matrix_market(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write the lower triangle of a graph's matrix; `read_matrix_market` gives it back exactly.

    Parameters
    ----------
    path : str or os.PathLike
        The file, packed if its name ends in .gz or .xz. It appears whole or not at all.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`.
    """
    from condal.io.formats.writing import write_text

    write_text(path, _lines(upper_triangle(W)))


def _lines(upper: sparse.coo_array) -> Iterator[str]:
    from condal.io.formats.writing import triples

    n = upper.shape[0]
    yield f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {upper.nnz}\n"
    yield from triples(upper.col + 1, upper.row + 1, upper.data)


def parse_rectangle(text: Text) -> tuple[tuple[int, int], Entries]:
    """Return (m, n) and the entries of an m x n matrix: 0-based rows and columns, and values."""
    field, symmetry = read_banner(text)
    sizes = read_sizes(text, field)
    if symmetry != "general":
        raise text.error("wanted some entries of any matrix: write 'general' in the banner", 1)
    i, j, w = read_entries(text, sizes.layout, sizes.start)
    for noun, places, count in (("row", i, sizes.rows), ("column", j, sizes.columns)):
        if places.size and places.max() >= count:
            k = int(np.argmax(places >= count))
            raise text.error(
                f"got {noun} {places[k] + 1}, but the header says {count} {noun}s",
                text.line_of_row(sizes.start, k),
            )
    return (sizes.rows, sizes.columns), (i, j, w)


class Sizes(NamedTuple):
    """The claim of the size line, its number, and the offset of the entries after it."""

    rows: int
    columns: int
    start: int
    line: int
    layout: Layout


def read_sizes(text: Text, field: str) -> Sizes:
    """Read the size line of a file of that field."""
    header = text.header()
    if header is None:
        raise text.error(
            "the file ends before the size line 'rows columns entries'; it is truncated",
            text.last_line,
        )
    content, start, line = header
    tokens = content.split(None, 3)
    if len(tokens) != 3:
        raise text.error(
            f"the size line must be 'rows columns entries', got {quote(content)};"
            " if this is a comment, start it with %",
            line,
        )
    nouns = ("rows", "columns", "entries")
    rows, columns, m = map(lambda token, noun: read_count(text, token, line, noun), tokens, nouns)
    width, n = (2 if field == "pattern" else 3), max(rows, columns)
    layout = Layout(n, m, "entries", (width,), integer=field == "integer")
    return Sizes(rows, columns, start, line, layout)


def require_square(text: Text, sizes: Sizes) -> None:
    """Refuse a matrix that is not square."""
    if sizes.rows != sizes.columns:
        raise text.error(
            f"the matrix is {sizes.rows} x {sizes.columns}; a graph needs a square adjacency "
            "matrix",
            sizes.line,
        )


def read_banner(text: Text) -> tuple[str, str]:
    """Return the field and the symmetry that the first line names."""
    first, _ = next(text.lines())
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


def first_side(entries: Entries) -> int:
    """Return 1 if the first off-diagonal entry is below the diagonal, -1 if above, 0 if none."""
    side = np.sign(entries[0] - entries[1])
    return int(side[np.argmax(side != 0)]) if side.size else 0


def require_one_triangle(text: Text, entries: Entries, first: int, start: int) -> None:
    """Refuse the first entry on another side than the first of the file."""
    # The standard asks for the lower triangle; many files in circulation hold the upper one. With
    # both it would be unclear whether a mirrored pair is one edge or two.
    i, j, _ = entries
    side = np.sign(i - j)
    if (bad := np.flatnonzero(side == -first)).size and first:
        k = int(bad[0])
        its, other = ("lower", "upper") if side[k] > 0 else ("upper", "lower")
        raise text.error(
            f"entry ({i[k] + 1}, {j[k] + 1}) is in the {its} triangle, those before it in the"
            f" {other}; a symmetric file holds one triangle: move the entry, or write 'general'"
            " in the banner and both triangles",
            text.line_of_row(start, k),
        )
