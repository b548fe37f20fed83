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
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import FormatError, ProblemError
from condal.io.formats.adjacency import EntryStream, SingleEdges, graph_of
from condal.io.formats.entries import TextPieces
from condal.io.formats.numerals import DECIMAL
from condal.io.formats.table import Table, tables
from condal.io.formats.text import Source, Text, quote, suffixes_of
from condal.io.formats.writing import triples, upper_triangle, write_text
from condal.io.safe_files import PathLike

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
    return EdgeList(*graph_of(edge_list_entries(TextPieces.of_whole(path))))


def edge_list_entries(pieces: TextPieces) -> EntryStream:
    """Return the entries of an edge list, between labels."""

    def two_weights(first: tuple[int, float], second: tuple[int, float]) -> FormatError:
        lines = [_line_of(pieces, row) for row, _ in (first, second)]
        return pieces.name.error(
            f"the edge was given on line {lines[0]} with weight {first[1]:g}, and here with "
            f"{second[1]:g}; an edge has one weight: keep one line of the two, or add the weights "
            "up",
            lines[1],
        )

    return EntryStream(None, SingleEdges(pieces.name, two_weights), _entries(pieces))


def _tables(pieces: TextPieces) -> Iterator[Table]:
    """Yield the table of each piece, in which every comment begins with #."""
    unified = (
        replace(text, data=_PERCENT.sub(b"#", text.data)) if b"%" in text.data else text
        for text in pieces
    )
    return tables(unified, _explained)


def _entries(pieces: TextPieces) -> Iterator[tuple[Any, Any, Any]]:
    for table in _tables(pieces):
        values, width = table.values, table.values.shape[1]
        if width not in (2, 3):
            raise table.text.error(
                f"has {width} columns; wanted two or three: the two ends of an edge, and its "
                "weight",
                table.line(0),
            )
        i, j = (table.whole(k, "the label of a vertex", least=0) for k in (0, 1))
        yield i, j, values[:, 2].copy() if width == 3 else np.ones(len(values))


def _line_of(pieces: TextPieces, row: int) -> int:
    """Return the line of a row of the whole table."""
    for table in _tables(pieces):
        if row < len(table.values):
            return table.line(row)
        row -= len(table.values)
    raise AssertionError("the file has changed")


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
    header = f"# {upper.shape[0]} vertices, {upper.nnz} edges: two ends and a weight\n"
    rows = triples(upper.row + 1, upper.col + 1, upper.data, separator)
    write_text(path, chain([header], rows))


@contextmanager
def _explained(text: Text) -> Iterator[None]:
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
