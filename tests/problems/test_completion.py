"""Matrix completion: an independent solver, effects, the choice of a radius, refused input."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.errors import ProblemError
from condal.problems import known_entries, matrix_completion
from condal.problems.completed import SHRINKAGE, Effects
from condal.problems.completion_tuning import MAX_VALUES, Trial, best_of_growing, with_best_radius


def ratings(m=40, n=50, rank=2, share=0.4, noise=0.1, seed=0):
    """A matrix of effects and a part of low rank, the places of it that are seen, and their
    values with noise."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    whole += 3.0 + rng.standard_normal((m, 1)) + 0.5 * rng.standard_normal(n)
    rows, cols = np.nonzero(rng.random((m, n)) < share)
    return whole, rows, cols, whole[rows, cols] + noise * rng.standard_normal(rows.size)


@pytest.mark.parametrize("loss", ["squares", "huber", "absolute"])
def test_the_objective_is_the_mean_loss_of_what_is_missed(loss):
    _, rows, cols, values = ratings(12, 9, seed=2)
    model = matrix_completion(rows, cols, values, radius=9.0, loss=loss)
    result = condal.solve(model)
    completed = model.complete(result)
    missed = completed.entries(rows, cols) - values
    assert result.objective == pytest.approx(model.mean_loss(missed), rel=1e-9)
    if loss == "squares":
        assert completed.rmse(rows, cols, values) == pytest.approx(np.sqrt(2 * result.objective))


def test_a_completed_matrix_is_effects_and_a_part_of_low_rank():
    _, rows, cols, values = ratings(8, 6, seed=3)
    model = matrix_completion(rows, cols, values, shape=(8, 7), radius=4.0)
    completed = model.complete(condal.solve(model))
    whole = np.asarray(completed)
    assert completed.shape == whole.shape == (8, 7)
    np.testing.assert_allclose(completed.entries(rows, cols), whole[rows, cols])
    expected = np.asarray(completed.x) + completed.effects.whole()
    np.testing.assert_allclose(whole, expected)
    assert "Completed(shape=(8, 7), rank<=" in repr(completed)


def test_many_entries_without_noise_bring_back_the_matrix():
    whole, rows, cols, values = ratings(40, 50, share=0.6, noise=0.0, seed=5)
    radius = float(np.linalg.norm(whole, "nuc"))
    model = matrix_completion(rows, cols, values, shape=(40, 50), radius=radius, effects=False)
    completed = model.complete(condal.solve(model, tol=1e-6))
    assert np.linalg.norm(completed - whole) < 1e-2 * np.linalg.norm(whole)


def test_outliers_spoil_squares_and_not_the_others():
    whole, rows, cols, values = ratings(40, 50, share=0.6, noise=0.05, seed=6)
    wrong = np.random.default_rng(7).random(values.size) < 0.1
    values = values + np.where(wrong, 20.0, 0.0)
    errors = {}
    for loss in ("squares", "huber", "absolute"):
        model = matrix_completion(rows, cols, values, shape=(40, 50), loss=loss)
        completed = model.complete(condal.solve(model))
        errors[loss] = np.sqrt(np.mean((np.asarray(completed) - whole) ** 2))
    assert errors["huber"] < 0.3 * errors["squares"]
    assert errors["absolute"] < 0.3 * errors["squares"]


def test_the_radius_that_is_chosen_predicts_better_than_both_ends():
    whole, rows, cols, values = ratings(noise=0.4, seed=8)
    seen = np.zeros(whole.shape, dtype=bool)
    seen[rows, cols] = True
    i, j = np.nonzero(~seen)

    def missed(radius):
        model = matrix_completion(rows, cols, values, shape=whole.shape, radius=radius)
        return model.complete(condal.solve(model)).rmse(i, j, whole[i, j])

    chosen = matrix_completion(rows, cols, values, shape=whole.shape)
    assert chosen.radius == with_best_radius(replace(chosen, radius=1.0)).radius
    error = missed(chosen.radius)
    assert error < 0.9 * missed(0.2 * chosen.radius)
    assert error < 0.9 * missed(5 * chosen.radius)
    effects_alone = np.sqrt(np.mean((chosen.effects.entries(i, j) - whole[i, j]) ** 2))
    assert error < 0.5 * effects_alone


