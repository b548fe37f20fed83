"""Factors with orthonormal blocks of rows: the surface of x_ii = I."""

import numpy as np
import pytest

import condal
from condal.linalg.points import LowRank
from condal.methods.lowrank.factored import surface_of
from condal.methods.lowrank.surfaces import Sphere, StiefelBlocks
from laws.factors import surface_obeys_its_law

N, RANK = 5, 4


@pytest.fixture(params=[1, 2, 3])
def surface(request):
    """A geometry, a point of it, and two matrices."""
    geometry, rng = StiefelBlocks(request.param), np.random.default_rng(request.param)
    R, U, W = rng.standard_normal((3, N * request.param, RANK))
    return geometry, geometry.on(R), U, W


def blocks_of(x, d):
    return np.array([x[k : k + d, k : k + d] for k in range(0, len(x), d)])


def test_points_have_identities_as_blocks(surface):
    geometry, R, U, _ = surface
    np.testing.assert_allclose(
        blocks_of(R @ R.T, geometry.d), np.tile(np.eye(geometry.d), (N, 1, 1)), atol=1e-14
    )
    surface_obeys_its_law(geometry, N * geometry.d)
    nearer = np.linalg.norm(geometry.on(U) - U)
    assert nearer <= np.linalg.norm(geometry.on(R) - U)


def test_a_narrow_factor_gets_the_columns_that_it_needs(surface):
    geometry, R, _, _ = surface
    point = geometry.on(R[:, :1])
    assert point.shape == (N * geometry.d, max(1, geometry.d))
    np.testing.assert_allclose(
        blocks_of(point @ point.T, geometry.d), np.tile(np.eye(geometry.d), (N, 1, 1)), atol=1e-14
    )


def test_the_multipliers_are_those_of_the_blocks(surface):
    """(V - A'y) R is tangent for the y of `multipliers`."""
    geometry, R, _, _ = surface
    d, rng = geometry.d, np.random.default_rng(9)
    V = rng.standard_normal((N * d, N * d))
    V = V + V.T
    shift = geometry.shift(R, V @ R)
    image = V @ R
    geometry.subtract(image, shift, R)
    A = condal.maps.BlockDiagonal(N, d)
    y = geometry.multipliers(shift)
    np.testing.assert_allclose(V @ R - A.adjoint(y) @ R, image, atol=1e-12)
    x = LowRank(R, np.ones(RANK))
    assert y @ A(x) == pytest.approx(float(np.trace(shift, axis1=1, axis2=2).sum()))


def program(b, **domain):
    A = condal.maps.BlockDiagonal(3, 2)
    X = condal.Spectrahedron(6, 6.0, **domain)
    return condal.Problem.of(f=condal.Linear(np.eye(6)), X=X, A=A, K=condal.Equal(b))


IDENTITIES = np.tile([1.0, 0.0, 1.0], 3)


def test_a_problem_with_identities_as_blocks_has_this_surface():
    geometry, rows, _ = surface_of(program(IDENTITIES))
    assert isinstance(geometry, StiefelBlocks)
    np.testing.assert_array_equal(rows, 1.0)
    scaled = program(IDENTITIES)
    factors = np.linspace(0.5, 2.0, 9)
    scaled = condal.Problem.of(
        f=scaled.f, X=scaled.X, A=scaled.A.scaled(factors), K=condal.Equal(factors * IDENTITIES)
    )
    np.testing.assert_array_equal(surface_of(scaled)[1], factors)


@pytest.mark.parametrize(
    "problem",
    [program(np.tile([1.0, 0.1, 1.0], 3)), program(IDENTITIES, at_most=True)],
    ids=["other blocks", "a trace that is bounded"],
)
def test_other_problems_have_another(problem):
    geometry, rows, _ = surface_of(problem)
    assert isinstance(geometry, Sphere)
    assert rows is None


def test_a_dense_cost_is_solved_as_well():
    """Without a sparse matrix there is no preconditioner; the optimum is that of the solver of
    interior points."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((12, 12))
    A, K = condal.maps.BlockDiagonal(6, 2), condal.Equal(np.tile([1.0, 0.0, 1.0], 6))
    problem = condal.Problem.of(
        f=condal.Linear(C + C.T), X=condal.Spectrahedron(12, 12.0), A=A, K=K
    )
    result = condal.solve(problem, "lowrank", tol=1e-5)
    other = condal.solve(problem, "interior-point", tol=1e-7)
    assert result.status.name == "SOLVED"
    assert result.objective == pytest.approx(other.objective, rel=1e-4)
