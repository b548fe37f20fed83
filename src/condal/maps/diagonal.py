"""The diagonal of a symmetric matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import weighted_squares
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap
from condal.runtime.arguments import require_whole


@dataclass(frozen=True)
class Diagonal(BasicMap):
    """The diagonal, A x = diag(x), of a symmetric or Hermitian n x n matrix.

    Parameters
    ----------
    n : int
        The side of x.
    hermitian : bool, default False
        Whether x is complex Hermitian. Each diagonal entry is then the sum of two diagonal entries
        of the real form of x.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Diagonal
    >>> Diagonal(2)(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 3.])
    """

    terms = 1

    n: int
    hermitian: bool = False

    def __post_init__(self) -> None:
        require_whole(self.n, "n")

    @property
    def size(self) -> int:
        return self.n

    @property
    def norm(self) -> float:
        return float(np.sqrt(self._each))

    @property
    def _each(self) -> int:
        return 2 if self.hermitian else 1

    @property
    def diagonal_rows(self) -> Array:
        return np.ones(self.n)

    def row_norms(self) -> Array:
        return np.full(self.n, self.norm)

    def as_matrix(self) -> Any:
        from condal.maps.entries import Entries

        side = np.arange(self._each * self.n)
        each = Entries(side.size, side, side).as_matrix()
        if not self.hermitian:
            return each
        return sp.csr_array(sp.kron(sp.eye(self.n), np.ones((1, 2)), format="csr") @ each)

    def __call__(self, x: Point) -> Array:
        if isinstance(x, LowRank):
            diagonal = weighted_squares(x.U, x.weights)
        else:
            diagonal = np.diagonal(np.asarray(x)).copy()
        return diagonal[::2] + diagonal[1::2] if self.hermitian else diagonal

    def adjoint(self, y: Array) -> Symmetric:
        diagonal = np.repeat(y, 2) if self.hermitian else y
        return Symmetric(diagonal.size, diagonal=diagonal)
