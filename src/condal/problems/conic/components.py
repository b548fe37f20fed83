"""What a psd block falls into: rows and columns that nothing in the program joins.

Where no entry between two sets of rows is read, 0 may stand there: x is psd if its two diagonal
blocks are. A row that is joined to no other is a number u >= 0, and one that is not read at all
may be 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from condal.linalg.points import Indices

WORTH = 0.5  # of n^3: blocks that cost more together are kept as one


@dataclass(frozen=True, eq=False)
class Pieces:
    """Sets of rows that are psd blocks of their own, and single rows that are numbers."""

    matrices: tuple[Indices, ...]
    numbers: Indices


def pieces(n: int, places: Indices, slack: Indices) -> Pieces:
    """Those of an n x n block of which the entries at these (flat) places are read.

    The rows of `slack` are worth being numbers, if they are joined to no other. All else is parted
    if the parts are much cheaper than the whole.
    """
    rows, cols = places // n, places % n
    off = rows != cols
    joined = np.zeros(n, dtype=bool)
    joined[rows[off]] = True
    loose = slack[~joined[slack]]
    kept = np.setdiff1d(rows, loose)
    if not kept.size:  # a block needs a row, and numbers none
        return Pieces((), loose)
    graph = sp.coo_array((np.ones(rows.size), (rows, cols)), (n, n))
    count, label = connected_components(sp.csr_matrix(graph), directed=False)
    sizes = np.bincount(label[kept], minlength=count)
    if float((sizes.astype(float) ** 3).sum()) > WORTH * float(kept.size) ** 3:
        return Pieces((kept,), loose)
    groups = [kept[label[kept] == k] for k in np.flatnonzero(sizes > 1)]
    single = kept[sizes[label[kept]] == 1]
    return Pieces(tuple(groups), np.sort(np.concatenate([loose, single])))
