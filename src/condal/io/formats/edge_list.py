"""Edge lists: a line `u v` or `u v w` for each edge, as SNAP, NetworkX and spreadsheets have them.

The columns are parted by blanks, tabs, commas or semicolons; lines that begin with # or % are
comments, and the first line may name the columns. u and v are labels, whole numbers from 0: the
vertices are those that occur, in rising order, so that a vertex without an edge is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import FormatError, ProblemError
from condal.io.formats.adjacency import from_edges, upper_triangle
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.table import Table, parse_table
from condal.io.formats.text import Text, quote, read_text, suffixes_of
from condal.io.formats.writing import triples, write_text
from condal.io.safe_files import PathLike

SUFFIXES = (".edges", ".edgelist", ".el", ".csv", ".tsv")

FULL = 4  # times as many labels as ends: more, and few of them occur

_PERCENT = re.compile(rb"^[ \t]*%", re.MULTILINE)
_FIELD = re.compile(rb"[^\s,;]+")


@dataclass(frozen=True, eq=False)
class EdgeList:
    """W = W^T, and the labels of its rows in the file, in rising order."""

    W: sparse.csr_array = field(repr=False)
    labels: npt.NDArray[np.int64] = field(repr=False)


def read_edge_list(path: PathLike) -> EdgeList:
    """The graph of the list. A missing w is 1; an edge may be given again, or from its other end,
    and is one edge: with another weight it is refused. A self-loop is once on the diagonal."""
    return parse_edge_list(read_text(path))


def is_edge_list(text: Text) -> bool:
    """Whether a file is to be read as one: by its name, packed or not, or as SNAP begins its own,
    with a #."""
    named = any(suffix in SUFFIXES for suffix in suffixes_of(text.path))
    return named or text.data.lstrip().startswith(b"#")


def parse_edge_list(text: Text) -> EdgeList:
    """`read_edge_list` for a file already read."""
    with explained(text):
        table = parse_table(commented(text))
    require_columns(table)
    ends = np.stack([ends_of(table, k) for k in (0, 1)])
    w = weights_of(table)
    table = replace(table, values=table.values[:0].copy())  # of which only the lines are of use now
    labels, places = _numbered(ends)
    del ends
    i, j = np.minimum(*places), np.maximum(*places)
    del places
    keys = i.astype(np.int64) * labels.size + j
    once = np.sort(keys)
    if (once[1:] != once[:-1]).all():
        del once, keys
        return EdgeList(from_edges(text, labels.size, i, j, w), labels)
    first = first_of_each(keys)
    kept = first == np.arange(i.size)
    if (other := np.flatnonzero(w != w[first])).size:
        k = int(other[0])
        raise two_weights(text, (table.line(int(first[k])), w[first[k]]), (table.line(k), w[k]))
    return EdgeList(from_edges(text, labels.size, i[kept], j[kept], w[kept]), labels)


def _numbered(ends: Any) -> tuple[Any, Any]:
    """The labels that occur, in rising order, and the place of each end among them."""
    if ends.max(initial=0) >= FULL * ends.size:
        labels, places = np.unique(ends, return_inverse=True)
        return labels, places.reshape(ends.shape)
    there = np.zeros(int(ends.max(initial=0)) + 1, dtype=bool)  # with no need to sort them
    there[ends] = True
    labels = np.flatnonzero(there)
    place = np.zeros(there.size, dtype=np.int32 if labels.size < 2**31 else np.int64)
    place[labels] = np.arange(labels.size)
    return labels, place[ends]


def commented(text: Text) -> Text:
    """With # for the % that begins a comment, as tables have it."""
    return replace(text, data=_PERCENT.sub(b"#", text.data))


def require_columns(table: Table) -> None:
    """Refuse a table that is no list of edges, by its first row."""
    width = table.values.shape[1]
    if width not in (2, 3):
        raise table.text.error(
            f"has {width} columns; wanted two or three: the two ends of an edge, and its weight",
            table.line(0),
        )


def ends_of(table: Table, k: int) -> npt.NDArray[np.int64]:
    """The labels of the first ends of the edges, or of the second."""
    return table.whole(k, "the label of a vertex", least=0)


def weights_of(table: Table) -> npt.NDArray[np.float64]:
    """The weights of the edges: 1 without such a column."""
    rows, width = table.values.shape
    return table.values[:, 2].copy() if width == 3 else np.ones(rows)


def write_edge_list(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write W = W^T, its vertices labelled from 1, a line `i j w` each edge: by commas in a .csv
    file, by tabs in a .tsv file, else by blanks; packed if named .gz or .xz.

    `read_edge_list` gives it back exactly. A vertex without an edge cannot be written.
    """
    upper = upper_triangle(W)
    lonely = np.setdiff1d(np.arange(upper.shape[0]), np.concatenate([upper.row, upper.col]))
    if lonely.size:
        raise ProblemError(
            f"vertex {lonely[0] + 1} has no edge, and an edge list cannot tell of it; use "
            "write_rudy or write_metis, or leave the vertex out"
        )
    suffixes = suffixes_of(path)
    between = "," if ".csv" in suffixes else "\t" if ".tsv" in suffixes else " "
    write_text(path, _lines(upper, between))


def _lines(upper: sparse.coo_array, between: str) -> Iterator[str]:
    yield f"# {upper.shape[0]} vertices, {upper.nnz} edges: two ends and a weight\n"
    yield from triples(upper.row + 1, upper.col + 1, upper.data, between)


def first_of_each(keys: Any) -> Any:
    """For each key, the place of the first that is equal to it."""
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first[back]


def two_weights(text: Text, first: tuple[int, float], again: tuple[int, float]) -> FormatError:
    """The error of an edge that is given again, with another weight: the lines and the weights."""
    return text.error(
        f"the edge was given on line {first[0]} with weight {first[1]:g}, and here with "
        f"{again[1]:g}; an edge has one weight: keep one line of the two, or add the weights up",
        again[0],
    )


@contextmanager
def explained(text: Text) -> Iterator[None]:
    """Where tables are read: the error of a line, and more where it names vertices by words, or has
    data as NetworkX writes them."""
    try:
        yield
    except FormatError as error:
        _explain(text, error)


def _explain(text: Text, error: FormatError) -> NoReturn:
    if error.line is None:
        raise error
    content = text.line(error.line)
    fields = _FIELD.findall(content)[:4]
    if len(fields) > 2 and fields[2].startswith(b"{"):
        raise text.error(
            f"got {quote(content)}, an edge with data as networkx.write_edgelist writes them; use "
            "networkx.write_weighted_edgelist, or pass data=False",
            error.line,
        ) from error
    if len(fields) in (2, 3) and not all(map(DECIMAL.fullmatch, fields[:2])):
        raise text.error(
            f"the vertices must be whole numbers, got {quote(content)}; number them, or read the "
            "file with networkx.read_edgelist and pass the graph to condal.problems",
            error.line,
        ) from error
    raise error
