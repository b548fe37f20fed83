"""The entries of a graph file, and how they become :math:`W = W^T`: exactly symmetric, in canonical
form and without stored zeros.

The rows begin ... end - 1 of W are made in two steps. `block` takes the entries that `place` sends
to these rows, in the order of the file, and returns those of the rows alone. `rows` takes the block
and the *turned* entries (j, i, w) of all blocks whose j is one of these rows. Each step is made for
all rows in turn; `end_blocks` and `end_rows` raise errors that depend on all of them. `graph_of`
makes all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats.numerals import Floats, Ints
from condal.io.formats.text import Text

Entries: TypeAlias = tuple[Ints, Ints, Floats]
Columns: TypeAlias = tuple[Any, ...]  # i, j and w; in shards of edge lists also their number
Range: TypeAlias = tuple[int, int]

# Two decimal spellings of one number, or two orders of one sum, may differ by this much.
MAX_ASYMMETRY = 1e-12
BOTH_TRIANGLES = "store A + A^T, or write 'symmetric' in the banner and one triangle"
MAX_SPARSITY = 4  # the largest label per end up to which a table of all labels is used


class Edges:
    """Each edge {i, j} is in the file once; parallel edges are summed."""

    numbered = False  # whether entries carry their number in the file

    def __init__(self, text: Text) -> None:
        self.text = text

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        """Return the row and the column to which an entry is added first."""
        # Summed in one triangle first: two triangles could round differently.
        return np.minimum(i, j), np.maximum(i, j)

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        """Return the entries of some rows, given those that were placed there."""
        W = self._sum(n, columns, rows)
        i = np.repeat(np.arange(*rows, dtype=W.indices.dtype), np.diff(W.indptr))
        return i, W.indices, W.data

    def end_blocks(self) -> None:
        """Raise the error that the blocks together have, if there is one."""

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        """Return some rows of W, in canonical form."""
        below = turned[0] != turned[1]
        lower = self._sum(n, tuple(column[below] for column in turned), rows)
        W = sparse.csr_array(_rows_of(n, block, rows) + lower)
        W.sort_indices()
        return W

    def end_rows(self) -> None:
        """Raise the error that the rows together have, if there is one."""

    def _sum(self, n: int, columns: Columns, rows: Range) -> sparse.csr_array:
        """Return some rows of the n x n matrix with w added at (i, j), in canonical form; all
        entries belong to these rows, and sums must be finite."""
        (i, j, w), (begin, end) = columns[:3], rows
        dtype = np.int32 if n <= np.iinfo(np.int32).max else np.int64
        i, j = (i - begin if begin else i).astype(dtype, copy=False), j.astype(dtype, copy=False)
        W = sparse.csr_array((w, (i, j)), shape=(end - begin, n))
        W.sum_duplicates()
        if not np.isfinite(W.data).all():
            at = np.flatnonzero(~np.isfinite(W.data))[0]
            row = begin + np.searchsorted(W.indptr, at, side="right")
            raise self.text.error(
                f"the weights given for ({row}, {W.indices[at] + 1}) add up to infinity;"
                " scale all weights down"
            )
        W.eliminate_zeros()
        return W


class SingleEdges(Edges):
    """An edge that is repeated counts once; a repetition with another weight is refused."""

    numbered = True

    def __init__(self, text: Text, error: Callable[[Any, Any], FormatError]) -> None:
        super().__init__(text)
        self._error = error  # of the numbers and weights of two entries
        self._fault: tuple[tuple[int, float], tuple[int, float]] | None = None  # the second first

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        i, j, w = columns[:3]
        keys = i.astype(np.int64) * n + j
        once = np.sort(keys)
        if (once[1:] != once[:-1]).all():
            del keys, once
            return super().block(n, columns, rows)
        _, first, back = np.unique(keys, return_index=True, return_inverse=True)
        first = first[back]  # for each entry the first one of the same edge
        if (differing := np.flatnonzero(w != w[first])).size:
            number = columns[3] if len(columns) > 3 else np.arange(i.size)
            k = differing[np.argmin(number[differing])]
            second, earlier = ((int(number[e]), float(w[e])) for e in (k, first[k]))
            self._fault = min(filter(None, (self._fault, (second, earlier))))
        is_first = first == np.arange(i.size)
        return super().block(n, (i[is_first], j[is_first], w[is_first]), rows)

    def end_blocks(self) -> None:
        if self._fault is not None:
            second, first = self._fault
            raise self._error(first, second)


class Matrix(Edges):
    """The file has all entries of W, which must be symmetric to 1e-12 of each entry.

    `hint` says what to do if it is not.
    """

    def __init__(self, text: Text, hint: str) -> None:
        super().__init__(text)
        self._hint = hint

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        return i, j

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        own, transposed = _rows_of(n, block, rows), self._sum(n, turned, rows)
        if same(own, transposed):
            return own
        self._require_symmetric(own, transposed, rows[0])
        upper = sparse.triu(own, rows[0], format="csr")
        W = sparse.csr_array(upper + sparse.tril(transposed, rows[0] - 1, format="csr"))
        W.sort_indices()
        return W

    def _require_symmetric(self, W: sparse.csr_array, T: sparse.csr_array, begin: int) -> None:
        """Refuse rows, from number `begin` on, that differ from those of the transpose T."""
        excess = sparse.coo_array(abs(W - T) - MAX_ASYMMETRY * abs(W).maximum(abs(T)))
        bad = np.flatnonzero(excess.data > 0)
        if bad.size:
            i, j = int(excess.row[bad[0]]), int(excess.col[bad[0]])
            raise self.text.error(
                f"entry ({begin + i + 1}, {j + 1}) is {W[i, j]:g} but ({j + 1}, {begin + i + 1}) "
                f"is {T[i, j]:g}; a graph needs a symmetric matrix: {self._hint}"
            )


class Neighbours(Edges):
    """Each edge is in the lines of both its ends."""

    def __init__(self, text: Text, end: Callable[[PairFault | None, int], None]) -> None:
        super().__init__(text)
        self._end = end  # raises the error of a fault, and of a wrong count
        self._fault: PairFault | None = None
        self._count = 0

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        return i, j

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        return columns

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        count = block[0].size
        self._count += count
        W, T = (self._sum(n, side, rows) for side in (block, turned))
        if W.nnz == count == turned[0].size and same(W, T):
            return W
        fault = pair_fault(n, block, turned)
        if fault is not None and (self._fault is None or fault.kind < self._fault.kind):
            self._fault = fault
        return W

    def end_rows(self) -> None:
        self._end(self._fault, self._count)


@dataclass(frozen=True, eq=False)
class EntryStream:
    """The entries of a file: chunks of arrays i, j and w, which `rule` makes rows of W.

    n is None if the vertices have labels, which the chunks then hold for i and j. The error of a
    faulty file is raised at the end of the chunks at the latest.
    """

    n: int | None
    rule: Edges
    chunks: Iterator[tuple[Any, Any, Any]]


def graph_of(stream: EntryStream) -> tuple[sparse.csr_array, Any]:
    """Return W, and the labels of its rows; None if the vertices have none."""
    rule, n, labels, columns = stream.rule, stream.n, None, joined(stream.chunks)
    if n is None:
        labels, places = _numbered(np.stack(columns[:2]))
        n, columns = labels.size, [*places, columns[2]]
    placed = *rule.place(*columns[:2]), columns[2]
    del columns
    block = rule.block(n, placed, (0, n))
    del placed
    rule.end_blocks()
    W = rule.rows(n, block, (block[1], block[0], block[2]), (0, n))
    rule.end_rows()
    return W, labels


def joined(chunks: Iterator[tuple[Any, Any, Any]]) -> list[Any]:
    """Return the columns of all chunks."""
    parts = [list(column) for column in zip(*chunks, strict=True)]
    if not parts:
        return [np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)]
    # Popped one by one, so that only one column is in memory twice.
    return [
        part[0] if len(part) == 1 else np.concatenate(part) for part in map(parts.pop, (0,) * 3)
    ]


def _numbered(ends: Any) -> tuple[Any, Any]:
    """Return the labels that occur, in rising order, and the place of each end among them."""
    if ends.max(initial=0) >= MAX_SPARSITY * ends.size:
        labels, places = np.unique(ends, return_inverse=True)
        return labels, places.reshape(ends.shape)
    occurs = np.zeros(int(ends.max(initial=0)) + 1, dtype=bool)  # faster than sorting
    occurs[ends] = True
    labels = np.flatnonzero(occurs)
    place = np.zeros(occurs.size, dtype=np.int32 if labels.size < 2**31 else np.int64)
    place[labels] = np.arange(labels.size)
    return labels, place[ends]


def _rows_of(n: int, block: Columns, rows: Range) -> sparse.csr_array:
    """Return some rows of a matrix from the entries of its canonical form."""
    begin, end = rows
    i, j, w = block
    counts = np.bincount(i - begin, minlength=end - begin)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((w, j, indptr), shape=(end - begin, n))


def mirror(upper: sparse.csr_array) -> sparse.csr_array:
    """Return U + U^T with the diagonal once, for an upper triangular U."""
    strict = sparse.triu(upper, 1, format="csr")
    W = sparse.csr_array(upper + strict.T.tocsr())
    W.sort_indices()
    return W


def same(W: sparse.csr_array, T: sparse.csr_array) -> bool:
    """Whether two matrices in canonical form are bit-identical; this allocates nothing."""
    return all(np.array_equal(getattr(W, a), getattr(T, a)) for a in ("indptr", "indices", "data"))


class PairFault(NamedTuple):
    """What is wrong with an edge in the line of a vertex, from 0; smaller kinds go first."""

    kind: int
    vertex: int
    text: str


def pair_fault(n: int, entries: Columns, turned: Columns) -> PairFault | None:
    """Find an edge that is given twice in a line, in one line only, or with two weights.

    `entries` are the (i, j, w) of some rows; `turned` are all entries (j, i, w) of the matrix whose
    j is one of these rows.
    """
    (i, j, w), (ti, tj, tw) = entries, turned
    key, turned_key = i.astype(np.int64) * n + j, ti.astype(np.int64) * n + tj
    order, turned_order = (np.argsort(k, kind="stable") for k in (key, turned_key))
    key, turned_key = key[order], turned_key[turned_order]
    if (repeated := np.flatnonzero(key[1:] == key[:-1])).size:
        k = order[repeated[0] + 1]
        text = f"neighbour {j[k] + 1} is given twice; METIS files have no parallel edges"
        return PairFault(0, int(i[k]), text)
    if (single := np.setxor1d(key, turned_key)).size:
        vertex, other = divmod(int(single[0]), n)
        if single[0] not in key:
            vertex, other = other, vertex
        text = (
            f"the edge to vertex {other + 1} is given once: the line of vertex {other + 1} does "
            f"not name vertex {vertex + 1}; every edge stands in the lines of both its ends"
        )
        return PairFault(1, vertex, text)
    if key.size != turned_key.size:  # an edge is given twice in the line of another vertex
        return None
    if (unlike := np.flatnonzero(w[order] != tw[turned_order])).size:
        k, partner = order[unlike[0]], turned_order[unlike[0]]
        text = (
            f"the edge between vertices {i[k] + 1} and {j[k] + 1} has weight {w[k]:g} in one line "
            f"and {tw[partner]:g} in the other"
        )
        return PairFault(2, int(max(i[k], j[k])), text)
    return None
