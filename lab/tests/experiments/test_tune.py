"""The tuning rule on known scores: where it ends, and which settings it asks for."""

import pytest

from condal_lab.experiments.contenders import Parameter, at_edge, best, next_settings

ONE = (Parameter("lam0", start=0, low=-5, high=5),)
TWO = (Parameter("lam", start=0, low=-4, high=4), Parameter("rho", start=-1, low=-4, high=0))


def search(parameters, score):
    """Answer all requests until there are none."""
    scores = {}
    while settings := next_settings(parameters, scores):
        assert not set(settings) & set(scores)
        scores |= {setting: score(*setting) for setting in settings}
    return scores


def test_the_start_and_both_its_neighbours_come_first():
    assert next_settings(ONE, {}) == [(0,), (-1,), (1,)]


@pytest.mark.parametrize("target", [-4, 0, 3])
def test_it_ends_when_a_value_beats_both_its_neighbours(target):
    scores = search(ONE, lambda e: abs(e - target))
    assert best(scores, ONE) == (target,)
    assert {(target - 1,), (target + 1,)} <= set(scores)
    assert at_edge(ONE, (target,)) == ()
    assert len(scores) <= abs(target) + 3


def test_the_end_of_the_range_is_said_not_passed():
    scores = search(ONE, lambda e: -e)
    assert best(scores, ONE) == (5,)
    assert at_edge(ONE, (5,)) == ("lam0",)
    assert max(scores) == (5,)


def test_two_parameters_beat_all_four_neighbours():
    scores = search(TWO, lambda a, b: (a - 2) ** 2 + (b + 3) ** 2 + 0.5 * (a - 2) * (b + 3))
    assert best(scores, TWO) == (2, -3)
    assert {(1, -3), (3, -3), (2, -2), (2, -4)} <= set(scores)


def test_a_limit_of_one_parameter_is_an_edge():
    scores = search(TWO, lambda a, b: abs(a) - b)
    assert best(scores, TWO) == (0, 0)
    assert at_edge(TWO, (0, 0)) == ("rho",)


def test_scores_that_are_all_infinite_end_the_search_at_its_start():
    scores = search(ONE, lambda e: float("inf"))
    assert best(scores, ONE) == (0,)
    assert len(scores) == 3
