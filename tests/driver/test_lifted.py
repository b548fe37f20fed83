"""Problems over Hermitian and rectangular matrices: what users' functions see, and sketches.

The solutions of such problems are among those of `tests/truth`.
"""

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.methods import CGAL
from condal.methods.rules import LineSearch
from condal.storage import Sketch
from condal_lab.methods import SketchyCGM
from spaces import random_hermitian

M, N = 6, 8  # of a rectangular matrix


@pytest.fixture(scope="module")
def unit_diagonal():
    """max <C, x>, diag x = 1, and its optimum."""
    problem = condal.Problem.of(
        f=condal.Linear(random_hermitian(8, np.random.default_rng(0))),
        X=condal.Hermitian(8, trace=8.0),
        A=condal.Diagonal(8, hermitian=True),
        K=condal.Equal(np.ones(8)),
        maximise=True,
    )
    return problem, condal.solve(problem, "interior-point", tol=1e-7).objective


def test_a_sketch_keeps_hermitian_matrices(unit_diagonal):
    """Of real side 2n; with all columns nothing is lost."""
    problem, optimum = unit_diagonal
    result = condal.solve(problem, storage=Sketch(16, 16), tol=1e-2, max_iters=20_000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=1e-2)
    assert np.asarray(result.x).shape == (8, 8)
    with pytest.raises(condal.ProblemError, match="does not fit the domain Hermitian"):
        condal.solve(problem, storage=Sketch(8, 8))


def test_repairs_and_proposals_of_the_user_s_see_hermitian_matrices(unit_diagonal):
    problem, optimum = unit_diagonal
    seen = []

    def scaled(x):
        full = np.asarray(x)
        seen.append(full.dtype)
        roots = np.sqrt(np.diagonal(full).real)
        return full / np.multiply.outer(roots, roots)

    def propose(x):
        return scaled(x), np.zeros(8)

    repaired = replace(problem, repair=scaled, propose=propose)
    result = condal.solve(repaired, CGAL(eta=LineSearch()), tol=1e-3, max_iters=2000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, rel=2e-3)
    assert result.infeasibility <= 1e-12
    assert set(seen) == {np.dtype(complex)}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda x: np.eye(3), "the repair returned no point of X: x must be 8 x 8"),
        (lambda x: 1j * np.ones((8, 8)), "the repair returned no point of X: x must be Hermitian"),
        (lambda x: np.nan * np.asarray(x), "the repair returned no point of X: x must be Herm"),
        (lambda x: condal.LowRank(np.nan * x.U, x.weights), "the repair returned nan"),
    ],
)
def test_a_repair_that_returns_no_hermitian_matrix_is_named(wrong, text, unit_diagonal):
    problem = replace(unit_diagonal[0], repair=wrong)
    result = condal.solve(problem, CGAL(eta=LineSearch()), tol=1e-2, max_iters=500)
    assert result.status is condal.Status.NUMERICAL_ERROR
    assert text in result.reason


def test_a_sketch_is_enough():
    """Storage-optimal CGM: the gradient is computed from images, and x only at the end."""
    rng = np.random.default_rng(0)
    truth, places = rng.standard_normal((M, 2)) @ rng.standard_normal((2, N)), rng.permutation(48)
    rows, cols = np.divmod(places[:25], N)
    seen = condal.Entries.rectangular((M, N), rows, cols)
    f = condal.LeastSquares(seen, truth[rows, cols] + 0.3 * rng.standard_normal(25))
    problem = condal.Problem.of(f=f, X=condal.NuclearBall(M, N, 8.0))
    optimum = condal.solve(problem, "primal-dual", tol=1e-6).objective
    for storage in (Sketch(M + N, 12), None):
        result = condal.solve(problem, SketchyCGM(), tol=2e-2, storage=storage, max_iters=3000)
        assert result.status is condal.Status.SOLVED
        assert result.objective == pytest.approx(optimum, abs=3e-2 * (1 + optimum))
        assert result.x.singular_values().sum() <= problem.X.radius * (1 + 1e-9)
