"""Bounds by Lanczos from a random start: wrong no more often than they say, and not too late."""

from functools import partial
from itertools import product
from math import inf, pi, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigvalsh_tridiagonal

from condal.linalg import lanczos_bounds
from condal.linalg.lanczos import Recurrence, missed_share
from condal.linalg.lanczos_bounds import (
    LOOK_GROWTH,
    MAX_PROOF_STEPS,
    MIN_LOOK,
    Run,
    _component,
    from_random_starts,
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


def values_of(run):
    return eigvalsh_tridiagonal(run.steps.alpha, run.steps.beta[:-1])


def unit_start(seed, n=N):
    start = np.random.default_rng(seed).standard_normal(n)
    return start / np.linalg.norm(start)


def run_of(V, start, failure):
    return Run(Recurrence(V, start, keep=0), V.product_error(), _component(failure, V.n))


@pytest.mark.parametrize("values", [np.linspace(-1, 1, N), np.r_[-1.2, np.linspace(-1, 1, N - 1)]])
@pytest.mark.parametrize("failure", [0.5, 0.1])
@pytest.mark.parametrize("starts", [1, 2, 4])
def test_a_bound_fails_no_more_often_than_it_says(values, failure, starts, monkeypatch):
    """With little slack between the Ritz value and the bound, a wrong one shows at once."""
    monkeypatch.setattr(lanczos_bounds, "SHARES", (*(starts - 1) * [0.0], 1.0))
    V, wrong = Symmetric(N, diagonal=values), 0
    for seed in range(200):
        proof = from_random_starts(
            V,
            partial(np.random.default_rng(seed).standard_normal, N),
            slack=0.0,
            failure=failure,
            max_steps=1 + seed % 20,
        )
        wrong += proof.value > values.min()
    assert wrong <= failure * 200


@pytest.mark.parametrize("failure", [1e-6, 1e-9, 1e-12])
def test_several_starts_prove_what_rounding_hides_from_one(failure):
    V = Symmetric(N, diagonal=np.linspace(-1, 1, N))
    proof = probabilistic(V, slack=1e-9, failure=failure, seed=0)
    assert -1 - 2e-9 <= proof.value <= -1
    assert "random starts" in proof.how
    assert probabilistic(V, slack=1e-2, failure=1e-6, seed=0).how.startswith(
        "Lanczos from a random start"
    )


def test_the_start_is_bounded_after_every_step_though_orthogonality_is_lost():
    """On a spectrum with an eigenvalue far away, Lanczos finds that several times over."""
    values = np.r_[np.linspace(-1, 1, N - 1), 1e3]
    run = run_of(Symmetric(N, diagonal=values), unit_start(0), 1.0)
    for k in range(1, 200):
        run.steps.grow_to(k)
        assert abs(unit_start(0)[0]) <= sum(run.loss(-1.0)) * run.t
    assert np.ptp(values_of(run)[-3:]) < 1e-9


def test_the_rest_is_the_product_of_the_betas_over_the_determinant():
    run = run_of(chebyshev(), unit_start(1), 1e-3)
    run.steps.grow_to(30)
    assert run.t == pytest.approx(1e-3 * sqrt(pi / (2 * N)), rel=1e-9)
    for tau in (-1.001, -1.1, -3.0):
        direct = np.prod(np.array(run.steps.beta) / (values_of(run) - tau)) / run.t
        rest, rounding = run.loss(tau)
        assert rest == pytest.approx(direct, rel=0.011)
        assert 0 < rounding < 1e-6
    assert run.loss(run.steps.ends()[0] + 1e-9) == (inf, inf)


def test_no_proof_is_surer_than_rounding_lets_it_be():
    """A start is rounded to about 1e-16, and so is each step."""
    V = chebyshev()
    assert {probabilistic(V, slack=0.0, failure=p, seed=0).value for p in (0.0, 1e-64)} == {-inf}
    likely = probabilistic(V, slack=1e-9, failure=1e-3, seed=0, max_steps=N)
    rough = probabilistic(V, slack=1e-9, failure=1e-40, seed=0, max_steps=N)
    assert -1 - 1e-8 <= likely.value <= -1
    assert -1.1 <= rough.value < -1 - 1e-6


def test_the_rounding_of_a_product_is_bounded_and_less_in_pieces():
    """The first row of the matrix is full; a row of zeros loses nothing."""
    full, d = np.zeros((5000, 5000)), np.random.default_rng(3).standard_normal(5000)
    full[0] = full[:, 0] = np.where(np.arange(5000) < 4990, d**3, 0.0)
    V = Symmetric(5000, sparse=(sp.csr_array(full),), diagonal=d * (d > 0), pairs=[(d, d**2)])
    exact = full.astype(np.longdouble) + np.diag(d * (d > 0))
    exact += (np.outer(d, d**2) + np.outer(d**2, d)) / np.longdouble(2)
    assert V.in_pieces().product_error() < 0.1 * V.product_error()
    for q, W in product((unit_start(0, 5000), unit_start(1, 5000)), (V, V.in_pieces())):
        assert 0 < np.linalg.norm((W @ q - exact @ q).astype(float)) <= W.product_error()


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
