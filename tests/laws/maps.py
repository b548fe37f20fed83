"""The linear maps that the laws are tried on."""

from collections.abc import Iterator

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
    Scaled,
    Stack,
    Triangle,
)
from condal.maps.diffraction import CodedDiffraction
from condal.maps.quadratics import MAX_EXACT_NORM_ROWS
from laws.case import TALL, C, Case, N, b
from spaces import (
    Hermitians,
    Matrices,
    Rectangles,
    Tuples,
    Vectors,
    random_hermitian,
    random_symmetric,
)


def _maps() -> Iterator[Case]:
    rng = np.random.default_rng(1)
    S5, S4 = (sp.csr_array(sp.random(n, n, 0.4, random_state=n)) for n in (5, 4))
    S5, S4 = S5 + S5.T, S4 + S4.T
    rows = np.array([0, 0, 1, 1, 4, 3, 2, 2, 2])
    cols = np.array([0, 1, 0, 1, 4, 4, 3, 3, 2])
    thin = sp.csr_array(([1.0, 0.0, 1.0], ([0, 1, 2], [2, 1, 0])), shape=(4, 4))
    operator = aslinearoperator(random_symmetric(4, rng))
    yield Case.of("Diagonal", Diagonal(5), Matrices(5))
    yield Case.of("Diagonal, n = 1", Diagonal(1), Matrices(1))
    yield Case.of(
        "PauliProbabilities, matrix-free", PauliProbabilities(["XZ", "YY"]), Hermitians(4)
    )
    yield Case.of(
        "CompressedProbabilities, matrix-free",
        PauliProbabilities(["XZ", "YY"]).compressed,
        Hermitians(4),
    )
    yield Case.of("BlockDiagonal", BlockDiagonal(2, 3), Matrices(6))
    yield Case.of("BlockDiagonal of one", BlockDiagonal(1, 2), Matrices(2))
    yield Case.of("RowSums", RowSums(5), Matrices(5))
    yield Case.of("RowSums, n = 1", RowSums(1), Matrices(1))
    entries = {"rows": np.array([0, 1, 3]), "cols": np.array([1, 1, 2])}
    yield Case("Entries", lambda **k: Entries(N, **k), places=entries, space=Matrices(N))
    yield Case.of("Entries, repeated", Entries(5, rows, cols), Matrices(5))
    yield Case.of("Entries off the diagonal", Entries(4, [0, 3], [1, 1]), Matrices(4))
    yield Case.of("Entries, all", Entries(4), Matrices(4))
    yield Case.of("Entries, none", Entries(4, rows[:0], cols[:0]), Matrices(4))
    yield Case.of("Triangle", Triangle(5), Matrices(5))
    yield Case.of("Triangle, n = 1", Triangle(1), Matrices(1))
    yield Case.of("Triangle, of a factor", Triangle(4, -0.3), Matrices(4))
    yield Case.of("Triangle, of blocks", Triangle(BLOCK_ROWS + 3, 2.0), Matrices(BLOCK_ROWS + 3))
    yield Case.of("Stack, long", Stack(RowSums(4), Triangle(4)), Matrices(4), False)
    yield Case.of("Inner, mixed", Inner([S4, random_symmetric(4, rng), thin]), Matrices(4))
    yield Case(
        "Inner",
        lambda A0, A1: Inner([A0, A1]),
        waves={"A0": C, "A1": np.eye(N)},
        sparse=("A0", "A1"),
        symmetric=("A0", "A1"),
        space=Matrices(N),
    )
    yield Case(
        "Inner.from_triplets",
        lambda owner, **triplets: Inner.from_triplets(N, owner, **triplets),
        {"values": b[:3]},
        places={"owner": np.array([0, 1, 1]), "rows": np.array([0, 1, 2]), "cols": np.arange(3)},
        space=Matrices(N),
    )
    yield Case.of("Inner, dependent", Inner([S5, 2 * S5, sp.csr_array((5, 5))]), Matrices(5))
    yield Case.of("Inner, zero", Inner([np.zeros((3, 3))]), Matrices(3))
    mixed = Diagonal(4).adjoint(np.arange(4.0)) + RowSums(4).adjoint(np.ones(4))
    yield Case.of(
        "Inner, of gradients", Inner([mixed, Diagonal(4).adjoint(np.ones(4))]), Matrices(4)
    )
    yield Case.of(
        "Cost, sparse", Cost(Symmetric(5, sparse=(S5,), diagonal=np.ones(5))), Matrices(5)
    )
    yield Case.of("Cost, dense", Cost(Matrices(4).gradient(rng)), Matrices(4))
    yield Case.of(
        "Cost, matrix-free", Cost(Symmetric(4, operators=(operator,))), Matrices(4), False
    )
    yield Case("Matrix", Matrix, {"a": TALL}, sparse=("a",), space=Vectors(N))
    yield Case.of("Matrix, wide", Matrix(np.asfortranarray(rng.random((2, 6)))), Vectors(6))
    yield Case.of("Matrix, sparse", Matrix(sp.random(6, 4, 0.5, random_state=0)), Vectors(4))
    yield Case.of("Matrix, one row", Matrix([1, 2, 3]), Vectors(3))
    yield Case.of("Identity", Identity(4), Vectors(4))
    chosen = sp.csr_array(np.eye(4))[[1, 3, 1, 1, 0]]
    yield Case.of("Matrix, of entries, some again", Matrix(chosen), Vectors(4))
    for shape in [(1,), (6,), (3, 4), (1, 5), (2, 1, 3)]:
        differences = FiniteDifferences(shape)
        yield Case.of(f"FiniteDifferences{shape}", differences, Vectors(differences.n))
    op = aslinearoperator(rng.standard_normal((5, 3)))
    yield Case.of("Operator, tall, matrix-free", Operator(op), Vectors(3), False)
    known = Operator(op.T, norm=float(np.linalg.norm(op.A, 2)))
    yield Case.of("Operator, of known norm, matrix-free", known, Vectors(5))
    lazy = Operator(LinearOperator((4, 4), matvec=lambda x: x, rmatvec=lambda y: y, dtype=float))
    yield Case.of("Operator, that gives x back, matrix-free", lazy, Vectors(4), False)
    factors = np.array([1.0, 0.5, 3.0, 1e-3, 2.0])
    yield Case.of("Scaled", Scaled(RowSums(5), factors), Matrices(5), False)
    yield Case.of("Scaled, negative", Scaled(Diagonal(5), -factors), Matrices(5))
    yield Case.of("Scaled, none", Scaled(Stack(), np.zeros(0)), Matrices(2))
    yield Case.of("Stack", Stack(Diagonal(4), RowSums(4), Inner([S4])), Matrices(4), False)
    dense = Matrix(rng.standard_normal((3, 5)))
    yield Case.of("Stack of vectors", Stack(dense, Identity(5)), Vectors(5))
    yield Case.of("Stack, nothing", Stack(), Matrices(3))
    yield Case.of("Stack, with an empty one", Stack(Diagonal(3), Stack()), Matrices(3))
    blocks = Tuples((Matrices(4), Vectors(3)))
    across = Across(Diagonal(4), Matrix(rng.standard_normal((4, 3))))
    yield Case.of("Across", across, blocks, False)
    a = rng.standard_normal((7, 4))
    thinned = np.where(np.abs(a) > 0.7, a, 0.0)
    rows = rng.standard_normal(7)
    long = rng.standard_normal((MAX_EXACT_NORM_ROWS + 5, 3))
    waves = {"a": TALL}
    yield Case(
        "Quadratics", Quadratics, {"scale": b}, waves=waves, sparse=("a",), space=Matrices(N)
    )
    yield Case.of("Quadratics, sparse", Quadratics(sp.coo_array(thinned)), Matrices(4))
    free = Quadratics(aslinearoperator(a), rows)
    yield Case.of("Quadratics, matrix-free", free, Matrices(4), False)
    yield Case.of("Quadratics, many", Quadratics(long), Matrices(3), False)
    yield Case.of("Quadratics, one", Quadratics([[2.0]]), Matrices(1))
    yield from _hermitian_maps(rng)
    yield from _rectangular_maps(rng)
    twice = Stack(across, Across(Cost(Symmetric(4, sparse=(S4,))), Matrix(np.ones(3))))
    yield Case.of("Stack of Across", twice, blocks, False)


