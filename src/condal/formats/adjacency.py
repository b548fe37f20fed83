"""W = W^T from the entries of a file, exactly symmetric, with zeros not stored."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from condal.formats.coordinate import Floats, Indices
from condal.formats.text import Text

# Two decimal spellings of one number, or two orders of one sum, may differ by this much.
ASYMMETRY = 1e-12


def sum_entries(text: Text, n: int, i: Indices, j: Indices, w: Floats) -> sparse.csr_array:
    """The n x n matrix with w added at (i, j), in canonical form; sums must be finite."""
    W = sparse.csr_array((w, (i, j)), shape=(n, n))
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        at = np.flatnonzero(~np.isfinite(W.data))[0]
        row = np.searchsorted(W.indptr, at, side="right")
        raise text.error(
            f"the weights given for ({row}, {W.indices[at] + 1}) add up to infinity;"
            " scale all weights down"
        )
    W.eliminate_zeros()
    return W


def from_edges(text: Text, n: int, i: Indices, j: Indices, w: Floats) -> sparse.csr_array:
    """Each edge {i, j} in both triangles, a self-loop once; parallel edges are summed."""
    # Summed in one triangle first: the two could round differently.
    return mirror(sum_entries(text, n, np.minimum(i, j), np.maximum(i, j), w))


def mirror(upper: sparse.csr_array) -> sparse.csr_array:
    """U + U^T with the diagonal once, for an upper triangular U."""
    strict = sparse.triu(upper, 1, format="csr")
    W = sparse.csr_array(upper + strict.T.tocsr())
    W.sort_indices()
    return W


def check_symmetric(text: Text, W: sparse.csr_array) -> sparse.csr_array:
    """W made exactly symmetric, refused if it is not so to 1e-12 of each entry."""
    T = W.T.tocsr()
    excess = sparse.coo_array(abs(W - T) - ASYMMETRY * abs(W).maximum(abs(T)))
    bad = np.flatnonzero(excess.data > 0)
    if bad.size:
        i, j = int(excess.row[bad[0]]), int(excess.col[bad[0]])
        raise text.error(
            f"entry ({i + 1}, {j + 1}) is {W[i, j]:g} but ({j + 1}, {i + 1}) is {W[j, i]:g};"
            " a graph needs a symmetric matrix: store A + A^T, or write 'symmetric' in the"
            " banner and one triangle"
        )
    return mirror(sparse.triu(W, format="csr"))
