"""A failed factorisation shows where the matrix is lower than the bound that was asked for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.factorisations import SparseFactors
from condal.linalg.symmetric import Symmetric
from condal_lab.experiments.stand_ins import planar_union
from laws import random_graph, torus


def of_graph(graph):
    return Symmetric(graph.shape[0], sparse=(sp.csr_array(graph, dtype=float),))


MATRICES = {
    "torus": lambda: of_graph(torus(12)),
    "signed graph": lambda: of_graph(random_graph(300, 0.02, 0, signed=True)),
    "planar": lambda: of_graph(planar_union(300)),
    "diagonal": lambda: Symmetric(50, diagonal=np.linspace(-1.0, 1.0, 50)),
}


def rayleigh(V, u):
    return np.einsum("ij,ij->j", u, V @ u) / np.einsum("ij,ij->j", u, u)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("place", [0.5, 1.5, 5.5, 20.5])
def test_a_negative_pivot_gives_a_direction_of_negative_curvature(name, place):
    """The shift is above the lowest, the two lowest, ... eigenvalues."""
    V = MATRICES[name]()
    values = np.linalg.eigvalsh(V.to_dense())
    tau = float(np.interp(place, np.arange(V.n), values))
    if np.abs(values - tau).min() < 1e-9:
        tau += 1e-3  # eigenvalues repeat
    factors = SparseFactors.of(V, tau)
    assert factors.proof() is None
    assert np.count_nonzero(factors.pivots < 0) == np.count_nonzero(values < tau)
    low, vectors = factors.below()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(low)), atol=1e-10)
    np.testing.assert_allclose(rayleigh(V, vectors), low, atol=1e-10)
    assert np.all(np.diff(low) >= 0)
    assert values[0] - 1e-10 <= low[0]
    assert low[-1] < tau


def test_a_direction_is_near_the_lowest_eigenvector_if_there_is_one_below():
    V = MATRICES["signed graph"]()
    values = np.linalg.eigvalsh(V.to_dense())
    low, _ = SparseFactors.of(V, float(values[:2].mean())).below()
    assert len(low) == 1
    assert low[0] - values[0] <= 1e-3 * (values[1] - values[0])


@pytest.mark.parametrize("name", MATRICES)
def test_positive_pivots_give_no_direction(name):
    V = MATRICES[name]()
    least = float(np.linalg.eigvalsh(V.to_dense())[0])
    assert SparseFactors.of(V, least - 0.1).below() is None


@pytest.mark.parametrize("plan", ["dense", "sparse"])
def test_a_refuted_bound_comes_with_the_vectors_that_refute_it(plan, monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan(plan, 0.0))
    V = MATRICES["signed graph"]()
    least = float(np.linalg.eigvalsh(V.to_dense())[0])
    for above in (1e-6, 1e-3, 0.1):
        enough = least + above
        proof = proofs.smallest_eigenvalue_bound(V, slack=1e-8, failure=1e-6, seed=0, enough=enough)
        assert proof.value <= least
        assert proof.value >= least - 16 * above
        assert np.all(rayleigh(V, proof.refuting) < enough)


@pytest.mark.parametrize("plan", ["dense", "sparse"])
def test_a_bound_that_holds_comes_with_none(plan, monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan(plan, 0.0))
    V = MATRICES["signed graph"]()
    least = float(np.linalg.eigvalsh(V.to_dense())[0])
    for enough in (np.inf, least - 0.1):
        proof = proofs.smallest_eigenvalue_bound(V, slack=1e-3, failure=1e-6, seed=0, enough=enough)
        assert proof.refuting is None
