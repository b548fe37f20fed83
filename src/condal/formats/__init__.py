"""Graph files as adjacency matrices: strict readers, one format a file."""

from __future__ import annotations

from pathlib import Path

from scipy import sparse

from condal.formats.matrix_market import BANNER, parse_matrix_market, read_matrix_market
from condal.formats.rudy import parse_rudy, read_rudy, write_rudy
from condal.formats.text import PathLike, read_text

__all__ = ["read_graph", "read_matrix_market", "read_rudy", "write_rudy"]


def read_graph(path: PathLike) -> sparse.csr_array:
    """W = W^T, n x n, of a Matrix Market file (by banner or .mtx) or else a rudy file.

    Both triangles are stored; a self-loop stands once on the diagonal.
    """
    text = read_text(path)
    suffixes = [suffix.lower() for suffix in Path(text.path).suffixes]
    if text.data[: len(BANNER)].lower() == BANNER or ".mtx" in suffixes[-2:]:
        return parse_matrix_market(text)
    return parse_rudy(text)
