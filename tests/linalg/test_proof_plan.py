"""Which proof is tried first, by its work alone."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.proof_plan import few_steps, likely_flops, plan_factorisation
from condal.linalg.symmetric import Symmetric
from laws import random_graph, torus

N = 3000


@pytest.fixture(scope="module")
def V():
    """A signed graph whose discs prove little; its factor takes far more than some products."""
    return Symmetric(N, sparse=(sp.csr_array(random_graph(N, 0.002, 0, signed=True), dtype=float),))


@pytest.fixture(scope="module")
def least(V):
    values = eigsh(V.to_sparse(), k=1, which="SA", v0=np.arange(N) % 7.0, return_eigenvectors=False)
    return float(values[0])


def bound(V, slack, enough):
    return proofs.smallest_eigenvalue_bound(V, slack=slack, failure=1e-6, seed=0, enough=enough)


def test_a_loose_bound_takes_lanczos_steps(V, least, monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: pytest.fail("a factorisation was planned"))
    proof = bound(V, slack=0.02, enough=least - 0.5)
    assert least - 0.5 <= proof.value <= least
    assert "Lanczos" in proof.how
    assert proof.failure == 1e-6


def test_a_tight_bound_takes_a_factorisation(V, least, monkeypatch):
    monkeypatch.setattr(proofs, "probabilistic", lambda *_, **__: pytest.fail("in vain"))
    proof = bound(V, slack=1e-8, enough=least - 1e-6)
    assert least - 1.1e-6 <= proof.value <= least
    assert "factorisation" in proof.how
    assert proof.failure == 0.0


def test_a_factorisation_follows_where_the_steps_do_not_prove_enough(V, least):
    """The slack promises room that there is not."""
    proof = bound(V, slack=0.02, enough=least - 1e-6)
    assert "factorisation" in proof.how
    assert least - 1.1e-6 <= proof.value <= least


def test_a_bound_that_is_too_high_is_refuted_by_vectors(V, least):
    proof = bound(V, slack=0.02, enough=least + 0.1)
    assert proof.value <= least
    quotients = np.einsum("ij,ij->j", proof.refuting, V @ proof.refuting)
    assert np.all(quotients < least + 0.1)


def test_steps_are_tried_only_for_a_part_of_the_work_of_a_factorisation(V):
    flops = likely_flops(V)
    steps = few_steps(V, 1.0, 1e-6, flops)
    assert 0 < steps * 4 * V.entries <= 0.25 * flops
    assert few_steps(V, 1e-9, 1e-6, flops) == 0
    assert few_steps(V, 0.0, 1e-6, flops) == 0
    assert few_steps(V, 1.0, 1e-6, inf) == 0  # Lanczos is all there is


def test_the_estimate_before_ordering_is_of_the_right_size(V):
    assert likely_flops(V) <= N**3 / 24
    grid = Symmetric(3600, sparse=(sp.csr_array(torus(60), dtype=float),))
    assert 0.1 <= likely_flops(grid) / plan_factorisation(grid).flops <= 30
    assert likely_flops(Symmetric(10**5, pairs=[(np.ones(10**5), np.ones(10**5))])) == inf
