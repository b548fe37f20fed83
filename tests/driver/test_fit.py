"""Maps and objectives of another space than X are refused when the problem is made."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import condal
from condal import (
    Across,
    Diagonal,
    Entries,
    Equal,
    Hermitian,
    Inner,
    LeastSquares,
    Linear,
    NuclearBall,
    Problem,
    Product,
    Quadratics,
    Simplex,
    lifted,
)
from condal.driver.scaling import normalise
from condal.errors import PieceError, ProblemError
from condal.maps import LeftProduct, Stack
from laws.maps import MAPS
from spaces import Hermitians, Rectangles, random_hermitian, random_symmetric

rng = np.random.default_rng(11)
C = rng.standard_normal((3, 4))
REAL = random_symmetric(4, rng)
COMPLEX = random_hermitian(2, rng)
ROWS, COLS = np.array([0, 1, 2]), np.array([3, 0, 0])
FORMS = {"dense": np.asarray, "sparse": sp.csr_array, "matrix-free": aslinearoperator}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
scales = pytest.mark.parametrize("scale", [1e-100, 1e-9, 1.0, 1e9, 1e100])
BALL, COMPLEX_ONES = NuclearBall(3, 4), Hermitian(2)

WRONG = {
    # For NuclearBall(3, 4): maps of side 7.
    "Diagonal": (BALL, Diagonal(7)),
    "Entries": (BALL, Entries(7, [0, 1], [1, 1])),
    "Entries, in one block": (BALL, Entries(7, [6], [5])),
    "Entries, rectangular": (BALL, Entries.rectangular((2, 5), [0, 1], [0, 4])),
    "Entries, transposed": (BALL, Entries.rectangular((4, 3), COLS, ROWS)),
    "LeftProduct": (BALL, LeftProduct(rng.standard_normal((2, 4)), 3)),
    "Inner": (BALL, Inner([lifted(C), lifted(C.T)])),
    "Quadratics": (BALL, Quadratics(rng.standard_normal((5, 7)))),
    "Quadratics, matrix-free": (BALL, Quadratics(aslinearoperator(rng.standard_normal((5, 7))))),
    "Stack": (BALL, Stack(Entries.rectangular((3, 4), ROWS, COLS), Diagonal(7))),
    # For Hermitian(2): real maps of side 4.
    "Diagonal, real": (COMPLEX_ONES, Diagonal(4)),
    "Inner, real": (COMPLEX_ONES, Inner([REAL, np.eye(4)])),
    "Entries, real": (COMPLEX_ONES, Entries(4, [0], [2])),
    "Quadratics, real": (COMPLEX_ONES, Quadratics(rng.standard_normal((5, 4)))),
    "Quadratics, real, matrix-free": (
        COMPLEX_ONES,
        Quadratics(aslinearoperator(rng.standard_normal((5, 4)))),
    ),
    "Stack, real": (COMPLEX_ONES, Stack(Diagonal(2, hermitian=True), Diagonal(4))),
}
SAID = {
    7: r"must act on 3 x 4 matrices, lifted to symmetric ones of side 7 \(see condal\.lifted\); got"
    r" .*\(\w acts on shape \(7, 7\)\)",
    4: r"must act on Hermitian 2 x 2 matrices, .*; got .* real symmetric 4 x 4 .*"
    r"\(\w acts on shape \(4, 4\)\)",
}


@pytest.mark.parametrize(("X", "A"), WRONG.values(), ids=WRONG)
def test_maps_of_another_space(X, A):
    K, g = Equal(np.zeros(A.size)), condal.L1(1.0, size=A.size)
    right = Linear(lifted(C) if X is BALL else COMPLEX)
    said = SAID[X.n]
    with pytest.raises(ProblemError, match=f"A and X do not fit: the constraint map A {said}"):
        Problem.of(right, X, A, K)
    with pytest.raises(ProblemError, match=f"A and X do not fit: the constraint map A {said}"):
        Problem(right, X, A, K)
    with pytest.raises(ProblemError, match=f"B and X do not fit: the map B {said}"):
        Problem.of(right, X, B=A, g=g)
    with pytest.raises(ProblemError, match=f"f and X do not fit: the objective f {said}"):
        Problem.of(LeastSquares(A, np.zeros(A.size)), X)


@forms
@scales
def test_objectives_of_another_space(form, scale):
    with pytest.raises(ProblemError, match=f"f and X do not fit: the objective f {SAID[7]}"):
        Problem.of(Linear(lifted(form(scale * C.T))), BALL)
    with pytest.raises(ProblemError, match=f"f and X do not fit: the objective f {SAID[4]}"):
        Problem.of(Linear(form(scale * REAL)), COMPLEX_ONES)


@forms
@scales
def test_objectives_of_its_own(form, scale):
    Problem.of(Linear(lifted(form(scale * C))), BALL)
    Problem.of(Linear(form(scale * COMPLEX)), COMPLEX_ONES)
    Problem.of(Linear(form((scale * np.diag([1.0, 2.0])).astype(complex))), COMPLEX_ONES)


def test_the_text_says_when_it_is_the_transpose():
    with pytest.raises(ProblemError, match="got one of 4 x 3 ones: transpose its data, or use "):
        Problem.of(Linear(lifted(C.T)), BALL)
    with pytest.raises(ProblemError, match="got one that reads its diagonal blocks"):
        Problem.of(Linear(np.eye(7)), BALL)


def test_the_text_says_how_data_become_complex():
    with pytest.raises(ProblemError, match=r"complex dtype, .* Diagonal\(n, hermitian=True\)"):
        Problem.of(Linear(REAL), COMPLEX_ONES)


def test_blocks_of_a_product_are_looked_at_too():
    X = Product(Simplex(3), BALL, COMPLEX_ONES)
    costs = (np.ones(3), lifted(C), COMPLEX)
    Problem.of(Linear(costs), X)
    for i, wrong in ((1, lifted(C.T)), (2, REAL)):
        with pytest.raises(ProblemError, match=f"f and X do not fit: .* f, block {i}, must act on"):
            Problem.of(Linear((*costs[:i], wrong, *costs[i + 1 :])), X)
    maps = (condal.Matrix(np.ones((2, 3))), Inner([lifted(C)] * 2), Inner([COMPLEX] * 2))
    Problem.of(Linear(costs), X, Across(*maps), Equal([0.0, 0.0]))
    with pytest.raises(ProblemError, match=r"A and X do not fit: .* A, block 1, must act on"):
        Problem.of(
            Linear(costs), X, Across(maps[0], Inner([np.eye(7)] * 2), maps[2]), Equal([0, 0])
        )


def test_a_wrong_number_of_blocks_gives_both_shapes():
    X = Product(Simplex(3), BALL, Product(COMPLEX_ONES, Simplex(2)))
    with pytest.raises(ProblemError) as caught:
        Problem.of(Linear((np.ones(3), np.eye(2))), X)
    assert str(caught.value) == (
        "f and X do not fit: the objective f must act on a product of 3 blocks: give a tuple for "
        "Linear, or Across(A_1, A_2, ...) for a map; the blocks of X are "
        "(Simplex(n=3, radius=1.0), NuclearBall(3, 4, radius=1), Product(Hermitian(n=2, trace=1), "
        "Simplex(n=2, radius=1.0))) "
        "(f acts on (shape (3,), shape (2, 2)))"
    )


def test_a_problem_whose_domain_is_replaced_is_looked_at_again():
    problem = Problem.of(Linear(lifted(C)), BALL)
    with pytest.raises(ProblemError, match="got one of 3 x 4 ones: transpose"):
        replace(problem, X=NuclearBall(4, 3))


@pytest.mark.parametrize(
    "case", [c for c in MAPS if isinstance(c.space, Rectangles | Hermitians)], ids=lambda c: c.name
)
def test_every_map_of_its_space_is_taken(case):
    n = case.space
    X = NuclearBall(n.m, n.n) if isinstance(n, Rectangles) else Hermitian(n.n)
    for factor in (1e-60, 1.0, 1e60):
        A = case.A.scaled(np.full(case.A.size, factor))
        Problem.of(X=X, A=A, K=Equal(np.zeros(A.size)))


def test_large_maps_are_taken_in_spite_of_their_rounding():
    m, n = 300, 200
    a = rng.standard_normal((500, m)) + 1j * rng.standard_normal((500, m))
    Problem.of(LeastSquares(Quadratics(a), np.ones(500)), Hermitian(m))
    masks = np.exp(2j * np.pi * rng.random((4, 1, m)))
    coded = Quadratics(condal.CodedDiffraction(masks))
    Problem.of(LeastSquares(coded, np.ones(coded.size)), Hermitian(m))
    X = rng.standard_normal((m, n)) * np.logspace(-8, 8, n)
    Problem.of(Linear(lifted(X)), NuclearBall(m, n))
    H = random_hermitian(m, rng) * np.outer(np.logspace(-8, 8, m), np.logspace(-8, 8, m))
    Problem.of(Linear(H), Hermitian(m))


def test_no_more_than_a_few_products_are_asked_for():
    asked = []

    def counted(product):
        def called(v):
            asked.append(1)
            return product @ np.ravel(v)

        return called

    op = LinearOperator((3, 4), matvec=counted(C), rmatvec=counted(C.T), dtype=float)
    problem = Problem.of(Linear(lifted(op)), BALL)
    assert len(asked) <= 4  # two columns, of which either block is multiplied
    assert problem.f.M.norm > 0
    del asked[:]
    normalise(problem)  # whose parts are known to fit
    assert not asked


@pytest.mark.parametrize("fault", ["raises", "nan", "short"])
def test_faults_of_an_operator_are_named_while_it_is_looked_at(fault):
    def product(v):
        if fault == "raises":
            raise RuntimeError("boom")
        return np.full(3, np.nan) if fault == "nan" else np.zeros(2)

    op = LinearOperator((3, 4), matvec=product, rmatvec=lambda y: C.T @ np.ravel(y), dtype=float)
    said = {
        "raises": r"the operator of the objective f raised RuntimeError: boom",
        "nan": r"the operator of the objective f returned nan at index 0, 0 where a finite number",
        # SciPy refuses the product itself before 1.18; since then the lifted operator sees it.
        "short": r"the operator of the objective f returned (an array of size 2 where one of shape "
        r"\(3,1\)|shape \(6, 2\) where \(7, 2\)) was promised",
    }
    with pytest.raises(PieceError, match=said[fault]) as caught:
        Problem.of(Linear(lifted(op)), BALL)
    assert caught.value.piece == "f"
