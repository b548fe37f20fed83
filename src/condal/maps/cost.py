"""The map of a linear objective on symmetric matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.operator_norms import frobenius_norm
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap


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
