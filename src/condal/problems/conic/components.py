"""Split a psd block into rows and columns that nothing in the program connects.

If no entry between two sets of rows is used, these entries may be 0: x is psd if its two diagonal
blocks are. A row connected to no other is a number u >= 0, and an unused row may be 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Indices

MAX_SPLIT_COST = 0.5  # as a fraction of n^3; costlier splits keep one block

MAX_HUB_SIDE = 100  # of blocks in which a row that is connected to all others is looked for


@dataclass(frozen=True, eq=False)
class Pieces:
    """Sets of rows that are separate psd blocks, and single rows that are numbers."""

    matrices: tuple[Indices, ...]
    numbers: Indices


def pieces(n: int, places: Indices, slack: Indices) -> Pieces:
    """Return the pieces of an n x n block whose entries at these (flat) places are used.

    Rows in `slack` become numbers if they are connected to no other row. The other rows are split
    only if the pieces are much cheaper than the whole.
    """
    rows, cols = places // n, places % n
    off = rows != cols
    connected = np.zeros(n, dtype=bool)
    connected[rows[off]] = True
    numbers = slack[~connected[slack]]
    rest = np.setdiff1d(rows, numbers)
    if not rest.size:  # numbers only: no block is left
        return Pieces((), numbers)
    if _has_hub(rest, rows, cols):
        return Pieces((rest,), numbers)
    from scipy.sparse.csgraph import connected_components

    graph = sp.coo_array((np.ones(rows.size), (rows, cols)), (n, n))
    count, label = connected_components(sp.csr_matrix(graph), directed=False)
    sizes = np.bincount(label[rest], minlength=count)
    if float((sizes.astype(float) ** 3).sum()) > MAX_SPLIT_COST * float(rest.size) ** 3:
        return Pieces((rest,), numbers)
    groups = [rest[label[rest] == k] for k in np.flatnonzero(sizes > 1)]
    single = rest[sizes[label[rest]] == 1]
    return Pieces(tuple(groups), np.sort(np.concatenate([numbers, single])))


def _has_hub(rest: Indices, rows: Indices, cols: Indices) -> bool:
    """Return whether a row is connected to all others of a few, so that nothing splits them."""
    if rest.size > MAX_HUB_SIDE:
        return False
    joined = np.eye(int(rest[-1]) + 1, dtype=bool)
    inside = np.maximum(rows, cols) <= rest[-1]
    joined[rows[inside], cols[inside]] = True
    return bool(joined[np.ix_(rest, rest)].all(axis=1).any())
