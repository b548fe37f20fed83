"""Why a run stops: one decision, made from what its stages found."""

from __future__ import annotations

import pytest

from condal import Status
from condal.driver.stop import StopReasons


@pytest.mark.parametrize(
    ("reasons", "status"),
    [
        ({}, None),
        ({"answer_solves": True, "answer_is_close": True}, None),
        ({"error": ""}, Status.NUMERICAL_ERROR),
        ({"error": "f(x) was nan", "proved": Status.SOLVED}, Status.NUMERICAL_ERROR),
        ({"proved": Status.INFEASIBLE, "stalled": True}, Status.INFEASIBLE),
        ({"proved": Status.SOLVED, "interrupted": True}, Status.SOLVED),
        ({"interrupted": True, "at_max_iters": True}, Status.INTERRUPTED),
        ({"interrupted": True, "answer_solves": True}, Status.INTERRUPTED),
        ({"out_of_time": True}, Status.MAX_SECONDS),
        ({"at_max_iters": True, "stalled": True}, Status.MAX_ITERS),
        ({"at_max_iters": True, "answer_solves": True}, Status.SOLVED),
        ({"at_max_iters": True, "answer_is_close": True}, Status.MAX_ITERS),
        ({"stalled": True}, Status.STALLED),
        ({"stalled": True, "answer_is_close": True}, Status.INACCURATE),
        ({"stalled": True, "answer_is_close": True, "answer_solves": True}, Status.SOLVED),
    ],
)
def test_one_place_decides(reasons, status):
    assert StopReasons(**reasons).status is status
