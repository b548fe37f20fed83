"""Why a run stops: one decision, made from what its stages found."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal import Status
from condal.driver.run_record import StopReasons


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


@pytest.mark.parametrize("method", [None, "cgal", "cgal-ls", "hcgm"])
def test_a_tol_of_0_runs_to_the_limit(method):
    """Beyond the patience with a stall, and where the gap is rounding already."""
    model = condal.problems.max_cut(1.0 - np.eye(3))
    result = condal.solve(model, method, tol=0, max_iters=700)
    assert (result.status, len(result.history), result.tol) == (Status.MAX_ITERS, 700, 0.0)
    assert result.certificate.certified


def test_a_tol_of_0_ends_where_the_method_can_do_no_more():
    model = condal.problems.max_cut(1.0 - np.eye(3))
    assert condal.solve(model, "interior-point", tol=0, max_iters=700).status is Status.INACCURATE


def test_a_tol_of_0_needs_a_limit(tmp_path):
    model = condal.problems.max_cut(1.0 - np.eye(3))
    with pytest.raises(condal.ProblemError, match="got 0: to run to a limit, set max_iters or"):
        condal.solve(model, tol=0)
    condal.solve(model, "cgal", tol=0, max_iters=5, checkpoint=tmp_path / "run")
    with pytest.raises(condal.ProblemError, match="set max_iters or max_seconds"):
        condal.resume(tmp_path / "run", model)
    assert len(condal.resume(tmp_path / "run", model, max_iters=5).history) == 10
    condal.save(condal.solve(model, "cgal", tol=0, max_iters=5), tmp_path / "saved")
    assert condal.load(tmp_path / "saved").result.tol == 0.0
