"""Problems over Hermitian and over rectangular matrices, by every method that takes them."""

from dataclasses import replace
from functools import lru_cache

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.linalg.points import Outer
from condal.methods import CGAL, LowRankCGAL, PrimalDual, Splitting, corrective
from condal.methods.rules import LineSearch
from condal.storage import Sketch, TwoSidedSketch
from condal_lab.methods import SketchyCGM
from spaces import random_hermitian

M, N = 6, 8  # of rectangular matrices
METHODS = {
    "default": None,
    "lowrank": LowRankCGAL(),
    "splitting": Splitting(),
    "primal-dual": PrimalDual(),
    "cgal": CGAL(eta=LineSearch()),
    "cgal-fc": corrective(),
}


def complex_block(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def unit_diagonal(n=8, form=np.asarray):
    """max <C, x>, diag x = 1."""
    C = random_hermitian(n, np.random.default_rng(0))
    problem = condal.Problem.of(
        f=condal.Linear(form(C)),
        X=condal.Hermitian(n, trace=float(n)),
        A=condal.Diagonal(n, hermitian=True),
        K=condal.Equal(np.ones(n)),
        maximise=True,
    )
    x = cp.Variable((n, n), hermitian=True)
    return problem, cp.Maximize(cp.real(cp.trace(C @ x))), [x >> 0, cp.diag(x) == 1]


def inner_constraints(n=6, p=4, at_most=False):
    """min <C, x>, <A_i, x> = b_i with a feasible point inside."""
    rng = np.random.default_rng(1)
    C, *As = (random_hermitian(n, rng) for _ in range(p + 1))
    u = complex_block(rng, n, n)
    inside = u @ u.conj().T
    inside *= (0.7 if at_most else 1.0) * 2.0 / np.trace(inside).real
    b = np.array([np.trace(A @ inside).real for A in As])
    problem = condal.Problem.of(
        f=condal.Linear(sp.csr_array(C)),
        X=condal.Hermitian(n, trace=2.0, at_most=at_most),
        A=condal.Inner([sp.csr_array(A) for A in As]),
        K=condal.Equal(b),
    )
    x = cp.Variable((n, n), hermitian=True)
    trace = cp.real(cp.trace(x))
    rows = [cp.real(cp.trace(A @ x)) == bi for A, bi in zip(As, b, strict=True)]
    rows.append(trace <= 2 if at_most else trace == 2)
    return problem, cp.Minimize(cp.real(cp.trace(C @ x))), [x >> 0, *rows]


def boxed_intensities(n=5, p=12):
    """min tr x, |(a u)_i|^2 about what was measured."""
    rng = np.random.default_rng(2)
    a, u = complex_block(rng, p, n), complex_block(rng, n)
    b = np.abs(a @ u) ** 2
    problem = condal.Problem.of(
        f=condal.Linear(np.eye(n) + 0j),
        X=condal.Hermitian(n, trace=3 * np.linalg.norm(u) ** 2, at_most=True),
        A=condal.Quadratics(a),
        K=condal.Box(0.95 * b, 1.05 * b),
    )
    x = cp.Variable((n, n), hermitian=True)
    images = cp.real(cp.diag(a @ x @ a.conj().T))
    rows = [images >= 0.95 * b, images <= 1.05 * b]
    return problem, cp.Minimize(cp.real(cp.trace(x))), [x >> 0, *rows]


def least_squares(n=5, p=14, form=np.asarray):
    """min 1/2 |intensities - noisy ones|^2, tr x = that of the signal."""
    rng = np.random.default_rng(3)
    a, u = complex_block(rng, p, n), 0.5 * complex_block(rng, n)
    c = np.abs(a @ u) ** 2 + rng.standard_normal(p)
    size = float(np.linalg.norm(u) ** 2)
    problem = condal.Problem.of(
        f=condal.LeastSquares(condal.Quadratics(form(a)), c), X=condal.Hermitian(n, trace=size)
    )
    x = cp.Variable((n, n), hermitian=True)
    images = cp.real(cp.diag(a @ x @ a.conj().T))
    f = cp.Minimize(0.5 * cp.sum_squares(images - c))
    return problem, f, [x >> 0, cp.real(cp.trace(x)) == size]


def seen_entries(rng, count=25):
    """A matrix of rank 2, and places of it."""
    truth = rng.standard_normal((M, 2)) @ rng.standard_normal((2, N))
    places = rng.permutation(M * N)[:count]
    return truth, places // N, places % N


def completion(radius=8.0):
    """min 1/2 |seen entries - noisy ones|^2."""
    rng = np.random.default_rng(0)
    truth, rows, cols = seen_entries(rng)
    b = truth[rows, cols] + 0.3 * rng.standard_normal(rows.size)
    E = condal.Entries.rectangular((M, N), rows, cols)
    problem = condal.Problem.of(f=condal.LeastSquares(E, b), X=condal.NuclearBall(M, N, radius))
    x = cp.Variable((M, N))
    f = cp.Minimize(0.5 * cp.sum_squares(x[rows, cols] - b))
    return problem, f, [cp.normNuc(x) <= radius]


def robust(radius=8.0):
    """min |seen entries - those with outliers|_1."""
    rng = np.random.default_rng(1)
    truth, rows, cols = seen_entries(rng)
    b = truth[rows, cols] + np.where(rng.random(rows.size) < 0.2, 5.0, 0.0)
    problem = condal.Problem.of(
        X=condal.NuclearBall(M, N, radius),
        B=condal.Entries.rectangular((M, N), rows, cols),
        g=condal.AbsoluteLoss(b),
    )
    x = cp.Variable((M, N))
    return problem, cp.Minimize(cp.norm1(x[rows, cols] - b)), [cp.normNuc(x) <= radius]


def linear(form=np.asarray):
    """min <C, x>, <A_i, x> in a box."""
    rng = np.random.default_rng(2)
    C, *As = rng.standard_normal((4, M, N))
    problem = condal.Problem.of(
        f=condal.Linear(condal.lifted(form(C))),
        X=condal.NuclearBall(M, N, 2.0),
        A=condal.Inner([condal.lifted(A) for A in As]),
        K=condal.Box([-0.5, -np.inf, 0.2], [0.5, 0.3, np.inf]),
    )
    x = cp.Variable((M, N))
    images = cp.hstack([cp.sum(cp.multiply(A, x)) for A in As])
    rows = [images[0] >= -0.5, images[0] <= 0.5, images[1] <= 0.3, images[2] >= 0.2]
    return problem, cp.Minimize(cp.sum(cp.multiply(C, x))), [*rows, cp.normNuc(x) <= 2]


def interpolation():
    """min |x - 1|^2 / 2 with some entries given."""
    rng = np.random.default_rng(3)
    truth, rows, cols = seen_entries(rng, 8)
    b = truth[rows, cols]
    i, j = (part.ravel() for part in np.mgrid[:M, :N])
    problem = condal.Problem.of(
        f=condal.LeastSquares(condal.Entries.rectangular((M, N), i, j), np.ones(M * N)),
        X=condal.NuclearBall(M, N, 10.0),
        A=condal.Entries.rectangular((M, N), rows, cols),
        K=condal.Equal(b),
    )
    x = cp.Variable((M, N))
    f = cp.Minimize(0.5 * cp.sum_squares(x - 1.0))
    return problem, f, [x[rows, cols] == b, cp.normNuc(x) <= 10]


HERMITIAN = {
    "unit diagonal": unit_diagonal,
    "unit diagonal, sparse": lambda: unit_diagonal(form=sp.csr_array),
    "unit diagonal, matrix-free": lambda: unit_diagonal(form=aslinearoperator),
    "inner": inner_constraints,
    "inner, at most": lambda: inner_constraints(at_most=True),
    "boxed intensities": boxed_intensities,
    "least squares": least_squares,
    "least squares, matrix-free": lambda: least_squares(form=aslinearoperator),
}
RECTANGULAR = {
    "completion": completion,
    "robust": robust,
    "linear": linear,
    "linear, sparse": lambda: linear(sp.csr_array),
    "linear, matrix-free": lambda: linear(aslinearoperator),
    "interpolation": interpolation,
}
PROBLEMS = HERMITIAN | RECTANGULAR
CURVED = ("least squares", "least squares, matrix-free", "completion", "interpolation")
# Its default, 1e-8, is out of its reach on some machines, which is a warning.
CLARABEL = {
    "solver": cp.CLARABEL,
    **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-6),
}
SLOW = ("boxed intensities", "robust", *CURVED)  # at the rate of CGAL, which its atoms make up for
UNFIT = {"splitting": CURVED, "cgal": SLOW, "cgal-fc": ("interpolation",)}
CASES = [(p, m) for p in PROBLEMS for m in METHODS if p not in UNFIT.get(m, ())]
WARM = ("unit diagonal", "inner", "least squares", *RECTANGULAR)


