"""Which proof is tried first, by its work alone."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.factorisations import (
    LIKELY_ROOM,
    MAX_LANCZOS_WORK,
    STEP_FLOPS,
    STEPS_MARGIN,
    few_steps,
    likely_factorisation,
    likely_steps,
    plan_factorisation,
)
from condal.linalg.lanczos_bounds import MAX_PROOF_STEPS, probabilistic
from condal.linalg.partial_cholesky import PartialCholesky
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import work_done
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
    flops = likely_factorisation(V).flops
    steps = few_steps(V, likely_steps(V, 1.0, 1e-6), flops)
    assert 0 < steps * STEP_FLOPS * V.entries <= MAX_LANCZOS_WORK * flops < flops
    assert few_steps(V, likely_steps(V, 1e-9, 1e-6), flops) == 0
    assert few_steps(V, likely_steps(V, 0.0, 1e-6), flops) == 0


@pytest.mark.parametrize("slack", [0.3, 0.02, 1e-3])
def test_the_likely_steps_prove_a_bound_that_may_lose_much(V, least, slack):
    likely = likely_steps(V, slack, 1e-6)
    enough = least - 1.1 * LIKELY_ROOM * slack
    proof = probabilistic(V, enough=enough, slack=slack, failure=1e-6, seed=0)
    assert enough <= proof.value <= least
    assert int(proof.how.split()[-2]) <= STEPS_MARGIN * likely
    assert likely < MAX_PROOF_STEPS
    assert likely_steps(V, 0.0, 1e-6) == MAX_PROOF_STEPS


def test_a_bound_that_does_not_hold_is_seen_early(V, least):
    proof = probabilistic(V, enough=least + 0.1, slack=1e-9, failure=1e-6, seed=0)
    assert proof.value <= least
    assert int(proof.how.split()[-2]) <= 256


def test_the_estimate_before_ordering_is_of_the_right_size(V):
    assert likely_factorisation(V).flops <= N**3 / 24
    grid = Symmetric(3600, sparse=(sp.csr_array(torus(60), dtype=float),))
    likely = likely_factorisation(grid)
    assert not likely.fills
    assert 0.1 <= likely.flops / plan_factorisation(grid).flops <= 30
    wide = Symmetric(10**5, pairs=[(np.ones(10**5), np.ones(10**5))])
    assert likely_factorisation(wide) == (inf, False)


@pytest.mark.parametrize(("n", "degree"), [(3000, 6), (2000, 20), (7000, 4)])
def test_the_estimate_of_a_matrix_that_fills_is_of_the_right_size(n, degree):
    graph = sp.csr_array(random_graph(n, degree / n, 0))
    V = Symmetric(n, sparse=(graph,), diagonal=np.asarray(graph.sum(axis=1)) + 1.0)
    before = work_done()
    PartialCholesky.of(V, -1.0)
    done, likely = work_done() - before, likely_factorisation(V)
    assert likely.fills
    assert 0.15 <= likely.flops / done <= 5
