"""Max-cut on ranks: what is proved of it holds, and is what one process proves."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import own_rows, together

import condal
import condal_mpi
from condal.errors import ProblemError
from condal.linalg.lanczos import Recurrence
from condal.problems import max_cut

N = 150


@pytest.fixture(scope="module")
def W():
    rng = np.random.default_rng(2)
    half = sp.random(N, N, 0.06, random_state=np.random.RandomState(1), data_rvs=rng.random)
    return sp.csr_array(half + half.T)


@pytest.fixture(scope="module")
def solved(team, W):
    model = condal_mpi.max_cut(own_rows(team, W), team)
    return model, condal_mpi.solve(model, "cgal", tol=3e-2, R=20)


def test_a_cut_weighs_what_it_says_and_no_flip_gains(team, W, solved):
    model, result = solved
    cut = model.round(result, trials=3, seed=1)
    signs = team.agreed(cut.signs).astype(float)
    assert team.gathered(cut.signs.size) == [N] + [0] * (team.size - 1)
    assert np.all(np.abs(signs) == 1)
    assert max_cut(W).weight(signs) == pytest.approx(cut.weight, rel=1e-12)
    assert W.diagonal().any()  # loops are never cut
    at_vertex = signs * (W @ signs) - W.diagonal()
    assert np.all(at_vertex <= 1e-9)  # what is cut there is at least half
    assert 0.85 * result.bound <= cut.weight <= result.bound


@pytest.mark.parametrize(
    "blocks", [np.ones((N, N)), np.kron(np.eye(N // 2), np.ones((2, 2)))], ids=["complete", "pairs"]
)
def test_iterations_are_those_of_one_rank_where_eigenvalues_are_equal(team, alone, blocks):
    """SLEPc finds some eigenvector of many, as rounding has it."""
    W = sp.csr_array(blocks - np.diag(np.diag(blocks)))
    result, single = (
        condal_mpi.solve(condal_mpi.max_cut(own_rows(some, W), some), "cgal", tol=1e-9, max_iters=3)
        for some in (team, alone)
    )
    y = together(team, result.y)
    np.testing.assert_allclose(y, single.y.local, rtol=1e-8, atol=1e-8 * np.abs(y).max())


@pytest.mark.parametrize("method", ["cgal", "lowrank"])
def test_ranks_that_round_otherwise_prove_the_same(method, team, W, monkeypatch):
    if team.rank == 1:
        true = Recurrence.ends
        monkeypatch.setattr(Recurrence, "ends", lambda run: tuple(1.1 * end for end in true(run)))
    result = condal_mpi.solve(condal_mpi.max_cut(own_rows(team, W), team), method, max_iters=5)
    assert len(set(team.gathered((result.bound, result.certificate.how)))) == 1


def test_an_interrupt_of_ones_own_on_one_rank_does_not_leave_the_others_waiting(team, W):
    """Which is what a handler of a signal may raise; no rank goes on alone."""
    model = condal_mpi.max_cut(own_rows(team, W), team)
    true = type(model.cost).__matmul__

    def interrupted(rows, v):
        found = true(rows, v)
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return found

    calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model.cost), "__matmul__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            condal_mpi.solve(model, "cgal", tol=1e-12, max_iters=100)


class Interrupting:
    """A callback that is interrupted on the first rank at k = 2, on others at k = 1."""

    def __init__(self, rank):
        self.last = 2 if rank == 0 else 1

    def __call__(self, row):
        if row.k == self.last:
            raise KeyboardInterrupt


@pytest.mark.parametrize("method", ["cgal", "lowrank"])
def test_limits_and_callbacks_are_those_of_the_first(method, team, W):
    model = condal_mpi.max_cut(own_rows(team, W), team)
    stopped = condal_mpi.solve(
        model, method, tol=1e-9, callback=lambda row: team.rank == 0 and row.k == 3
    )
    assert (stopped.status, stopped.iterations) == (condal.Status.INTERRUPTED, 3)
    ignored = condal_mpi.solve(
        model, method, tol=1e-9, max_iters=4, callback=lambda row: team.rank == 1
    )
    assert (ignored.status, ignored.iterations) == (condal.Status.MAX_ITERS, 4)
    halted = condal_mpi.solve(
        model, method, tol=1e-9, max_iters=4, callback=Interrupting(team.rank)
    )
    assert (halted.status, halted.iterations) == (condal.Status.INTERRUPTED, 2)
    limit = 0.1 if team.rank == 0 else 1e6
    late = condal_mpi.solve(
        model, method, tol=0.0, max_seconds=limit, callback=lambda row: time.sleep(0.2)
    )
    assert late.status is condal.Status.MAX_SECONDS


def test_a_checkpoint_on_one_rank_alone_is_refused_by_all(team, W, shared):
    model = condal_mpi.max_cut(own_rows(team, W), team)
    for other in (None, shared / "other"):
        with pytest.raises(ProblemError, match=r"the ranks differ in what they were asked.*check"):
            condal_mpi.solve(model, checkpoint=shared / "run" if team.rank == 0 else other)
    assert not (shared / "run").exists()


@pytest.mark.parametrize("option", ["tol", "R", "seed", "max_iters"])
def test_other_options_on_one_rank_are_refused_by_all(team, W, option):
    model = condal_mpi.max_cut(own_rows(team, W), team)
    options = {"tol": 0.1, "R": 5, "seed": 1, "max_iters": 3}
    options[option] *= 1 + (team.rank == 1)
    with pytest.raises(ProblemError, match=f"the ranks differ in what they were asked.*{option}"):
        condal_mpi.solve(model, **options)


def test_rows_of_another_graph_are_refused_by_all(team, W):
    other = sp.csr_array(2.0 * W) if team.rank == 1 else W
    with pytest.raises(ProblemError, match="the rows of the ranks do not form a symmetric W"):
        condal_mpi.max_cut(own_rows(team, other), team)


def test_bad_rows_are_refused_by_all(team, W):
    begin, end = team.range(N)
    with pytest.raises(ProblemError, match=f"rank 1 owns the rows .* of {N}; got {N} rows"):
        condal_mpi.max_cut(W if team.rank == 1 else own_rows(team, W), team)
    bad = own_rows(team, W).copy()
    bad.data[0] = np.nan if team.rank == 1 else bad.data[0]
    with pytest.raises(ProblemError, match="hold NaN or infinity"):
        condal_mpi.max_cut(bad, team)
    with pytest.raises(ProblemError, match="must be a SciPy sparse array; got ndarray"):
        condal_mpi.max_cut(np.ones((end - begin, N)), team)
    with pytest.raises(ProblemError, match="has no edges"):
        condal_mpi.max_cut(own_rows(team, sp.csr_array((N, N))), team)


def test_problems_of_one_process_are_sent_to_condal_solve(team, W):
    with pytest.raises(ProblemError, match=r"one over Spectrahedron: use condal\.solve"):
        condal_mpi.solve(max_cut(W))
