"""Maps of symmetric matrices: a linear objective, the diagonal, its blocks, and row sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import weighted_squares
from condal.linalg.gradients import frobenius_norm
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap, Multiple
from condal.maps.entries import Entries
from condal.runtime.arguments import require_whole

MAX_ENTRIES = 1e8  # of a matrix that is written down: 1.6 GB


@dataclass(frozen=True, eq=False)
class Cost(BasicMap):
    r"""The map :math:`M x = \langle C, x \rangle` of a linear objective on symmetric matrices.

    Parameters
    ----------
    C : Symmetric
        The matrix.
    """

    size = 1
    terms = 1

    C: Symmetric

    @cached_property
    def norm(self) -> float:
        """|C|_F; an estimate from products for a matrix-free C."""
        return frobenius_norm(self.C)

    def scaled(self, rows: Array) -> Cost:
        return Cost(self.C.scaled(float(rows[0])))

    def row_norms(self) -> Array:
        return np.array([self.norm])

    def as_matrix(self) -> Any | None:
        if self.C.matrix_free:
            return None
        C = sp.coo_array(self.C.to_sparse() if self.C.factorable else self.C.to_dense())
        places = C.row.astype(np.int64) * self.C.n + C.col
        row = sp.coo_array((C.data, (np.zeros_like(places), places)), (1, self.C.n**2))
        return sp.csr_array(row)

    def __call__(self, x: Point) -> Array:
        assert not isinstance(x, tuple)
        return np.array([self.C.quadratic(x)])

    def adjoint(self, y: Array) -> Symmetric:
        return self.C.scaled(float(y[0]))


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
        side = self._each * self.n
        places, ends = np.arange(side) * (side + 1), np.arange(0, side + 1, self._each)
        return sp.csr_array((np.ones(side), places, ends), shape=(self.n, side**2))

    def __call__(self, x: Point) -> Array:
        if isinstance(x, LowRank):
            diagonal = weighted_squares(x.U, x.weights)
        else:
            diagonal = np.diagonal(np.asarray(x)).copy()
        return diagonal[::2] + diagonal[1::2] if self.hermitian else diagonal

    def adjoint(self, y: Array) -> Symmetric:
        diagonal = np.repeat(y, 2) if self.hermitian else y
        return Symmetric(diagonal.size, diagonal=diagonal)


@dataclass(frozen=True)
class RowSums(Multiple):
    """The row sums, A x = c x 1, of a symmetric n x n matrix.

    Parameters
    ----------
    n : int
        The side of x.
    factor : float, default 1.0
        The factor c.
    """

    terms = 2

    @property
    def size(self) -> int:
        return self.n

    @property
    def norm(self) -> float:
        """c sqrt(n): A'y = c (y 1' + 1 y')/2, and AA' has the largest eigenvalue c^2 n, at 1."""
        return abs(self.factor) * float(np.sqrt(self.n))

    @property
    def row_sums_factor(self) -> float:
        """c: that A x = c x 1, for methods that know no concrete map."""
        return self.factor

    def row_norms(self) -> Array:
        return np.full(self.n, abs(self.factor) * np.sqrt((self.n + 1) / 2))

    def as_matrix(self) -> Any | None:
        """c (e_i 1' + 1 e_i')/2, flattened, for each i: 2n - 1 entries each; None if too many."""
        if 2 * self.n**2 > MAX_ENTRIES:
            return None
        sums = sp.kron(sp.eye(self.n), np.full((1, self.n), self.factor), format="csr")
        return sp.csr_array(sums @ Entries(self.n).as_matrix())

    def __call__(self, x: Point) -> Array:
        if isinstance(x, LowRank):
            return x.U @ (self.factor * x.weights * x.U.sum(axis=0))
        return self.factor * np.asarray(x).sum(axis=1)

    def adjoint(self, y: Array) -> Symmetric:
        """c (y 1' + 1 y')/2."""
        return Symmetric(self.n, pairs=((self.factor * y, np.ones(self.n)),))


class BlockDiagonal(Entries):
    """The upper triangles of the diagonal blocks of a symmetric matrix, row by row.

    Parameters
    ----------
    count : int
        The number of blocks.
    d : int
        The side of a block; x is of side count * d.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import BlockDiagonal
    >>> BlockDiagonal(2, 2)(np.arange(16.0).reshape(4, 4))
    array([ 0.,  1.,  5., 10., 11., 15.])
    """

    def __init__(self, count: int, d: int) -> None:
        require_whole(count, "count")
        require_whole(d, "d")
        self.count, self.d = count, d
        rows, cols = np.triu_indices(d)
        first = d * np.arange(count)[:, None]
        super().__init__(count * d, (first + rows).ravel(), (first + cols).ravel())

    def __repr__(self) -> str:
        return f"BlockDiagonal({self.count}, {self.d})"

    @property
    def block_rows(self) -> tuple[int, Array]:
        return self.d, np.ones(self.size)

    def __call__(self, x: Point) -> Array:
        if not isinstance(x, LowRank):
            return super().__call__(x)
        U = x.U.reshape(self.count, self.d, -1)
        blocks = (U * x.weights) @ U.transpose(0, 2, 1)
        rows, cols = np.triu_indices(self.d)
        return np.asarray(blocks[:, rows, cols].ravel())
