"""Reductions of a bound on an eigenvalue: no bound becomes wrong, and some become near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.domains.spectral import Spectrahedron
from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.eigenvalue_bounds import smallest_eigenvalue_bound
from condal.linalg.factorisations import Likely
from condal.linalg.reductions import (
    Deflated,
    DiagonalScaling,
    factor_bound,
    factor_columns,
    factor_norm,
    has_outlier,
    without_outlier,
)
from condal.linalg.symmetric import Symmetric
from condal_lab.generated import dependency_graph, theta
from laws.spectra import torus
from sparse_matrices import random_sparse

N = 400


def low_rank(seed, *, n=80, scale=1.0):
    """Pairs and grams, dense and sparse, of 9 columns."""
    rng = np.random.default_rng(seed)
    grams = [
        (rng.standard_normal((3, n)), scale * rng.standard_normal(3)),
        (random_sparse(rng, (4, n), 0.3), rng.standard_normal(4)),
    ]
    return Symmetric(n, pairs=[(scale * rng.random(n), np.ones(n))], grams=grams)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_lies_below_the_smallest_eigenvalue_and_near_it(seed, scale):
    V = low_rank(seed, scale=scale)
    exact = np.linalg.eigvalsh(V.to_dense())
    proof = factor_bound(V, 1e-9 * abs(exact[0]))
    assert proof.failure == 0
    size = np.abs(exact).max()
    assert exact[0] - 1e-8 * size <= proof.value <= exact[0] + 1e-13 * size


def test_a_psd_matrix_of_low_rank_has_the_smallest_eigenvalue_0():
    rng = np.random.default_rng(0)
    V = Symmetric(60, grams=[(rng.standard_normal((3, 60)), np.ones(3))])
    proof = smallest_eigenvalue_bound(V, slack=1e-6, failure=1e-9, seed=0)
    assert -1e-9 <= proof.value <= 0
    assert proof.failure == 0


def test_dependent_columns_do_no_harm():
    a = np.random.default_rng(1).standard_normal((1, 50))
    V = Symmetric(50, grams=[(np.vstack([a, a, 0 * a]), np.array([1.0, -3.0, 1.0]))])
    exact = -2.0 * float((a @ a.T)[0, 0])
    assert factor_bound(V, 1e-6).value == pytest.approx(exact)
    assert factor_bound(V, 1e-6).value <= exact


def test_the_norm_is_the_frobenius_norm_or_slightly_more():
    V = low_rank(2)
    exact = np.linalg.norm(V.to_dense())
    assert exact * (1 - 1e-14) <= factor_norm(V) <= exact * (1 + 1e-9)


def test_other_terms_and_many_columns_are_left_to_other_proofs():
    few = np.ones((1, 8))
    assert factor_columns(Symmetric(8, grams=[(few, np.ones(1))])) == 1
    assert factor_columns(Symmetric(8, diagonal=np.ones(8), grams=[(few, np.ones(1))])) is None
    assert factor_columns(Symmetric(8, grams=[(np.ones((4, 8)), np.ones(4))])) is None


def operator(n, k, weight, seed=0):
    """A random S plus k large terms, and their vectors."""
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n, n))
    S = 0.5 * (S + S.T)
    vectors = rng.standard_normal((k, n))
    return Symmetric(n, dense=S, grams=[(vectors, np.full(k, weight))]), S, vectors


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("weight", [1e3, 1e6, 1e12])
def test_the_operator_is_at_least_the_deflated_one_less_the_loss(k, weight):
    V, S, vectors = operator(40, k, weight)
    deflated = Deflated.of(V, np.inf)
    assert deflated is not None
    Q = np.linalg.qr(vectors.T)[0]
    P = np.eye(40) - Q @ Q.T
    beside = deflated.V.to_dense()
    assert np.allclose(P @ beside @ P, P @ S @ P, atol=1e-12)
    slack = V.to_dense() - beside + deflated.loss * np.eye(40)
    assert np.linalg.eigvalsh(slack)[0] >= -1e-15 * weight * 40 * k
    assert deflated.loss <= 1e-11 + 20 * np.linalg.norm(S) ** 2 / weight


def test_a_larger_weight_loses_less_and_none_is_lost_to_rounding():
    losses = [Deflated.of(operator(40, 1, weight)[0], np.inf).loss for weight in (1e4, 1e8, 1e12)]
    assert losses[1] <= 2e-4 * losses[0]
    assert losses[2] <= 1e-9


@pytest.mark.parametrize("n", [60, 1500])
def test_bounds_beside_a_huge_term_are_as_good_as_without_it(n):
    """A factorisation, and Lanczos steps, with the term lose by its size."""
    rng = np.random.default_rng(1)
    d = np.sort(rng.random(n)) - 0.3
    ones = np.ones((1, n))
    V = Symmetric(n, diagonal=d, grams=[(ones, np.array([1e9]))])
    proof = smallest_eigenvalue_bound(V, slack=1e-6, failure=1e-6, seed=0)
    P = np.eye(n) - 1 / n
    least = np.linalg.eigvalsh(P @ np.diag(d) @ P)[0]
    assert least - 3e-6 <= proof.value <= least + 1e-12


def test_what_is_not_an_outlier_is_left_alone():
    V, S, vectors = operator(40, 1, 1e6)
    assert Deflated.of(Symmetric(40, dense=S), np.inf) is None
    assert Deflated.of(Symmetric(40, dense=S, grams=[(vectors, -np.ones(1))]), np.inf) is None
    assert Deflated.of(Symmetric(40, dense=S, grams=[(vectors, np.full(1, 1e-3))]), np.inf) is None
    assert Deflated.of(Symmetric(40, dense=S, grams=[(np.eye(40), np.ones(40))]), np.inf) is None
    assert Deflated.of(V, 1e-12) is None


@pytest.mark.parametrize("weight", [1e4, 1e6, 1e10])
@pytest.mark.parametrize("seed", range(3))
def test_a_dense_matrix_without_its_outlier(weight, seed):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((30, 30))
    S = 0.5 * (S + S.T)
    full = S + weight * np.ones((30, 30))
    assert has_outlier(np.linalg.eigvalsh(full))
    assert not has_outlier(np.linalg.eigvalsh(S))
    W, loss = without_outlier(full)
    slack = full - W + loss * np.eye(30)
    assert np.linalg.eigvalsh(slack)[0] >= -1e-14 * weight
    assert np.linalg.norm(W, 2) <= 2 * np.linalg.norm(S, 2)
    assert loss <= 1e-14 * weight * 30 + np.linalg.norm(S) ** 2 / weight


def slack(seed=0, n=N):
    """A matrix like the slack of max-cut: a graph with hubs, and a diagonal near its degrees."""
    graph = sp.csr_array(dependency_graph(n, seed=seed))
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    noise = np.random.default_rng(seed).uniform(0.8, 1.1, n)
    return Symmetric(n, sparse=(graph,), diagonal=degrees * noise)


def diagonals(seed):
    rng = np.random.default_rng(seed)
    yield np.ones(N)
    yield rng.uniform(0.0, 2.0, N)
    yield np.where(rng.random(N) < 0.5, 0.0, 3.0)


def test_the_graph_has_hubs():
    degrees = np.diff(dependency_graph(2000).indptr)
    assert degrees.max() > 2000 / 4
    assert np.median(degrees) < 6
    assert np.all(dependency_graph(2000).data == 1.0)


def test_the_scaled_matrix_is_symmetric_and_its_rounding_is_counted():
    V = slack()
    scaling = DiagonalScaling.of(V, np.ones(N))
    scaled, root = scaling.scaled.to_dense(), scaling.root.astype(np.longdouble)
    np.testing.assert_array_equal(scaled, scaled.T)
    exact = root[:, None] * V.to_dense().astype(np.longdouble) * root
    off = float(np.abs(scaled - exact).sum(axis=1).max())  # at least its spectral norm
    assert 0 < off * scaling.total <= scaling.error
    assert scaling.total == pytest.approx(float((1 / root**2).sum()), rel=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_a_bound_holds_for_every_psd_matrix_of_that_diagonal(seed):
    V, rng = slack(seed), np.random.default_rng(seed)
    for diagonal in diagonals(seed):
        scaling = DiagonalScaling.of(V, diagonal)
        least = float(np.linalg.eigvalsh(scaling.scaled.to_dense())[0])
        bound = scaling.bound(least)
        lowest = np.linalg.eigh(V.to_dense())[1]
        for R in (rng.standard_normal((N, 3)), lowest[:, :2], lowest[:, -1:], lowest):
            R = R * np.sqrt(diagonal / np.maximum((R**2).sum(axis=1), 1e-300))[:, None]
            assert bound <= np.vdot(R, V @ R)


@pytest.mark.parametrize("seed", range(5))
def test_the_proof_holds_and_is_below_the_scaled_spectrum(seed, monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan("probabilistic", 0.0))
    V = slack(seed)
    X = Spectrahedron(N, trace=float(N))
    for diagonal in diagonals(seed):
        diagonal = diagonal * (N / diagonal.sum())
        proof = X.bound(V, slack=1.0, failure=1e-6, seed=seed, diagonal=diagonal)
        scaling = DiagonalScaling.of(V, diagonal)
        least = float(np.linalg.eigvalsh(scaling.scaled.to_dense())[0])
        assert proof.value <= scaling.bound(least) + 1e-9
        assert proof.value >= scaling.bound(least) - 1.0
        assert "scaled by the diagonal" in proof.how
        assert proof.failure == 1e-6


def test_a_known_trace_alone_does_not_allow_it(monkeypatch):
    """The scaled bound is above the smallest eigenvalue: x of another diagonal is lower."""
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan("probabilistic", 0.0))
    V = Symmetric(N, diagonal=np.where(np.arange(N) == 0, 1000.0, 1.0))
    X = Spectrahedron(N, trace=float(N))
    assert X.bound(V, slack=1e-3, failure=1e-6, seed=0).value <= N  # by x = N e_1 e_1'
    known = X.bound(V, slack=1e-3, failure=1e-6, seed=0, diagonal=np.ones(N))
    assert N + 100 < known.value <= N + 999  # by x = I


def test_only_a_problem_that_fixes_the_diagonal_has_one():
    cut = condal.problems.max_cut(dependency_graph(50)).problem
    np.testing.assert_allclose(cut.fixed_diagonal, 1.0)
    assert theta(20, 30).fixed_diagonal is None
    below = condal.sets.Box(np.zeros(50), np.ones(50))
    assert replace(cut, h=below).fixed_diagonal is None


def test_nothing_is_scaled_in_vain():
    V = Symmetric(900, sparse=(sp.csr_array(torus(30)),), diagonal=np.full(900, 4.0))
    assert DiagonalScaling.of(V, np.ones(900)) is None
    assert DiagonalScaling.of(Symmetric(5, diagonal=-np.ones(5)), np.ones(5)) is None
    assert DiagonalScaling.of(Symmetric(5, dense=np.eye(5)), np.ones(5)) is None
    assert DiagonalScaling.of(slack(), -np.ones(N)) is None


def steps(proof):
    return int(proof.how.split("start, ")[1].split()[0])


def test_a_graph_with_hubs_takes_far_fewer_steps(monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan("probabilistic", 0.0))
    n = 3000
    V, X = slack(n=n), Spectrahedron(n, trace=float(n))
    loss = 1e-2 * float(V.diag().sum())
    plain = X.bound(V, slack=loss, failure=1e-6, seed=0)
    scaled = X.bound(V, slack=loss, failure=1e-6, seed=0, diagonal=np.ones(n))
    assert 4 * steps(scaled) < steps(plain)
    assert scaled.value > plain.value


def test_max_cut_with_hubs_is_certified_by_few_steps(monkeypatch):
    # Whether a factorisation is thought to take less depends on the order that SciPy finds.
    monkeypatch.setattr(proofs, "likely_factorisation", lambda V: Likely(np.inf, False))
    model = condal.problems.max_cut(dependency_graph(5000))
    result = condal.solve(model, tol=1e-3)
    assert result.status is condal.Status.SOLVED
    assert "scaled by the diagonal" in result.certificate.how
    assert steps(result.certificate) < 1500
    exact = condal.solve(model, tol=1e-3, seed=1)
    assert exact.objective <= result.bound
    assert result.objective <= exact.bound
