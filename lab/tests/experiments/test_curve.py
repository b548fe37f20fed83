"""Slopes, scores and decays of curves whose laws are known."""

import numpy as np
import pytest

from condal_lab.experiments.curve import Curve, Slope, decay, envelope, score, slope

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
    fitted = slope(CALLS, 3 * CALLS**power)
    assert fitted.value == pytest.approx(power, abs=1e-9)
    assert fitted.low <= power + 1e-9
    assert fitted.high >= power - 1e-9


@pytest.mark.parametrize("place", [150, 300, 2000, 9000, 9999])
def test_a_change_of_sign_does_not_move_the_slope(place):
    values = CALLS**-0.5
    dips = values * np.minimum(1.0, 20 * np.abs(np.log(CALLS / place)))
    assert (dips / values).min() < 0.3
    assert slope(CALLS, dips).value == pytest.approx(-0.5, abs=0.02)


def test_oscillations_are_seen_by_their_peaks():
    values = CALLS**-1 * (1.01 + np.cos(40 * np.log(CALLS))) / 2
    assert slope(CALLS, values).value == pytest.approx(-1.0, abs=0.05)


def test_the_slope_is_that_of_the_last_two_decades():
    values = np.where(CALLS < 100, CALLS**-0.2, 100**-0.2 * (100 / CALLS) ** 1.2)
    assert slope(CALLS, values).value == pytest.approx(-1.2, abs=0.01)
    assert slope(CALLS[CALLS <= 100], values[CALLS <= 100]).value == pytest.approx(-0.2, abs=0.01)


def test_the_interval_covers_the_slope_if_the_parts_err_independently():
    part, covered = np.floor(4 * np.log10(CALLS)).astype(int), 0
    for seed in range(200):
        noise = np.random.default_rng(seed).normal(size=17)[part]
        fitted = slope(CALLS, CALLS**-0.7 * np.exp(0.2 * noise))
        covered += fitted.low <= -0.7 <= fitted.high
    assert 180 <= covered <= 198


def test_an_interval_complies_as_a_whole_or_is_undecided():
    fitted = Slope(-0.5, -0.6, -0.4)
    assert fitted.complies(-0.65, -0.35) is True
    assert fitted.complies(-0.55, -0.35) is None
    assert fitted.complies(-2.0, -0.9) is False
    assert Slope(float("nan")).complies(-2.0, -0.9) is None


def test_a_floor_ends_the_window():
    values = np.maximum(CALLS**-1.0, 1e-3)
    assert slope(CALLS, values, decades=1.0).value > -0.3
    assert slope(CALLS, values, floor=1.1e-3).value == pytest.approx(-1.0, abs=0.05)


def test_a_short_curve_has_no_slope():
    assert np.isnan(slope(CALLS[-3:], CALLS[-3:] ** -1.0).value)
    assert np.isnan(slope(CALLS, np.zeros(CALLS.size)).value)


def test_the_envelope_is_the_running_maximum_from_the_right():
    assert envelope(np.array([3.0, 1.0, 2.0, 0.5])).tolist() == [3.0, 2.0, 2.0, 0.5]


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


@pytest.mark.parametrize(
    ("values", "law"),
    [
        (0.99**CALLS, "linear"),
        (np.exp(-0.3 * np.sqrt(CALLS)), "exp(-c sqrt k)"),
        (CALLS**-2.0, "power"),
    ],
)
def test_the_laws_of_decay_are_told_apart(values, law):
    fitted = decay(CALLS, values, floor=1e-12)
    assert fitted.law == law
    assert fitted.fits[law] > 0.999
    assert all(fit < 0.99 for name, fit in fitted.fits.items() if name != law)


def test_a_decay_ends_at_its_last_values():
    assert 1e-8 < decay(CALLS, CALLS**-2.0).last < 2e-8