@lru_cache
def known(name):
    """The problem, and its optimum as an independent solver finds it."""
    problem, objective, rows = PROBLEMS[name]()
    by_scs = name in CURVED or name in RECTANGULAR
    other = {"solver": cp.SCS, "eps": 1e-7} if by_scs else CLARABEL
    return problem, cp.Problem(objective, rows).solve(**other)


@lru_cache
def solved(name, method):
    # At 1e-3 an infeasible Hermitian point may be off by more than 2e-3 in its objective.
    loose = 1e-3 if name in RECTANGULAR else 5e-4
    tol = loose if method.startswith("cgal") else 1e-4
    return condal.solve(known(name)[0], METHODS[method], tol=tol, max_iters=2000)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_an_independent_solver_agrees(name, method):
    problem, optimum = known(name)
    result = solved(name, method)
    error = 1e-3 if name in RECTANGULAR else 2e-3
    assert result.status is condal.Status.SOLVED, result
    assert result.objective == pytest.approx(optimum, rel=error, abs=error)
    # a bound is one: the other solver's optimum is right to about 1e-6
    assert problem.sense * (optimum - result.bound) >= -1e-5 * (1 + abs(optimum))
    for other in METHODS:
        if (name, other) in CASES:
            feasible = solved(name, other)
            # what is infeasible may be better, by the price of the constraints
            price = np.linalg.norm(result.y) * feasible.infeasibility * problem.infeasibility_unit
            assert problem.sense * (feasible.objective - result.bound) >= -1.001 * price - 1e-9


