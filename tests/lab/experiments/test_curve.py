"""Slopes, scores and decays of curves whose laws are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from condal.lab.experiments.curve import Curve, decay, envelope, score, slope, step_values

CALLS = np.unique(np.geomspace(1, 10_000, 400).astype(int)).astype(float)


def curve(residual, infeasibility, *, outer=None, atoms=None, optimum=-2.0):
    residual, infeasibility = np.broadcast_to(residual, CALLS.shape), np.asarray(infeasibility)
    atoms = residual if atoms is None else atoms
    return Curve(
        CALLS,
        optimum + abs(optimum) * residual,
        np.broadcast_to(infeasibility, CALLS.shape),
        np.ones(CALLS.size) if outer is None else outer,
        optimum + abs(optimum) * atoms,
        np.broadcast_to(infeasibility, CALLS.shape),
    )


@pytest.mark.parametrize("power", [-0.5, -1.0, -1.7])
def test_the_slope_of_a_power_is_its_exponent(power):
    assert slope(CALLS, 3 * CALLS**power) == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize("place", [300, 2000, 9999])
def test_a_change_of_sign_does_not_move_the_slope(place):
    values = CALLS**-0.5
    dips = values * np.minimum(1.0, 20 * np.abs(np.log(CALLS / place)))
    assert (dips / values).min() < 0.3
    assert slope(CALLS, dips) == pytest.approx(-0.5, abs=0.06)


def test_oscillations_are_seen_by_their_envelope():
    values = CALLS**-1 * (1.01 + np.cos(40 * np.log(CALLS))) / 2
    assert slope(CALLS, values) == pytest.approx(-1.0, abs=0.1)


def test_the_slope_is_that_of_the_tail():
    values = np.where(CALLS < 500, 500**-0.2 * (CALLS / 500) ** -0.2, CALLS**-0.2 * (500 / CALLS))
    assert slope(CALLS, values) == pytest.approx(-1.2, abs=0.05)


def test_a_floor_ends_the_tail():
    values = np.maximum(CALLS**-1.0, 1e-3)
    assert slope(CALLS, values) > -0.3
    assert slope(CALLS, values, floor=1.1e-3) == pytest.approx(-1.0, abs=0.05)


def test_a_short_curve_has_no_slope():
    assert np.isnan(slope(CALLS[-3:], CALLS[-3:] ** -1.0))
    assert np.isnan(slope(CALLS, np.zeros(CALLS.size)))


def test_envelope_and_steps():
    assert envelope(np.array([3.0, 1.0, 2.0, 0.5])).tolist() == [3.0, 2.0, 2.0, 0.5]
    at = step_values(
        np.array([2.0, 4.0]), np.array([10.0, 20.0]), np.array([1.0, 2.0, 3.9, 4.0, 9.0])
    )
    assert at.tolist() == [np.inf, 10.0, 10.0, 20.0, 20.0]


def test_the_score_is_the_largest_error_of_the_last_half():
    assert score(curve(CALLS**-1, CALLS**-0.5), -2.0, 10_000) == pytest.approx(5000**-0.5, rel=0.05)


def test_a_change_of_sign_does_not_lower_the_score():
    flip = 1e-2 * np.log(CALLS / 7000)  # f - f* changes its sign within the window
    assert np.median(np.abs(flip[CALLS >= 5000])) < 2e-3
    largest = np.abs(flip[CALLS >= 5000]).max()
    assert score(curve(flip, 0.0), -2.0, 10_000) == pytest.approx(largest, rel=0.01)


def test_a_curve_that_ends_early_keeps_its_last_value():
    assert score(curve(CALLS**-1, 0.0), -2.0, 10**6) == pytest.approx(1e-4)


def test_only_outer_iterates_count():
    outer = (CALLS % 7 == 0).astype(float)
    values = np.where(outer > 0, 1e-3, 1.0)
    assert score(curve(values, 0.0, outer=outer), -2.0, 10_000) == pytest.approx(1e-3)
    assert score(curve(values, 0.0, outer=np.zeros(CALLS.size)), -2.0, 10_000) == np.inf


def test_a_curve_that_is_not_finite_loses():
    assert score(curve(np.full(CALLS.size, np.nan), 0.0), -2.0, 10_000) == np.inf


def test_linear_and_power_decay_are_told_apart():
    linear = decay(CALLS, 0.99**CALLS, floor=1e-12)
    assert linear.factor == pytest.approx(0.99, abs=1e-4)
    assert linear.linear > 0.999 > linear.power
    power = decay(CALLS, CALLS**-2.0, floor=1e-12)
    assert power.power > 0.999 > power.linear
    assert 1e-8 < power.last < 2e-8


def test_a_curve_is_the_same_after_writing_and_reading():
    before = curve(CALLS**-1, np.where(CALLS > 9000, np.nan, 0.25))
    text = json.dumps(before.columns(), allow_nan=False)
    after = Curve.of(json.loads(text))
    assert np.array_equal(before.objective, after.objective)
    assert np.array_equal(before.infeasibility, after.infeasibility, equal_nan=True)
    assert after.signed(-2.0)[0] == 1.0
