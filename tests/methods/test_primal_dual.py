"""The primal-dual method: iterates in X, bounds that are bounds, restarts, and known optima."""

from itertools import islice

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.linalg.gradients import dot
from condal.linalg.points import dense
from condal.methods import PrimalDual
from condal.methods.projection import primal_dual
from condal.methods.projection.vectorise import Vectoriser
from condal.storage import Factor
from known import PLANTED
from laws.domains import DOMAINS
from spaces import combination

rng = np.random.default_rng(9)


def test_without_rows_it_accelerates():
    """Nesterov's rate: f - f* <= 2 L |x - x*|^2 / (k + 1)^2, which plain steps do not keep."""
    n = 60
    second = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    f = condal.LeastSquares(second, second @ np.sin(np.arange(n) / 4))
    problem = condal.Problem.of(f=f, X=condal.LinfBall(n, 2.0))
    x, far = Factor(), np.linalg.norm(np.sin(np.arange(n) / 4))
    states = list(islice(PrimalDual(steps=1).iterates(problem, x), 200))
    for state in states:
        assert state.value <= 2 * f.L * far**2 / (state.k + 1) ** 2
    plain = np.zeros(n)
    for _ in range(200):
        plain -= second @ (second @ plain - f.c) / f.L
    assert states[-1].value <= 0.1 * f.value(second @ plain)


def test_restarts_turn_a_slow_rate_into_a_linear_one(monkeypatch):
    problem, _ = normalise(PLANTED["simplex-equal"]().problem)

    def error(k):
        states = list(islice(PrimalDual().iterates(problem, Factor()), k))
        return max(abs(states[-1].value - states[-1].lower), problem.h.distance(states[-1].Ax))

    assert error(15) <= 1e-6 * error(1)
    monkeypatch.setattr(primal_dual, "SUFFICIENT_DECREASE", 0.0)
    monkeypatch.setattr(primal_dual, "NECESSARY_DECREASE", 0.0)
    monkeypatch.setattr(primal_dual, "MAX_ROUND", np.inf)
    assert error(15) >= 1e-6 * error(1)


def test_a_restart_begins_at_the_better_of_the_last_pair_and_the_average():
    problem, _ = normalise(PLANTED["simplex-equal"]().problem)
    begun = 0
    for state in islice(PrimalDual().iterates(problem, Factor()), 15):
        carry = state.carry
        if carry.since == 0:
            begun += 1
            np.testing.assert_array_equal(carry.y, state.y)
            np.testing.assert_allclose(problem.A(carry.x), state.Ax, atol=1e-14)
            assert not carry.sum_x.any()
            assert carry.balance > 0
    assert 2 <= begun < 15


def test_large_matrices_are_left_to_others(monkeypatch):
    problem = PLANTED["sdp-equal"]().problem
    assert PrimalDual().suits(problem)
    monkeypatch.setattr(primal_dual, "MAX_MATRIX_SIDE", 5)
    assert not PrimalDual().suits(problem)


# Points and gradients as one vector.


@pytest.mark.parametrize("case", DOMAINS, ids=[case.name for case in DOMAINS])
def test_flattening_keeps_points_and_inner_products(case):
    rng = np.random.default_rng(7)
    v = case.space.gradient(rng)
    problem = condal.Problem.of(f=condal.Linear(v), X=case.X)
    flat = Vectoriser.of(problem)
    x = case.members(rng)[0]
    vector = flat.vector(x)
    assert vector.shape == (flat.size,)
    back = flat.point(vector)
    assert _difference(back, dense(x)) == 0.0
    assert float(flat.gradient(v) @ vector) == pytest.approx(dot(v, x), rel=1e-10, abs=1e-12)
    twice = flat.point(2 * vector)
    assert _difference(twice, combination(2.0, x, 0.0, x)) <= 1e-13


def _difference(a, b):
    if isinstance(a, tuple):
        return max(_difference(p, q) for p, q in zip(a, b, strict=True))
    return float(np.abs(a - b).max())
