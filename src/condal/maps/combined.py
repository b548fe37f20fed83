"""Maps built from maps: scaled, stacked, and across the blocks of a product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import BlockedMap, Gradient, adjoint_onto
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.runtime.arguments import require_whole
from condal.types import LinearMap

if TYPE_CHECKING:
    from condal.linalg.gradients import SquareRows

EXACT_ROWS, EXACT_COLUMNS = 128, 20_000  # of a stack whose norm takes about a millisecond


class BasicMap:
    """Defaults of a map: it reads no diagonal alone, and a wrapper scales its rows."""

    @property
    def diagonal_rows(self) -> Array | None:
        return None

    @property
    def block_rows(self) -> tuple[int, Array] | None:
        """(d, rows), if Ax = rows * the upper triangles of the d x d diagonal blocks of x."""
        return None

    def scaled(self: LinearMap, rows: Array) -> LinearMap:
        return Scaled(self, rows)


@dataclass(frozen=True)
class Multiple(BasicMap):
    """c times a map of n x n matrices, whose rows scale by one number as c does."""

    n: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        if not np.isfinite(self.factor):
            raise ProblemError(f"factor must be a finite number; got {self.factor!r}")

    def scaled(self: Any, rows: Array) -> LinearMap:
        if rows.min() == rows.max():
            return type(self)(self.n, self.factor * float(rows[0]))
        return Scaled(self, rows)


@dataclass(frozen=True, eq=False)
class Scaled:
    r"""A map with scaled rows, :math:`x \mapsto \mathrm{Diag}(\mathrm{rows}) A x`.

    Parameters
    ----------
    A : LinearMap
        The map.
    rows : ndarray
        A factor for each coordinate of the image.
    """

    A: LinearMap
    rows: Array

    @cached_property
    def size(self) -> int:
        return self.A.size

    @property
    def norm(self) -> float:
        """At most |A| max |rows|; exact for equal rows."""
        return self.A.norm * float(np.abs(self.rows).max()) if self.rows.size else 0.0

    def scaled(self, rows: Array) -> Scaled:
        return Scaled(self.A, self.rows * rows)

    @property
    def terms(self) -> int:
        return self.A.terms + 1

    @property
    def diagonal_rows(self) -> Array | None:
        inner = self.A.diagonal_rows
        return None if inner is None else self.rows * inner

    @property
    def block_rows(self) -> tuple[int, Array] | None:
        """As of `BasicMap`."""
        inner = getattr(self.A, "block_rows", None)
        return None if inner is None else (inner[0], self.rows * inner[1])

    def row_norms(self) -> Array:
        return np.abs(self.rows) * self.A.row_norms()

    def as_matrix(self) -> Any | None:
        inner = self.A.as_matrix()
        if inner is None:
            return None
        each = np.repeat(self.rows, np.diff(inner.indptr))
        return sp.csr_array((each * inner.data, inner.indices, inner.indptr), inner.shape)

    def split_squares(self) -> SquareRows | None:
        """Return the rows as a sparse matrix and vectors, as for `SplitMap`."""
        from condal.linalg.gradients import SquareRows

        inner = SquareRows.of(self.A)
        return None if inner is None else inner.scaled(self.rows)

    def __call__(self, x: Point) -> Array:
        return self.rows * self.A(x)

    def adjoint(self, y: Array) -> Gradient | None:
        return self.A.adjoint(self.rows * y)


class Stack(BasicMap):
    r"""Maps under each other, :math:`A x = (A_1 x, A_2 x, \ldots)`.

    Parameters
    ----------
    *maps : LinearMap
        The maps :math:`A_i`, of the same space.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Identity, Matrix, Stack
    >>> Stack(Identity(2), Matrix(np.ones((1, 2))))(np.array([1.0, 2.0]))
    array([1., 2., 3.])
    """

    def __init__(self, *maps: LinearMap) -> None:
        self.maps: Sequence[LinearMap] = maps
        self._ends = np.cumsum([m.size for m in maps]).astype(int)

    @property
    def size(self) -> int:
        return int(self._ends[-1]) if len(self.maps) else 0

    @cached_property
    def norm(self) -> float:
        """Exact for a small matrix of vectors x; else an upper bound, sqrt(sum |A_i|^2)."""
        if self.size <= EXACT_ROWS:
            v = self.adjoint(np.zeros(self.size))
            if isinstance(v, np.ndarray) and v.size <= EXACT_COLUMNS:
                matrix = self.as_matrix()
                if matrix is not None:
                    return operator_norm(matrix)
        return float(np.hypot.reduce([m.norm for m in self.maps]))

    def scaled(self, rows: Array) -> Stack:
        blocks = zip(self.maps, self._split(rows), strict=True)
        return Stack(*(m.scaled(block) for m, block in blocks))

    @property
    def terms(self) -> int:
        return sum(m.terms for m in self.maps)

    def row_norms(self) -> Array:
        return np.concatenate([m.row_norms() for m in self.maps]) if self.maps else np.zeros(0)

    def as_matrix(self) -> Any | None:
        """The matrices under each other; None for no maps at all, as n is unknown."""
        every = [(m.size, m.as_matrix()) for m in self.maps]
        matrices = [matrix for size, matrix in every if size or matrix is not None]
        if not matrices or any(matrix is None for matrix in matrices):
            return None
        return sp.csr_array(sp.vstack(matrices, format="csr"))

    def split_squares(self) -> SquareRows | None:
        """Return the rows as a sparse matrix and vectors, as for `SplitMap`."""
        from condal.linalg.gradients import SquareRows

        every = [(m.size, SquareRows.of(m)) for m in self.maps]
        parts = [part for size, part in every if size or part is not None]
        if not parts or any(part is None for part in parts):
            return None
        return SquareRows.stacked([part for part in parts if part is not None])

    def __call__(self, x: Point) -> Array:
        image = np.empty(self.size)
        for block, numbers in self.pieces(x):
            image[block] = numbers
        return image

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """Yield the blocks of Ax, as for `BlockedMap`."""
        begin = 0
        for m in self.maps:
            blocks = m.pieces(x) if isinstance(m, BlockedMap) else [(slice(0, m.size), m(x))]
            for block, numbers in blocks:
                yield slice(begin + block.start, begin + block.stop), numbers
            begin += m.size

    def adjoint(self, y: Array) -> Gradient | None:
        return self.adjoint_onto(None, y)

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Gradient | None:
        """Return v + A'y, as for `BlockedMap`."""
        for m, block in zip(self.maps, self._split(y), strict=True):
            v = adjoint_onto(v, m, block)
        return v

    def _split(self, y: Array) -> Sequence[Array]:
        return np.split(y, self._ends[:-1]) if self.maps else []


