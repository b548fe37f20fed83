"""Bounds over psd matrices of known diagonal, for graphs of uneven degrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.domains.spectral import Spectrahedron
from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.factorisations import Likely
from condal.linalg.reductions import DiagonalScaling
from condal.linalg.symmetric import Symmetric
from condal_lab.bench.generated import theta
from condal_lab.experiments.stand_ins import dependency_graph
from laws import torus

N = 400


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
