"""The Matrix Market coordinate format, read as the adjacency matrix of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.io.formats.adjacency import check_symmetric, from_edges, sum_entries, upper_triangle
from condal.io.formats.coordinate import Entries, read_entries
from condal.io.formats.faults import line_of_entry
from condal.io.formats.header import Layout, read_count
from condal.io.formats.text import Text, quote, read_text, suffixes_of
from condal.io.formats.writing import triples, write_text
from condal.io.safe_files import PathLike

BANNER = b"%%matrixmarket"

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
    "skew-symmetric": "a 'skew-symmetric' matrix is no undirected graph; save its absolute values"
    " as symmetric",
}


def read_matrix_market(path: PathLike) -> sparse.csr_array:
    """W = W^T; a pattern has weights 1, duplicates are summed.

    A symmetric file holds one triangle, lower or upper; a general one must be symmetric to 1e-12
    of each entry, and then its upper triangle is taken for both.
    """
    return parse_matrix_market(read_text(path))


def write_matrix_market(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write W = W^T, its lower triangle, so that `read_matrix_market` gives it back exactly; packed
    if named .gz or .xz. The file appears whole or not at all."""
    write_text(path, _lines(upper_triangle(W)))


def _lines(upper: sparse.coo_array) -> Iterator[str]:
    n = upper.shape[0]
    yield f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {upper.nnz}\n"
    yield from triples(upper.col + 1, upper.row + 1, upper.data)


def is_matrix_market(text: Text) -> bool:
    """Whether a file is to be read as one: by its banner, or by its name, packed or not."""
    return text.data[: len(BANNER)].lower() == BANNER or ".mtx" in suffixes_of(text.path)


def parse_matrix_market(text: Text) -> sparse.csr_array:
    """`read_matrix_market` for a file already read."""
    symmetry, rows, columns, start, line, layout = _layout(text)
    require_square(text, rows, columns, line)
    entries = read_entries(text, layout, start, line + 1)
    if symmetry == "general":
        return check_symmetric(text, sum_entries(text, rows, *entries))
    require_one_triangle(text, entries, first_side(entries), start, line + 1)
    return from_edges(text, rows, *entries)


def require_square(text: Text, rows: int, columns: int, line: int) -> None:
    """Refuse a matrix of another shape than that of a graph."""
    if rows != columns:
        raise text.error(
            f"the matrix is {rows} x {columns}; a graph needs a square adjacency matrix", line
        )


def parse_rectangle(text: Text) -> tuple[tuple[int, int], Entries]:
    """(m, n), and the entries of an m x n matrix: 0-based rows and columns, and values."""
    symmetry, rows, columns, start, line, layout = _layout(text)
    if symmetry != "general":
        raise text.error("wanted some entries of any matrix: write 'general' in the banner", 1)
    i, j, w = read_entries(text, layout, start, line + 1)
    for what, places, count in (("row", i, rows), ("column", j, columns)):
        if places.size and places.max() >= count:
            k = int(np.argmax(places >= count))
            raise text.error(
                f"got {what} {places[k] + 1}, but the header says {count} {what}s",
                line_of_entry(text, start, line + 1, k),
            )
    return (rows, columns), (i, j, w)


def _layout(text: Text) -> tuple[str, int, int, int, int, Layout]:
    """The symmetry, the rows and columns, where the entries start, the line before, and what it
    promises."""
    field, symmetry = banner(text)
    return symmetry, *sizes(text, field)


def sizes(text: Text, field: str) -> tuple[int, int, int, int, Layout]:
    """What the size line says, in a file of that field: as `_layout` gives it."""
    found = text.header()
    if found is None:
        raise text.error(
            "the file ends before the size line 'rows columns entries'; it is truncated",
            text.line_at(len(text.data) - 1),
        )
    size, start, line = found
    tokens = size.split(None, 3)
    if len(tokens) != 3:
        raise text.error(
            f"the size line must be 'rows columns entries', got {quote(size)};"
            " if this is a comment, start it with %",
            line,
        )
    rows = read_count(text, tokens[0], line, "rows")
    columns = read_count(text, tokens[1], line, "columns")
    layout = Layout(
        n=max(rows, columns),
        m=read_count(text, tokens[2], line, "entries"),
        noun="entries",
        columns=(2,) if field == "pattern" else (3,),
        integer=field == "integer",
    )
    return rows, columns, start, line, layout


def banner(text: Text) -> tuple[str, str]:
    """The field and the symmetry that the first line names."""
    first, _ = next(text.lines())
    words = first[:1000].decode("utf-8", "replace").lower().split()
    if not words or words[0] != BANNER.decode():
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
    """1 if the first entry that is off the diagonal is below it, -1 if above, 0 without one."""
    side = np.sign(entries[0] - entries[1])
    return int(side[np.argmax(side != 0)]) if side.size else 0


def require_one_triangle(text: Text, entries: Entries, first: int, start: int, line: int) -> None:
    """Refuse the first entry on another side than the first of the file."""
    # The standard asks for the lower one; many files in circulation hold the upper one. Both
    # together leave open whether a mirrored pair is one edge or two.
    i, j, _ = entries
    side = np.sign(i - j)
    if (bad := np.flatnonzero(side == -first)).size and first:
        k = int(bad[0])
        here, before = ("lower", "upper") if side[k] > 0 else ("upper", "lower")
        raise text.error(
            f"entry ({i[k] + 1}, {j[k] + 1}) is in the {here} triangle, those before it in the"
            f" {before}; a symmetric file holds one triangle: move the entry, or write 'general'"
            " in the banner and both triangles",
            line_of_entry(text, start, line, k),
        )
