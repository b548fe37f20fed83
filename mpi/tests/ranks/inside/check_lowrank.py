"""The low-rank method on ranks: it proves what one process proves, on any number of ranks."""

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import own_rows, random_weights, together

import condal
import condal_mpi
from condal.linalg.symmetric import Symmetric
from condal.methods.lowrank.sweeps import Sweeps
from condal.problems import max_cut
from condal_mpi import sweeps
from condal_mpi.halo import with_halo
from condal_mpi.matrix import ShardedRows
from condal_mpi.sharded_array import ShardedArray, normals
from condal_mpi.sweeps import DistributedSweeps, colouring

N = 400


@pytest.fixture(scope="module")
def W():
    return random_weights(N, seed=2)


def with_lengths(R, lengths):
    """The rows of R, scaled to these lengths."""
    sizes = np.linalg.norm(R.local, axis=1)
    return R.with_local(R.local * (lengths / sizes)[:, None])


def test_a_tighter_tolerance_takes_the_trust_region(team, W):
    """Sweeps end where they no longer pay: both must run on sharded factors."""
    model = condal_mpi.max_cut(own_rows(team, W), team)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("condal.methods.lowrank.rounds.SWEEP_PATIENCE", 1)
        result = condal_mpi.solve(model, "lowrank", tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(condal.solve(max_cut(W), tol=1e-7).objective, rel=2e-6)


def test_colours_are_proper_and_do_not_depend_on_the_ranks(team, alone, W):
    graph = sp.csr_array(W - sp.diags(W.diagonal()))
    graph.eliminate_zeros()
    own, halo = with_halo(own_rows(team, graph), team)
    some = colouring(own, halo, team, most=50)
    colour = np.concatenate(team.gathered(some[: own.shape[0]]))
    np.testing.assert_array_equal(some, colour[halo.columns])
    i, j = graph.nonzero()
    assert np.all(colour[i] != colour[j])
    assert set(colour) == set(range(colour.max() + 1))
    np.testing.assert_array_equal(colouring(*with_halo(graph, alone), alone, most=50), colour)
    assert colouring(own, halo, team, most=1) is None


@pytest.mark.parametrize("single", [False, True])
def test_sweeps_are_those_of_one_process(team, W, single, monkeypatch):
    """Both sweep in some order of the colours: from the same R they come to the same minimum."""
    monkeypatch.setattr(sweeps, "MIN_COLOUR_ENTRIES", 1)
    monkeypatch.setattr("condal.methods.lowrank.sweeps.MIN_COLOUR_ENTRIES", 1)
    squares = 1.0 + np.arange(N) / N
    begin, end = team.range(N)
    swept = DistributedSweeps.of(
        ShardedRows(own_rows(team, W), team), ShardedArray(squares[begin:end], team)
    )
    alone = Sweeps.of(Symmetric(N, sparse=(W,)), squares)
    R = with_lengths(normals(team, N, seed=[3], columns=30), np.sqrt(squares[begin:end]))
    options = {"sweeps": 60, "omega": 1.5, "single": single, "until": 1e-2}
    swept_R, met = swept.relaxed(R, **options)
    wanted, met_alone = alone.relaxed(together(team, R), **options)
    found = together(team, swept_R)
    assert abs(met.sweeps - met_alone.sweeps) <= 3  # another order of the colours
    np.testing.assert_allclose((found**2).sum(axis=1), squares, rtol=1e-12)
    values = [float(np.einsum("ij,ij->", X, W @ X)) for X in (found, wanted)]
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_a_sweep_moves_each_row_to_its_best(team, W, monkeypatch):
    """With omega = 1, a row of the last colour opposes its pull exactly."""
    monkeypatch.setattr(sweeps, "MIN_COLOUR_ENTRIES", 1)
    begin, end = team.range(N)
    ones = ShardedArray(np.ones(end - begin), team)
    swept = DistributedSweeps.of(ShardedRows(own_rows(team, W), team), ones)
    R = with_lengths(normals(team, N, seed=[4], columns=5), ones.local)
    found = together(team, swept.relaxed(R, sweeps=1, omega=1.0, single=False)[0])
    last = swept.order[swept.colours[-1].rows] + begin
    pull = (W @ found - W.diagonal()[:, None] * found)[last]
    size = np.linalg.norm(pull, axis=1, keepdims=True)
    np.testing.assert_allclose(found[last], -pull / size, atol=1e-12)


def test_an_error_on_one_rank_reaches_all(team, W):
    model = condal_mpi.max_cut(own_rows(team, W), team)

    def failing(row):
        raise ValueError(f"of rank {team.rank}")

    with pytest.raises(ValueError, match="of rank"):
        condal_mpi.solve(model, "lowrank", callback=failing)
