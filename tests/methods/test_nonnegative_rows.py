"""Row sums and nonnegative entries: the proximal point without a sparse matrix."""

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.methods.choice import choices
from condal.methods.projection.composite import Composite
from condal.methods.projection.nonnegative_rows import NonNegativeRows
from condal.methods.projection.splitting import Splitting
from condal.problems import k_means


def model(n=24, k=3, seed=0):
    return k_means(np.random.default_rng(seed).standard_normal((n, 2)), k)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("rho", [0.1, 3.0])
def test_the_proximal_point_is_the_one_of_general_rows(rho, scaled):
    problem = model().problem
    problem = normalise(problem)[0] if scaled else problem
    n = problem.X.n
    special, general = NonNegativeRows.of(problem, n), Composite.of(problem, n)
    u = np.random.default_rng(1).standard_normal((n, n))
    u = 0.5 * (u + u.T).ravel()
    start, tied = general.start(u, np.zeros(problem.A.size), rho)
    expected = general.prox(start, rho, tied, tol=1e-11)
    near = special.prox(u, rho, np.zeros(n), tol=1e-11)
    z = near.z.reshape(n, n)
    assert z.min() >= 0
    assert z.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-9)
    assert near.z == pytest.approx(expected.z[: n * n], abs=1e-8)
    assert near.y == pytest.approx(expected.y, abs=1e-7 * np.abs(expected.y).max())
    # u - z = A'y / rho: what makes z the proximal point
    assert special.adjoint(near.y) / rho == pytest.approx(u - near.z, abs=1e-8)


def test_a_start_has_the_given_point_and_multiplier():
    problem = model().problem
    n, rho = problem.X.n, 0.7
    special = NonNegativeRows.of(problem, n)
    z = np.full((n, n), 1 / n)
    z[0, 1] = z[1, 0] = z[2, 3] = z[3, 2] = 0.0
    for i, j in ((0, 3), (1, 2)):  # the row sums stay 1
        z[i, j] += 1 / n
        z[j, i] += 1 / n
    W = np.zeros((n, n))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = -2.0
    y = problem.A(W)
    y[:n] = np.linspace(-1, 1, n)
    u, tied = special.start(z.ravel(), y, rho)
    near = special.prox(u, rho, tied, tol=1e-12)
    assert near.z == pytest.approx(z.ravel(), abs=1e-9)
    assert near.y == pytest.approx(y, abs=1e-8)


def test_other_rows_are_left_to_the_composite():
    n = 5
    triangle = condal.Triangle(n)
    X, f = condal.Spectrahedron(n), condal.Linear(np.eye(n))
    entries = condal.Problem.of(f=f, X=X, A=triangle, K=condal.NonNegative(triangle.size))
    assert NonNegativeRows.of(entries, n) is None


def test_k_means_is_solved_by_splitting_up_to_thousands_of_points():
    first = next(iter(choices(model(300).problem, tol=1e-3)))
    assert isinstance(first.method, Splitting)
