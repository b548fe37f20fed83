"""A problem in other units has the same answer in those units, or is refused by name."""

import numpy as np
import pytest
import scipy.sparse as sp
from shapes import cycle, cycle_value, sdp

import condal
from condal import Box, Diagonal, Equal, Inner, Linear, Matrix, Problem, Simplex, Status
from condal.methods import InteriorPoint, LowRankCGAL, PrimalDual, Splitting, corrective
from known import PLANTED

SCALES = [1e-12, 1e12]
METHODS = {
    "default": None,
    "cgal": condal.CGAL(),
    "corrective": corrective(),
    "lowrank": LowRankCGAL(),
    "splitting": Splitting(),
    "primal-dual": PrimalDual(),
    "interior-point": InteriorPoint(),
}
known = PLANTED["sdp-equal"]()
FULL, b = known.problem.f.C.to_dense(), known.problem.h.b


def scaled(C=1.0, A=1.0, X=1.0, form=np.asarray):
    """The planted problem with C, A and X in other units: its optimum is C X times that."""
    rows = known.problem.A.scaled(np.full(b.size, A))
    domain = condal.Spectrahedron(12, trace=3.0 * X)
    return Problem.of(Linear(form(C * FULL)), domain, rows, Equal(A * X * b))


def relative(result, unit):
    return np.array([result.objective, result.bound]) / unit


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", SCALES)
def test_c_scaled_by_1e12_and_1e_12_has_the_same_relative_answer(scale, method, form):
    plain = condal.solve(scaled(form=form), METHODS[method], max_iters=150)
    other = condal.solve(scaled(C=scale, form=form), METHODS[method], max_iters=150)
    assert other.status is plain.status
    np.testing.assert_allclose(relative(other, scale), relative(plain, 1.0), rtol=1e-3)
    assert other.infeasibility == pytest.approx(plain.infeasibility, rel=1e-3, abs=1e-3)
    assert other.bound / scale <= known.optimum + 1e-9


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("unit", ["A", "X"])
def test_a_and_x_scaled_by_1e12_and_1e_12_have_the_same_relative_answer(unit, scale):
    plain, other = (condal.solve(scaled(**{unit: s})) for s in (1.0, scale))
    assert other.status is plain.status is Status.SOLVED
    size = scale if unit == "X" else 1.0
    np.testing.assert_allclose(relative(other, size), relative(plain, 1.0), rtol=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_weights_scaled_by_1e12_and_1e_12_have_the_same_relative_answer(scale):
    model = condal.problems.max_cut(scale * cycle(5))
    result = condal.solve(model)
    assert result.status is Status.SOLVED
    assert result.objective / scale == pytest.approx(cycle_value(5), rel=1e-3)
    assert result.bound / scale >= cycle_value(5) * (1 - 1e-12)
    assert model.round(result).weight / scale == pytest.approx(4.0)


ZERO = {
    "a cut of negative weights": lambda s: condal.problems.max_cut(-s * cycle(6)).problem,
    "a box": lambda s: sdp(s * np.diag([0.0, 1, 2]), Diagonal(3), Box([0.0] * 3, [1.0, 0.5, 0.5])),
    "an equation": lambda s: sdp(s * np.diag([-1.0, 1, 2]), Diagonal(3), Equal([0.5, 0.5, 0])),
    "nothing": lambda s: sdp(s * np.diag([0.0, 1, 2]), at_most=True),
    "a simplex": lambda s: Problem.of(
        Linear(s * np.array([1.0, -1, 0])), Simplex(3), Matrix([[1.0, -1, 0]]), Equal([0.0])
    ),
}


@pytest.mark.parametrize("name", ZERO)
def test_c_scaled_by_1e12_with_an_optimum_of_0_comes_to_rest(name):
    """A gap of 1e-3 is then below rounding: the solve ends and says so."""
    assert condal.solve(ZERO[name](1.0)).status is Status.SOLVED
    result = condal.solve(ZERO[name](1e12))
    assert result.status is Status.INACCURATE
    assert "scale the data, or raise tol" in result.status.value
    assert abs(result.objective) <= 1e-8 * 1e12
    assert ZERO[name](1.0).sense * result.bound <= 0.0
    assert abs(result.bound) <= 1e-11 * 1e12


def test_a_tol_below_rounding_comes_to_rest():
    result = condal.solve(condal.problems.max_cut(cycle(5)), tol=1e-17)
    assert result.status is Status.INACCURATE
    assert result.gap <= 1e-12


@pytest.mark.parametrize("wide", [1e4, 1e6])
def test_row_norms_1e8_apart_and_more_have_the_same_answer(wide):
    """Rows of any norm count: the second is 1e8 or 1e12 times shorter than the first."""
    first, second = np.diag([1.0, 0, 0]), np.diag([0, 1.0, 0])
    A = Inner([wide * first, second / wide])
    problem = sdp(np.diag([1.0, 2, 4]), A, Equal([0.25 * wide, 0.25 / wide]))
    methods = {name: METHODS[name] for name in METHODS if name != "corrective"}
    for method in methods.values():
        result = condal.solve(problem, method, max_iters=3000)
        assert result.status is Status.SOLVED
        assert result.bound <= 2.75 + 1e-12
        assert result.objective == pytest.approx(2.75, rel=1e-2)
        # Infeasibility is measured by the long row; the short row holds all the same.
        assert condal.dense(result.x)[1, 1] == pytest.approx(0.25, abs=2e-2)


EXTREME = [1e-300, 1e-200, 1e-90, 1e90, 1e200, 1e300]


@pytest.mark.parametrize("scale", EXTREME)
@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("C", "the objective's size over X is .*, {}: scale the objective"),
        ("A", "the size of row .* of Ax is .*, {}: scale it, and its K"),
        ("X", "the size of X is .*, {}: measure x in other units"),
    ],
)
def test_c_scaled_beyond_what_has_squares_is_refused(unit, text, scale):
    limits = r"beyond what double precision holds the squares and products of \(1e-70 to 1e\+70\)"
    with pytest.raises(condal.ProblemError, match=text.format(limits)):
        condal.solve(scaled(**{unit: scale}))


