"""Rough fits over nuclear-norm balls: projections, entries given twice, growing radii."""

import numpy as np
import pytest

import condal
from condal.problems import MatrixCompletion, matrix_completion
from condal.problems.completion_tuning import NuclearFits, project_to_l1_ball
from condal.runtime.limits import TimeLimit


def known(m=30, n=20, *, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((m, 3)) @ rng.standard_normal((3, n))
    i, j = np.nonzero(rng.random((m, n)) < 0.5)
    return whole, i, j, whole[i, j] + noise * rng.standard_normal(i.size)


@pytest.mark.parametrize("radius", [0.5, 2.0, 100.0])
def test_the_projection_is_the_nearest_point_of_the_ball(radius):
    s = np.array([3.0, 1.0, 0.5, 0.0])
    x = project_to_l1_ball(s, radius)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(min(radius, s.sum()))
    # <s - x, z - x> <= 0 for every z of the ball: its corners suffice.
    for corner in (np.zeros(4), *(radius * np.eye(4))):
        assert (s - x) @ (corner - x) <= 1e-12


@pytest.mark.parametrize("loss", ["squares", "huber"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_rough_fit_is_near_the_proved_optimum(loss, share):
    whole, i, j, v = known()
    radius = share * float(np.linalg.norm(whole, "nuc"))
    model = matrix_completion(i, j, v, radius=radius, effects=False, loss=loss, delta=1.0)
    rough = NuclearFits(model).fit(radius, TimeLimit())
    assert rough.x.weights.sum() <= radius * (1 + 1e-12)
    np.testing.assert_allclose(rough.known, rough.x.entries(i, j), atol=1e-12)
    result = condal.solve(model, tol=1e-5)
    assert model.mean_loss(rough.known - v) <= result.objective + 2e-2 * model.mean_loss(v)
    assert model.mean_loss(rough.known - v) >= result.bound - 1e-9


def test_an_entry_given_twice_counts_twice():
    _, i, j, v = known()
    twice = matrix_completion(*(np.tile(each, 2) for each in (i, j, v)), radius=20.0, effects=False)
    once = matrix_completion(i, j, v, radius=20.0, effects=False)
    fitted = [NuclearFits(model).fit(20.0, TimeLimit()) for model in (once, twice)]
    np.testing.assert_allclose(fitted[1].known[: v.size], fitted[0].known, atol=1e-9)


def test_a_fit_starts_from_the_one_before(monkeypatch):
    whole, i, j, v = known(60, 50)
    radius = float(np.linalg.norm(whole, "nuc"))
    model = matrix_completion(i, j, v, radius=radius, effects=False)
    steps = []

    slope = MatrixCompletion.slope
    monkeypatch.setattr(MatrixCompletion, "slope", lambda *of: steps.append(1) or slope(*of))
    fits = NuclearFits(model)
    first = fits.fit(radius, TimeLimit())
    cold = len(steps)
    again = fits.fit(radius, TimeLimit())
    assert len(steps) - cold < 0.5 * cold
    np.testing.assert_allclose(again.known, first.known, atol=0.1)


def test_a_chosen_radius_brings_its_rank():
    _, i, j, v = known(60, 50, noise=0.0)
    model = matrix_completion(i, j, v, effects=False)
    assert model.problem.rank == model.rank
    assert 3 <= model.rank <= 51  # of the side, and one more
    assert matrix_completion(i, j, v, radius=3.0).problem.rank is None
