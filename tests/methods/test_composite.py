"""h(Ax) as one function: its proximal points by their law, tied rows, and what fits."""

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.methods.projection import composite
from condal.methods.projection.composite import Composite
from condal.methods.projection.splitting_rows import _system, fits
from condal.nonsmooth import L1


def dense_rows(n: int, p: int, seed: int = 0) -> condal.Inner:
    """p random symmetric matrices, none orthogonal to another."""
    rng = np.random.default_rng(seed)
    return condal.Inner([a + a.T for a in rng.standard_normal((p, n, n))])


def of(A, K, n: int) -> condal.Problem:
    return condal.Problem.of(f=condal.Linear(np.eye(n)), X=condal.Spectrahedron(n), A=A, K=K)


N = 6
IMAGES = dense_rows(N, 5)(np.eye(N) / N)
COMPOSITES = {
    "orthogonal equations": (condal.Diagonal(N), condal.Equal(np.arange(6.0))),
    "orthogonal box": (condal.Diagonal(N), condal.Box(-0.1 * np.ones(N), 0.2 * np.ones(N))),
    "orthant": (condal.Triangle(N), condal.NonNegative(21)),
    "L1": (condal.Triangle(N), L1(0.3, 21)),
    "equations": (dense_rows(N, 5), condal.Equal(IMAGES)),
    "box": (dense_rows(N, 5), condal.Box(IMAGES - 0.5, IMAGES + 0.1)),
    "equations and an orthant": (
        condal.Stack(condal.RowSums(N), condal.Triangle(N)),
        condal.Separable(condal.Equal(np.ones(N)), condal.NonNegative(21)),
    ),
    "orthogonal beside not": (
        condal.Stack(condal.Entries(N, [0, 1], [0, 1]), condal.Entries(N, [3, 3], [4, 4])),
        condal.Separable(condal.Equal([1.0, 2.0]), condal.Box([-1.0, -2.0], [1.0, 0.0])),
    ),
    "nothing": (condal.Stack(), condal.Separable()),
}
composites = pytest.mark.parametrize("name", COMPOSITES)


def made(name: str) -> tuple[condal.Problem, Composite]:
    A, K = COMPOSITES[name]
    problem = of(A, K, N)
    return problem, Composite.of(problem, N)


@composites
@pytest.mark.parametrize("rho", [0.1, 3.0])
def test_a_proximal_point_obeys_its_law(name, rho):
    """z = u - A'y/rho with y in dh(Az): h(Az) + h*(y) = <y, Az>, and Az in dom h."""
    problem, g = made(name)
    rng = np.random.default_rng(1)
    V = rng.standard_normal((N, N))
    u, tied = g.start((V + V.T).ravel(), np.zeros(problem.A.size), rho)
    for _ in range(100):  # the copies of the rows that have one go where they belong
        near = g.prox(u, rho, tied, tol=1e-13)
        u[N * N :], tied = near.z[N * N :], near.tied
    z, y, h = near.z[: N * N].reshape(N, N), near.y, problem.h
    np.testing.assert_allclose(z.ravel(), (V + V.T).ravel() - g.adjoint(y) / rho, atol=1e-9)
    Az = problem.A(z)
    np.testing.assert_allclose(g.images(z.ravel()), Az, atol=1e-12)
    assert h.distance(Az) <= 1e-9
    assert h.value(Az) + h.conjugate(h.dual_point(y)) == pytest.approx(float(y @ Az), abs=1e-8)


@composites
def test_the_adjoint_is_that_of_the_map(name):
    problem, g = made(name)
    y = np.random.default_rng(2).standard_normal(problem.A.size)
    there = problem.A.adjoint(y)
    expected = np.zeros((N, N)) if there is None else there.to_dense()
    np.testing.assert_allclose(g.adjoint(y).reshape(N, N), expected, atol=1e-13)


def test_only_rows_in_each_others_way_are_tied():
    def tied(name: str) -> int:
        return made(name)[1].gram.shape[0]

    assert tied("orthogonal equations") == tied("orthant") == tied("nothing") == 0
    assert tied("equations") == tied("box") == 5
    assert tied("equations and an orthant") == N  # the equations, and not the 21 entries
    assert tied("orthogonal beside not") == 2


def test_rows_that_depend_on_each_other_do_no_harm():
    twice = condal.Stack(condal.Diagonal(N), condal.Diagonal(N))
    g = Composite.of(of(twice, condal.Equal(np.ones(2 * N)), N), N)
    u, tied = g.start(np.zeros(N * N), np.zeros(2 * N), 1.0)
    near = g.prox(u, 1.0, tied, tol=1e-12)
    np.testing.assert_allclose(near.z[: N * N].reshape(N, N), np.eye(N), atol=1e-9)


