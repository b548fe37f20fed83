"""Which proof is tried first, by its work alone."""

from __future__ import annotations

from itertools import islice, pairwise
from math import ceil, inf

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.partial_cholesky import PartialCholesky
from condal.linalg.proof_plan import (
    LIKELY_ROOM,
    LOOK_GROWTH,
    MAX_LANCZOS_WORK,
    MAX_PROOF_STEPS,
    MIN_LOOK,
    STEP_FLOPS,
    few_steps,
    likely_factorisation,
    likely_steps,
    looks,
    plan_factorisation,
)
from condal.linalg.symmetric import Symmetric
from condal.linalg.work import work_done
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
    assert few_steps(V, MIN_LOOK, inf) == 0  # Lanczos is all there is


@pytest.mark.parametrize("slack", [0.3, 0.02, 1e-3])
def test_the_likely_steps_prove_a_bound_that_may_lose_much(V, least, slack):
    likely = likely_steps(V, slack, 1e-6)
    options = {"slack": slack, "failure": 1e-6, "seed": 0, "likely": likely}
    proof = proofs.probabilistic(V, enough=least - 1.1 * LIKELY_ROOM * slack, **options)
    assert least - 1.1 * LIKELY_ROOM * slack <= proof.value <= least
    assert int(proof.how.split()[-2]) in (likely, ceil(LOOK_GROWTH * likely))
    assert likely < MAX_PROOF_STEPS
    assert likely_steps(V, 0.0, 1e-6) == MAX_PROOF_STEPS


@pytest.mark.parametrize("likely", [None, 1, MIN_LOOK, 33, 500, MAX_PROOF_STEPS])
def test_the_shares_of_all_looks_are_at_most_the_failures(likely):
    """No two looks have one number, so the sum of 1/(2 i^2) is below 7/8."""
    taken = list(islice(looks(likely), 60))
    steps, numbers = zip(*taken, strict=True)
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) == 1
    assert all(a < b for a, b in pairwise(steps))
    assert likely is None or (likely, 1) in taken
    assert steps[0] == (likely if likely == 1 else MIN_LOOK)


def test_a_bound_that_does_not_hold_is_seen_long_before_the_likely_steps(V, least):
    options = {"slack": 1e-3, "failure": 1e-6, "seed": 0, "likely": 10_000}
    proof = proofs.probabilistic(V, enough=least + 0.1, **options)
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