def test_too_few_entries_to_hold_any_back_take_the_natural_radius():
    model = matrix_completion([0], [1], [5.0], effects=False)
    assert model.radius == model.natural_radius == pytest.approx(np.sqrt(2) * 5.0)
    assert matrix_completion([0], [0], [0.0], effects=False).radius == 1.0


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_matrix_that_fits_is_given_no_more_radius(noise):
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    i, j = np.nonzero(rng.random(whole.shape) < 0.4)
    v = whole[i, j] + noise * rng.standard_normal(i.size)
    model = matrix_completion(i, j, v, effects=False)
    assert 0.85 < model.radius / np.linalg.norm(whole, "nuc") < 1.2


def test_what_is_tried_is_told_and_ends_in_time():
    _, rows, cols, values = ratings(20, 15, share=0.8, seed=4)
    told = []
    model = matrix_completion(rows, cols, values, watch=lambda *one: told.append(one))
    assert min(told, key=lambda one: one[1])[0] == pytest.approx(model.radius, rel=0.5)
    assert len(told) > 2
    told.clear()
    matrix_completion(rows, cols, values, watch=lambda *one: told.append(one), max_seconds=1e-9)
    assert len(told) == 1


def test_known_entries_of_a_matrix():
    whole = np.array([[1.0, np.nan, 2.0], [np.nan, 0.0, np.nan]])
    rows, cols, values = known_entries(whole)
    assert rows.tolist() == [0, 0, 1]
    assert cols.tolist() == [0, 2, 1]
    assert values.tolist() == [1.0, 2.0, 0.0]
    stored = sp.coo_array((values, (rows, cols)), shape=whole.shape)
    for one, other in zip(known_entries(stored), (rows, cols, values), strict=True):
        np.testing.assert_array_equal(one, other)
    masked = np.ma.masked_invalid([[1, np.nan, 2], [np.nan, 0, np.nan]])
    for one, other in zip(known_entries(masked), (rows, cols, values), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ProblemError, match="the matrix must have 2 dimensions; got shape"):
        known_entries(np.ones(3))
    with pytest.raises(ProblemError, match="no entry of the matrix is known"):
        known_entries(np.full((2, 2), np.nan))


@pytest.mark.parametrize("first", [0.1, 1.0])
def test_the_best_of_growing_values_is_next_to_the_least(first):
    tried = []

    def loss(value):
        tried.append(value)
        return Trial((np.log(value) - np.log(3.0)) ** 2)

    best = best_of_growing(loss, first)
    assert 3.0 / 2**0.25 <= best <= 3.0 * 2**0.25
    assert tried[-1] == pytest.approx(2 * best)
    np.testing.assert_allclose(np.diff(np.log2(tried)), 0.5)


def test_growing_ends_at_the_most_values_where_a_trial_says_so_or_where_gains_are_chance():
    calls = []
    found = best_of_growing(lambda value: calls.append(value) or Trial(1 / value), 1.0)
    assert found == calls[-1]
    assert len(calls) == MAX_VALUES
    assert best_of_growing(lambda value: Trial(1.0), 2.0) == 2.0
    found = best_of_growing(lambda value: Trial(1 / value, last=value >= 3.9), 1.0)
    assert found == pytest.approx(4.0)
    assert best_of_growing(lambda value: Trial(1.0 - 1e-5 * value), 1.0) == 1.0


def test_effects_are_those_of_a_matrix_that_is_nothing_else():
    rng = np.random.default_rng(10)
    a, b = rng.standard_normal(30), rng.standard_normal(40)
    whole = 2.0 + (a - a.mean())[:, None] + (b - b.mean())
    i, j = (places.ravel() for places in np.indices(whole.shape))
    found = Effects.of(whole.shape, i, j, whole.ravel(), "means")
    assert found.mean == pytest.approx(2.0)
    # Each is shrunk as if SHRINKAGE more entries were 0.
    np.testing.assert_allclose(found.rows, (a - a.mean()) * 40 / (40 + SHRINKAGE), atol=1e-6)
    np.testing.assert_allclose(found.cols, (b - b.mean()) * 30 / (30 + SHRINKAGE), atol=1e-6)
    np.testing.assert_allclose(found.entries(i, j).reshape(whole.shape), found.whole())


