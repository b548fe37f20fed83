"""Theta on ranks: what is proved of it holds, and is what one process proves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sharded_graphs import own_rows

import condal
import condal_mpi
from condal.errors import ProblemError
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Entries
from condal.problems import theta
from condal.problems.graphs import edges
from condal_mpi.checkpoint_writer import read_about
from condal_mpi.edges import Edges
from condal_mpi.maps import DistributedEntries
from condal_mpi.pieces import OnesTerm
from condal_mpi.sharded_array import ShardedArray

N = 120


@pytest.fixture(scope="module")
def W():
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, N, (2, 2 * N))
    half = sp.csr_array((np.ones(i.size), (i, j)), shape=(N, N))
    W = sp.csr_array(half + half.T)
    W.data[:] = 1.0
    return W


def own(team, array):
    begin, end = team.range(len(array))
    return ShardedArray(array[begin:end].copy(), team)


def together(team, found):
    return np.concatenate(team.gathered(found.local))


@pytest.fixture(scope="module")
def result(team, W):
    return condal_mpi.solve(condal_mpi.theta(own_rows(team, W), team))


def certified(team, W, result):
    """What one process proves of the x and y of all ranks."""
    U, y = together(team, result.x.U), together(team, result.y)
    return condal.certify(theta(W), LowRank(U, result.x.weights), y)


@pytest.fixture(scope="module")
def by_cgal(team, W):
    return condal_mpi.solve(condal_mpi.theta(own_rows(team, W), team), "cgal-ls")


@pytest.fixture(scope="module")
def best(W):
    return condal.solve(theta(W), tol=1e-7)


def test_it_is_chosen_and_proves_what_one_process_proves(team, W, result, best):
    assert (result.status, result.method) == (condal.Status.SOLVED, "spheres")
    assert best.objective <= result.bound <= best.bound * (1 + 2e-3)
    assert result.objective == pytest.approx(best.objective, rel=1e-3)  # x has a price
    again = certified(team, W, result)
    assert again.objective == pytest.approx(result.objective, rel=1e-9)
    assert again.infeasibility == pytest.approx(result.infeasibility, rel=1e-6)
    assert again.bound == pytest.approx(result.bound, rel=1e-3)
    assert max(again.gap, again.infeasibility, again.price) <= 1e-3


def test_theta_of_a_paley_graph_is_the_root_of_its_size(team):
    n = 13
    squares = np.unique(np.arange(1, n) ** 2 % n)
    i, j = np.repeat(np.arange(n), squares.size), np.tile(squares, n)
    W = sp.csr_array((np.ones(i.size), (i, (i + j) % n)), shape=(n, n))
    result = condal_mpi.solve(condal_mpi.theta(own_rows(team, W), team), "spheres", tol=1e-5)
    assert result.status is condal.Status.SOLVED
    assert np.sqrt(n) - 1e-9 <= result.bound <= np.sqrt(n) * (1 + 2e-5)
    assert result.objective == pytest.approx(np.sqrt(n), rel=1e-5)


def test_solved_by_cgal_means_proved(team, W, by_cgal, best):
    assert (by_cgal.status, by_cgal.method) == (condal.Status.SOLVED, "cgal-ls")
    assert best.objective <= by_cgal.bound <= best.bound * (1 + 2e-2)
    assert by_cgal.objective <= best.bound * (1 + 2e-2)  # x is infeasible, at a price
    again = certified(team, W, by_cgal)
    assert again.objective == pytest.approx(by_cgal.objective, rel=1e-9)
    assert again.infeasibility == pytest.approx(by_cgal.infeasibility, rel=1e-6)
    assert again.bound == pytest.approx(by_cgal.bound, rel=1e-2)
    assert max(again.gap, again.infeasibility, again.price) <= 1e-2


def test_the_first_iterations_of_cgal_are_those_of_one_rank(team, W):
    model = condal_mpi.theta(own_rows(team, W), team)
    comm = team.comm.Split(team.rank)
    alone = condal_mpi.theta(W, condal_mpi.Team(comm))
    options = {"method": "cgal-ls", "R": 8, "max_iters": 8}
    several, single = (condal_mpi.solve(each, **options) for each in (model, alone))
    for row, other in zip(several.history, single.history, strict=True):
        assert row.objective == pytest.approx(other.objective, rel=1e-6)
    comm.Free()


def test_the_answer_of_one_rank_agrees(team, W, result, by_cgal):
    comm = team.comm.Split(team.rank)
    model = condal_mpi.theta(W, condal_mpi.Team(comm))
    alone = condal_mpi.solve(model)
    for row, other in zip(result.history, alone.history, strict=True):
        assert row.objective == pytest.approx(other.objective, rel=1e-6)
    assert alone.objective == pytest.approx(result.objective, rel=1e-6)
    assert alone.bound == pytest.approx(result.bound, rel=1e-4)
    alone = condal_mpi.solve(model, "cgal-ls")
    assert alone.status is condal.Status.SOLVED
    assert alone.bound == pytest.approx(by_cgal.bound, rel=2e-2)
    assert alone.objective == pytest.approx(by_cgal.objective, rel=2e-2)
    comm.Free()


def test_every_rank_has_the_same_result(team, result):
    numbers = result.objective, result.bound, result.oracle_calls, result.matvecs
    team.require_same((*numbers, str(result.status), result.certificate.how), "the result")


def test_a_checkpoint_is_resumed_on_fewer_ranks(team, fewer, W, shared, result):
    path, model = shared / "run", condal_mpi.theta(own_rows(team, W), team)
    begun = condal_mpi.solve(model, max_iters=5, checkpoint=path)
    assert begun.status is condal.Status.MAX_ITERS
    if fewer is not None:
        resumed = condal_mpi.resume(path, condal_mpi.theta(own_rows(fewer, W), fewer))
        assert resumed.status is condal.Status.SOLVED
        assert resumed.objective == pytest.approx(result.objective, rel=1e-6)
        assert resumed.bound == pytest.approx(result.bound, rel=1e-4)
    team.comm.Barrier()
    assert read_about(path)["k"] == len(result.history)


def test_spheres_are_refused_for_another_problem(team, W):
    model = condal_mpi.max_cut(own_rows(team, W), team)
    with pytest.raises(ProblemError, match="on ranks is for theta; got 'max-cut'"):
        condal_mpi.solve(model, "spheres")


def test_a_stable_set_is_one_and_maximal(team, W, result):
    found = condal_mpi.theta(own_rows(team, W), team).round(result, trials=3)
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
    A, x = DistributedEntries(N, own(team, factors), kept), LowRank(own(team, U), weights)
    image = together(team, A(x))
    order = np.lexsort((whole.cols, whole.rows))
    wanted = whole(LowRank(U, weights))[order]
    np.testing.assert_allclose(image, factors * wanted, atol=1e-12)
    y = own(team, rng.standard_normal(whole.size))
    assert y @ A(x) == pytest.approx(A.adjoint(y).quadratic(x), rel=1e-10)
    assert A.norm == pytest.approx(np.sqrt(0.5) * factors.max(), rel=1e-15)


def test_the_matrix_of_ones(team):
    v = np.random.default_rng(1).standard_normal((N, 2))
    V = Symmetric(N, [OnesTerm(-2.0, own(team, np.ones(N)), N)])
    full = -2.0 * np.ones((N, N))
    np.testing.assert_allclose(together(team, V @ own(team, v)), full @ v, atol=1e-12)
    np.testing.assert_allclose(together(team, V @ own(team, v[:, 0])), full @ v[:, 0], atol=1e-12)
    assert together(team, V.diag()).tolist() == [-2.0] * N
    assert V.terms[0].norm == np.linalg.norm(full)


def test_rows_of_a_graph_that_is_not_symmetric_are_refused_by_all(team, W):
    block = own_rows(team, W).tolil()
    if team.rank == team.size - 1:
        block[0, 0 if team.size > 1 else N - 1] = 1.0 - block[0, 0 if team.size > 1 else N - 1]
    with pytest.raises(ProblemError, match="do not form a symmetric W") as caught:
        _ = condal_mpi.theta(sp.csr_array(block), team).problem
    assert len(set(team.gathered(str(caught.value)))) == 1


def test_a_graph_without_edges_is_refused(team):
    nothing = own_rows(team, sp.csr_array((N, N)))
    with pytest.raises(ProblemError, match="the graph has no edges: theta is the number of"):
        condal_mpi.theta(nothing, team)