@pytest.mark.parametrize("rho", [0.1, 3.0])
def test_more_sides_of_a_box_than_are_independent(rho):
    """The law of `test_a_proximal_point_obeys_its_law`, of copies too, in one proximal point."""
    rng = np.random.default_rng(0)
    each = np.tensordot(rng.standard_normal((60, 8)), rng.standard_normal((8, N, N)), axes=1)
    A = condal.Inner([a + a.T for a in each])
    image = A(np.eye(N) / N)
    g = Composite.of(of(A, condal.Box(image - 0.01, image + 0.01), N), N)
    V = rng.standard_normal((N, N))
    u, tied = g.start((V + V.T).ravel(), np.zeros(60), rho)
    for _ in range(40):  # each goes on from the last
        near = g.prox(u, rho, tied, tol=1e-9)
        tied = near.tied
    z, s = near.z[: N * N], near.z[N * N :]
    np.testing.assert_allclose(z, u[: N * N] - g.B.T @ (tied / rho), atol=1e-9)
    np.testing.assert_allclose(g.B @ z, s, atol=1e-8)
    y = near.y / g.rows
    np.testing.assert_allclose(s, u[N * N :] + (tied - y) / rho, atol=1e-9)
    np.testing.assert_allclose(y * s, np.maximum(y * g.h.low, y * g.h.high), atol=1e-7)


def test_a_long_sparse_system_is_solved_as_a_short_one(monkeypatch):
    n, p = 12, 40
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, n, (2, p))  # some entries more than once
    problem = of(condal.Entries(n, rows, cols), condal.Equal(np.zeros(p)), n)
    points = []
    for below in (1500, 0):
        monkeypatch.setattr("condal.methods.projection.composite.DENSE_BELOW", below)
        monkeypatch.setattr("condal.methods.projection.composite.FULL", 0.1 if below else 1.0)
        g = Composite.of(problem, n)
        u, tied = g.start(np.ones(n * n), np.zeros(p), 1.0)
        points.append(g.prox(u, 1.0, tied, tol=1e-12).z)
        assert sp.issparse(g._gram) == (below == 0)
    np.testing.assert_allclose(points[0], points[1], atol=1e-10)


@composites
def test_the_system_is_no_larger_than_it_was_thought(name):
    problem, g = made(name)
    assert fits(problem)
    if problem.A.size:
        assert g.gram.nnz <= _system(problem.A.as_matrix(), problem.h)


def test_a_system_in_parts_is_as_large_as_its_parts(monkeypatch):
    """x_ij = 0 twice, and x >= 0: six equations in three pairs."""
    A = condal.Stack(*2 * [condal.Entries(N, [0, 1, 2], [3, 4, 5])], condal.Triangle(N))
    problem = of(A, condal.Separable(condal.Equal(np.zeros(6)), condal.NonNegative(21)), N)
    monkeypatch.setattr("condal.methods.projection.splitting_rows.MAX_SYSTEM", 12.0)
    assert _system(A.as_matrix(), problem.h) == 12.0
    assert fits(problem)
    monkeypatch.setattr("condal.methods.projection.splitting_rows.MAX_SYSTEM", 11.0)
    assert not fits(problem)


def test_rows_that_meet_in_one_entry_are_one_part(monkeypatch):
    problem, _ = made("equations")
    monkeypatch.setattr("condal.methods.projection.splitting_rows.MAX_SYSTEM", 24.0)
    monkeypatch.setattr(
        "scipy.sparse.csgraph.connected_components",
        lambda *_, **__: pytest.fail("it was looked for"),
    )
    assert not fits(problem)


def test_more_rows_than_entries_that_fit_are_not_written_down(monkeypatch):
    monkeypatch.setattr("condal.methods.projection.splitting_rows.MAX_ENTRIES", 5)
    monkeypatch.setattr(condal.Diagonal, "as_matrix", lambda self: pytest.fail("it was written"))
    assert not fits(of(condal.Diagonal(N), condal.Equal(np.ones(N)), N))


@pytest.mark.parametrize("gram", [np.array([[-1.0]]), sp.csr_array(([0.0], ([0], [0])), (1, 1))])
def test_a_system_without_factors_is_a_floating_point_error(gram):
    with pytest.raises(FloatingPointError, match="the system of 1 rows has no factors: "):
        composite._solver(gram, np.zeros(1))