def assert_hermitian(problem, result, x):
    n = problem.X.side
    assert x.shape == (n, n)
    assert x.dtype == complex
    np.testing.assert_allclose(x, x.conj().T, atol=1e-12 * problem.X.trace)
    assert np.linalg.eigvalsh(x)[0] >= -1e-9 * problem.X.trace


def assert_in_the_nuclear_ball(problem, result, x):
    assert x.shape == (M, N)
    singular = np.linalg.svd(x, compute_uv=False)
    assert singular.sum() <= problem.X.radius * (1 + 1e-6)
    assert isinstance(result.x, Outer)
    values = result.x.singular_values()[:M]
    np.testing.assert_allclose(values, singular[: values.size], atol=1e-9)
    assert singular[values.size :].sum() <= 1e-9


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_point_that_is_shown_has_the_certificate(name, method):
    problem, result = known(name)[0], solved(name, method)
    x = np.asarray(result.x)
    (assert_in_the_nuclear_ball if name in RECTANGULAR else assert_hermitian)(problem, result, x)
    for shown in (result.x, x):
        again = condal.certify(problem, shown, result.y)
        size = 1 + abs(result.objective)
        assert again.objective == pytest.approx(result.objective, abs=1e-9 * size)
        assert again.infeasibility == pytest.approx(result.infeasibility, abs=1e-9)
        assert again.distance_to_X <= 1e-6 * problem.X.max_norm
        # of the same dual, proved more tightly or as tightly
        assert problem.sense * (again.bound - result.bound) >= -1e-6 * size