@pytest.mark.parametrize("scale", [1e-200, 1e160, 1e307])
def test_data_without_squares_are_refused(scale):
    a, b = np.random.default_rng(0).standard_normal((2, 12, 3))
    signs, squares = np.sign(b[:, 0]), "the squares are beyond what double precision holds"
    M = Matrix(scale * a)
    losses = condal.LeastSquares(M, b[:, 0]), condal.Logistic(M, signs)
    for f in losses[: 2 * (scale > 1.0)]:
        with pytest.raises(condal.ProblemError, match="scale the objective"):
            condal.solve(condal.Problem.of(f, condal.L1Ball(3, 1.0)))
    with pytest.raises(condal.ProblemError, match=r"beyond what|must be a finite number"):
        condal.solve(condal.problems.trace_regression(scale * a, b, radius=1.0))
    for make in (condal.problems.matrix_completion, lambda x: condal.problems.k_means(x, 2)):
        with pytest.raises(condal.ProblemError, match=squares):
            make(scale * a)
    with pytest.raises(condal.ProblemError, match=squares):
        condal.problems.phase_retrieval(scale * a[:, 0] ** 2, a)


@pytest.mark.parametrize("scale", EXTREME)
def test_norms_are_right_at_every_scale(scale):
    full = scale * np.array([[3.0, 4.0], [4.0, 0.0]])
    size = scale * np.sqrt(41.0)
    for form in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(Linear(form(full)).M.norm, size, rtol=1e-12)
        np.testing.assert_allclose(Inner([form(full)]).row_norms(), [size], rtol=1e-12)
        lengths = [5.0 * scale, 4.0 * scale]
        np.testing.assert_allclose(Matrix(form(full)).row_norms(), lengths, rtol=1e-12)
        product = condal.LeftProduct(form(full), 1).row_norms()
        np.testing.assert_allclose(np.sqrt(2.0) * product, lengths, rtol=1e-12)


@pytest.mark.parametrize("goal", [1e40, -1e160, 1e300])
def test_b_of_no_size_that_ax_can_have_is_refused(goal):
    problem = sdp(np.eye(3), Inner([np.eye(3)]), Equal([goal]))
    with pytest.raises(condal.ProblemError, match="times as far from 0 as any Ax can be: nothing"):
        condal.solve(problem)


@pytest.mark.parametrize("far", [1e20, 1e160, np.finfo(float).max])
def test_bounds_as_good_as_infinite_are_taken_for_that(far):
    """Some users write the largest number for a missing bound."""
    for method in (None, condal.CGAL(), Splitting(), InteriorPoint(), PrimalDual()):
        problem = sdp(np.diag([1.0, 2, 3]), Diagonal(3), Box([-far] * 3, [0.4, far, far]))
        result = condal.solve(problem, method, max_iters=2000)
        assert result.status is Status.SOLVED
        assert result.objective == pytest.approx(0.4 + 1.2, abs=1e-2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("trace", [2.4e-27, 1e-60])
def test_c_of_0_over_a_tiny_trace_is_solved(trace, at_most, method):
    X = condal.Spectrahedron(2, trace=trace, at_most=at_most)
    result = condal.solve(Problem.of(Linear(np.zeros((2, 2))), X), METHODS[method])
    assert result.status is Status.SOLVED
    assert result.objective == result.bound == 0.0
