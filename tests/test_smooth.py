"""Smooth objectives: gradients, convexity, the constant L, scaling and magnitude."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from condal import smooth
from condal.errors import ProblemError
from condal.maps import Diagonal
from condal.operators import dot
from condal.smooth import LeastSquares, Linear
from laws import SMOOTH, combination, coordinates, length, public_classes, random_symmetric

cases = pytest.mark.parametrize("case", SMOOTH, ids=[case.name for case in SMOOTH])


def value(f, x):
    return f.value(f.M(x))


def gradient(f, x):
    return f.M.adjoint(f.gradient(f.M(x)))


def pairs(case, seed):
    points = case.space.points(np.random.default_rng(seed))
    return list(zip(points, points[1:] + points[:1], strict=True))


def test_every_public_objective_is_listed():
    assert public_classes(smooth, "gradient") == {type(case.f) for case in SMOOTH}


@cases
def test_gradient_agrees_with_finite_differences(case):
    for x, d in pairs(case, 0):
        slope = dot(gradient(case.f, x), d)
        t = 1e-4  # central differences: exact for a quadratic, up to rounding
        ahead, behind = (value(case.f, combination(1.0, x, s * t, d)) for s in (1, -1))
        size = abs(ahead) + abs(behind) + abs(slope)
        assert (ahead - behind) / (2 * t) == pytest.approx(slope, abs=1e-11 * size / t + 1e-12)


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


def test_L_is_attained():
    a = np.diag([1.0, 3.0])
    f = LeastSquares(a, [1.0, 1.0], weight=0.5)
    assert pytest.approx(4.5) == f.L
    change = gradient(f, np.array([0.0, 1.0])) - gradient(f, np.zeros(2))
    assert np.linalg.norm(change) == pytest.approx(f.L)


@cases
@pytest.mark.parametrize("c", [1.0, 1e-3, 7.0])
def test_scaled(case, c):
    scaled = case.f.scaled(c)
    assert pytest.approx(c * case.f.L) == scaled.L
    assert scaled.magnitude(2.0) == pytest.approx(c * case.f.magnitude(2.0))
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
    points += [worst_way, combination(-1.0, worst_way, 0.0, worst_way)]
    zero = value(case.f, combination(0.0, points[0], 0.0, points[0]))
    changes = [abs(value(case.f, combination(size / length(x), x, 0.0, x)) - zero) for x in points]
    if case.exact:
        assert max(changes) <= case.f.magnitude(size) * (1 + 1e-10)
    assert case.f.magnitude(size) <= 20 * max(changes)


def sum_of(space, weights):
    total = combination(0.0, space.basis()[0], 0.0, space.basis()[0])
    for w, e in zip(weights, space.basis(), strict=True):
        total = combination(1.0, total, w, e)
    return total


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


def test_the_callers_arrays_are_copied():
    C, a, c = np.ones(2), np.eye(2), np.ones(2)
    linear, squares = Linear(C), LeastSquares(a, c)
    before = value(linear, np.ones(2)), value(squares, np.array([3.0, 1.0]))
    C[:], a[:], c[:] = 9.0, 9.0, 9.0
    assert (value(linear, np.ones(2)), value(squares, np.array([3.0, 1.0]))) == before == (2.0, 2.0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Linear([1.0, np.nan]),
            "C has the value nan at index 1; every entry must be a finite",
        ),
        (lambda: Linear(np.nan), "C has the value nan; every entry"),
        (lambda: Linear(1.0), r"C must have 2 dimensions; got shape \(\)"),
        (lambda: Linear(np.zeros((2, 2, 2))), r"C must have 2 dimensions; got shape \(2, 2, 2\)"),
        (lambda: Linear([[0, 1], [0, 0]]), "C must be symmetric"),
        (lambda: Linear(np.ones((2, 3))), "C must be a square matrix"),
        (lambda: Linear(sp.csr_array((2, 3))), "C must be a square matrix"),
        (lambda: Linear((np.ones(2), [1.0, np.inf])), "C has the value inf at index 1"),
        (lambda: Linear([1j]), "C is complex"),
        (lambda: Linear(aslinearoperator(1j * np.eye(2))), "C is complex"),
        (lambda: Linear("C"), "C must be an array of real numbers; got str"),
        (
            lambda: LeastSquares(np.ones((2, 3)), np.ones(3)),
            "LeastSquares: M makes images of length 2, but c has length 3",
        ),
        (lambda: LeastSquares(Diagonal(2), [1.0, np.nan]), "c has the value nan at index 1"),
        (lambda: LeastSquares(np.eye(2), np.eye(2)), "c must have 1 dimension"),
        (lambda: LeastSquares([[np.nan]], [1.0]), "the matrix has the value nan"),
        (
            lambda: LeastSquares([1.0], [1.0], weight=-1.0),
            "weight must be a positive number; got -1",
        ),
        (lambda: LeastSquares([1.0], [1.0], weight=np.nan), "weight must be a positive number"),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()
