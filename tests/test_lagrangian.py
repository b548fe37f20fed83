"""The augmented Lagrangian in image space."""

from __future__ import annotations

import numpy as np
import pytest

from condal.lagrangian import lagrangian, multiplier, slope_along, zero_of
from known import PLANTED


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


@pytest.mark.parametrize("name", PLANTED)
def test_multipliers_are_where_the_conjugate_is_finite(name):
    problem = PLANTED[name]().problem
    rng = np.random.default_rng(1)
    for lam in (1e-8, 1.0, 1e8):
        Ax, y = rng.standard_normal((2, problem.A.size))
        w = multiplier(problem.h, Ax, problem.h.dual_point(y), lam)
        assert np.isfinite(problem.h.conjugate(w))


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
    assert zero_of(slope) == pytest.approx(zero, abs=1e-6)


def test_a_linear_slope_takes_three_evaluations():
    calls = []

    def slope(t):
        calls.append(t)
        return 3 * t - 1

    assert zero_of(slope) == pytest.approx(1 / 3)
    assert len(calls) == 3
