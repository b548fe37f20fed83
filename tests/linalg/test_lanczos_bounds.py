"""Bounds by Lanczos from a random start: wrong no more often than they say, and not too late."""

from math import inf, log, pi, sqrt

import numpy as np
import pytest
from scipy.linalg import eigvalsh_tridiagonal

from condal.linalg.lanczos import Recurrence, missed_share
from condal.linalg.lanczos_bounds import (
    LOOK_GROWTH,
    MAX_PROOF_STEPS,
    MIN_LOOK,
    _excess,
    from_random_start,
    probabilistic,
    steps_for,
)
from condal.linalg.symmetric import Symmetric

N = 300


def chebyshev(n=N):
    """The spectrum on which Lanczos is slowest."""
    return Symmetric(n, diagonal=np.cos(np.linspace(0, pi, n)))


def steps(proof):
    return int(proof.how.split()[-2])


def unit_start(seed, n=N):
    start = np.random.default_rng(seed).standard_normal(n)
    return start / np.linalg.norm(start)


@pytest.mark.parametrize("values", [np.linspace(-1, 1, N), np.r_[-1.2, np.linspace(-1, 1, N - 1)]])
@pytest.mark.parametrize("failure", [0.5, 0.1])
def test_a_bound_fails_no_more_often_than_it_says(values, failure):
    """With little slack between the Ritz value and the bound, a wrong one shows at once."""
    V, wrong = Symmetric(N, diagonal=values), 0
    for seed in range(200):
        proof = from_random_start(
            V, unit_start(seed), slack=0.0, failure=failure, max_steps=1 + seed % 20
        )
        wrong += proof.value > values.min()
    assert wrong <= failure * 200


def test_the_polynomial_is_bounded_by_the_product_of_the_betas():
    """|c| |p(lambda_min)| <= beta_1 ... beta_k, after every step."""
    V, start = chebyshev(), unit_start(0)
    run = Recurrence(V, start, keep=0)
    c = abs(start[-1])  # the smallest eigenvalue is the last
    for k in range(1, 60):
        run.grow_to(k)
        logs = np.log(eigvalsh_tridiagonal(run.alpha, run.beta[:-1]) + 1.0).sum()
        assert log(c) + logs <= np.log(run.beta).sum() + 1e-8


def test_the_excess_is_the_logarithm_of_the_determinant():
    run = Recurrence(chebyshev(), unit_start(1), keep=0)
    run.grow_to(30)
    needed = log(sqrt(2 * N / pi) / (0.25 * 1e-3))
    values = eigvalsh_tridiagonal(run.alpha, run.beta[:-1])
    for tau in (-1.001, -1.1, -3.0):
        direct = np.log(values - tau).sum() - np.log(run.beta).sum() - needed
        assert _excess(run, tau, 1e-3) == pytest.approx(direct, rel=1e-9)
    assert _excess(run, run.ends()[0] + 1e-9, 1e-3) == -inf


@pytest.mark.parametrize("room", [0.3, 0.03, 3e-3])
def test_a_bound_that_is_enough_takes_no_more_steps_than_promised(room):
    V = chebyshev(2000)
    promised = steps_for(2000, room / 2, 1e-6)
    proof = probabilistic(V, slack=0.0, failure=1e-6, seed=0, enough=-1 - room)
    assert -1 - room <= proof.value <= -1
    assert steps(proof) <= LOOK_GROWTH * promised + 1


def test_far_eigenvalues_cost_a_step_each_at_most():
    """The bound of Kuczynski and Wozniakowski pays for the spread of all of the spectrum."""
    bulk = np.linspace(-1, 1, 2000)
    far = np.where(np.arange(2000) < 1990, bulk, np.linspace(50, 100, 2000))
    plain, spread = (
        steps(probabilistic(V, slack=0.0, failure=1e-6, seed=0, enough=-1.1))
        for V in (Symmetric(2000, diagonal=bulk), Symmetric(2000, diagonal=far))
    )
    assert spread <= 2.5 * plain
    assert missed_share(2000.0, spread, 1e-6) * 101 > 0.1  # what those steps prove by it


def test_no_slack_and_little_time_still_prove_something():
    V = chebyshev()
    proof = probabilistic(V, slack=0.0, failure=1e-6, seed=0, max_steps=5)
    assert -inf < proof.value <= -1
    assert steps(proof) == 5
    assert steps_for(N, 0.0, 1e-6) == MAX_PROOF_STEPS
    assert steps_for(N, 1e9, 1e-6) == MIN_LOOK
