"""The symbolic cost of a sparse factorisation: exact, for the order that is used."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from condal.linalg import factorisations, symbolic
from condal.linalg.factorisations import SparseFactors
from condal.linalg.symbolic import column_counts, elimination, envelope, minimum_degree
from condal.linalg.symmetric import Symmetric
from condal_lab.experiments.stand_ins import planar_union
from laws import random_graph, torus


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


GRAPHS = {
    "torus": lambda: torus(12),
    "random": lambda: random_graph(200, 0.03, 0),
    "planar": lambda: planar_union(300),
    "no edges": lambda: sp.csr_array((7, 7)),
}
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
    plan = factorisations.plan_factorisation(Symmetric(7000, sparse=(sp.csr_array(slack(graph)),)))
    assert plan.kind == "sparse"
    assert 5e9 < plan.flops < 7e9


def test_a_random_graph_that_would_fill_is_not_ordered(monkeypatch):
    """Its ordering alone would take seconds; a minute at 10^5 vertices."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 40_000, (2, 80_000))
    half = sp.coo_array((np.ones(80_000), ends), (40_000, 40_000)).tocsr()
    V = Symmetric(40_000, sparse=(sp.csr_array(half + half.T),))
    monkeypatch.setattr(symbolic, "elimination", lambda pattern: pytest.fail("it was ordered"))
    assert factorisations.plan_factorisation(V).kind == "probabilistic"


def test_a_graph_whose_factor_is_nearly_full_is_not_ordered(monkeypatch):
    graph = sp.csr_array(random_graph(1500, 0.02, 0))
    monkeypatch.setattr(symbolic, "elimination", lambda pattern: pytest.fail("it was ordered"))
    assert factorisations.plan_factorisation(Symmetric(1500, sparse=(graph,))).kind == "dense"
