"""Smooth objectives: gradients, convexity, the constant L, scaling and magnitude."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import dot
from condal.maps import Diagonal
from condal.smooth import (
    FactoredQuadratic,
    Function,
    Huber,
    LeastSquares,
    Linear,
    Logistic,
    Poisson,
    Quadratic,
)
from laws.smooth import SMOOTH
from spaces import combination, coordinates, length, random_symmetric

cases = pytest.mark.parametrize("case", SMOOTH, ids=[case.name for case in SMOOTH])


def value(f, x):
    return f.value(f.M(x))


def gradient(f, x):
    return f.M.adjoint(f.gradient(f.M(x)))


def pairs(case, seed):
    points = case.space.points(np.random.default_rng(seed))
    return list(zip(points, points[1:] + points[:1], strict=True))


@cases
def test_gradient_agrees_with_finite_differences(case):
    for x, d in pairs(case, 0):
        slope = dot(gradient(case.f, x), d)
        t = 1e-4  # central differences: exact for a quadratic, up to rounding
        ahead, behind = (value(case.f, combination(1.0, x, s * t, d)) for s in (1, -1))
        size = abs(ahead) + abs(behind) + abs(slope)
        curved = case.f.L * length(d) ** 2 * t  # where the curvature jumps, or changes much
        slack = 1e-11 * size / t + 1e-12
        if type(case.f) not in (Linear, LeastSquares, Quadratic, FactoredQuadratic):
            slack += 0.5 * curved
        assert (ahead - behind) / (2 * t) == pytest.approx(slope, abs=slack)


@cases
def test_convexity(case):
    """f(y) >= f(x) + <grad f(x), y - x>."""
    for x, y in pairs(case, 1):
        tangent = value(case.f, x) + dot(gradient(case.f, x), combination(1.0, y, -1.0, x))
        top = value(case.f, y)
        assert top >= tangent - 1e-12 * (1 + abs(tangent) + abs(top))


@cases
def test_L_bounds_how_fast_the_gradient_changes(case):
    assert case.f.L >= 0
    for x, y in pairs(case, 2):
        change = coordinates(gradient(case.f, x), case.space) - coordinates(
            gradient(case.f, y), case.space
        )
        reach = case.f.L * length(combination(1.0, x, -1.0, y))
        assert np.linalg.norm(change) <= reach * (1 + 1e-12) + 1e-12


@cases
@pytest.mark.parametrize("c", [1.0, 1e-3, 7.0])
def test_scaled(case, c):
    scaled = case.f.scaled(c)
    assert pytest.approx(c * case.f.L) == scaled.L
    assert scaled.variation(2.0) == pytest.approx(c * case.f.variation(2.0))
    for x, _ in pairs(case, 3):
        assert value(scaled, x) == pytest.approx(c * value(case.f, x), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(
            coordinates(gradient(scaled, x), case.space),
            c * coordinates(gradient(case.f, x), case.space),
            rtol=1e-12,
            atol=1e-12,
        )


@cases
@pytest.mark.parametrize("size", [1e-2, 1.0, 30.0])
def test_magnitude_bounds_the_variation_of_f(case, size):
    """|f(x) - f(0)| <= magnitude(size) where |x| <= size, and not by far."""
    points = [x for x, _ in pairs(case, 4) if length(x) > 0]
    steepest = coordinates(
        gradient(case.f, combination(0.0, points[0], 0.0, points[0])), case.space
    )
    worst_way = sum_of(case.space, steepest)
    if length(worst_way) > 0:
        points += [worst_way, combination(-1.0, worst_way, 0.0, worst_way)]
    zero = value(case.f, combination(0.0, points[0], 0.0, points[0]))
    changes = [abs(value(case.f, combination(size / length(x), x, 0.0, x)) - zero) for x in points]
    if case.exact:
        assert max(changes) <= case.f.variation(size) * (1 + 1e-10)
    if not isinstance(case.f, Function):  # of which only a curvature is known
        assert case.f.variation(size) <= 20 * max(changes)


def sum_of(space, weights):
    total = combination(0.0, space.basis()[0], 0.0, space.basis()[0])
    for w, e in zip(weights, space.basis(), strict=True):
        total = combination(1.0, total, w, e)
    return total


def test_L_is_attained_by_every_quadratic():
    Q = np.diag([1.0, 9.0])
    for f in (
        LeastSquares(np.diag([1.0, 3.0]), [0.0, 0.0], weight=0.5),
        Quadratic(Q, weight=0.5),
        FactoredQuadratic(np.diag([1.0, 3.0]), weight=0.5),
        FactoredQuadratic(np.diag([1.0, 2.0]), [0.0, 5.0], weight=0.5),
    ):
        assert pytest.approx(4.5) == f.L
        np.testing.assert_allclose(gradient(f, np.array([1.0, 1.0])), [0.5, 4.5])


def test_quadratics_of_all_forms_agree():
    rng = np.random.default_rng(5)
    F, d, c = rng.standard_normal((3, 5)), rng.random(5), rng.standard_normal(5)
    Q = F.T @ F + np.diag(d)
    forms = [Quadratic(Q, c), Quadratic(sp.csr_array(Q), c), Quadratic(aslinearoperator(Q), c)]
    forms.append(FactoredQuadratic(F, d, c))
    x = rng.standard_normal(5)
    for f in forms:
        assert value(f, x) == pytest.approx(0.5 * x @ Q @ x + c @ x)
        np.testing.assert_allclose(gradient(f, x), Q @ x + c)
        assert np.linalg.norm(Q, 2) <= f.L * (1 + 1e-12)


def test_a_large_quadratic_is_asked_for_a_few_products():
    n = 1000
    diagonal = np.linspace(0.0, 1.0, n)
    f = Quadratic(sp.diags(diagonal))
    assert 1.0 <= f.L <= 1.1
    diagonal[3] = -0.5
    with pytest.raises(ProblemError, match="Q must be psd for f to be convex; it has"):
        Quadratic(sp.diags(diagonal))


def test_a_covariance_is_psd_in_spite_of_rounding():
    F = np.random.default_rng(6).standard_normal((3, 200))
    assert pytest.approx(np.linalg.norm(F, 2) ** 2) == Quadratic(F.T @ F).L


def test_a_logistic_loss_of_large_numbers_does_not_overflow():
    f = Logistic(np.eye(2), [1, -1], weight=2.0)
    assert value(f, np.array([-1e4, -1e4])) == pytest.approx(2e4)
    np.testing.assert_allclose(f.gradient(np.array([-1e4, -1e4])), [-2.0, 0.0])


def test_poisson_goes_on_as_a_parabola_below_0():
    """It meets the likelihood in value, slope and curvature, and its L holds everywhere."""
    f = Poisson([[1.0]], [3.0], 0.5)

    def at(u):
        return f.value(np.array([u]))

    def slope(u):
        return float(f.gradient(np.array([u]))[0])

    assert at(-1e-9) == pytest.approx(at(1e-9), abs=1e-7)
    assert slope(-1e-9) == pytest.approx(slope(1e-9), abs=1e-6)
    assert pytest.approx(3 / 0.25) == f.L
    assert (slope(-1.0) - slope(-5.0)) / 4 == pytest.approx(f.L)
    assert (at(-4.0) - 2 * at(-5.0) + at(-6.0)) == pytest.approx(f.L)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (
            lambda: Function(lambda u: np.nan, np.sin, L=1.0, size=1).value(np.ones(1)),
            "the function given as value returned nan at a u with entries from 0 to 1",
        ),
        (
            lambda: Function(np.sin, np.sin, L=1.0, size=2).value(np.ones(2)),
            r"value must return one number; it returned an array of shape \(2,\)",
        ),
        (
            lambda: Function(np.sum, lambda u: u[:1], L=1.0, size=2).gradient(np.ones(2)),
            r"gradient must return a vector of the length of u, 2; it returned .* shape \(1,\)",
        ),
        (
            lambda: Function(np.sum, lambda u: 1 / 0, L=1.0, size=2).gradient(np.ones(2)),
            "the function given as gradient failed: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_what_a_users_function_returns_is_looked_at(ask, text):
    with pytest.raises(PieceError, match=text) as error:
        ask()
    assert error.value.piece == "f"


def test_a_users_function_that_fails_on_the_way_ends_the_solve_and_is_named():
    asked = []

    def slope(u):
        asked.append(u)
        return u - 1.0 if len(asked) < 15 else np.full(3, np.nan)

    f = Function(lambda u: 0.5 * float((u - 1) @ (u - 1)), slope, L=1.0, size=3)
    problem = condal.Problem.of(f, condal.Simplex(3), condal.Matrix([1, 2, 3]), condal.Equal([2.1]))
    result = condal.solve(problem, tol=1e-9)
    assert result.status is not condal.Status.SOLVED
    assert "the function given as gradient returned nan at a u with entries" in str(result)


def test_a_users_function_may_not_change_the_point():
    def careless(u):
        u[:] = 0.0
        return 0.0

    f = Function(careless, lambda u: u, L=1.0, size=2)
    with pytest.raises(PieceError, match=r"given as value failed: ValueError: .*read-only"):
        f.value(np.ones(2))


def test_a_users_function_need_not_be_defined_at_0():
    f = Function(
        lambda u: -float(np.log(u).sum()), lambda u: -1 / np.asarray([np.nan] * 2), L=4.0, size=2
    )
    assert f.variation(3.0) == pytest.approx(18.0)


def test_linear_may_be_scaled_by_a_negative_number():
    f = Linear((np.array([1.0, 2.0]), np.eye(2)))
    x = (np.ones(2), np.ones((2, 2)))
    assert value(f.scaled(-1.0), x) == -value(f, x) == -5.0


def test_linear_is_the_inner_product():
    rng = np.random.default_rng(0)
    C, x = random_symmetric(4, rng), random_symmetric(4, rng)
    for form in (C, C.tolist(), sp.csr_array(C), sp.coo_matrix(C), aslinearoperator(C)):
        assert value(Linear(form), x) == pytest.approx(float(np.sum(C * x)))


def test_the_gradient_cannot_be_spoiled():
    f = Linear([1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        f.gradient(np.zeros(1))[:] = 5.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Linear(np.nan), "C has the value nan; every entry"),
        (lambda: Linear(1.0), r"C must have 2 dimensions; got shape \(\)"),
        (lambda: Linear(np.zeros((2, 2, 2))), r"C must have 2 dimensions; got shape \(2, 2, 2\)"),
        (lambda: Linear(aslinearoperator(1j * np.eye(2))), "C must be Hermitian"),
        (lambda: Linear([[0, 1j], [1j, 0]]), r"C must be Hermitian; the largest .C - C\*. is 2"),
        (
            lambda: LeastSquares(np.ones((2, 3)), np.ones(3)),
            "LeastSquares: M makes images of length 2, but c has length 3",
        ),
        (lambda: Quadratic(np.diag([1.0, -1.0])), "Q must be psd for f to be convex; .* of -1 or"),
        (lambda: Quadratic(np.eye(2), np.ones(3)), "Q is 2 x 2, but c has length 3"),
        (
            lambda: FactoredQuadratic(np.ones((2, 3)), [1.0, 2.0]),
            "FactoredQuadratic: F acts on vectors of length 3, but d has length 2",
        ),
        (lambda: FactoredQuadratic(Diagonal(2), [1.0, 2.0]), "F acts on matrices, but d has"),
        (lambda: FactoredQuadratic(np.eye(2), [1, -2]), "d must not be negative .* -2 at index 1"),
        (
            lambda: Huber(np.ones((2, 3)), np.ones(3)),
            "Huber: M makes images of length 2, but c has length 3",
        ),
        (
            lambda: Logistic(np.eye(2), [1.0, 0.0]),
            r"labels must be 1 or -1; got 0 at index 1: pass 2 \* labels - 1 if they are 0 and 1",
        ),
        (lambda: Logistic(np.eye(2), [1.0]), "images of length 2, but labels has length 1"),
        (
            lambda: Poisson(np.eye(2), [1, -1], 1.0),
            "counts must not be negative; got -1 at",
        ),
        (lambda: Poisson(np.eye(2), [1, 1], 0.0), "background must be a positive number, or 2 of"),
        (lambda: Poisson(np.eye(2), [1, 1], [1.0]), "or 2 of them; got .* stands for none"),
        (lambda: Function(1.0, np.sin, L=1.0, size=1), "value must be a function of a vector; got"),
        (lambda: Function(np.sum, np.sin, L=-1.0, size=1), "L must be a positive number"),
        (lambda: Function(np.sum, np.sin, L=1.0), "Function takes one of M, the map in phi"),
        (lambda: Function(np.sum, np.sin, L=1.0, size=1.5), "n must be a whole number"),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()