def _hermitian_maps(rng: np.random.Generator) -> Iterator[Case]:
    """Of complex data: their real forms."""
    H, G, rows = random_hermitian(3, rng), random_hermitian(3, rng), rng.standard_normal(5)
    thin = sp.csr_array(np.where(np.abs(G) > 0.7, G, 0.0))
    a = rng.standard_normal((5, 3)) + 1j * rng.standard_normal((5, 3))
    thinned = np.where(np.abs(a) > 1.0, a, 0.0)
    long = rng.standard_normal((MAX_EXACT_NORM_ROWS + 5, 2)) * np.exp(
        1j * rng.random((MAX_EXACT_NORM_ROWS + 5, 2))
    )
    space = Hermitians(3)
    yield Case.of("Diagonal, hermitian", Diagonal(3, hermitian=True), space)
    yield Case.of("Diagonal, hermitian, n = 1", Diagonal(1, hermitian=True), Hermitians(1))
    scaled = Scaled(Diagonal(3, hermitian=True), np.array([1.0, -2.0, 0.5]))
    yield Case.of("Scaled, hermitian", scaled, space)
    yield Case.of("Inner, complex", Inner([H, thin, G.tolist(), np.eye(3)]), space)
    yield Case.of("Cost, complex", Cost(symmetric(H)), space)
    yield Case.of("Cost, complex and sparse", Cost(symmetric(thin)), space)
    hidden = Cost(symmetric(aslinearoperator(H)))
    yield Case.of("Cost, complex, matrix-free", hidden, space, False)
    yield Case.of("Quadratics, complex", Quadratics(a, rows), space)
    yield Case.of("Quadratics, complex and sparse", Quadratics(sp.csr_array(thinned)), space)
    free = Quadratics(aslinearoperator(a), rows)
    yield Case.of("Quadratics, complex, matrix-free", free, space, False)
    known = Quadratics(aslinearoperator(a), lengths=np.linalg.norm(a, axis=1))
    yield Case.of("Quadratics, complex, of known lengths, matrix-free", known, space, False)
    coded = Quadratics(CodedDiffraction(a.reshape(5, 1, 3)))
    yield Case.of("Quadratics, coded diffraction, matrix-free", coded, space, False)
    yield Case.of("Quadratics, complex, many", Quadratics(long), Hermitians(2), False)
    yield Case.of("Quadratics, complex, one", Quadratics([[2.0j]]), Hermitians(1))
    stacked = Stack(Diagonal(3, hermitian=True), Quadratics(a))
    yield Case.of("Stack, hermitian", stacked, space, False)


