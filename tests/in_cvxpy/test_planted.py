"""Planted conic problems through CVXPY: no verdict is wrong."""

from __future__ import annotations

import pytest

pytest.importorskip("cvxpy", minversion="1.9", reason="the plug-in needs CVXPY 1.9")

from planted_cones import judged


@pytest.mark.parametrize("first", range(0, 150, 30))
def test_planted_problems_are_judged_right(first):
    count = judged(30, first, max_seconds=3)
    assert not count.wrong
    assert count.tried == 30
    assert count.right >= 24
