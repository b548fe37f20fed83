"""Theta: known values, an independent solver, stable sets, and what bounds what."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.problems import theta
from condal.problems.stable_sets import improve_stable_set, take_in_order
from condal.storage import Sketch
from known import random_graph


def hamming(d, distances):
    """Words of d bits, joined where they differ in so many."""
    words = np.arange(2**d)
    apart = np.array([[int(a ^ b).bit_count() for b in words] for a in words])
    return np.isin(apart, distances).astype(float)


KNOWN = {
    "pentagon": (nx.cycle_graph(5), np.sqrt(5.0)),
    "heptagon": (nx.cycle_graph(7), 7 * np.cos(np.pi / 7) / (1 + np.cos(np.pi / 7))),
    "Petersen": (nx.petersen_graph(), 4.0),
    "Kneser 6, 2": (nx.kneser_graph(6, 2), 5.0),
    "cube": (nx.hypercube_graph(3), 4.0),
    "complete": (nx.complete_graph(6), 1.0),
    "no edges": (nx.empty_graph(4), 4.0),
    "one vertex": (nx.empty_graph(1), 1.0),
    "isolated vertices": (nx.disjoint_union(nx.cycle_graph(5), nx.empty_graph(3)), 3 + 5**0.5),
    "words of the DIMACS challenge": (hamming(7, (5, 6)), 128 / 3),
    "Schrijver's words": (hamming(6, (1, 2, 3)), 16 / 3),
}
PLUS = {"words of the DIMACS challenge": 36.0, "Schrijver's words": 4.0}  # theta+, where it differs


@pytest.mark.parametrize("theta_plus", [False, True])
@pytest.mark.parametrize("name", KNOWN)
def test_known_values(name, theta_plus):
    graph, value = KNOWN[name]
    value = PLUS.get(name, value) if theta_plus else value
    model = theta(graph, theta_plus=theta_plus)
    result = condal.solve(model, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert value <= result.bound * (1 + 1e-12)
    assert result.bound == pytest.approx(value, rel=3e-4)


@pytest.mark.parametrize("graph", [nx.cycle_graph(7), nx.petersen_graph(), nx.cubical_graph()])
def test_the_product_with_the_complement_is_n_where_vertices_are_alike(graph):
    model = theta(graph)
    values = [condal.solve(m, tol=1e-4).bound for m in (model, model.complement)]
    assert values[0] * values[1] == pytest.approx(model.n, rel=1e-3)


def test_the_complement_of_the_complement_is_the_graph_itself():
    W = random_graph(12, 4.0).toarray() * 2.5
    for model in (theta(W), theta(W, theta_plus=True, name="mine"), theta(W).complement):
        again = model.complement.complement
        assert again.name == model.name
        assert again.theta_plus == model.theta_plus
        np.testing.assert_array_equal(again.W.toarray(), model.W.toarray())
        assert model.complement.name != model.name
    assert theta(W, name="mine").complement.name == "mine of the complement"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("theta_plus", [False, True])
def test_stable_sets_lie_below_the_bound_and_are_largest_in_small_graphs(seed, theta_plus):
    model = theta(random_graph(22, 6.0, seed), theta_plus=theta_plus)
    result = condal.solve(model)
    found = model.round(result)
    graph = nx.complement(nx.from_scipy_sparse_array(model.W))
    largest = max(map(len, nx.find_cliques(graph)))
    assert found.size == found.vertices.size == largest <= result.bound == found.bound
    assert model.is_stable(found.vertices)
    assert not model.is_stable(np.arange(22))
    assert np.array_equal(found.vertices, model.round(result).vertices)
    assert f"StableSet(size={largest}, bound=" in repr(found)


@pytest.mark.parametrize("seed", range(5))
def test_improvement_leaves_no_vertex_to_add_and_no_exchange_of_one_for_two(seed):
    W = sp.csr_array(random_graph(40, 6.0, seed))
    order = np.random.default_rng(seed).permutation(40)
    taken = take_in_order(W, order)
    chosen = improve_stable_set(W, taken)
    joined = W.toarray() != 0
    assert chosen.sum() >= taken.sum()
    assert not joined[np.ix_(chosen, chosen)].any()
    near = joined[:, chosen].sum(axis=1)
    assert near[~chosen].min() >= 1
    for v in np.flatnonzero(chosen):
        loose = np.flatnonzero(joined[v] & (near == 1))
        pairs = ~joined[np.ix_(loose, loose)] & ~np.eye(loose.size, dtype=bool)
        assert not pairs.any()


def shifted(model, result):
    """x with 0 on the edges, made psd by a multiple of I, of trace 1."""
    x = np.array(condal.dense(result.x))
    x[model.W.toarray() != 0] = 0.0
    if model.theta_plus:
        x = np.maximum(x, 0.0)
    x += max(0.0, -np.linalg.eigvalsh(x)[0]) * np.eye(model.n)
    return x / np.trace(x)


@pytest.mark.parametrize("theta_plus", [False, True])
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
@pytest.mark.parametrize("seed", [1, 2, 6])
def test_the_feasible_point_is_never_worse_than_a_plain_shift(seed, tol, theta_plus):
    # For seed 1 small rows of x are noise, which a scaling by itself makes large: 3.78 of 6.
    graph = nx.random_geometric_graph(40, 0.3, seed=seed)
    model = theta(graph, theta_plus=theta_plus).complement
    result = condal.solve(model, tol=tol)
    x = model.feasible(result)
    assert shifted(model, result).sum() - 1e-9 <= x.sum() <= result.bound
    assert x.sum() >= (1 - 10 * tol) * result.bound
    assert np.trace(x) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(x)[0] >= -1e-15
    assert np.all(x[model.W.toarray() != 0] == 0.0)
    assert not theta_plus or x.min() >= 0


def test_no_scaling_of_a_feasible_point_is_better():
    model = theta(random_graph(15, 4.0))
    x = model.feasible(condal.solve(model, tol=1e-2))
    rng = np.random.default_rng(0)
    for _ in range(50):
        d = np.exp(0.1 * rng.standard_normal(15))
        other = x * np.multiply.outer(d, d)
        assert other.sum() / np.trace(other) <= x.sum() * (1 + 1e-12)


def test_a_dense_point_and_its_factor_are_rounded_alike():
    rng = np.random.default_rng(0)
    model = theta(random_graph(80, 6.0))
    result = condal.solve(model, max_iters=1)
    R = rng.standard_normal((80, 80))
    values, U = np.linalg.eigh(R @ R.T)
    dense, factor = replace(result, x=R @ R.T), replace(result, x=condal.LowRank(U, values))
    found = set()
    for seed in range(8):
        a, b = (model.round(given, trials=3, seed=seed).vertices for given in (dense, factor))
        assert np.array_equal(a, b)
        found.add(tuple(a))
    assert len(found) > 1


def test_rows_of_nothing_do_not_spoil_the_feasible_point():
    model = theta(nx.star_graph(20))  # whose centre is in no large set: its row of x is 0
    result = condal.solve(model, tol=1e-4)
    assert 19.9 <= model.feasible(result).sum() <= 20.0 + 1e-9


def test_weights_and_loops_of_the_graph_do_not_matter():
    W = random_graph(12, 4.0).toarray()
    weighted = W * np.random.default_rng(0).uniform(-3.0, 3.0, W.shape)
    weighted = weighted + weighted.T + 7 * np.eye(12)
    a, b = (condal.solve(theta(given), tol=1e-4) for given in (W, weighted))
    assert a.bound == pytest.approx(b.bound, rel=1e-12)


def test_the_objective_is_never_written_down():
    model = theta(random_graph(50, 4.0))
    C = model.problem.f.C
    assert C.dense is None
    assert len(C.pairs) == 1
    assert not C.sparse


def test_a_sketch_of_many_vertices_is_solved_without_an_n_by_n_array():
    n = 60_000  # n^2 numbers are 29 GB
    model = theta(random_graph(n, 4.0))
    storage = Sketch(n, 4)
    result = condal.solve(model, method=condal.CGAL(50.0), storage=storage, max_iters=3)
    assert result.x.rank == 4
    found = model.round(result, trials=1)
    assert model.is_stable(found.vertices)
    assert found.size <= result.bound < 1.01 * n


def test_bad_choices_are_refused():
    model = theta(nx.cycle_graph(5))
    with pytest.raises(condal.ProblemError, match="theta_plus must be True or False; got 1"):
        theta(nx.cycle_graph(5), theta_plus=1)
    for vertices, got in [
        ([7], "7 at index 0"),
        ([0, -1], "-1 at index 1"),
        ([0.7], "0.7 at index 0"),
        (["a"], "'a' at index 0"),
        ([True, False], "True at index 0"),
        ([[0], [1, 2]], "a list of 2 parts"),
        (3, "3"),
    ]:
        with pytest.raises(condal.ProblemError, match=f"whole numbers from 0 to 4; got.*{got}"):
            model.is_stable(vertices)
    assert model.is_stable([])
