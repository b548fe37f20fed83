"""Graph files as adjacency matrices, and other problems: strict readers, one format a file."""

from __future__ import annotations

from pathlib import Path

from scipy import sparse

from condal.formats.arrays import names_of_arrays, read_array, read_arrays
from condal.formats.matrix_market import (
    is_matrix_market,
    parse_matrix_market,
    read_matrix_market,
)
from condal.formats.points import read_points
from condal.formats.qaplib import read_qaplib, read_qaplib_solution
from condal.formats.ratings import Ratings, read_ratings
from condal.formats.regular import PathLike
from condal.formats.rudy import parse_rudy, read_rudy, write_rudy
from condal.formats.rutherford_boeing import parse_rutherford_boeing, read_rutherford_boeing
from condal.formats.table import read_table
from condal.formats.text import read_text

__all__ = [
    "Ratings",
    "names_of_arrays",
    "read_array",
    "read_arrays",
    "read_graph",
    "read_matrix_market",
    "read_points",
    "read_qaplib",
    "read_qaplib_solution",
    "read_ratings",
    "read_rudy",
    "read_rutherford_boeing",
    "read_table",
    "write_rudy",
]


def read_graph(path: PathLike) -> sparse.csr_array:
    """W = W^T, n x n, of a Matrix Market (banner or .mtx), Rutherford-Boeing (.rb) or rudy file.

    Both triangles are stored; a self-loop stands once on the diagonal.
    """
    text = read_text(path)
    if is_matrix_market(text):
        return parse_matrix_market(text)
    if ".rb" in [suffix.lower() for suffix in Path(text.path).suffixes[-2:]]:
        return parse_rutherford_boeing(text)
    return parse_rudy(text)
