"""The lower triangle of a symmetric matrix as a vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.linalg.triangles import (
    SQRT2,
    DenseTerm,
    LowerTerm,
    block_rows,
    diagonal_block_indices,
    svec_indices,
)
from condal.maps.combined import Multiple, Scaled
from condal.maps.entries import Entries


@dataclass(frozen=True)
class Triangle(Multiple):
    r"""The lower triangle of a symmetric n x n matrix as an isometric vector.

    .. math:: A x = c \, (x_{ii}, \sqrt2 \, x_{ij} : i > j)

    For c = 1, :math:`A^T A = I`, so :math:`|A x| = |x|` and :math:`A^T A(V) = V`. The image of
    n(n + 1)/2 numbers first holds the entries left of the diagonal blocks of 32 rows, block row by
    block row, then the lower triangles of these blocks. Up to n = 32 this is the lower triangle row
    by row.

    Parameters
    ----------
    n : int
        The side of x.
    factor : float, default 1.0
        The factor c.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Triangle
    >>> Triangle(2)(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3)
    array([1.   , 2.828, 3.   ])
    """

    terms = 1

    @property
    def size(self) -> int:
        return self.n * (self.n + 1) // 2

    @property
    def norm(self) -> float:
        return abs(self.factor)

    @property
    def isometry_factor(self) -> float:
        """c: |A x| = c |x| for all symmetric x, and the signs of the entries stay if c > 0."""
        return self.factor

    def row_norms(self) -> Array:
        return np.full(self.size, abs(self.factor))

    def as_matrix(self) -> Any:
        i, j, roots = svec_indices(self.n)
        return Scaled(Entries(self.n, i, j), self.factor * roots).as_matrix()

    def __call__(self, x: Point) -> Array:
        image = np.empty(self.size)
        for block, numbers in self.pieces(x):
            image[block] = numbers
        return image

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """Yield the blocks of Ax: left of each diagonal block, then inside these blocks."""
        i, j, roots = self._near
        if isinstance(x, LowRank):
            left, right = x.U * (self.factor * x.weights), x.U.T
            outer = np.multiply if x.rank == 1 else np.matmul
            for rows, block in self._far:
                yield block, outer(SQRT2 * left[rows], right[:, : rows.start]).ravel()
            columns = zip(left.T, right, strict=True)
            near = sum((a[i] * b[j] for a, b in columns), np.zeros(i.size))
        else:
            full = np.asarray(x)
            for rows, block in self._far:
                yield block, (self.factor * SQRT2 * full[rows, : rows.start]).ravel()
            near = self.factor * full[i, j]
        yield slice(self.size - i.size, self.size), roots * near

    def adjoint(self, y: Array) -> Symmetric:
        return self.adjoint_onto(None, y)

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Symmetric:
        """Return v + A'y, with the dense terms of v added in the same pass."""
        rest = Symmetric(self.n) if v is None else v
        assert isinstance(rest, Symmetric)
        dense = [term.matrix for term in rest.terms if isinstance(term, DenseTerm)]
        others = [term for term in rest.terms if not isinstance(term, DenseTerm)]
        lower, (i, _, roots), (below, above) = np.empty((self.n, self.n)), self._near, self._flat
        near = self.factor * y[self.size - i.size :] / roots
        flat = lower.reshape(-1)
        flat[below] = near
        flat[above] = near
        for rows, block in self._far:
            far, both = lower[rows, : rows.start], lower[rows, : rows.stop]
            np.multiply(y[block].reshape(far.shape), self.factor / SQRT2, out=far)
            for matrix in dense:
                both += matrix[rows, : rows.stop]
        return Symmetric(self.n, [*others, LowerTerm(lower)])

    @cached_property
    def _far(self) -> list[tuple[slice, slice]]:
        """Blocks of rows, and the range of the image left of their diagonal blocks."""
        blocks, end = [], 0
        for rows in block_rows(self.n):
            begin, end = end, end + (rows.stop - rows.start) * rows.start
            blocks.append((rows, slice(begin, end)))
        return blocks

    @cached_property
    def _flat(self) -> tuple[Indices, Indices]:
        """The places of `_near` in the n^2 entries of a matrix, and their mirror images."""
        i, j, _ = self._near
        return i * self.n + j, j * self.n + i

    @cached_property
    def _near(self) -> tuple[Indices, Indices, Array]:
        """i, j and the factor 1 or sqrt(2) in the lower triangles of the diagonal blocks."""
        i, j = diagonal_block_indices(self.n)
        return i, j, np.where(i == j, 1.0, SQRT2)
