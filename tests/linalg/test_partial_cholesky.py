"""Sparse rows are eliminated in rounds and the rest by LAPACK: one factorisation, one bound."""

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp

from condal.linalg import partial_cholesky as partial
from condal.linalg.factorisations import SparseFactors
from condal.linalg.partial_cholesky import PartialCholesky
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from laws.spectra import INDEFINITE, of_graph, random_graph
from sparse_matrices import random_sparse

ROUNDS = pytest.mark.parametrize("flops", [0.0, 1.0, 20.0, inf])  # all rows in rounds, ... none


MATRICES = {
    **INDEFINITE,
    "two": lambda: of_graph(np.array([[0.0, 1.0], [1.0, 0.0]])),
    "one": lambda: of_graph(np.array([[-3.0]])),
    "empty rows": lambda: of_graph(sp.csr_array((7, 7))),
}


def least_of(V):
    return float(np.linalg.eigvalsh(V.to_dense())[0])


@ROUNDS
@pytest.mark.parametrize("name", MATRICES)
def test_the_factors_multiply_to_the_matrix(name, flops, monkeypatch):
    """Whatever rows the rounds take: undo them, the last first."""
    monkeypatch.setattr(partial, "ROUND_FLOPS", flops)
    rests = []
    monkeypatch.setattr(partial, "_dense_failure", lambda C: rests.append(C))
    V = MATRICES[name]()
    tau = least_of(V) - 0.1
    factors = PartialCholesky.of(V, tau)
    whole = rests[0] if rests else np.zeros((0, 0))
    for done in reversed(factors.rounds):
        side = done.out.size + done.kept.size
        L = np.zeros((side, done.out.size))
        L[done.out, np.arange(done.out.size)] = done.roots
        L[done.kept] = done.below.toarray()
        larger = np.zeros((side, side))
        larger[np.ix_(done.kept, done.kept)] = whole
        whole = larger + L @ L.T
    np.testing.assert_allclose(whole, V.to_dense() - tau * np.eye(V.n), atol=factors.off + 1e-14)
    assert flops < inf or not factors.rounds
    assert flops > 0 or (factors.rounds and not rests)


@ROUNDS
def test_the_dense_rest_is_symmetric_to_the_last_bit(flops, monkeypatch):
    """The theory is about one triangle, and the rounds read both."""
    monkeypatch.setattr(partial, "ROUND_FLOPS", flops)
    rests, original = [], partial._eliminated

    def kept(*args):
        rests.append(original(*args))
        return rests[-1]

    monkeypatch.setattr(partial, "_eliminated", kept)
    rng = np.random.default_rng(0)
    graph = random_sparse(rng, (200, 200), 0.02, rng.standard_normal)
    V = of_graph(graph + graph.T + diagonal_matrix(rng.uniform(5, 9, 200)))
    PartialCholesky.of(V, -1.0)
    for _, rest in rests:
        np.testing.assert_array_equal(rest.toarray(), rest.toarray().T)


@ROUNDS
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("above", [1e-6, 1e-2, 0.3, 10.0])
def test_a_failed_pivot_gives_a_direction_below_the_shift(name, above, flops, monkeypatch):
    monkeypatch.setattr(partial, "ROUND_FLOPS", flops)
    V = MATRICES[name]()
    least = least_of(V)
    factors = PartialCholesky.of(V, least + above)
    assert factors.proof() is None
    low, vectors = factors.below()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(low)), atol=1e-10)
    np.testing.assert_allclose(np.einsum("ij,ij->j", vectors, V @ vectors), low, atol=1e-10)
    assert np.all(np.diff(low) >= 0)
    assert least - 1e-10 <= low[0]
    assert low[-1] < least + above


@pytest.mark.parametrize("factors", [PartialCholesky, SparseFactors])
@pytest.mark.parametrize("name", MATRICES)
def test_a_complete_factorisation_gives_no_direction(name, factors):
    V = MATRICES[name]()
    assert factors.of(V, least_of(V) - 0.1).below() is None


@pytest.mark.parametrize("scale", [2.0**-480, 2.0**480])
@pytest.mark.parametrize("above", [-1e-3, 1e-6, 0.1])
def test_large_and_small_numbers_are_factorised_alike(scale, above, monkeypatch):
    """At 1e147, LAPACK found no Ritz vectors."""
    monkeypatch.setattr(partial, "ROUND_FLOPS", 1.0)
    V = MATRICES["signed graph"]()
    tau = least_of(V) + above
    factors, scaled = PartialCholesky.of(V, tau), PartialCholesky.of(V.scaled(scale), scale * tau)
    assert (factors.failed is None) == (scaled.failed is None) == (above < 0)
    if above < 0:
        assert scaled.proof().value == pytest.approx(scale * factors.proof().value, rel=1e-14)
    else:
        np.testing.assert_allclose(scaled.below()[0], scale * factors.below()[0], rtol=1e-9)


def test_a_matrix_that_is_not_symmetric_is_not_factorised():
    full = np.eye(4)
    full[0, 1] = 1e-300
    assert PartialCholesky.of(Symmetric(4, sparse=(sp.csr_array(full),)), -1.0) is None


def test_a_rest_that_is_too_large_is_not_factorised(monkeypatch):
    monkeypatch.setattr(partial, "_dense_failure", lambda C: pytest.fail("it was factorised"))
    V = of_graph(random_graph(1500, 0.01, 0))
    assert PartialCholesky.of(V, -100.0, max_flops=1e6) is None
    assert PartialCholesky.of(V, -100.0, max_flops=1e8) is None
