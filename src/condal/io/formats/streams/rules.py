"""How the entries of a file become rows of W = W', some rows at a time.

The rows begin ... end - 1 of W are made in two steps. `block` takes the entries that `place` sends
to these rows, in the order of the file, and returns those of the rows alone. `rows` takes the block
and the *turned* entries (j, i, w) of all blocks whose j is one of these rows. Each step is made for
all rows in turn; `end_blocks` and `end_rows` raise errors that depend on all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats.adjacency import PairFault, pair_fault, require_symmetric, sum_entries
from condal.io.formats.edge_list import first_of_each
from condal.io.formats.text import Text

Columns = tuple[Any, ...]  # i, j and w; for edge lists also the number of the entry in the file
Range = tuple[int, int]


class Rule(Protocol):
    """The rule of a format."""

    @property
    def numbered(self) -> bool:
        """Whether entries carry their number in the file."""

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        """Return the row and the column to which an entry is added first."""

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        """Return the entries of some rows, given those that were placed there."""

    def end_blocks(self) -> None:
        """Raise the error that the blocks together have, if there is one."""

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        """Return some rows of W, in canonical form."""

    def end_rows(self) -> None:
        """Raise the error that the rows together have, if there is one."""


class Edges:
    """Each edge {i, j} is in the file once; parallel edges are summed."""

    numbered = False

    def __init__(self, text: Text) -> None:
        self.text = text

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        # Summed in one triangle first: two triangles could round differently.
        return np.minimum(i, j), np.maximum(i, j)

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        return _entries(sum_entries(self.text, n, *columns[:3], rows=rows), rows)

    def end_blocks(self) -> None:
        """There is none."""

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        below = turned[0] != turned[1]
        i, j, w = (np.concatenate([a, b[below]]) for a, b in zip(block, turned, strict=True))
        return sum_entries(self.text, n, i, j, w, rows=rows)

    def end_rows(self) -> None:
        """There is none."""


class SingleEdges(Edges):
    """An edge that is repeated counts once; a repetition with another weight is refused."""

    numbered = True

    def __init__(self, text: Text, error: Callable[[Any, Any], FormatError]) -> None:
        super().__init__(text)
        self._error = error  # of the numbers and weights of two entries
        self._fault: tuple[tuple[int, float], tuple[int, float]] | None = None  # the second first

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        i, j, w, number = columns
        first = first_of_each(i.astype(np.int64) * n + j) if i.size else np.zeros(0, np.intp)
        if (differing := np.flatnonzero(w != w[first])).size:
            k = differing[np.argmin(number[differing])]
            second, earlier = ((int(number[e]), float(w[e])) for e in (k, first[k]))
            self._fault = min(filter(None, (self._fault, (second, earlier))))
        once = first == np.arange(i.size)
        return super().block(n, (i[once], j[once], w[once]), rows)

    def end_blocks(self) -> None:
        if self._fault is not None:
            second, first = self._fault
            raise self._error(first, second)


class Matrix:
    """The file has all entries of W, which must be symmetric up to rounding."""

    numbered = False

    def __init__(self, text: Text, hint: str) -> None:
        self.text, self.hint = text, hint

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        return i, j

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        return _entries(sum_entries(self.text, n, *columns, rows=rows), rows)

    def end_blocks(self) -> None:
        """There is none."""

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        own, transposed = (sum_entries(self.text, n, *side, rows=rows) for side in (block, turned))
        require_symmetric(self.text, own, transposed, hint=self.hint, begin=rows[0])
        upper = sparse.triu(own, rows[0], format="csr")
        W = sparse.csr_array(upper + sparse.tril(transposed, rows[0] - 1, format="csr"))
        W.sort_indices()
        return W

    def end_rows(self) -> None:
        """There is none."""


class Neighbours:
    """Each edge is in the lines of both its ends."""

    numbered = False

    def __init__(self, text: Text, end: Callable[[PairFault | None, int], None]) -> None:
        self.text, self._end = text, end  # raises the error of a fault, and of a wrong count
        self._fault: PairFault | None = None
        self._count = 0

    def place(self, i: Any, j: Any) -> tuple[Any, Any]:
        return i, j

    def block(self, n: int, columns: Columns, rows: Range) -> Columns:
        return columns

    def end_blocks(self) -> None:
        """There is none."""

    def rows(self, n: int, block: Columns, turned: Columns, rows: Range) -> sparse.csr_array:
        wide = [tuple(column.astype(np.int64) for column in side[:2]) for side in (block, turned)]
        fault = pair_fault(n, (*wide[0], block[2]), (*wide[1], turned[2]))
        if fault is not None and (self._fault is None or fault.kind < self._fault.kind):
            self._fault = fault
        self._count += block[0].size
        return sum_entries(self.text, n, *block, rows=rows)

    def end_rows(self) -> None:
        self._end(self._fault, self._count)


def _entries(W: sparse.csr_array, rows: Range) -> Columns:
    """Return the rows, columns and weights of some rows of a matrix."""
    i = np.repeat(np.arange(*rows, dtype=W.indices.dtype), np.diff(W.indptr))
    return i, W.indices, W.data
