"""Portfolios: against CVXPY, what an allocation says, and errors."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.errors import ProblemError
from condal.problems import portfolio

N, K = 25, 4
RNG = np.random.default_rng(0)
F, D, MEAN = RNG.standard_normal((K, N)), RNG.random(N), RNG.random(N)
SECTORS = (np.arange(N)[None, :] % 3 == np.arange(3)[:, None]).astype(float)
EVEN = np.full(N, 1 / N)
BOUNDS = {"exposures": SECTORS, "low": [0.2, 0.1, 0.0], "high": [0.4, 0.5, 0.45]}
TRADES = {"holdings": EVEN, "cost": 0.1}


def reference(aversion, bounds, trades):
    x = cp.Variable(N)
    risk = cp.sum_squares(F @ x) + cp.sum_squares(cp.multiply(np.sqrt(D), x))
    cost = 0.5 * aversion * risk - MEAN @ x
    rows = [x >= 0, cp.sum(x) == 1]
    if bounds:
        rows += [SECTORS @ x >= bounds["low"], SECTORS @ x <= bounds["high"]]
    if trades:
        cost += trades["cost"] * cp.norm1(x - trades["holdings"])
    return float(cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("trades", [{}, TRADES], ids=["free", "trades"])
@pytest.mark.parametrize("bounds", [{}, BOUNDS], ids=["any", "sectors"])
@pytest.mark.parametrize("aversion", [0.5, 5.0])
@pytest.mark.parametrize("kind", ["factors", "covariance"])
def test_it_finds_what_an_interior_point_method_finds(kind, aversion, bounds, trades):
    risk = {"F": F, "d": D} if kind == "factors" else {"Q": F.T @ F + np.diag(D)}
    model = portfolio(MEAN, **risk, aversion=aversion, **bounds, **trades)
    result = condal.solve(model, tol=5e-4, max_iters=3000)
    optimum = reference(aversion, bounds, trades)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, abs=1e-3)
    assert result.bound <= optimum + 1e-7
    held = model.allocation(result)
    assert held.weights.min() >= 0
    assert held.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert held.expected == pytest.approx(MEAN @ held.weights, rel=1e-12)
    variance = held.weights @ (F.T @ F + np.diag(D)) @ held.weights
    assert held.risk == pytest.approx(np.sqrt(variance), rel=1e-12)
    total = 0.5 * aversion * variance - held.expected
    if trades:
        assert held.turnover == pytest.approx(np.abs(held.weights - EVEN).sum(), rel=1e-12)
        total += trades["cost"] * held.turnover
    else:
        assert held.turnover == 0.0
    assert total == pytest.approx(result.objective, rel=1e-10)
    if bounds:
        np.testing.assert_allclose(held.exposures, SECTORS @ held.weights, atol=1e-14)
        assert np.all(held.exposures >= np.array(bounds["low"]) - 1e-3)
        assert np.all(held.exposures <= np.array(bounds["high"]) + 1e-3)


def test_more_aversion_is_less_risk():
    risks = []
    for aversion in (0.1, 1.0, 10.0, 100.0):
        model = portfolio(MEAN, F=F, d=D, aversion=aversion)
        risks.append(model.allocation(condal.solve(model, tol=1e-5)).risk)
    assert risks == sorted(risks, reverse=True)
    assert risks[0] > 1.5 * risks[-1]


def test_a_high_cost_leaves_the_holdings_as_they_are():
    model = portfolio(MEAN, F=F, d=D, holdings=EVEN, cost=100.0)
    result = condal.solve(model, tol=1e-4, max_iters=3000)
    held = model.allocation(result)
    assert held.turnover <= 1e-2
    assert "turnover" in str(held)


def test_the_factors_are_never_multiplied_out():
    n = 20_000  # a covariance of which would take 3.2 GB
    rng = np.random.default_rng(1)
    factors = sp.csr_array(sp.random(5, n, 0.2, random_state=2))
    model = portfolio(rng.random(n), F=factors, d=np.full(n, 0.1))
    held = model.allocation(condal.solve(model, tol=1e-3))
    assert held.weights.shape == (n,)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, r"give the covariance as Q, or as factors F \(and d\): one of the two"),
        ({"Q": np.eye(N), "F": F}, "give the covariance as Q, or as factors F"),
        ({"Q": np.eye(N), "d": D}, "got Q and d: add d to the diagonal of Q"),
        ({"Q": np.eye(3)}, "expected is for 25 assets, and Q for 3: they must agree"),
        ({"F": np.ones((2, 7))}, "expected is for 25 assets, and F for 7: they must agree"),
        ({"Q": -np.eye(N)}, "Q must be psd for f to be convex"),
        ({"F": F, "aversion": 0.0}, "aversion must be a positive number; got 0"),
        ({"F": F, "low": 0.1}, "low and high are bounds of exposures: give exposures too"),
        ({"F": F, "exposures": SECTORS, "low": "a"}, "low must be an array of real numbers"),
        ({"F": F, "exposures": SECTORS, "high": ["a"]}, "high must be an array of real numbers"),
        ({"F": F, "exposures": SECTORS, "low": np.nan}, "low has the value nan"),
        ({"Q": 1j * np.eye(N)}, r"Q is complex .* pass numpy\.real\(Q\)"),
        ({"F": F, "exposures": SECTORS}, "exposures need bounds: give low, high or both"),
        (
            {"F": F, "exposures": np.ones((1, 3)), "low": 0.0},
            "exposures is for 3 assets, and expected for 25",
        ),
        ({"F": F, "exposures": SECTORS, "low": 0.5, "high": 0.1}, "the box is empty"),
        ({"F": F, "exposures": SECTORS, "low": [0.5]}, "low has length 1, high has 3"),
        ({"F": F, "holdings": np.ones(3)}, "holdings is for 3 assets, and expected for 25"),
        ({"F": F, "cost": 0.1}, "cost is that of changing the holdings: give holdings too"),
        ({"F": F, "holdings": EVEN, "cost": -1.0}, "cost must be a positive number; got -1"),
    ],
)
def test_what_makes_no_model_is_refused(given, text):
    with pytest.raises(ProblemError, match=text):
        portfolio(MEAN, **given)
