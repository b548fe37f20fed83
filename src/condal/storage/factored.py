"""x stored as factors."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from condal.linalg.points import Array, LowRank, Point, dense
from condal.runtime.arguments import require_whole
from condal.storage.whole import FLOAT_BYTES
from condal.types import Domain


class Factored:
    r"""Store x exactly as :math:`U \operatorname{diag}(w) U^\top`.

    Each atom adds its columns; above 2n columns they are compressed to n.

    Parameters
    ----------
    n : int
        The side of x.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("n", "filled")

    def __init__(self, n: int) -> None:
        require_whole(n, "n")
        self.n = n
        self._columns = np.empty((16, n))  # atoms as rows: appending one is a contiguous write
        self._weights = np.zeros(16)
        self._count = 0

    @property
    def filled(self) -> tuple[Array, Array]:
        """The columns and the weights in use, without the reserve."""
        return self._columns[: self._count], self._weights[: self._count]

    @filled.setter
    def filled(self, parts: tuple[Array, Array]) -> None:
        self._columns, self._weights = (np.array(part) for part in parts)
        self._count = self._weights.size

    def move(self, s: Point, eta: float) -> None:
        if eta == 1.0:
            self._count = 0
        self._weights[: self._count] *= 1 - eta
        self._append(spectral(s), eta)

    def load(self, x: Point) -> None:
        self._count = 0
        self._append(spectral(x), 1.0)

    def _append(self, s: LowRank, eta: float) -> None:
        keep = s.weights != 0.0
        added = int(keep.sum())
        self._reserve(added)
        end = self._count + added
        self._columns[self._count : end] = s.U.T[keep]
        self._weights[self._count : end] = eta * s.weights[keep]
        self._count = end

    def _reserve(self, added: int) -> None:
        n = self.n
        if self._count + added > 2 * n:
            self._compress()
        wanted = self._count + added
        if wanted > len(self._columns):
            room = max(wanted, min(2 * len(self._columns), 2 * n))
            columns, weights = np.empty((room, n)), np.zeros(room)
            columns[: self._count] = self._columns[: self._count]
            weights[: self._count] = self._weights[: self._count]
            self._columns, self._weights = columns, weights

    def _compress(self) -> None:
        atoms, weights = self._columns[: self._count], self._weights[: self._count]
        values, vectors = eigh((atoms.T * weights) @ atoms, overwrite_a=True, check_finite=False)
        keep = np.abs(values) > 1e-15 * np.abs(values).max(initial=0.0)
        self._count = int(keep.sum())
        self._columns[: self._count] = vectors.T[keep]
        self._weights[: self._count] = values[keep]

    def point(self) -> LowRank:
        return LowRank(self._columns[: self._count].T.copy(), self._weights[: self._count].copy())

    def bytes(self, X: Domain) -> int:
        """At most what it takes."""
        return self.bytes_for(self.n)

    @staticmethod
    def bytes_for(n: int) -> int:
        """What 2n columns take, and twice that to compress them."""
        return 3 * FLOAT_BYTES * n * 2 * n


def spectral(x: Point) -> LowRank:
    """Return x as its eigenvectors and eigenvalues, unless it has factors already."""
    if isinstance(x, LowRank):
        return x
    values, vectors = eigh(dense(x))
    return LowRank(vectors, values)
