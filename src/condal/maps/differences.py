"""Differences of neighbours on a grid: what total variation is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, pi, prod, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.maps.combined import Scaled
from condal.runtime.arguments import require_whole


@dataclass(frozen=True)
class FiniteDifferences:
    """(Ax)_{k N + p} = x[p one further along axis k] - x[p], 0 at the border, for x an array of
    the given shape, flattened (C order), and N its entries.

    The differences along axis 0 come first, N of them, then those along axis 1: in an image of
    h x w pixels, entries p and h w + p are the gradient at pixel p.
    """

    diagonal_rows = None

    shape: Sequence[int]

    def __post_init__(self) -> None:
        sides = (self.shape,) if isinstance(self.shape, int | np.integer) else tuple(self.shape)
        if not sides:
            raise ProblemError("FiniteDifferences takes the shape of an array, such as (h, w)")
        for side in sides:
            require_whole(side, "each side of the shape")
        object.__setattr__(self, "shape", tuple(int(side) for side in sides))

    @property
    def n(self) -> int:
        """N, the length of x."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """N times the number of axes."""
        return self.n * len(self.shape)

    @property
    def norm(self) -> float:
        """sqrt(sum_k 4 cos^2(pi / (2 n_k))), n_k the sides.

        A'A is the sum over the axes of Laplacians of paths, which have the eigenvectors
        cos(pi j (i + 1/2) / n_k) for the eigenvalues 4 sin^2(pi j / (2 n_k)), j < n_k.
        """
        return sqrt(sum((2 * cos(pi / (2 * side))) ** 2 for side in self.shape if side > 1))

    def scaled(self, rows: Array) -> Scaled:
        """rows * Ax."""
        return Scaled(self, rows)

    @property
    def terms(self) -> int:
        """Two an axis."""
        return 2 * len(self.shape)

    def row_norms(self) -> Array:
        """sqrt(2), and 0 at the border."""
        return np.where(self._inside, sqrt(2.0), 0.0)

    def as_matrix(self) -> Any:
        """-1 at p and 1 at its neighbour, in each row."""
        rows = np.flatnonzero(self._inside)
        here = rows % self.n
        strides = [prod(self.shape[k + 1 :]) for k in range(len(self.shape))]
        there = here + np.repeat(strides, self.n)[rows]
        values = np.repeat([-1.0, 1.0], rows.size)
        places = (np.tile(rows, 2), np.concatenate([here, there]))
        return sp.csr_array(sp.coo_array((values, places), shape=(self.size, self.n)))

    def __call__(self, x: Point) -> Array:
        """The differences of x."""
        grid = np.asarray(x).reshape(self.shape)
        image = np.zeros((len(self.shape), *self.shape))
        for axis, out in enumerate(image):
            low, high = self._ends(axis)
            np.subtract(grid[high], grid[low], out=out[low])
        return image.ravel()

    def adjoint(self, y: Array) -> Gradient:
        """At each p, what comes in along the axes less what goes out: minus a divergence."""
        v = np.zeros(self.shape)
        for axis, part in enumerate(y.reshape(len(self.shape), *self.shape)):
            low, high = self._ends(axis)
            v[high] += part[low]
            v[low] -= part[low]
        return v.ravel()

    @staticmethod
    def _ends(axis: int) -> tuple[Any, Any]:
        """Where the differences along an axis begin, and where they end."""
        before = (slice(None),) * axis
        return (*before, slice(None, -1)), (*before, slice(1, None))

    @cached_property
    def _inside(self) -> Any:
        """Which rows are no border."""
        inside = np.ones((len(self.shape), *self.shape), dtype=bool)
        for axis, rows in enumerate(inside):
            rows[(slice(None),) * axis + (-1,)] = False
        return inside.ravel()
