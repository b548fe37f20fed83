"""Vectors of pairs become orthogonal in one pass, and move little if they almost were."""

import numpy as np
import pytest

from condal.methods.spheres import sweeps
from condal.methods.spheres.sweeps import orthogonalise
from known import random_graph

N, RANK = 400, 30


def pairs():
    """The edges of a random graph."""
    W = random_graph(N, 5).tocoo()
    above = W.row < W.col
    return W.row[above], W.col[above]


def cosines(R, a, b):
    """|cos| of the angles of the pairs, 0 where a vector is 0."""
    sizes = np.linalg.norm(R, axis=1)
    U = R / np.where(sizes > 0, sizes, 1.0)[:, None]
    return np.abs(np.einsum("ij,ij->i", U[a], U[b]))


def test_all_pairs_are_orthogonal_and_no_vector_is_longer():
    (a, b), R = pairs(), np.random.default_rng(0).standard_normal((N, RANK))
    before = np.linalg.norm(R, axis=1)
    assert cosines(R, a, b).max() > 0.1
    orthogonalise(R, a, b)
    assert cosines(R, a, b).max() <= 1e-12
    assert (np.linalg.norm(R, axis=1) <= (1 + 1e-12) * before).all()


def test_blocks_change_nothing(monkeypatch):
    (a, b), R = pairs(), np.random.default_rng(0).standard_normal((N, RANK))
    whole, split = R.copy(), R.copy()
    orthogonalise(whole, a, b)
    monkeypatch.setattr(sweeps, "BLOCK_NUMBERS", 1)
    orthogonalise(split, a, b)
    np.testing.assert_allclose(split, whole, atol=1e-12)


@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6, 0.0])
def test_the_way_is_as_long_as_the_pairs_are_wrong(size):
    (a, b), rng = pairs(), np.random.default_rng(1)
    exact = rng.standard_normal((N, RANK))
    orthogonalise(exact, a, b)
    R = exact + size * rng.standard_normal(exact.shape)
    wrong = np.linalg.norm(np.einsum("ij,ij->i", R[a], R[b]))
    moved = R.copy()
    orthogonalise(moved, a, b)
    shortest = np.linalg.norm(exact, axis=1).min()
    assert np.linalg.norm(moved - R) <= 10 * wrong / shortest + 1e-12


def test_vectors_that_depend_on_their_neighbours_become_zero():
    """A star whose leaves span everything, and three equal vectors of a triangle."""
    R = np.vstack([0.4 * np.ones((1, 4)), np.eye(4)])
    orthogonalise(R, np.zeros(4, dtype=int), np.arange(1, 5))
    np.testing.assert_array_equal(R, np.vstack([np.zeros((1, 4)), np.eye(4)]))
    R = np.ones((3, 4))
    orthogonalise(R, np.array([0, 0, 1]), np.array([1, 2, 2]))
    np.testing.assert_array_equal(R, [[1.0] * 4, [0.0] * 4, [0.0] * 4])


def test_equal_neighbours_are_one():
    R = np.array([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
    orthogonalise(R, np.array([3, 3, 3]), np.array([0, 1, 2]))
    np.testing.assert_allclose(R[3], [0.0, 1.0], atol=1e-15)


def test_vectors_without_pairs_stay():
    R = np.random.default_rng(0).standard_normal((5, 3))
    kept = R.copy()
    orthogonalise(R, np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    np.testing.assert_array_equal(R, kept)
