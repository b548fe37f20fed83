"""All entries of a symmetric matrix, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import DenseTerm, LowerTerm
from condal.linalg.triangles import block_rows
from condal.maps.combined import Scaled
from condal.maps.entries import Entries
from condal.runtime.arguments import require_whole
from condal.types import LinearMap

ROOT = float(np.sqrt(2.0))


@dataclass(frozen=True)
class Triangle:
    """Ax = factor (x_ii, and sqrt(2) x_ij for i > j), for x symmetric n x n; for factor 1 A'A = I.

    An isometry to n(n + 1)/2 numbers: |Ax| = |x|, and the y with A'y = V is A(V). The image holds
    what lies left of the diagonal blocks, rows of blocks in turn, and then the lower triangles of
    these blocks: all but the latter is read and written without indices.
    """

    diagonal_rows = None

    n: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        require_whole(self.n, "n")
        if not np.isfinite(self.factor):
            raise ProblemError(f"factor must be a finite number; got {self.factor!r}")

    @property
    def size(self) -> int:
        """n(n + 1)/2."""
        return self.n * (self.n + 1) // 2

    @property
    def norm(self) -> float:
        """|factor|."""
        return abs(self.factor)

    def scaled(self, rows: Array) -> LinearMap:
        """rows * Ax; one factor where the rows are equal."""
        if rows.min() == rows.max():
            return Triangle(self.n, self.factor * float(rows[0]))
        return Scaled(self, rows)

    @property
    def terms(self) -> int:
        """1."""
        return 1

    def row_norms(self) -> Array:
        """All |factor|."""
        return np.full(self.size, abs(self.factor))

    def as_matrix(self) -> Any:
        """factor e_i e_i' and factor (e_i e_j' + e_j e_i')/sqrt(2), flattened."""
        near_i, near_j, _ = self._near
        far = [np.mgrid[rows, : rows.start].reshape(2, -1) for rows, _ in self._far]
        i, j = np.concatenate([*far, [near_i, near_j]], axis=1)
        return Scaled(Entries(self.n, i, j), self.factor * np.where(i == j, 1.0, ROOT)).as_matrix()

    def __call__(self, x: Point) -> Array:
        """The entries of x."""
        image = np.empty(self.size)
        for here, part in self.pieces(x):
            image[here] = part
        return image

    def pieces(self, x: Point) -> Iterator[tuple[slice, Array]]:
        """Ax: left of each diagonal block, and then in them."""
        i, j, roots = self._near
        if isinstance(x, LowRank):
            left, right = x.U * (self.factor * x.weights), x.U.T
            outer = np.multiply if x.rank == 1 else np.matmul
            for rows, here in self._far:
                yield here, outer(ROOT * left[rows], right[:, : rows.start]).ravel()
            columns = zip(left.T, right, strict=True)
            near = sum((a[i] * b[j] for a, b in columns), np.zeros(i.size))
        else:
            full = np.asarray(x)
            for rows, here in self._far:
                yield here, (self.factor * ROOT * full[rows, : rows.start]).ravel()
            near = self.factor * full[i, j]
        yield slice(self.size - i.size, self.size), roots * near

    def adjoint(self, y: Array) -> Symmetric:
        """factor y_ij / sqrt(2) at (i, j) and (j, i), factor y_ii at (i, i)."""
        return self.adjoint_onto(None, y)

    def adjoint_onto(self, v: Gradient | None, y: Array) -> Symmetric:
        """v and that, its dense part among it."""
        rest = Symmetric(self.n) if v is None else v
        assert isinstance(rest, Symmetric)
        dense = [term.matrix for term in rest.terms if isinstance(term, DenseTerm)]
        others = [term for term in rest.terms if not isinstance(term, DenseTerm)]
        lower, (i, _, roots), (below, above) = np.empty((self.n, self.n)), self._near, self._flat
        near = self.factor * y[self.size - i.size :] / roots
        flat = lower.reshape(-1)
        flat[below] = near
        flat[above] = near
        for rows, here in self._far:
            far, block = lower[rows, : rows.start], lower[rows, : rows.stop]
            np.multiply(y[here].reshape(far.shape), self.factor / ROOT, out=far)
            for matrix in dense:
                block += matrix[rows, : rows.stop]
        return Symmetric(self.n, [*others, LowerTerm(lower)])

    @cached_property
    def _far(self) -> list[tuple[slice, slice]]:
        """Blocks of rows, and where the image holds what lies left of their diagonal blocks."""
        found, end = [], 0
        for rows in block_rows(self.n):
            begin, end = end, end + (rows.stop - rows.start) * rows.start
            found.append((rows, slice(begin, end)))
        return found

    @cached_property
    def _flat(self) -> tuple[Indices, Indices]:
        """Those places in the n^2 numbers of a matrix, and their mirror images."""
        i, j, _ = self._near
        return i * self.n + j, j * self.n + i

    @cached_property
    def _near(self) -> tuple[Indices, Indices, Array]:
        """The places in the lower triangles of the diagonal blocks, with 1 or sqrt(2) for each."""
        places = [
            np.add(np.tril_indices(rows.stop - rows.start), rows.start)
            for rows in block_rows(self.n)
        ]
        i, j = np.concatenate(places, axis=1)
        return i, j, np.where(i == j, 1.0, ROOT)
