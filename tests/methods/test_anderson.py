"""Anderson's acceleration: exact for linear iterations, and none where nothing is to be learnt."""

from itertools import pairwise

import numpy as np

from condal.methods.projection.anderson import MEMORY, Anderson


def test_acceleration_solves_a_linear_iteration_in_as_many_steps_as_it_has_dimensions():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    T, b = Q @ np.diag([0.99, 0.9, 0.5, -0.3, -0.9]) @ Q.T, rng.standard_normal(5)
    u, known = np.zeros(5), Anderson()
    for _ in range(8):
        image = T @ u + b
        known = known.after(image, image - u)
        following = known.next()
        u = image if following is None else following
    np.testing.assert_allclose(u, np.linalg.solve(np.eye(5) - T, b), rtol=1e-6)


def test_acceleration_forgets_and_keeps_its_records():
    rng = np.random.default_rng(0)
    known, seen = Anderson(), []
    for _ in range(MEMORY + 4):
        seen.append(rng.standard_normal((2, 9)))
        known = known.after(*seen[-1])
    changes = [b[1] - a[1] for a, b in pairwise(seen)][-MEMORY:]
    np.testing.assert_allclose(known.gram, np.array(changes) @ np.array(changes).T)
    assert len(known.images) == MEMORY


def test_acceleration_of_what_stands_still_is_none():
    known = Anderson()
    for _ in range(4):
        known = known.after(np.ones(3), np.zeros(3))
    assert known.next() is None