@pytest.mark.parametrize(("name", "method"), [case for case in CASES if case[0] in WARM])
def test_a_result_is_a_warm_start(name, method):
    problem, first = known(name)[0], solved(name, method)
    tol = 2e-3 if name in RECTANGULAR else 1e-3
    again = condal.solve(problem, METHODS[method], tol=tol, warm_start=first, max_iters=100)
    assert again.status is condal.Status.SOLVED
    most = 20 if name in RECTANGULAR else max(10, len(first.history) // 2)
    assert len(again.history) <= most


def test_a_sketch_keeps_hermitian_matrices():
    """Of real side 2n; with all columns nothing is lost."""
    problem, optimum = known("unit diagonal")
    result = condal.solve(problem, storage=Sketch(16, 16), tol=1e-2, max_iters=20_000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-2)
    assert np.asarray(result.x).shape == (8, 8)
    with pytest.raises(condal.ProblemError, match="does not fit the domain Hermitian"):
        condal.solve(problem, storage=Sketch(8, 8))


def test_with_real_data_the_optimum_is_that_of_real_matrices():
    """A real C has a real solution: x and its conjugate are as good, and so is their mean."""
    rng = np.random.default_rng(7)
    C = rng.standard_normal((10, 10))
    C = C + C.T
    make = [
        (C, condal.Spectrahedron(10, 10.0), condal.Diagonal(10)),
        (C + 0j, condal.Hermitian(10, 10.0), condal.Diagonal(10, hermitian=True)),
    ]
    values = [
        condal.solve(
            condal.Problem.of(condal.Linear(c), X, A, condal.Equal(np.ones(10))), tol=1e-6
        ).objective
        for c, X, A in make
    ]
    assert values[1] == pytest.approx(values[0], rel=1e-5)


def test_one_complex_number_is_its_modulus():
    """n = 1 leaves nothing to choose; n = 2 turns one phase."""
    one = condal.Problem.of(
        f=condal.Linear([[3.0 + 0j]]),
        X=condal.Hermitian(1),
        A=condal.Diagonal(1, hermitian=True),
        K=condal.Equal([1.0]),
    )
    assert condal.solve(one).objective == pytest.approx(3.0)
    C = np.array([[0, 3 + 4j], [3 - 4j, 0]])
    two = condal.Problem.of(
        f=condal.Linear(C),
        X=condal.Hermitian(2, 2.0),
        A=condal.Diagonal(2, hermitian=True),
        K=condal.Equal([1.0, 1.0]),
    )
    result = condal.solve(two, tol=1e-6)
    assert result.objective == pytest.approx(-10.0, rel=1e-5)
    assert np.asarray(result.x)[0, 1] == pytest.approx(-(3 + 4j) / 5, abs=1e-2)


def test_an_infeasible_hermitian_problem_is_proved_so():
    problem = condal.Problem.of(
        f=condal.Linear(np.eye(4) + 0j),
        X=condal.Hermitian(4, trace=4.0),
        A=condal.Diagonal(4, hermitian=True),
        K=condal.Equal(np.full(4, 1.5)),
    )
    assert condal.solve(problem).status is condal.Status.INFEASIBLE


def test_repairs_and_proposals_of_the_user_s_see_hermitian_matrices():
    problem, optimum = known("unit diagonal")
    seen = []

    def scaled(x):
        full = np.asarray(x)
        seen.append(full.dtype)
        roots = np.sqrt(np.diagonal(full).real)
        return full / np.multiply.outer(roots, roots)

    def propose(x):
        return scaled(x), np.zeros(8)

    repaired = replace(problem, repair=scaled, propose=propose)
    result = condal.solve(repaired, CGAL(eta=LineSearch()), tol=1e-3, max_iters=2000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=2e-3)
    assert result.infeasibility <= 1e-12
    assert set(seen) == {np.dtype(complex)}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda x: np.eye(3), "the repair returned no point of X: x must be 8 x 8"),
        (lambda x: 1j * np.ones((8, 8)), "the repair returned no point of X: x must be Hermitian"),
        (lambda x: np.nan * np.asarray(x), "the repair returned no point of X: x must be Herm"),
        (lambda x: condal.LowRank(np.nan * x.U, x.weights), "the repair returned nan"),
    ],
)
def test_a_repair_that_returns_no_hermitian_matrix_is_named(wrong, text):
    problem = replace(known("unit diagonal")[0], repair=wrong)
    result = condal.solve(problem, CGAL(eta=LineSearch()), tol=1e-2, max_iters=500)
    assert result.status is condal.Status.NUMERICAL_ERROR
    assert text in result.reason


def test_without_constraints_the_answer_is_the_leading_pair():
    C = np.random.default_rng(4).standard_normal((5, 9))
    U, values, Vt = np.linalg.svd(C)
    problem = condal.Problem.of(
        f=condal.Linear(condal.lifted(C)), X=condal.NuclearBall(5, 9, 3.0), maximise=True
    )
    result = condal.solve(problem, tol=1e-6)
    assert result.objective == pytest.approx(3.0 * values[0], rel=1e-5)
    np.testing.assert_allclose(np.asarray(result.x), 3.0 * np.outer(U[:, 0], Vt[0]), atol=0.02)


def test_a_ball_that_is_large_enough_is_idle():
    """The data are a matrix of nuclear norm 3 in a ball of 10: an optimum of 0, inside."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 5))
    x *= 3.0 / np.linalg.svd(x, compute_uv=False).sum()
    rows, cols = (part.ravel() for part in np.mgrid[:4, :5])
    E = condal.Entries.rectangular((4, 5), rows, cols)
    f = condal.LeastSquares(E, x.ravel(), weight=100.0)
    result = condal.solve(condal.Problem.of(f=f, X=condal.NuclearBall(4, 5, 10.0)), tol=1e-5)
    assert result.status is condal.Status.SOLVED
    assert result.objective <= 1e-4
    np.testing.assert_allclose(np.asarray(result.x), x, atol=0.01)


def test_one_number():
    problem = condal.Problem.of(
        f=condal.LeastSquares(condal.Entries.rectangular((1, 1), [0], [0]), [5.0]),
        X=condal.NuclearBall(1, 1, 2.0),
    )
    result = condal.solve(problem, tol=1e-6)
    assert result.objective == pytest.approx(4.5, rel=1e-5)
    assert np.asarray(result.x) == pytest.approx(2.0, abs=1e-5)


def test_a_sketch_of_two_sides_is_enough():
    """Storage-optimal CGM: the gradient is computed from images, and x only at the end."""
    problem, optimum = known("completion")
    for storage in (TwoSidedSketch(M, N, 6), None):
        result = condal.solve(problem, SketchyCGM(), tol=2e-2, storage=storage, max_iters=3000)
        assert result.status is condal.Status.SOLVED
        assert result.objective == pytest.approx(optimum, abs=3e-2 * (1 + optimum))
        assert result.x.singular_values().sum() <= problem.X.radius * (1 + 1e-9)
