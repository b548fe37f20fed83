"""Graph files as adjacency matrices: strict readers, one format a file."""

from __future__ import annotations

from pathlib import Path

from scipy import sparse

from condal.formats.matrix_market import BANNER, parse_matrix_market, read_matrix_market
from condal.formats.rudy import parse_rudy, read_rudy, write_rudy
from condal.formats.rutherford_boeing import parse_rutherford_boeing, read_rutherford_boeing
from condal.formats.text import PathLike, read_text

__all__ = ["read_graph", "read_matrix_market", "read_rudy", "read_rutherford_boeing", "write_rudy"]


def read_graph(path: PathLike) -> sparse.csr_array:
    """W = W^T, n x n, of a Matrix Market (banner or .mtx), Rutherford-Boeing (.rb) or rudy file.

    Both triangles are stored; a self-loop stands once on the diagonal.
    """
    text = read_text(path)
    suffixes = [suffix.lower() for suffix in Path(text.path).suffixes]
    if text.data[: len(BANNER)].lower() == BANNER or ".mtx" in suffixes[-2:]:
        return parse_matrix_market(text)
    if ".rb" in suffixes[-2:]:
        return parse_rutherford_boeing(text)
    return parse_rudy(text)