def _rectangular_maps(rng: np.random.Generator) -> Iterator[Case]:
    """Of m x n matrices, in a corner of symmetric ones."""
    space = Rectangles(2, 3)
    rows, cols = np.array([0, 1, 1, 1, 0]), np.array([2, 0, 1, 0, 0])
    yield Case.of("Entries, rectangular", Entries.rectangular((2, 3), rows, cols), space)
    one = Entries.rectangular((1, 1), [0], [0])
    yield Case.of("Entries, rectangular, one", one, Rectangles(1, 1))
    C = rng.standard_normal((2, 3))
    inner = Inner([lifted(C), lifted(sp.csr_array(np.where(C > 0, C, 0.0)))])
    yield Case.of("Inner, lifted", inner, space)
    a = rng.standard_normal((4, 2))
    made = lambda a: LeftProduct(a, 2)  # noqa: E731
    yield Case("LeftProduct", made, {"a": TALL}, sparse=("a",), space=Rectangles(N, 2))
    yield Case.of("LeftProduct, wide", LeftProduct(a.T, 1), Rectangles(4, 1))
    thin = sp.coo_array(np.where(a > 0, a, 0.0))
    yield Case.of("LeftProduct, sparse", LeftProduct(thin, 3), space)
    yield Case.of("LeftProduct, one", LeftProduct([[2.0]], 1), Rectangles(1, 1))
    yield Case.of("Cost, lifted", Cost(lifted(C)), space)
    yield Case.of("Cost, lifted, matrix-free", Cost(lifted(aslinearoperator(C))), space, False)


MAPS = list(_maps())
