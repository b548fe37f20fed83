"""Ranks that round otherwise go the same way; what they let go is gone."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgError, svd

import condal
import condal_lab
import condal_mpi
from condal import methods
from condal.errors import ProblemError
from condal.linalg.points import LowRank
from condal.methods.rules import Smoothed
from condal.storage.sketch import Sketch
from condal_mpi import pieces
from condal_mpi.choice import require_memory
from condal_mpi.sharded_array import ShardedArray, normals

N = 60


@pytest.fixture
def model(team):
    rng = np.random.default_rng(1)
    half = sp.csr_array(np.triu(rng.random((N, N)) < 0.2, 1).astype(float))
    begin, end = team.range(N)
    return condal_mpi.max_cut(sp.csr_array((half + half.T)[begin:end]), team)


def test_the_factors_of_small_matrices_are_those_of_the_first(team, monkeypatch):
    """On another processor a core may not be definite, and vectors have other signs."""
    x = condal_mpi.DistributedSketch(N, 4, team=team)
    u = normals(team, N, seed=[5], columns=2)
    x.move(LowRank(u, np.ones(2)), 1.0)
    wanted = x.point()
    if team.rank == 1:

        def other(self, core):
            raise LinAlgError

        def turned(top, **more):
            U, sigma, V = svd(top, **more)
            return -U, sigma, V

        monkeypatch.setattr(Sketch, "_root", other)
        monkeypatch.setattr(pieces, "svd", turned)
    found = x.point()
    assert np.array_equal(found.U.local, wanted.U.local)
    assert np.array_equal(found.weights, wanted.weights)


def test_a_sketch_of_nothing_is_in_rows(team):
    point = condal_mpi.DistributedSketch(N, 4, team=team).point()
    U = np.concatenate(team.gathered(point.U.local))
    assert np.array_equal(U, np.eye(N, 4))


def test_an_array_of_many_ranks_is_neither_true_nor_false(team):
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(ShardedArray(np.zeros(2), team) == 0)


def test_a_model_that_was_solved_is_let_go(team):
    rng = np.random.default_rng(1)
    half = sp.csr_array(np.triu(rng.random((N, N)) < 0.2, 1).astype(float))
    begin, end = team.range(N)
    model = condal_mpi.max_cut(sp.csr_array((half + half.T)[begin:end]), team)
    condal_mpi.solve(model, max_iters=2)
    oracle = weakref.ref(model.problem.X.engine)
    del model
    gc.collect()
    assert oracle() is None


def test_a_model_is_solved_again(model):
    first, again = (condal_mpi.solve(model, max_iters=3) for _ in range(2))
    assert first.objective == again.objective


@pytest.mark.parametrize(
    "method",
    [methods.corrective(), condal.CGAL(sigma=Smoothed()), condal_lab.methods.IAL()],
    ids=["corrective", "smoothed", "ial"],
)
def test_methods_that_need_more_than_images_are_refused(model, method):
    with pytest.raises(ProblemError, match=r"takes condal\.CGAL\(\), without Corrective\(\)"):
        condal_mpi.solve(model, method)


def test_the_first_dual_is_within_that_of_the_rule(model):
    result = condal_mpi.solve(model, condal.CGAL(D_Y=0.01), tol=1e-9, max_iters=1)
    start = model.first_dual()
    assert np.linalg.norm(result.y) < 0.5 * np.linalg.norm(start)


def test_memory_that_there_is_not_is_refused_by_all(model):
    require_memory(model, 10, "1 GB")
    require_memory(model, 10, None)
    with pytest.raises(ProblemError, match=r"on each of . ranks, and max_memory is 1 MB per rank"):
        require_memory(model, 10, "1 MB")


def test_a_linear_map_of_many_ranks_is_no_matrix(model):
    assert model.problem.f.M.as_matrix() is None