def test_robust_effects_bear_outliers():
    rng = np.random.default_rng(11)
    a = rng.standard_normal(30)
    whole = 2.0 + a[:, None] + 0.1 * rng.standard_normal((30, 40))
    i, j = (places.ravel() for places in np.indices(whole.shape))
    values = whole.ravel() + np.where(rng.random(whole.size) < 0.05, 100.0, 0.0)
    plain, robust = (Effects.of(whole.shape, i, j, values, f) for f in ("means", "robust"))
    assert abs(robust.mean - whole.mean()) < 0.5 < abs(plain.mean - whole.mean())
    assert np.abs(robust.whole() - whole).mean() < 0.2 * np.abs(plain.whole() - whole).mean()


def test_robust_effects_of_values_most_of_which_are_equal():
    i, j = (places.ravel() for places in np.indices((10, 9)))
    found = Effects.of((10, 9), i, j, np.where(i < 2, 4.0, 3.0), "robust")
    assert found.rows[0] > 0.05


def test_rows_and_columns_of_which_nothing_is_known_have_no_effects():
    i, j, values = np.array([0, 1]), np.array([1, 1]), np.array([1.0, 3.0])
    found = Effects.of((3, 4), i, j, values, "means")
    assert found.mean == 2.0
    assert found.rows[2] == found.cols[0] == found.cols[3] == 0.0
    assert not Effects.of((3, 4), i, j, values, "none").whole().any()


def test_without_effects_values_are_taken_as_they_are():
    model = matrix_completion([0, 1], [0, 1], [4.0, 5.0], radius=1.0, effects=False)
    np.testing.assert_array_equal(model.values, [4.0, 5.0])
    assert model.shape == (2, 2)
    assert model.problem.X.radius == 1.0


def test_delta_is_by_the_spread_of_what_a_first_fit_leaves():
    rng = np.random.default_rng(12)
    i, j = np.arange(400) // 20, np.arange(400) % 20
    signal = np.outer(rng.standard_normal(20), rng.standard_normal(20))
    v = 5 * signal.ravel() + 0.1 * rng.standard_normal(400)
    radius = 5 * np.linalg.norm(signal, "nuc")
    model = matrix_completion(i, j, v, radius=radius, loss="huber", effects=False)
    assert 0.05 < model.delta < 0.5  # 0.1345, and not about 5
    given = matrix_completion(i, j, v, radius=1.0, loss="huber", delta=0.3)
    assert given.delta == 0.3
    flat = matrix_completion([0], [0], [0.0], radius=1.0, loss="huber", effects=False)
    assert flat.delta == 1.0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"rows": [0]}, "must have one number for each known entry.*got 1, 2 and 2"),
        ({"rows": [0.0, 1.0]}, "rows must be whole numbers from 0, one per entry"),
        ({"cols": [0, -1]}, "cols must be whole numbers from 0"),
        ({"cols": [[0, 1]]}, "cols must be whole numbers from 0"),
        ({"rows": np.zeros(0, int), "cols": np.zeros(0, int), "values": []}, "got 0, 0 and 0"),
        ({"loss": "cubes"}, "loss must be 'squares', 'huber' or 'absolute'; got 'cubes'"),
        ({"shape": 5}, r"shape must be \(m, n\), two whole numbers; got 5"),
        ({"effects": "no"}, "effects must be True or False; got 'no'"),
        ({"shape": (1, 5)}, "the number of rows must be a whole number, at least 2; got 1"),
        ({"shape": (2, 1)}, "the number of columns must be a whole number, at least 2; got 1"),
    ],
)
def test_bad_models_are_refused(given, text):
    with pytest.raises(condal.ProblemError, match=text):
        matrix_completion(
            **{"rows": [0, 1], "cols": [0, 1], "values": [1.0, 2.0], "radius": 1.0, **given}
        )
