"""Build :math:`W = W^T` from the entries of a file, exactly symmetric and without stored zeros."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.formats.coordinate import Indices as NarrowIndices
from condal.io.formats.numerals import Floats, Ints
from condal.io.formats.text import Text
from condal.runtime.arguments import refuse_masked

Indices: TypeAlias = NarrowIndices | Ints
Entries: TypeAlias = tuple[Ints, Ints, Floats]

# Two decimal spellings of one number, or two orders of one sum, may differ by this much.
MAX_ASYMMETRY = 1e-12
BOTH_TRIANGLES = "store A + A^T, or write 'symmetric' in the banner and one triangle"


def sum_entries(
    text: Text, n: int, i: Indices, j: Indices, w: Floats, *, rows: tuple[int, int] | None = None
) -> sparse.csr_array:
    """Return the n x n matrix with w added at (i, j), in canonical form; sums must be finite.

    With `rows` = (begin, end) return only these rows, to which all entries must belong.
    """
    begin, end = (0, n) if rows is None else rows
    dtype = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    places = (i - begin if begin else i).astype(dtype, copy=False), j.astype(dtype, copy=False)
    W = sparse.csr_array((w, places), shape=(end - begin, n))
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        at = np.flatnonzero(~np.isfinite(W.data))[0]
        row = begin + np.searchsorted(W.indptr, at, side="right")
        raise text.error(
            f"the weights given for ({row}, {W.indices[at] + 1}) add up to infinity;"
            " scale all weights down"
        )
    W.eliminate_zeros()
    return W


def from_edges(text: Text, n: int, i: Indices, j: Indices, w: Floats) -> sparse.csr_array:
    """Store each edge {i, j} in both triangles and a self-loop once; sum parallel edges."""
    # Summed in one triangle first: two triangles could round differently.
    return mirror(sum_entries(text, n, np.minimum(i, j), np.maximum(i, j), w))


def mirror(upper: sparse.csr_array) -> sparse.csr_array:
    """Return U + U^T with the diagonal once, for an upper triangular U."""
    strict = sparse.triu(upper, 1, format="csr")
    W = sparse.csr_array(upper + strict.T.tocsr())
    W.sort_indices()
    return W


def check_symmetric(
    text: Text, W: sparse.csr_array, *, hint: str = BOTH_TRIANGLES
) -> sparse.csr_array:
    """Return W made exactly symmetric; refuse a W that is not symmetric to 1e-12 of each entry."""
    T = W.T.tocsr()
    if same(W, T):
        return W
    require_symmetric(text, W, T, hint=hint)
    return mirror(sparse.triu(W, format="csr"))


def same(W: sparse.csr_array, T: sparse.csr_array) -> bool:
    """Whether two matrices in canonical form are bit-identical; this allocates nothing."""
    return all(np.array_equal(getattr(W, a), getattr(T, a)) for a in ("indptr", "indices", "data"))


def require_symmetric(
    text: Text, W: sparse.csr_array, T: sparse.csr_array, *, hint: str, begin: int = 0
) -> None:
    """Refuse rows of a matrix that differ from those of its transpose by over 1e-12 of an entry.

    `begin` is the number of the first row.
    """
    excess = sparse.coo_array(abs(W - T) - MAX_ASYMMETRY * abs(W).maximum(abs(T)))
    bad = np.flatnonzero(excess.data > 0)
    if bad.size:
        i, j = int(excess.row[bad[0]]), int(excess.col[bad[0]])
        raise text.error(
            f"entry ({begin + i + 1}, {j + 1}) is {W[i, j]:g} but ({j + 1}, {begin + i + 1}) is "
            f"{T[i, j]:g}; a graph needs a symmetric matrix: {hint}"
        )


def upper_triangle(matrix: sparse.csr_array | npt.ArrayLike) -> sparse.coo_array:
    """Return the upper triangle of W = W^T without zeros; ProblemError if W is not symmetric."""
    refuse_masked(matrix, "W")
    W: Any = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        raise ProblemError(f"W has shape {W.shape}; wanted an adjacency matrix, n x n with n >= 1")
    if W.dtype.kind not in "biuf":
        raise ProblemError(f"W has dtype {W.dtype}; wanted real numbers: use W.astype(float)")
    # A copy: summing duplicates would change the caller's matrix.
    W = sparse.csr_array(W, dtype=np.float64, copy=True)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise ProblemError("W holds nan or infinite weights; remove them or give them a value")
    if (W - W.T.tocsr()).nnz:
        raise ProblemError("W is not symmetric; give (W + W.T) / 2, or W + W.T for one triangle")
    W.eliminate_zeros()
    return sparse.coo_array(sparse.triu(W))


class PairFault(NamedTuple):
    """What is wrong with an edge in the line of a vertex, from 0; smaller kinds go first."""

    kind: int
    vertex: int
    text: str


def pair_fault(n: int, entries: Entries, turned: Entries) -> PairFault | None:
    """Find an edge that is given twice in a line, in one line only, or with two weights.

    `entries` are the (i, j, w) of some rows; `turned` are all entries (j, i, w) of the matrix whose
    j is one of these rows.
    """
    (i, j, w), (ti, tj, tw) = entries, turned
    key, turned_key = i * n + j, ti * n + tj
    order, turned_order = (np.argsort(k, kind="stable") for k in (key, turned_key))
    key, turned_key = key[order], turned_key[turned_order]
    if (repeated := np.flatnonzero(key[1:] == key[:-1])).size:
        k = order[repeated[0] + 1]
        text = f"neighbour {j[k] + 1} is given twice; METIS files have no parallel edges"
        return PairFault(0, int(i[k]), text)
    common = min(key.size, turned_key.size)
    differing = np.flatnonzero(key[:common] != turned_key[:common])
    if differing.size or key.size != turned_key.size:
        # Where the sorted lists first differ, the smaller of the two keys has no partner.
        at = int(differing[0]) if differing.size else common
        ours = at >= turned_key.size or (at < key.size and key[at] < turned_key[at])
        k = order[at] if ours else turned_order[at]
        vertex, other = (i[k], j[k]) if ours else (tj[k], ti[k])
        text = (
            f"the edge to vertex {other + 1} is given once: the line of vertex {other + 1} does "
            f"not name vertex {vertex + 1}; every edge stands in the lines of both its ends"
        )
        return PairFault(1, int(vertex), text)
    if (unlike := np.flatnonzero(w[order] != tw[turned_order])).size:
        k, partner = order[unlike[0]], turned_order[unlike[0]]
        text = (
            f"the edge between vertices {i[k] + 1} and {j[k] + 1} has weight {w[k]:g} in one line "
            f"and {tw[partner]:g} in the other"
        )
        return PairFault(2, int(max(i[k], j[k])), text)
    return None
