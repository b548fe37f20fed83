"""The linear maps that the laws are tried on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from condal.halves import BLOCK
from condal.maps import (
    Across,
    Cost,
    Diagonal,
    Entries,
    Inner,
    Matrix,
    Quadratics,
    RowSums,
    Scaled,
    Stack,
    Triangle,
)
from condal.maps.quadratics import EXACT_NORM
from condal.operators import Symmetric
from laws.spaces import Matrices, Tuples, Vectors, random_symmetric


@dataclass(frozen=True)
class MapCase:
    name: str
    A: Any
    space: Any
    exact: bool = True  # whether `norm` is |A| itself and not only above it


def _maps() -> Iterator[MapCase]:
    rng = np.random.default_rng(1)
    S5, S4 = (sp.csr_array(sp.random(n, n, 0.4, random_state=n)) for n in (5, 4))
    S5, S4 = S5 + S5.T, S4 + S4.T
    rows = np.array([0, 0, 1, 1, 4, 3, 2, 2, 2])
    cols = np.array([0, 1, 0, 1, 4, 4, 3, 3, 2])
    thin = sp.csr_array(([1.0, 0.0, 1.0], ([0, 1, 2], [2, 1, 0])), shape=(4, 4))
    operator = aslinearoperator(random_symmetric(4, rng))
    yield MapCase("Diagonal", Diagonal(5), Matrices(5))
    yield MapCase("Diagonal, n = 1", Diagonal(1), Matrices(1))
    yield MapCase("RowSums", RowSums(5), Matrices(5))
    yield MapCase("RowSums, n = 1", RowSums(1), Matrices(1))
    yield MapCase("Entries", Entries(5, rows, cols), Matrices(5))
    yield MapCase("Entries off the diagonal", Entries(4, [0, 3], [1, 1]), Matrices(4))
    yield MapCase("Entries, all", Entries(4), Matrices(4))
    yield MapCase("Entries, none", Entries(4, rows[:0], cols[:0]), Matrices(4))
    yield MapCase("Triangle", Triangle(5), Matrices(5))
    yield MapCase("Triangle, n = 1", Triangle(1), Matrices(1))
    yield MapCase("Triangle, of a factor", Triangle(4, -0.3), Matrices(4))
    yield MapCase("Triangle, of blocks", Triangle(BLOCK + 3, 2.0), Matrices(BLOCK + 3))
    yield MapCase("Stack, long", Stack(RowSums(4), Triangle(4)), Matrices(4), False)
    yield MapCase("Inner", Inner([S4, random_symmetric(4, rng), thin, np.eye(4)]), Matrices(4))
    yield MapCase("Inner, dependent", Inner([S5, 2 * S5, sp.csr_array((5, 5))]), Matrices(5))
    yield MapCase("Inner, zero", Inner([np.zeros((3, 3))]), Matrices(3))
    mixed = Diagonal(4).adjoint(np.arange(4.0)) + RowSums(4).adjoint(np.ones(4))
    yield MapCase(
        "Inner, of gradients", Inner([mixed, Diagonal(4).adjoint(np.ones(4))]), Matrices(4)
    )
    yield MapCase(
        "Cost, sparse", Cost(Symmetric(5, sparse=(S5,), diagonal=np.ones(5))), Matrices(5)
    )
    yield MapCase("Cost, dense", Cost(Matrices(4).gradient(rng)), Matrices(4))
    yield MapCase(
        "Cost, matrix-free", Cost(Symmetric(4, operators=(operator,))), Matrices(4), False
    )
    yield MapCase("Matrix, tall", Matrix(rng.standard_normal((5, 3))), Vectors(3))
    yield MapCase("Matrix, wide", Matrix(np.asfortranarray(rng.random((2, 6)))), Vectors(6))
    yield MapCase("Matrix, sparse", Matrix(sp.random(6, 4, 0.5, random_state=0)), Vectors(4))
    yield MapCase("Matrix, one row", Matrix([1, 2, 3]), Vectors(3))
    factors = np.array([1.0, 0.5, 3.0, 1e-3, 2.0])
    yield MapCase("Scaled", Scaled(RowSums(5), factors), Matrices(5), False)
    yield MapCase("Scaled, negative", Scaled(Diagonal(5), -factors), Matrices(5))
    yield MapCase("Scaled, none", Scaled(Stack(), np.zeros(0)), Matrices(2))
    yield MapCase("Stack", Stack(Diagonal(4), RowSums(4), Inner([S4])), Matrices(4), False)
    yield MapCase("Stack, nothing", Stack(), Matrices(3))
    yield MapCase("Stack, with an empty one", Stack(Diagonal(3), Stack()), Matrices(3))
    blocks = Tuples((Matrices(4), Vectors(3)))
    across = Across(Diagonal(4), Matrix(rng.standard_normal((4, 3))))
    yield MapCase("Across", across, blocks, False)
    a = rng.standard_normal((7, 4))
    thinned = np.where(np.abs(a) > 0.7, a, 0.0)
    rows = rng.standard_normal(7)
    long = rng.standard_normal((EXACT_NORM + 5, 3))
    yield MapCase("Quadratics", Quadratics(a, rows), Matrices(4))
    yield MapCase("Quadratics, sparse", Quadratics(sp.coo_array(thinned)), Matrices(4))
    free = Quadratics(aslinearoperator(a), rows)
    yield MapCase("Quadratics, matrix-free", free, Matrices(4), False)
    yield MapCase("Quadratics, many", Quadratics(long), Matrices(3), False)
    yield MapCase("Quadratics, one", Quadratics([[2.0]]), Matrices(1))
    twice = Stack(across, Across(Cost(Symmetric(4, sparse=(S4,))), Matrix(np.ones(3))))
    yield MapCase("Stack of Across", twice, blocks, False)


MAPS = list(_maps())
