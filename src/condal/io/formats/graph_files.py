"""Graph files: recognise the format and read the adjacency matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from condal.io.formats.edge_list import (
    is_edge_list,
    parse_edge_list,
)
from condal.io.formats.matrix_market import (
    is_matrix_market,
    parse_matrix_market,
)
from condal.io.formats.rudy import parse_rudy
from condal.io.formats.sparse_arrays import is_saved_array, read_sparse_array
from condal.io.formats.text import read_text, suffixes_of
from condal.io.safe_files import PathLike


def read_graph(path: PathLike) -> sparse.csr_array:
    """W = W^T, n x n, of a graph file: Matrix Market (a banner, or .mtx), Rutherford-Boeing (.rb),
    METIS (.graph, .metis), an edge list (.edges, .edgelist, .el, .csv, .tsv, or a first line with
    #), a matrix of SciPy (.npz) or NumPy (.npy); any other is read as rudy.

    Both triangles are stored; a self-loop stands once on the diagonal.
    """
    return read_labelled_graph(path)[0]


def read_labelled_graph(path: PathLike) -> tuple[sparse.csr_array, Any]:
    """W as `read_graph` gives it, and the labels of its vertices: those of an edge list, else 1 to
    n."""
    if is_saved_array(path):
        return _numbered(read_sparse_array(path))
    text = read_text(path)
    suffixes = suffixes_of(text.path)
    if ".dat-s" in suffixes:
        raise text.error("holds a semidefinite program, and no graph; condal solve takes it as sdp")
    if is_matrix_market(text):
        return _numbered(parse_matrix_market(text))
    if ".rb" in suffixes:
        from condal.io.formats.rutherford_boeing import parse_rutherford_boeing

        return _numbered(parse_rutherford_boeing(text))
    if ".graph" in suffixes or ".metis" in suffixes:
        from condal.io.formats.metis import parse_metis

        return _numbered(parse_metis(text))
    if is_edge_list(text):
        found = parse_edge_list(text)
        return found.W, found.labels
    return _numbered(parse_rudy(text))


def _numbered(W: sparse.csr_array) -> tuple[sparse.csr_array, Any]:
    return W, np.arange(1, W.shape[0] + 1)
