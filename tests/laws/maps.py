"""The linear maps that the laws are tried on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from condal.linalg.lifting import lifted, symmetric
from condal.linalg.symmetric import Symmetric
from condal.linalg.triangles import BLOCK_ROWS
from condal.maps import (
    Across,
    BlockDiagonal,
    Cost,
    Diagonal,
    Entries,
    FiniteDifferences,
    Identity,
    Inner,
    LeftProduct,
    Matrix,
    Operator,
    PauliProbabilities,
    Quadratics,
    RowSums,
    Sampling,
    Scaled,
    Stack,
    Triangle,
)
from condal.maps.diffraction import CodedDiffraction
from condal.maps.quadratics import MAX_EXACT_NORM_ROWS
from spaces import (
    Hermitians,
    Matrices,
    Rectangles,
    Tuples,
    Vectors,
    random_hermitian,
    random_symmetric,
)


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
    yield MapCase(
        "PauliProbabilities, matrix-free", PauliProbabilities(["XZ", "YY"]), Hermitians(4)
    )
    yield MapCase(
        "CompressedProbabilities, matrix-free",
        PauliProbabilities(["XZ", "YY"]).compressed,
        Hermitians(4),
    )
    yield MapCase("BlockDiagonal", BlockDiagonal(2, 3), Matrices(6))
    yield MapCase("BlockDiagonal of one", BlockDiagonal(1, 2), Matrices(2))
    yield MapCase("RowSums", RowSums(5), Matrices(5))
    yield MapCase("RowSums, n = 1", RowSums(1), Matrices(1))
    yield MapCase("Entries", Entries(5, rows, cols), Matrices(5))
    yield MapCase("Entries off the diagonal", Entries(4, [0, 3], [1, 1]), Matrices(4))
    yield MapCase("Entries, all", Entries(4), Matrices(4))
    yield MapCase("Entries, none", Entries(4, rows[:0], cols[:0]), Matrices(4))
    yield MapCase("Triangle", Triangle(5), Matrices(5))
    yield MapCase("Triangle, n = 1", Triangle(1), Matrices(1))
    yield MapCase("Triangle, of a factor", Triangle(4, -0.3), Matrices(4))
    yield MapCase("Triangle, of blocks", Triangle(BLOCK_ROWS + 3, 2.0), Matrices(BLOCK_ROWS + 3))
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
    yield MapCase("Identity", Identity(4), Vectors(4))
    yield MapCase("Sampling", Sampling(5, [4, 0, 2]), Vectors(5))
    yield MapCase("Sampling, again", Sampling(4, np.array([1, 3, 1, 1, 0])), Vectors(4))
    yield MapCase("Sampling, none", Sampling(3, np.zeros(0, dtype=int)), Vectors(3))
    for shape in [(1,), (6,), (3, 4), (1, 5), (2, 1, 3)]:
        differences = FiniteDifferences(shape)
        yield MapCase(f"FiniteDifferences{shape}", differences, Vectors(differences.n))
    op = aslinearoperator(rng.standard_normal((5, 3)))
    yield MapCase("Operator, tall, matrix-free", Operator(op), Vectors(3), False)
    known = Operator(op.T, norm=float(np.linalg.norm(op.A, 2)))
    yield MapCase("Operator, of known norm, matrix-free", known, Vectors(5))
    lazy = Operator(LinearOperator((4, 4), matvec=lambda x: x, rmatvec=lambda y: y, dtype=float))
    yield MapCase("Operator, that gives x back, matrix-free", lazy, Vectors(4), False)
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
    long = rng.standard_normal((MAX_EXACT_NORM_ROWS + 5, 3))
    yield MapCase("Quadratics", Quadratics(a, rows), Matrices(4))
    yield MapCase("Quadratics, sparse", Quadratics(sp.coo_array(thinned)), Matrices(4))
    free = Quadratics(aslinearoperator(a), rows)
    yield MapCase("Quadratics, matrix-free", free, Matrices(4), False)
    yield MapCase("Quadratics, many", Quadratics(long), Matrices(3), False)
    yield MapCase("Quadratics, one", Quadratics([[2.0]]), Matrices(1))
    yield from _hermitian_maps(rng)
    yield from _rectangular_maps(rng)
    twice = Stack(across, Across(Cost(Symmetric(4, sparse=(S4,))), Matrix(np.ones(3))))
    yield MapCase("Stack of Across", twice, blocks, False)


def _hermitian_maps(rng: np.random.Generator) -> Iterator[MapCase]:
    """Of complex data: their real forms."""
    H, G, rows = random_hermitian(3, rng), random_hermitian(3, rng), rng.standard_normal(5)
    thin = sp.csr_array(np.where(np.abs(G) > 0.7, G, 0.0))
    a = rng.standard_normal((5, 3)) + 1j * rng.standard_normal((5, 3))
    thinned = np.where(np.abs(a) > 1.0, a, 0.0)
    long = rng.standard_normal((MAX_EXACT_NORM_ROWS + 5, 2)) * np.exp(
        1j * rng.random((MAX_EXACT_NORM_ROWS + 5, 2))
    )
    space = Hermitians(3)
    yield MapCase("Diagonal, hermitian", Diagonal(3, hermitian=True), space)
    yield MapCase("Diagonal, hermitian, n = 1", Diagonal(1, hermitian=True), Hermitians(1))
    scaled = Scaled(Diagonal(3, hermitian=True), np.array([1.0, -2.0, 0.5]))
    yield MapCase("Scaled, hermitian", scaled, space)
    yield MapCase("Inner, complex", Inner([H, thin, G.tolist(), np.eye(3)]), space)
    yield MapCase("Cost, complex", Cost(symmetric(H)), space)
    yield MapCase("Cost, complex and sparse", Cost(symmetric(thin)), space)
    hidden = Cost(symmetric(aslinearoperator(H)))
    yield MapCase("Cost, complex, matrix-free", hidden, space, False)
    yield MapCase("Quadratics, complex", Quadratics(a, rows), space)
    yield MapCase("Quadratics, complex and sparse", Quadratics(sp.csr_array(thinned)), space)
    free = Quadratics(aslinearoperator(a), rows)
    yield MapCase("Quadratics, complex, matrix-free", free, space, False)
    known = Quadratics(aslinearoperator(a), lengths=np.linalg.norm(a, axis=1))
    yield MapCase("Quadratics, complex, of known lengths, matrix-free", known, space, False)
    coded = Quadratics(CodedDiffraction(a.reshape(5, 1, 3)))
    yield MapCase("Quadratics, coded diffraction, matrix-free", coded, space, False)
    yield MapCase("Quadratics, complex, many", Quadratics(long), Hermitians(2), False)
    yield MapCase("Quadratics, complex, one", Quadratics([[2.0j]]), Hermitians(1))
    stacked = Stack(Diagonal(3, hermitian=True), Quadratics(a))
    yield MapCase("Stack, hermitian", stacked, space, False)


def _rectangular_maps(rng: np.random.Generator) -> Iterator[MapCase]:
    """Of m x n matrices, in a corner of symmetric ones."""
    space = Rectangles(2, 3)
    rows, cols = np.array([0, 1, 1, 1, 0]), np.array([2, 0, 1, 0, 0])
    yield MapCase("Entries, rectangular", Entries.rectangular((2, 3), rows, cols), space)
    one = Entries.rectangular((1, 1), [0], [0])
    yield MapCase("Entries, rectangular, one", one, Rectangles(1, 1))
    C = rng.standard_normal((2, 3))
    inner = Inner([lifted(C), lifted(sp.csr_array(np.where(C > 0, C, 0.0)))])
    yield MapCase("Inner, lifted", inner, space)
    a = rng.standard_normal((4, 2))
    yield MapCase("LeftProduct", LeftProduct(a, 3), space)
    yield MapCase("LeftProduct, wide", LeftProduct(a.T, 1), Rectangles(4, 1))
    thin = sp.coo_array(np.where(a > 0, a, 0.0))
    yield MapCase("LeftProduct, sparse", LeftProduct(thin, 3), space)
    yield MapCase("LeftProduct, one", LeftProduct([[2.0]], 1), Rectangles(1, 1))
    yield MapCase("Cost, lifted", Cost(lifted(C)), space)
    yield MapCase("Cost, lifted, matrix-free", Cost(lifted(aslinearoperator(C))), space, False)


MAPS = list(_maps())
