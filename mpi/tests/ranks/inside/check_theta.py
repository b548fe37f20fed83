"""Theta on ranks: what is proved of it holds, and is what one process proves."""

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import own_rows, refused_by_all, sharded, together

import condal_mpi
from condal.errors import ProblemError
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Entries
from condal.problems import theta
from condal.problems.graphs import edges
from condal_mpi.edges import Edges
from condal_mpi.maps import DistributedEntries
from condal_mpi.pieces import OnesTerm

N = 120


@pytest.fixture(scope="module")
def W():
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, N, (2, 2 * N))
    half = sp.csr_array((np.ones(i.size), (i, j)), shape=(N, N))
    W = sp.csr_array(half + half.T)
    W.data[:] = 1.0
    return W


def test_spheres_are_refused_for_another_problem(team, W):
    model = condal_mpi.max_cut(own_rows(team, W), team)
    with pytest.raises(ProblemError, match="on ranks is for theta; got 'max-cut'"):
        condal_mpi.solve(model, "spheres")


def test_a_stable_set_is_one_and_maximal(team, W):
    model = condal_mpi.theta(own_rows(team, W), team)
    result = condal_mpi.solve(model)
    found = model.round(result, trials=3)
    vertices = team.agreed(found.vertices)
    assert found.size == len(vertices) <= result.bound
    assert theta(W).is_stable(vertices)
    covered = np.asarray(W[vertices].sum(axis=0)).ravel() > 0
    covered[vertices] = True
    assert covered.all()
    assert team.gathered(len(found.vertices)) == [found.size] + [0] * (team.size - 1)


def test_the_entries_and_their_adjoint(team, W):
    rng = np.random.default_rng(7)
    U, weights = rng.standard_normal((N, 3)), np.array([2.0, 1.0, 0.5])
    W = sp.csr_array(W - sp.diags(W.diagonal()))
    W.eliminate_zeros()
    whole = Entries(N, *edges(W))
    kept = Edges.of(own_rows(team, W), team)
    assert kept.count == whole.size
    factors = 1.0 + rng.random(whole.size)
    A, x = DistributedEntries(N, sharded(team, factors), kept), LowRank(sharded(team, U), weights)
    image = together(team, A(x))
    order = np.lexsort((whole.cols, whole.rows))
    wanted = whole(LowRank(U, weights))[order]
    np.testing.assert_allclose(image, factors * wanted, atol=1e-12)
    y = sharded(team, rng.standard_normal(whole.size))
    assert y @ A(x) == pytest.approx(A.adjoint(y).quadratic(x), rel=1e-10)
    assert A.norm == pytest.approx(np.sqrt(0.5) * factors.max(), rel=1e-15)


def test_the_matrix_of_ones(team):
    v = np.random.default_rng(1).standard_normal((N, 2))
    V = Symmetric(N, [OnesTerm(-2.0, sharded(team, np.ones(N)), N)])
    full = -2.0 * np.ones((N, N))
    np.testing.assert_allclose(together(team, V @ sharded(team, v)), full @ v, atol=1e-12)
    np.testing.assert_allclose(
        together(team, V @ sharded(team, v[:, 0])), full @ v[:, 0], atol=1e-12
    )
    assert together(team, V.diag()).tolist() == [-2.0] * N
    assert V.terms[0].norm == np.linalg.norm(full)


def test_rows_of_a_graph_that_is_not_symmetric_are_refused_by_all(team, W):
    block = own_rows(team, W).tolil()
    if team.rank == team.size - 1:
        block[0, 0 if team.size > 1 else N - 1] = 1.0 - block[0, 0 if team.size > 1 else N - 1]
    with refused_by_all(team, ProblemError, "do not form a symmetric W"):
        _ = condal_mpi.theta(sp.csr_array(block), team).problem


def test_a_graph_without_edges_is_refused(team):
    nothing = own_rows(team, sp.csr_array((N, N)))
    with pytest.raises(ProblemError, match="the graph has no edges: theta is the number of"):
        condal_mpi.theta(nothing, team)
