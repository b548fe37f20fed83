"""Communities: planted groups, modularity and its bound."""

import itertools

import cvxpy as cp
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import condal
from condal.problems import Communities, Partition, communities
from condal.problems.partitions import improve_partition
from known import random_graph


def planted(n, k, inside, outside, seed=0):
    """Vertices i of group i mod k, joined with these chances; and the groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    chance = np.where(labels[:, None] == labels, inside, outside)
    W = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    return sp.csr_array(W + W.T), labels


def karate():
    graph = nx.karate_club_graph()
    return sp.csr_array(nx.to_scipy_sparse_array(graph, weight=None, dtype=float))


def by_cvxpy(model):
    n, W = model.n, model.W.toarray()
    x = cp.Variable((n, n), PSD=True)
    B = W - np.outer(model.c, model.c)
    program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(B, x))), [cp.diag(x) == 1, x >= 0])
    return program.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("null", ["uniform", "degrees"])
def test_an_independent_solver_agrees_on_any_number_of_groups(null):
    model = communities(random_graph(13, 5.0, 1), None, null=null, resolution=1.2)
    value = by_cvxpy(model)
    result = condal.solve(model, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(value, rel=1e-3)
    assert result.bound >= value * (1 - 1e-6)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("null", ["uniform", "degrees"])
def test_planted_groups_are_found(k, null):
    W, labels = planted(40 * k, k, 0.5, 0.05, seed=k)
    model = communities(W, k, null=null)
    result = condal.solve(model)
    found = model.round(result)
    assert found.agreement(labels) == 1.0
    assert found.value == pytest.approx(model.quality(labels))
    assert found.value <= found.bound == model.quality_bound(result)
    assert result.method == "lowrank"


def test_any_number_of_groups_is_found():
    W, labels = planted(60, 4, 0.7, 0.05)
    model = communities(W, None)
    result = condal.solve(model)
    found = model.round(result)
    assert found.agreement(labels) == 1.0
    assert found.value <= model.quality_bound(result)


def test_the_best_modularity_of_the_karate_club():
    # 0.4198, in four groups, is known to be the best of all partitions.
    graph = karate()
    for k in (4, None):
        model = communities(graph, k, null="degrees", pairs="all")
        result = condal.solve(model)
        found = model.round(result)
        assert found.value == pytest.approx(0.4197896, abs=1e-6)
        assert found.value <= model.quality_bound(result) <= 0.445
        assert found.sizes.size == 4


def test_quality_is_modularity():
    graph = nx.karate_club_graph()
    model = communities(karate(), 3, null="degrees", resolution=0.7)
    labels = np.arange(34) % 3
    parts = [set(np.flatnonzero(labels == c)) for c in range(3)]
    known = nx.community.modularity(graph, parts, weight=None, resolution=0.7)
    assert model.quality(labels) == pytest.approx(known)


@pytest.mark.parametrize(("k", "pairs"), [(2, "none"), (3, "none"), (3, "all"), (None, "all")])
@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
def test_no_partition_is_above_the_bound(k, pairs, resolution):
    model = communities(random_graph(6, 3.0, 2), k, resolution=resolution, pairs=pairs)
    result = condal.solve(model)
    partitions = itertools.product(range(k or 6), repeat=5)
    best = max(model.quality(np.array([0, *rest])) for rest in partitions)
    assert best <= model.quality_bound(result) + 1e-12


@pytest.mark.parametrize("k", [3, None])
def test_a_partition_is_a_point_of_the_program(k):
    model = communities(random_graph(10, 4.0), k, pairs="all")
    labels = np.arange(10) % 3
    y = (labels[:, None] == labels).astype(float)
    x = y if k is None else (k * y - 1) / (k - 1)
    assert model.problem.infeasibility(x) <= 1e-12
    assert np.linalg.eigvalsh(x)[0] >= -1e-12
    total = model.W.sum()
    share = model.problem.objective(x) / total
    assert model.quality(labels) == pytest.approx(share if k is None else 2 * share / 3)


@pytest.mark.parametrize("seed", range(4))
def test_moves_never_lose_and_end_where_none_gains(seed):
    rng = np.random.default_rng(seed)
    W = sp.csr_array(random_graph(30, 6.0, seed))
    c = rng.uniform(0.2, 0.6, 30)
    model = Communities(W, 4, "none", c)
    labels = rng.integers(0, 4, 30)
    moved = improve_partition(W, c, labels, 4)
    value = model.quality(moved)
    assert value >= model.quality(labels)
    for v, group in itertools.product(range(30), range(4)):
        other = moved.copy()
        other[v] = group
        assert model.quality(other) <= value + 1e-9


def test_agreement_is_up_to_the_names_of_groups():
    pairs, single = (Partition(0.5, 0.6, np.array(each)) for each in ([0, 0, 1, 1], [0] * 4))
    assert pairs.agreement([5, 5, 2, 2]) == 1.0
    assert pairs.agreement(["a", "b", "b", "b"]) == 0.75
    assert pairs.agreement(pd.Series(["b", "b", "a", "a"])) == 1.0
    assert single.agreement([0, 1, 2, 3]) == 0.25
    for wrong in ([0, 1, 2], [[0], [1, 2]]):
        with pytest.raises(condal.ProblemError, match="labels must be 4 whole numbers or names"):
            pairs.agreement(wrong)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"k": 1}, "k must be a whole number, at least 2; got 1"),
        ({"null": "none"}, "null must be 'uniform' or 'degrees'; got 'none'$"),
        ({"null": "degree"}, r"or 'degrees'; got 'degree' \(did you mean degrees\?\)$"),
        ({"pairs": 3}, "pairs must be 'none', 'edges' or 'all'; got 3"),
        ({"k": None, "pairs": "none"}, r"any number of groups \(k = None\) needs x >= 0"),
        ({"graph": np.zeros((3, 3))}, "the graph has no edges"),
        ({"graph": -np.ones((3, 3))}, "weights must not be negative; got -1"),
    ],
)
def test_bad_models_are_refused(change, text):
    given = {"graph": random_graph(5, 3.0), "k": 3, **change}
    with pytest.raises(condal.ProblemError, match=text):
        communities(given.pop("graph"), given.pop("k"), **given)


def test_more_groups_than_vertices_are_some_without_any():
    model = communities(nx.complete_graph(4), 6)
    found = model.round(condal.solve(model))
    assert found.labels.max() + 1 == found.sizes.size <= 4


@pytest.mark.parametrize("labels", [[0, 1], [0.5] * 5, [None] * 5, [[0], [1, 2]], "abcde"])
def test_what_are_no_labels_is_refused(labels):
    model = communities(random_graph(5, 3.0), 3)
    with pytest.raises(
        condal.ProblemError, match="labels must be 5 whole numbers or names, one per vertex"
    ):
        model.quality(labels)
