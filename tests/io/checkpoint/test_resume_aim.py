"""A solve that is resumed with another tolerance aims at it, as a new solve would."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import condal
from condal import Status
from condal.io.checkpoint.file import read
from condal.methods import LowRankCGAL, LowRankNewton, SphereSweeps
from condal.problems import max_cut, theta
from known import random_graph

THETA = theta(random_graph(40, 4))
CASES = [
    (max_cut(random_graph(60, 4)), LowRankCGAL()),
    (THETA, LowRankNewton()),
    (theta(random_graph(60, 2.5, seed=3)), SphereSweeps()),
]
by_method = pytest.mark.parametrize(
    ("model", "method"), CASES, ids=[method.name for _, method in CASES]
)


def aims(path: Any) -> list[float | None]:
    """The aims of the methods that a checkpoint holds."""
    methods = [choice.method for choice in read(path).value["tried"]]
    return [method.aim for method in methods if hasattr(method, "aim")]


@by_method
@pytest.mark.parametrize("ends", ["stopped", "solved"])
def test_a_tighter_tol_is_aimed_at_and_reached(model, method, ends, tmp_path):
    path, limit = tmp_path / "a", {"max_iters": 3} if ends == "stopped" else {}
    condal.solve(model, replace(method, aim=1e-2), tol=1e-2, checkpoint=path, **limit)
    result = condal.resume(path, model, tol=1e-4)
    assert result.status is Status.SOLVED
    assert max(result.gap, result.infeasibility, result.price) <= 1e-4
    assert aims(path) == [1e-4]


def test_every_method_that_was_chosen_aims_at_the_new_tol(tmp_path):
    path = tmp_path / "a"
    condal.solve(THETA, tol=1e-2, max_iters=1, checkpoint=path)
    assert set(aims(path)) == {1e-2}
    condal.resume(path, THETA, tol=1e-4, max_iters=1)
    assert set(aims(path)) == {1e-4}
    condal.resume(path, THETA, max_iters=1)  # as the last time
    assert set(aims(path)) == {1e-4}


def test_a_tol_of_0_is_aimed_at_and_left_again(tmp_path):
    path = tmp_path / "a"
    condal.solve(THETA, tol=0, max_iters=1, checkpoint=path)
    (none,) = set(aims(path))
    condal.resume(path, THETA, tol=1e-2, max_iters=1)
    assert set(aims(path)) == {1e-2}
    condal.resume(path, THETA, tol=0, max_iters=1)
    assert set(aims(path)) == {none}
    assert condal.resume(path, THETA, tol=1e-4).status is Status.SOLVED


@by_method
@pytest.mark.parametrize("aim", [None, 1e-6])
def test_an_aim_of_the_users_own_is_kept(model, method, aim, tmp_path):
    path = tmp_path / "a"
    condal.solve(model, replace(method, aim=aim), tol=1e-2, max_iters=2, checkpoint=path)
    condal.resume(path, model, tol=1e-4, max_iters=2)
    assert aims(path) == [aim]


def test_sweeps_take_the_precision_of_the_new_aim(tmp_path):
    path = tmp_path / "a"

    def dtype() -> Any:
        return read(path).value["state"].carry.R.dtype

    condal.solve(THETA, SphereSweeps(aim=1e-2), tol=1e-2, max_iters=2, checkpoint=path)
    assert dtype() == np.float32
    condal.resume(path, THETA, tol=1e-6, max_iters=1)
    assert dtype() == np.float64
    condal.resume(path, THETA, tol=1e-2, max_iters=1)
    assert dtype() == np.float32
