"""SIGKILL at random moments; `make soak` does it some hundred times more."""

from __future__ import annotations

import pytest

from killing import needs_fork
from soak.kills import VICTIMS, trial


@needs_fork
@pytest.mark.parametrize("name", VICTIMS)
@pytest.mark.parametrize("seed", [1])
def test_a_solve_that_is_killed_goes_on_and_is_never_wrong(name, seed):
    row = trial(name, seed)
    assert row.faults == ()
    assert row.solved == row.tried
