"""The pieces that ranks hold together against those of one process."""

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import own_rows, sharded, together

from condal.errors import ProblemError
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal_mpi.halo import with_halo
from condal_mpi.maps import DistributedDiagonal
from condal_mpi.matrix import ShardedRows, ShardedTerm
from condal_mpi.oracle import Slepc
from condal_mpi.pieces import DistributedSketch, DistributedSpectrahedron
from condal_mpi.team import engine

N = 203


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(3)
    half = sp.random(
        N, N, 0.03, random_state=np.random.RandomState(4), data_rvs=rng.standard_normal
    )
    return sp.csr_array(half + half.T + sp.diags(rng.standard_normal(N)))


def rows(team, matrix):
    return ShardedRows(own_rows(team, matrix), team)


def test_products(team, matrix):
    C, v = rows(team, matrix), np.random.default_rng(0).standard_normal((N, 3))
    assert np.allclose(together(team, C @ sharded(team, v[:, 0])), matrix @ v[:, 0], atol=1e-13)
    assert np.allclose(
        together(team, (-2.0 * C) @ sharded(team, v)), -2.0 * (matrix @ v), atol=1e-12
    )
    assert (-2.0 * C).norm == pytest.approx(2 * sp.linalg.norm(matrix), rel=1e-14)


@pytest.mark.parametrize("tol", [0.0, 1e-3, 1.0])
def test_the_smallest_eigenvalue(team, matrix, tol):
    shift = np.random.default_rng(1).standard_normal(N)
    V = Symmetric(N, [ShardedTerm(rows(team, matrix))], diagonal=sharded(team, shift))
    values, vectors = np.linalg.eigh(matrix.toarray() + np.diag(shift))
    oracle = Slepc(N, team=team)
    for guess in (None, sharded(team, vectors[:, 1])):  # of another eigenvalue
        pair = oracle.smallest(V, tol, guess)
        assert values[0] - 1e-10 <= pair.value <= values[0] + tol + 1e-9
        vector = together(team, pair.vector)
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-12)
        assert vector @ (matrix @ vector + shift * vector) == pytest.approx(pair.value, abs=1e-9)


def test_many_equal_eigenvalues_and_no_matrix_at_all(team):
    eye = sp.csr_array(sp.eye(N, format="csr"))
    pair = Slepc(N, team=team).smallest(Symmetric(N, [ShardedTerm(rows(team, eye))]), 1e-6)
    assert pair.value == pytest.approx(1.0, abs=1e-6)
    nothing = Symmetric(N, diagonal=sharded(team, np.zeros(N)))
    assert Slepc(N, team=team).smallest(nothing).value == 0.0


def test_a_product_that_is_no_number_is_told(team, matrix):
    shift = np.zeros(N)
    shift[N - 1] = np.nan
    V = Symmetric(N, [ShardedTerm(rows(team, matrix))], diagonal=sharded(team, shift))
    with pytest.raises(FloatingPointError, match="gave NaN or infinity"):
        Slepc(N, team=team).smallest(V)


def test_the_bound_is_one_and_near(team, matrix):
    values = np.linalg.eigvalsh(matrix.toarray())
    X = DistributedSpectrahedron.of(N, 3.0, team)
    V = Symmetric(N, [ShardedTerm(rows(team, matrix))])
    proof = X.bound(V, slack=0.01, failure=1e-6, seed=2)
    assert 3.0 * values[0] - 0.02 <= proof.value <= 3.0 * values[0]
    assert proof.failure == 1e-6


def test_a_sketch_gives_a_matrix_of_its_rank_back(team):
    rng = np.random.default_rng(6)
    U, weights = rng.standard_normal((N, 3)), np.array([3.0, 1.0, 0.5])
    x = (U * weights) @ U.T
    sketch = DistributedSketch(N, 6, team=team, seed=1)
    for j in range(3):
        atom = LowRank(sharded(team, U[:, j : j + 1]), weights[j : j + 1])
        sketch.move(atom, 1.0 if j == 0 else 0.5)
    y = 0.25 * weights[0] * np.outer(U[:, 0], U[:, 0])
    y += 0.25 * weights[1] * np.outer(U[:, 1], U[:, 1])
    y += 0.5 * weights[2] * np.outer(U[:, 2], U[:, 2])
    point = sketch.point()
    found = together(team, point.U)
    assert np.allclose((found * point.weights) @ found.T, y, atol=1e-9 * np.abs(y).max())
    assert np.allclose(found.T @ found, np.eye(6), atol=1e-12)
    sketch.load(LowRank(sharded(team, U), weights))
    point = sketch.point()
    found = together(team, point.U)
    assert np.allclose((found * point.weights) @ found.T, x, atol=1e-9 * np.abs(x).max())


def test_the_diagonal_and_its_adjoint(team):
    rng = np.random.default_rng(7)
    U, weights, r, y = (
        rng.standard_normal((N, 2)),
        np.array([2.0, 1.0]),
        rng.random(N),
        rng.random(N),
    )
    A = DistributedDiagonal(N, sharded(team, r))
    x = LowRank(sharded(team, U), weights)
    assert np.allclose(together(team, A(x)), r * ((U**2) @ weights))
    assert sharded(team, y) @ A(x) == pytest.approx(
        A.adjoint(sharded(team, y)).quadratic(x), rel=1e-12
    )
    assert A.norm == r.max()
    assert together(team, A.zeros()).tolist() == [0.0] * N


def test_the_halo_has_what_the_rows_touch(team, matrix):
    begin, end = team.range(N)
    v = np.random.default_rng(8).standard_normal((N, 2))
    block, halo = with_halo(own_rows(team, matrix), team)
    seen = halo(v[begin:end])
    assert np.array_equal(seen, v[halo.columns])
    assert np.allclose(block @ seen, (matrix @ v)[begin:end], atol=1e-13)


def test_a_basis_that_petsc_cannot_number_is_refused(team):
    most = int(np.iinfo(engine().PETSc.IntType).max)
    Slepc(most // 25, team=team)
    with pytest.raises(ProblemError, match=r"25 vectors of .* built with 64-bit indices"):
        Slepc(most // 25 + 1, team=team)
