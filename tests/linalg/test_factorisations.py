"""Factorisations: what they cost, when they are chosen, and what they prove."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh, splu

from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg import factorisations, symbolic
from condal.linalg.factorisations import (
    LIKELY_ROOM,
    MAX_LANCZOS_WORK,
    STEP_FLOPS,
    STEPS_MARGIN,
    SparseFactors,
    few_steps,
    likely_factorisation,
    likely_steps,
    plan_factorisation,
)
from condal.linalg.lanczos_bounds import MAX_PROOF_STEPS, probabilistic
from condal.linalg.partial_cholesky import PartialCholesky
from condal.linalg.symbolic import column_counts, elimination, envelope, minimum_degree
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import work_done
from condal_lab.generated import planar_union
from laws.spectra import INDEFINITE, of_graph, random_graph, torus

N = 3000
GRAPHS = {
    "torus": lambda: torus(12),
    "random": lambda: random_graph(200, 0.03, 0),
    "planar": lambda: planar_union(300),
    "no edges": lambda: sp.csr_array((7, 7)),
}


def rayleigh(V, u):
    return np.einsum("ij,ij->j", u, V @ u) / np.einsum("ij,ij->j", u, u)


@pytest.mark.parametrize("name", INDEFINITE)
@pytest.mark.parametrize("place", [0.5, 1.5, 5.5, 20.5])
def test_a_negative_pivot_gives_a_direction_of_negative_curvature(name, place):
    """The shift is above the lowest, the two lowest, ... eigenvalues."""
    V = INDEFINITE[name]()
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
    V = INDEFINITE["signed graph"]()
    values = np.linalg.eigvalsh(V.to_dense())
    low, _ = SparseFactors.of(V, float(values[:2].mean())).below()
    assert len(low) == 1
    assert low[0] - values[0] <= 1e-3 * (values[1] - values[0])


@pytest.mark.parametrize("plan", ["dense", "sparse"])
def test_a_refuted_bound_comes_with_the_vectors_that_refute_it(plan, monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan(plan, 0.0))
    V = INDEFINITE["signed graph"]()
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
    V = INDEFINITE["signed graph"]()
    least = float(np.linalg.eigvalsh(V.to_dense())[0])
    for enough in (np.inf, least - 0.1):
        proof = proofs.smallest_eigenvalue_bound(V, slack=1e-3, failure=1e-6, seed=0, enough=enough)
        assert proof.refuting is None


@pytest.fixture(scope="module")
def V():
    """A signed graph whose discs prove little; its factor takes far more than some products."""
    return of_graph(random_graph(N, 0.002, 0, signed=True))


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


def test_a_tight_bound_takes_a_factorisation_without_the_ordering_of_what_fills(
    V, least, monkeypatch
):
    """The ordering alone takes longer than this factorisation."""
    assert likely_factorisation(V).fills
    monkeypatch.setattr(proofs, "_plan", lambda V: pytest.fail("it was planned"))
    monkeypatch.setattr(proofs, "probabilistic", lambda *_, **__: pytest.fail("in vain"))
    proof = bound(V, slack=1e-8, enough=least - 1e-6)
    assert least - 1.1e-6 <= proof.value <= least
    assert proof.how == "partly dense Cholesky factorisation"
    assert proof.failure == 0.0


def test_where_the_dense_rest_is_too_large_there_is_another_proof(V, least, monkeypatch):
    monkeypatch.setattr(PartialCholesky, "of", lambda *_: None)
    assert least - 1.1e-6 <= bound(V, slack=1e-8, enough=least - 1e-6).value <= least


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
    grid = of_graph(torus(60))
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


def eliminated(pattern, order):
    """The entries of each column of L, by elimination on a dense Boolean matrix."""
    filled = (pattern.toarray() != 0)[np.ix_(order, order)] | np.eye(len(order), dtype=bool)
    for k in range(len(order)):
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        filled[np.ix_(below, below)] = True
    return np.tril(filled).sum(axis=0)


def slack(graph):
    """A positive definite matrix with the pattern of a graph, and entries that do not cancel."""
    half = sp.csc_array(sp.tril(graph, -1))
    half.data = np.random.default_rng(0).uniform(0.5, 1.5, half.nnz)
    weights = half + half.T
    total = np.asarray(weights.sum(axis=1)).ravel()
    return sp.csc_array(sp.dia_array((total[None, :] + 1.0, [0]), graph.shape) - weights)


graphs = pytest.mark.parametrize("name", GRAPHS)


@pytest.mark.parametrize("seed", range(60))
def test_the_counts_are_exact_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    half = sp.random(n, n, float(rng.uniform(0, 0.3)), random_state=seed)
    pattern, order = sp.csc_array(half + half.T), rng.permutation(n)
    np.testing.assert_array_equal(column_counts(pattern, order), eliminated(pattern, order))


@graphs
def test_the_order_and_the_entries_are_those_of_superlu(name):
    matrix = slack(sp.csc_array(GRAPHS[name]()))
    options = {"SymmetricMode": True, "Equil": False}
    whole = splu(
        sp.csc_matrix(matrix),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options=options,
    )
    cost = elimination(matrix)
    np.testing.assert_array_equal(cost.order, np.argsort(whole.perm_c))
    assert cost.entries == np.count_nonzero(whole.L.toarray())  # SuperLU also stores some zeros
    counts = column_counts(matrix, cost.order)
    assert cost.entries == counts.sum()
    assert cost.flops == (counts.astype(float) ** 2).sum()


@graphs
def test_the_factorisation_uses_the_order_that_was_counted(name, monkeypatch):
    matrix = slack(sp.csc_array(GRAPHS[name]()))
    V, orderings = Symmetric(matrix.shape[0], sparse=(sp.csr_array(matrix),)), []
    symbolic._kept.clear()
    monkeypatch.setattr(
        symbolic, "minimum_degree", lambda P: orderings.append(0) or minimum_degree(P)
    )
    cost = elimination(V.to_sparse())
    for tau in (0.0, 0.5):
        factors = SparseFactors.of(V, tau)
        np.testing.assert_array_equal(factors.order, cost.order)
        np.testing.assert_array_equal(factors.pivots > 0, True)
        assert factors.L.nnz <= cost.entries
    assert len(orderings) == 1


def test_few_orders_are_kept():
    symbolic._kept.clear()
    for n in range(2, 20):
        elimination(sp.csc_array(sp.eye(n)))
    assert len(symbolic._kept) == symbolic.MAX_KEPT_ORDERS


def test_a_planar_union_that_the_envelope_overestimates_is_factorised():
    """7,000 vertices: 5.1e10 operations by the envelope, 6.1e9 in truth."""
    graph = sp.csc_array(planar_union(7000))
    width = envelope(graph)
    assert width @ width > 5 * factorisations.MAX_FACTOR_FLOPS
    plan = factorisations.plan_factorisation(of_graph(slack(graph)))
    assert plan.kind == "sparse"
    assert 5e9 < plan.flops < 7e9


@pytest.mark.parametrize(
    ("n", "p", "kind"), [(40_000, 1e-4, "probabilistic"), (1500, 0.02, "dense")]
)
def test_a_random_graph_that_would_fill_is_not_ordered(n, p, kind, monkeypatch):
    """Its ordering alone would take seconds; a minute at 10^5 vertices."""
    half = sp.csr_array(sp.random(n, n, p, random_state=0))
    V = Symmetric(n, sparse=(sp.csr_array(half + half.T),))
    monkeypatch.setattr(factorisations, "elimination", lambda pattern: pytest.fail("ordered"))
    assert factorisations.plan_factorisation(V).kind == kind
