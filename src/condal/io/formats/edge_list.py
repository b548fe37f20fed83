"""Edge lists: a line `u v` or `u v w` per edge, as SNAP, NetworkX and spreadsheets write them.

Blanks, tabs, commas or semicolons separate the columns. Lines that begin with # or % are comments,
and the first line may name the columns. u and v are labels, whole numbers from 0. The vertices are
the labels that occur, in rising order, so a vertex without an edge does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import FormatError, ProblemError
from condal.io.formats.adjacency import from_edges, upper_triangle
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.table import Table, read_table
from condal.io.formats.text import Source, Text, quote, read_text, suffixes_of
from condal.io.formats.writing import triples, write_text
from condal.io.safe_files import PathLike

MAX_SPARSITY = 4  # the largest label per end up to which a table of all labels is used

_PERCENT = re.compile(rb"^[ \t]*%", re.MULTILINE)
_FIELD = re.compile(rb"[^\s,;]+")


@dataclass(frozen=True, eq=False)
class EdgeList:
    """A graph whose vertices have labels.

    Parameters
    ----------
    W : csr_array
        The adjacency matrix :math:`W = W^T`.
    labels : ndarray of int
        The labels of its rows in the file, in rising order.
    """

    W: sparse.csr_array = field(repr=False)
    labels: npt.NDArray[np.int64] = field(repr=False)


def read_edge_list(path: Source) -> EdgeList:
    """Read a graph from an edge list.

    A missing weight is 1, and a self-loop is stored once. An edge that is repeated, from either
    end, counts once; a repetition with another weight is refused.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.

    Returns
    -------
    EdgeList
        The adjacency matrix and the labels of the vertices.
    """
    text = read_text(path)
    with explain_errors(text):
        table = read_table(unify_comments(text))
    require_columns(table)
    ends = np.stack([edge_ends(table, k) for k in (0, 1)])
    w = edge_weights(table)
    table = replace(table, values=table.values[:0].copy())  # only its lines are needed from here on
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
    is_first = first == np.arange(i.size)
    if (differing := np.flatnonzero(w != w[first])).size:
        k = int(differing[0])
        raise two_weights_error(
            text, (table.line(int(first[k])), w[first[k]]), (table.line(k), w[k])
        )
    i, j, w = i[is_first], j[is_first], w[is_first]
    return EdgeList(from_edges(text, labels.size, i, j, w), labels)


def _numbered(ends: Any) -> tuple[Any, Any]:
    """Return the labels that occur, in rising order, and the place of each end among them."""
    if ends.max(initial=0) >= MAX_SPARSITY * ends.size:
        labels, places = np.unique(ends, return_inverse=True)
        return labels, places.reshape(ends.shape)
    occurs = np.zeros(int(ends.max(initial=0)) + 1, dtype=bool)  # faster than sorting
    occurs[ends] = True
    labels = np.flatnonzero(occurs)
    place = np.zeros(occurs.size, dtype=np.int32 if labels.size < 2**31 else np.int64)
    place[labels] = np.arange(labels.size)
    return labels, place[ends]


def unify_comments(text: Text) -> Text:
    """Replace each % that begins a comment by #, as tables have it."""
    return replace(text, data=_PERCENT.sub(b"#", text.data))


def require_columns(table: Table) -> None:
    """Refuse a table that is not a list of edges, by its first row."""
    width = table.values.shape[1]
    if width not in (2, 3):
        raise table.text.error(
            f"has {width} columns; wanted two or three: the two ends of an edge, and its weight",
            table.line(0),
        )


def edge_ends(table: Table, k: int) -> npt.NDArray[np.int64]:
    """Return the labels of the first (k = 0) or second (k = 1) ends of the edges."""
    return table.whole(k, "the label of a vertex", least=0)


def edge_weights(table: Table) -> npt.NDArray[np.float64]:
    """Return the weights of the edges, which are 1 if there is no such column."""
    rows, width = table.values.shape
    return table.values[:, 2].copy() if width == 3 else np.ones(rows)


def write_edge_list(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write a graph as an edge list with vertices labelled from 1; `read_edge_list` reads it back.

    A vertex without an edge cannot be written.

    Parameters
    ----------
    path : str or os.PathLike
        The file, packed if its name ends in .gz or .xz. Columns are separated by commas in a .csv
        file, by tabs in a .tsv file, and else by blanks.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`.
    """
    upper = upper_triangle(W)
    lonely = np.setdiff1d(np.arange(upper.shape[0]), np.concatenate([upper.row, upper.col]))
    if lonely.size:
        raise ProblemError(
            f"vertex {lonely[0] + 1} has no edge, so an edge list cannot hold it; use write_rudy "
            "or write_metis, or leave the vertex out"
        )
    suffixes = suffixes_of(path)
    separator = "," if ".csv" in suffixes else "\t" if ".tsv" in suffixes else " "
    write_text(path, _lines(upper, separator))


def _lines(upper: sparse.coo_array, separator: str) -> Iterator[str]:
    yield f"# {upper.shape[0]} vertices, {upper.nnz} edges: two ends and a weight\n"
    yield from triples(upper.row + 1, upper.col + 1, upper.data, separator)


def first_of_each(keys: Any) -> Any:
    """Return, for each key, the place of the first key that is equal to it."""
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first[back]


def two_weights_error(
    text: Text, first: tuple[int, float], second: tuple[int, float]
) -> FormatError:
    """Return the error of an edge that is repeated with another weight, given lines and weights."""
    return text.error(
        f"the edge was given on line {first[0]} with weight {first[1]:g}, and here with "
        f"{second[1]:g}; an edge has one weight: keep one line of the two, or add the weights up",
        second[0],
    )


@contextmanager
def explain_errors(text: Text) -> Iterator[None]:
    """Re-raise the error of a table, with advice for names as vertices and for NetworkX data."""
    try:
        yield
    except FormatError as error:
        content = b"" if error.line is None else text.line(error.line)
        fields = _FIELD.findall(content)[:4]
        if len(fields) > 2 and fields[2].startswith(b"{"):
            raise text.error(
                f"got {quote(content)}, an edge with data as networkx.write_edgelist writes them; "
                "use networkx.write_weighted_edgelist, or pass data=False",
                error.line,
            ) from error
        if len(fields) in (2, 3) and not all(map(DECIMAL.fullmatch, fields[:2])):
            raise text.error(
                f"the vertices must be whole numbers, got {quote(content)}; number them, or pass "
                "names to condal.problems by networkx.from_pandas_edgelist(pandas.read_csv(FILE), "
                "edge_attr=True)",
                error.line,
            ) from error
        raise
