"""Rows <v v', x> = 0: the vertices on their face, their multiplier, and CGAL there."""

import numpy as np
import pytest
from scipy.linalg import null_space

import condal
from condal.linalg.gradients import dot
from condal.linalg.symmetric import Symmetric
from condal.maps import Diagonal, Quadratics, Stack
from condal.methods.faces import Face
from condal.problem import Problem
from condal.sets import Box, Equal
from known import random_graph

N = 9


def with_rows(V, low, high):
    """Diag x = 1, and low <= <v v', x> <= high for each row v of V."""
    low, high = (np.append(np.ones(N), bound) for bound in (low, high))
    K = Equal(low) if np.array_equal(low, high) else Box(low, high)
    X = condal.Spectrahedron(N, trace=float(N))
    return Problem.of(X=X, A=Stack(Diagonal(N), Quadratics(V)), K=K)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("at_most", [False, True])
def test_a_vertex_on_the_face_is_best_there(count, at_most):
    rng = np.random.default_rng(0)
    V = rng.standard_normal((count, N))
    face = Face.of(with_rows(V, np.zeros(count), np.zeros(count)))
    assert face.rows.tolist() == list(range(N, N + count))
    X = condal.Spectrahedron(N, trace=2.0, at_most=at_most)
    for shift in (-3.0, 0.0, 3.0):
        C = rng.standard_normal((N, N))
        S, inside = Symmetric(N, dense=C + C.T + shift * np.eye(N)), null_space(V)
        least = float(np.linalg.eigvalsh(inside.T @ (S @ inside))[0])
        s, multiplier, cost = face.lmo(X, S, 1e-6, None)
        best = 2.0 * (min(least, 0.0) if at_most else least)
        assert X.distance(s) <= 1e-12
        assert np.abs(V @ np.asarray(s)).max() <= 1e-12
        assert dot(S, s) == pytest.approx(best, abs=1e-6)
        whole = np.asarray(S.to_dense()) + multiplier * V.T @ V
        assert np.linalg.eigvalsh(whole)[0] >= least - cost / 2.0 - 1e-9 * multiplier
        assert cost <= 2e-6


def test_only_squares_that_must_be_zero_tell_a_face():
    rng = np.random.default_rng(1)
    V = rng.standard_normal((2, N))
    both = Face.of(with_rows(V, np.zeros(2), np.array([0.0, 1.0])))
    assert both.rows.tolist() == [N]
    assert Face.of(with_rows(V, np.full(2, 1e-9), np.full(2, 1e-9))) is None
    assert Face.of(with_rows(V, np.full(2, -1.0), np.zeros(2))) is None
    twice = Face.of(with_rows(np.vstack([V, V[:1]]), np.zeros(3), np.zeros(3)))
    assert twice.basis.shape == (N, 2)


def test_cgal_needs_few_iterations_on_the_face():
    model = condal.problems.bisection(random_graph(20, degree=4.0, seed=3))
    optimum = condal.solve(model, tol=1e-6).objective
    result = condal.solve(model, condal.CGAL(), tol=1e-2, max_iters=400)  # 20,000 without a face
    assert result.status is condal.Status.SOLVED
    assert result.bound <= optimum * (1 + 1e-6) <= result.objective * (1 + 1e-2)
