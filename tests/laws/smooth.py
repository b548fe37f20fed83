"""The smooth objectives that the laws are tried on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from condal.maps import (
    Across,
    Entries,
    Matrix,
    RowSums,
)
from condal.smooth import LeastSquares, Linear
from laws.spaces import Matrices, Tuples, Vectors, random_symmetric


@dataclass(frozen=True)
class SmoothCase:
    name: str
    f: Any
    space: Any
    exact: bool = True  # whether the norms behind L and `magnitude` are bounds


def _smooth() -> Iterator[SmoothCase]:
    rng = np.random.default_rng(2)
    S = sp.random(5, 5, 0.5, random_state=3)
    c = rng.standard_normal(6)
    a = rng.standard_normal((6, 4))
    blocks = Tuples((Matrices(3), Vectors(4)))
    yield SmoothCase("Linear, vector", Linear([1, -2, 3]), Vectors(3))
    yield SmoothCase("Linear, dense", Linear(random_symmetric(4, rng)), Matrices(4))
    yield SmoothCase("Linear, sparse", Linear(S + S.T), Matrices(5))
    yield SmoothCase("Linear, list", Linear([[1, 2], [2, 0]]), Matrices(2))
    yield SmoothCase("Linear, gradient", Linear(Matrices(4).gradient(rng)), Matrices(4))
    yield SmoothCase("Linear, blocks", Linear((np.eye(3), np.arange(4.0))), blocks)
    operator = aslinearoperator(random_symmetric(6, rng))
    yield SmoothCase("Linear, matrix-free", Linear(operator), Matrices(6), False)
    yield SmoothCase("LeastSquares", LeastSquares(a, c), Vectors(4))
    yield SmoothCase("LeastSquares, weighted", LeastSquares(a, c, 0.3), Vectors(4))
    yield SmoothCase("LeastSquares, far", LeastSquares(sp.csr_array(a), 1e3 * c), Vectors(4))
    yield SmoothCase("LeastSquares, entries", LeastSquares(Entries(3), np.arange(9)), Matrices(3))
    rows = Across(RowSums(3), Matrix(np.ones((3, 4))))
    yield SmoothCase("LeastSquares, blocks", LeastSquares(rows, [1, 2, 3]), blocks)


SMOOTH = list(_smooth())
