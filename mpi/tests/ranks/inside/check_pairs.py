"""Pairs of vectors on ranks: the numbers of one process, and sweeps that no split changes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import own_rows, sharded, together

from condal.methods.spheres.program import VectorProgram, WholePairs
from condal.methods.spheres.sweeps import PairSweeps
from condal_mpi.edges import Edges, ShardedPairs
from condal_mpi.sharded_array import normals

N, RHO = 60, 0.7


@pytest.fixture(scope="module")
def W():
    """A graph with a hub, vertices without an edge, and edges within and between ranks."""
    rng = np.random.default_rng(8)
    i, j = rng.integers(0, N - 5, (2, 2 * N))
    i, j = np.append(i, np.zeros(N - 6, dtype=int)), np.append(j, np.arange(1, N - 5))
    i, j = i[i != j], j[i != j]
    half = sp.csr_array((np.ones(i.size), (i, j)), shape=(N, N))
    W = sp.csr_array(half + half.T)
    W.data[:] = 1.0
    return W


def on(team, W, numbers):
    """The program of the ranks of a team."""
    pairs = ShardedPairs(Edges.of(own_rows(team, W), team))
    return program(pairs, *(sharded(team, array) for array in numbers))


def program(pairs, cost, linear, radius):
    return VectorProgram(N, pairs, cost, 0.0 * cost, 0.0 * cost, linear, radius, 0.5)


@pytest.fixture(scope="module")
def numbers(W):
    rng, m = np.random.default_rng(9), W.nnz // 2
    cost, linear = 0.1 * rng.standard_normal(m), -rng.uniform(0.5, 1.5, N)
    return cost, linear, rng.uniform(0.4, 0.6, N)


@pytest.fixture(scope="module")
def data(team, W, numbers):
    return on(team, W, numbers)


@pytest.fixture(scope="module")
def whole(W, numbers):
    """The program of one process, with its pairs in the order of the ranks."""
    upper = sp.coo_array(sp.triu(W))
    order = np.lexsort((upper.col, upper.row))
    return program(WholePairs(N, upper.row[order], upper.col[order]), *numbers)


def test_numbers_of_vectors_at_their_pairs_and_back(team, data, whole):
    rng, m = np.random.default_rng(1), whole.cost.size
    v, at_a, at_b = rng.standard_normal(N), *rng.standard_normal((2, m))
    for found, wanted in zip(data.pairs.ends(sharded(team, v)), whole.pairs.ends(v), strict=True):
        np.testing.assert_array_equal(together(team, found), wanted)
    sums = data.pairs.sums(sharded(team, at_a), sharded(team, at_b))
    np.testing.assert_allclose(together(team, sums), whole.pairs.sums(at_a, at_b), atol=1e-13)


def test_slots_take_numbers_of_pairs_and_give_them_back(team, data, whole):
    slots, z = data.pairs.slots(), np.random.default_rng(2).standard_normal(whole.cost.size)
    assert slots.arrangement.pair.size == slots.edges.entries.nnz
    in_slots = slots.of_pairs(sharded(team, z))
    np.testing.assert_array_equal(together(team, slots.to_pairs(in_slots)), z)
    v = np.arange(float(N))
    sorted_ = slots.sorted_rows(sharded(team, v), np.float64)
    np.testing.assert_array_equal(together(team, slots.unsorted_rows(sorted_)), v)


def test_no_vector_of_a_colour_is_a_neighbour_of_another(team, data, W):
    slots = data.pairs.slots()
    numbers = slots.sorted_rows(sharded(team, np.arange(N)), np.int64)
    moved = np.zeros(len(slots.arrangement.order), dtype=int)
    for groups in slots.arrangement.colours:
        colour = [set(numbers[group.rows].tolist()) for group in groups]
        members = set().union(*team.gathered(set().union(*colour)))
        for group in groups:
            moved[group.rows] += 1
            count = group.rows.stop - group.rows.start
            near = slots.arrangement.neighbours[group.slots].reshape(count, group.degree)
            for number, others in zip(numbers[group.rows], numbers[near], strict=True):
                assert set(others.tolist()) == set(W[[number]].indices.tolist())
                assert not members & set(others.tolist())
    assert (moved == 1).all()
    assert data.pairs.slots(most=1) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sweeps_are_those_of_one_rank(team, alone, data, W, numbers, dtype):
    swept = []
    for ranks, each in ((team, data), (alone, on(alone, W, numbers))):
        sweeps, z = PairSweeps.of(each), 0.3 * each.cost
        R = each.on_spheres(normals(ranks, N, seed=[3], columns=6)).astype(dtype)
        work = sweeps.sorted_rows(R)
        sweeps.relax(work, z, RHO, sweeps=4, omega=1.5, curvature=1.0)
        p, R = sweeps.products(work), sweeps.unsorted_rows(work)
        mu = each.multipliers(R, p, each.priced(p, z, RHO))
        swept.append([together(ranks, array) for array in (R, p, mu)])
    tol = 1e-12 if dtype == np.float64 else 1e-4
    for found, wanted in zip(*swept, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)


def test_sweeps_descend_on_the_spheres(team, data, whole):
    """The augmented Lagrangian and the products are what one process computes from all vectors."""
    sweeps, z, pairs = PairSweeps.of(data), 0.3 * whole.cost, whole.pairs
    work, value = sweeps.sorted_rows(data.random(7, 0)), np.inf
    for _ in range(20):
        sweeps.relax(work, sharded(team, z), RHO, sweeps=1, omega=1.9, curvature=1.0)
        R = together(team, sweeps.unsorted_rows(work))
        lengths = np.linalg.norm(R - 0.5 * np.eye(7)[0], axis=1)
        np.testing.assert_allclose(lengths, whole.radius, rtol=1e-12)
        p = np.einsum("ij,ij->i", R[pairs.a], R[pairs.b])
        np.testing.assert_allclose(together(team, sweeps.products(work)), p, atol=1e-13)
        lowered = float(whole.linear @ R[:, 0] + (2 * (whole.cost + z) * p + RHO * p**2).sum())
        assert lowered <= value + 1e-12 * abs(lowered)
        value = lowered
