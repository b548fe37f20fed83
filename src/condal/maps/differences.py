"""Differences of neighbours on a grid, for total variation."""

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
from condal.maps.combined import BasicMap
from condal.runtime.arguments import require_whole


@dataclass(frozen=True)
class FiniteDifferences(BasicMap):
    r"""Forward differences of an array x with N entries, flattened in C order.

    .. math:: (A x)_{k N + p} = x_{p + e_k} - x_p, \quad 0 \text{ at the border},

    where :math:`p + e_k` is the neighbour of p along axis k. The N differences along axis 0 come
    first, then those along axis 1. In an image of h x w pixels, entries p and h w + p are the
    gradient at pixel p.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import FiniteDifferences
    >>> FiniteDifferences((3,))(np.array([1.0, 4.0, 2.0]))
    array([ 3., -2.,  0.])
    """

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
        return self.n * len(self.shape)

    @property
    def norm(self) -> float:
        """sqrt(sum_k 4 cos^2(pi / (2 n_k))), n_k the sides.

        A'A is the sum over the axes of Laplacians of paths, which have the eigenvectors
        cos(pi j (i + 1/2) / n_k) for the eigenvalues 4 sin^2(pi j / (2 n_k)), j < n_k.
        """
        return sqrt(sum((2 * cos(pi / (2 * side))) ** 2 for side in self.shape if side > 1))

    @property
    def terms(self) -> int:
        return 2 * len(self.shape)

    def row_norms(self) -> Array:
        return np.where(self._inside, sqrt(2.0), 0.0)

    def as_matrix(self) -> Any:
        rows = np.flatnonzero(self._inside)
        start = rows % self.n
        strides = [prod(self.shape[k + 1 :]) for k in range(len(self.shape))]
        neighbour = start + np.repeat(strides, self.n)[rows]
        values = np.repeat([-1.0, 1.0], rows.size)
        places = (np.tile(rows, 2), np.concatenate([start, neighbour]))
        return sp.csr_array(sp.coo_array((values, places), shape=(self.size, self.n)))

    def __call__(self, x: Point) -> Array:
        grid = np.asarray(x).reshape(self.shape)
        image = np.zeros((len(self.shape), *self.shape))
        for axis, out in enumerate(image):
            low, high = self._ends(axis)
            np.subtract(grid[high], grid[low], out=out[low])
        return image.ravel()

    def adjoint(self, y: Array) -> Gradient:
        """Minus the divergence of y."""
        v = np.zeros(self.shape)
        for axis, flow in enumerate(y.reshape(len(self.shape), *self.shape)):
            low, high = self._ends(axis)
            v[high] += flow[low]
            v[low] -= flow[low]
        return v.ravel()

    @staticmethod
    def _ends(axis: int) -> tuple[Any, Any]:
        """Where the differences along an axis begin and where they end."""
        before = (slice(None),) * axis
        return (*before, slice(None, -1)), (*before, slice(1, None))

    @cached_property
    def _inside(self) -> Any:
        """Which rows are not at the border."""
        inside = np.ones((len(self.shape), *self.shape), dtype=bool)
        for axis, rows in enumerate(inside):
            rows[(slice(None),) * axis + (-1,)] = False
        return inside.ravel()
