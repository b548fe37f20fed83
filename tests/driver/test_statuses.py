"""Why a run stops: each status by a problem that must end so, with its proof and its advice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest

import condal
from condal import Status
from condal.driver.run_record import StopReasons
from condal.methods import InteriorPoint, LowRankCGAL
from condal.problems import max_cut
from known import random_graph

MODEL = max_cut(random_graph(30, 4))


@dataclass(frozen=True)
class Tired:
    """CGAL that can do no more after five iterations."""

    name: str = "tired"
    keeps: str = "x"

    def start(self, problem, warm=None):
        return condal.CGAL().start(problem, warm)

    def iterates(self, problem, x, start=None):
        return islice(condal.CGAL().iterates(problem, x, start), 5)


def test_an_estimate_alone_never_solves(monkeypatch):
    """Where no proof comes out, the estimates say what they like."""
    from condal.linalg.rounding import Proof

    def unproved(*_, **__):
        return Proof(-np.inf, "none")

    monkeypatch.setattr(condal.Spectrahedron, "bound", unproved)
    result = condal.solve(MODEL, tol=1e-2, max_iters=200)
    assert result.status is not Status.SOLVED
    assert result.bound == np.inf


def test_inaccurate_where_methods_rest_near_the_tolerance():
    result = condal.solve(MODEL, InteriorPoint(), tol=1e-14)
    assert result.status is Status.INACCURATE
    assert 1e-14 < result.gap < 1e-11
    assert result.certificate.certified


def test_stalled_where_a_method_rests_far_from_it():
    result = condal.solve(MODEL, Tired(), tol=1e-6)
    assert result.status is Status.STALLED
    assert result.gap > 1e-4
    assert result.bound >= result.objective


@pytest.mark.parametrize("status", Status)
def test_every_status_says_what_it_is_and_advises(status):
    what, _, advice = status.value.partition(";")
    assert what
    assert advice.strip() or status is Status.SOLVED


def test_a_tolerance_near_rounding_is_reached_or_said_not_to_be():
    result = condal.solve(MODEL, LowRankCGAL(), tol=1e-15, max_iters=2000)
    assert result.status in (Status.SOLVED, Status.INACCURATE)
    assert result.gap < 1e-11


@pytest.mark.parametrize(
    ("reasons", "status"),
    [
        ({}, None),
        ({"answer": Status.SOLVED, "answer_is_close": True}, None),
        ({"error": ""}, Status.NUMERICAL_ERROR),
        ({"error": "f(x) was nan", "proved": Status.SOLVED}, Status.NUMERICAL_ERROR),
        ({"proved": Status.INFEASIBLE, "stalled": True}, Status.INFEASIBLE),
        ({"proved": Status.SOLVED, "interrupted": True}, Status.SOLVED),
        ({"interrupted": True, "at_max_iters": True}, Status.INTERRUPTED),
        ({"interrupted": True, "answer": Status.SOLVED}, Status.INTERRUPTED),
        ({"out_of_time": True}, Status.MAX_SECONDS),
        ({"at_max_iters": True, "stalled": True}, Status.MAX_ITERS),
        ({"at_max_iters": True, "answer": Status.SOLVED}, Status.SOLVED),
        ({"at_max_iters": True, "answer_is_close": True}, Status.MAX_ITERS),
        ({"stalled": True}, Status.STALLED),
        ({"stalled": True, "answer_is_close": True}, Status.INACCURATE),
        ({"stalled": True, "answer_is_close": True, "answer": Status.SOLVED}, Status.SOLVED),
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
