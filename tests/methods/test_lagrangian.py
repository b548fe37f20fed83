"""The augmented Lagrangian in image space."""

import numpy as np
import pytest

from condal.linalg.points import combine
from condal.methods.lagrangian import (
    Segment,
    best_atom,
    lagrangian,
    multiplier,
    residual,
    slope_along,
    zero_of,
)
from condal.problems import k_means
from known import PLANTED

PROBLEMS = {name: make().problem for name, make in PLANTED.items()} | {
    "k-means": k_means(np.random.default_rng(3).standard_normal((40, 2)), 3).problem
}


@pytest.mark.parametrize("name", PLANTED)
def test_its_gradient_is_that_of_its_value(name):
    problem = PLANTED[name]().problem
    rng = np.random.default_rng(0)
    p, q = problem.A.size, problem.f.M.size
    Mx, dM, Ax, dA, y = (rng.standard_normal(m) for m in (q, q, p, p, p))
    y = problem.h.dual_point(y)
    lam, t, e = 0.7, 0.3, 1e-6

    def value(t):
        return lagrangian(problem, Mx + t * dM, Ax + t * dA, y, lam)

    slope = slope_along(problem, Mx, dM, Ax, dA, y, lam)
    assert slope(t) == pytest.approx((value(t + e) - value(t - e)) / (2 * e), rel=1e-5)
    assert value(0.5) <= 0.5 * (value(0.0) + value(1.0)) + 1e-12


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_bound_of_an_atom_misses_the_objective_by_two_errors(problem):
    rng = np.random.default_rng(1)
    f, h, A = problem.f, problem.h, problem.A
    x = problem.X.lmo(f.M.adjoint(rng.standard_normal(f.M.size)))
    Mx, Ax, y = f.M(x), A(x), h.dual_point(rng.standard_normal(A.size))
    atom = best_atom(problem, Mx, Ax, y, 0.7, tol=0.0, guess=None)
    objective = f.value(Mx) + h.value(Ax)
    assert objective - atom.lower == pytest.approx(atom.gap + atom.missed, abs=1e-9)
    assert atom.gap >= -1e-9
    assert atom.missed >= -1e-9 or h.lipschitz == np.inf


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_a_segment_has_the_images_of_its_points_and_the_slope_of_the_lagrangian(problem):
    rng = np.random.default_rng(2)
    f, A, lam = problem.f, problem.A, 0.7
    x = problem.X.lmo(f.M.adjoint(rng.standard_normal(f.M.size)))
    Mx, Ax, y = f.M(x), A(x), problem.h.dual_point(rng.standard_normal(A.size))
    atom = best_atom(problem, Mx, Ax, y, lam, tol=0.0, guess=None)
    segment = Segment(problem, Mx, Ax, atom, y, lam)
    t = 0.3
    point = combine([x, atom.s], np.array([1 - t, t]))
    fresh = segment.images(t)
    slope = slope_along(problem, Mx, f.M(atom.s) - Mx, Ax, A(atom.s) - Ax, y, lam)
    size = 1.0 + abs(slope(0.0)) + abs(slope(1.0))
    for at in (0.0, t, 1.0):
        assert segment.slope(at) == pytest.approx(slope(at), abs=1e-10 * size)
    for images in (fresh, segment.images(t)):  # now that the way to s is known
        np.testing.assert_allclose(images[0], f.M(point), atol=1e-12)
        np.testing.assert_allclose(images[1], A(point), atol=1e-12)


@pytest.mark.parametrize("name", PLANTED)
def test_multipliers_are_where_the_conjugate_is_finite(name):
    problem = PLANTED[name]().problem
    rng = np.random.default_rng(1)
    for lam in (1e-8, 1.0, 1e8):
        Ax, y = rng.standard_normal((2, problem.A.size))
        w = multiplier(problem.h, Ax, problem.h.dual_point(y), lam)
        assert np.isfinite(problem.h.conjugate(w))
        d = Ax - problem.h.prox(Ax + y / lam, 1 / lam)
        np.testing.assert_allclose(residual(problem.h, Ax, y, lam), d, rtol=1e-9, atol=1e-9 / lam)


@pytest.mark.parametrize(
    ("slope", "zero"),
    [
        (lambda t: t - 0.25, 0.25),
        (lambda t: t + 1, 0.0),
        (lambda t: t - 2, 1.0),
        (lambda t: np.expm1(5 * (t - 0.9)), 0.9),
        (lambda t: max(t - 0.5, 0.1 * (t - 0.5)), 0.5),
        (lambda t: t**9 - 1e-6, 1e-6 ** (1 / 9)),
    ],
)
def test_zeros_of_slopes(slope, zero):
    for guess in (1.0, 0.7, 0.01):
        assert zero_of(slope, guess=guess) == pytest.approx(zero, abs=1e-6)
        assert abs(slope(zero_of(slope, guess=guess, tol=1e-2))) <= max(
            1e-2 * abs(slope(0.0)), abs(slope(zero))
        )


def test_a_linear_slope_takes_three_evaluations():
    calls = []

    def slope(t):
        calls.append(t)
        return 3 * t - 1

    assert zero_of(slope) == pytest.approx(1 / 3)
    assert len(calls) == 3