class Across(BasicMap):
    r"""A sum over the blocks of a product, :math:`A(x_1, x_2, \ldots) = \sum_i A_i x_i`.

    Parameters
    ----------
    *maps : LinearMap
        A map :math:`A_i` for each block; their images have one size.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Across, Identity
    >>> Across(Identity(2), Identity(2))((np.ones(2), np.arange(2.0)))
    array([1., 2.])
    """

    def __init__(self, *maps: LinearMap) -> None:
        sizes = {m.size for m in maps}
        if len(sizes) != 1:
            raise ProblemError(f"the maps of Across must have images of one size; got {sizes}")
        self.maps: Sequence[LinearMap] = maps

    @property
    def size(self) -> int:
        return self.maps[0].size

    @property
    def norm(self) -> float:
        """At most sqrt(sum |A_i|^2)."""
        return float(np.hypot.reduce([m.norm for m in self.maps]))

    def scaled(self, rows: Array) -> Across:
        return Across(*(m.scaled(rows) for m in self.maps))

    @property
    def terms(self) -> int:
        return max(m.terms for m in self.maps)

    def row_norms(self) -> Array:
        return np.asarray(np.sqrt(sum(m.row_norms() ** 2 for m in self.maps)))

    def as_matrix(self) -> Any | None:
        matrices = [m.as_matrix() for m in self.maps]
        if any(matrix is None for matrix in matrices):
            return None
        return sp.csr_array(sp.hstack(matrices, format="csr"))

    def __call__(self, x: Point) -> Array:
        if not isinstance(x, tuple) or len(x) != len(self.maps):
            raise ProblemError(f"Across wants a point of {len(self.maps)} blocks")
        return np.asarray(sum(m(block) for m, block in zip(self.maps, x, strict=True)))

    def adjoint(self, y: Array) -> tuple[Gradient, ...]:
        # None, the zero of any space, may be among them.
        return tuple(m.adjoint(y) for m in self.maps)  # type: ignore[misc]  # a recursive type
