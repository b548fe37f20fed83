"""Graph files: recognise the format and read the adjacency matrix."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from condal.io.formats.adjacency import EntryStream, graph_of
from condal.io.formats.entries import TextPieces
from condal.io.formats.signatures import is_matrix_market, is_npy, is_npz, is_shard_folder
from condal.io.formats.text import Text, read_text, suffixes_of
from condal.io.safe_files import UNLIMITED, PathLike
from condal.runtime.extras import MPI, part

EDGE_LIST_SUFFIXES = (".edges", ".edgelist", ".el", ".csv", ".tsv")


def read_graph(path: PathLike) -> sparse.csr_array:
    """Read the adjacency matrix of a graph from a file of any known format.

    The formats are Matrix Market (a banner, or .mtx), METIS (.graph, .metis), edge lists (.edges,
    .edgelist, .el, .csv, .tsv, or a first line with #) and matrices that SciPy (.npz) or NumPy
    (.npy) saved. Any other file is read as rudy. A folder holds the shards that `condal convert`
    makes.

    Parameters
    ----------
    path : str or os.PathLike
        The file, or the folder of shards. Text may be packed with gzip or xz.

    Returns
    -------
    csr_array
        :math:`W = W^T`, n x n, with both triangles; a self-loop stands once on the diagonal.

    Raises
    ------
    FormatError
        If the file cannot be read; the message names the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> from condal.formats import read_graph, write_rudy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rudy(f"{folder}/edge.txt", [[0, 2], [2, 0]])
    ...     print(read_graph(f"{folder}/edge.txt").toarray())
    [[0. 2.]
     [2. 0.]]
    """
    return read_labelled_graph(path)[0]


def read_labelled_graph(path: PathLike) -> tuple[sparse.csr_array, Any]:
    """Read a graph like `read_graph`, and the labels of its vertices.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    W : csr_array
        The adjacency matrix.
    labels : ndarray
        The labels that an edge list has; 1 to n for every other format.
    """
    if is_shard_folder(path):
        what = f"{os.fsdecode(path)}, a folder of shards,"
        graph = part("parts", "shards", package=MPI, what=what).read_shards(path)
        return graph.W, graph.labels
    if is_npy(path) or is_npz(path):
        from condal.io.formats.sparse_arrays import read_sparse_array

        W, labels = read_sparse_array(path), None
    else:
        text = read_text(path)
        W, labels = graph_of(_entries_of(text_format(text))(TextPieces.of_whole(text)))
    return W, np.arange(1, W.shape[0] + 1) if labels is None else labels


def entries_of(path: PathLike, *, piece_bytes: int, count: int) -> EntryStream | None:
    """Return the entries of a graph file of any length, in pieces of the text or `count` at a time.

    None if its format is only read whole.
    """
    if is_shard_folder(path) or is_npy(path):
        return None
    if is_npz(path):
        from condal.io.formats.sparse_arrays import sparse_array_entries

        return sparse_array_entries(path, count=count, most=UNLIMITED)
    pieces = TextPieces.checked(os.fsdecode(path), piece_bytes)
    first = next(text for text in pieces if text.data.strip())
    return _entries_of(text_format(first))(pieces)


def _entries_of(kind: str) -> Callable[[TextPieces], EntryStream]:
    """Return the reader of a format of text; only its module is imported."""
    if kind == "edge list":
        from condal.io.formats.edge_list import edge_list_entries as entries
    elif kind == "metis":
        from condal.io.formats.metis import metis_entries as entries
    elif kind == "matrix market":
        from condal.io.formats.coordinate import matrix_market_entries as entries
    else:
        from condal.io.formats.coordinate import rudy_entries as entries
    return entries


def text_format(text: Text) -> str:
    """Return the format of a graph in text: by its first bytes or by the suffixes of the file."""
    suffixes = suffixes_of(text.path)
    if ".dat-s" in suffixes:
        raise text.error(
            "holds a semidefinite program, not a graph; condal solve takes it with --as sdp"
        )
    if is_matrix_market(text):
        return "matrix market"
    if ".graph" in suffixes or ".metis" in suffixes:
        return "metis"
    named = any(suffix in EDGE_LIST_SUFFIXES for suffix in suffixes)
    commented = text.data.lstrip().startswith(b"#")  # as SNAP's files are
    return "edge list" if named or commented else "rudy"
