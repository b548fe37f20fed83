"""A job ends with exit code 0, whatever it holds until Python ends."""

from __future__ import annotations

import ranks

pytestmark = ranks.needed

STOPPED = """
import numpy as np

from condal.distributed import Team
from condal.distributed.oracle import Slepc
from condal.distributed.sharded_array import ShardedArray
from condal.runtime.cancellation import Cancelled, Deadline


class Stopping:
    def __init__(self, diagonal):
        self.diagonal, self.products = diagonal, 0

    def __matmul__(self, v):
        self.products += 1
        if self.products == 7:
            raise Cancelled(Deadline(), asked=True)
        return self.diagonal * v


n, team = 60, Team()
V = Stopping(ShardedArray(np.arange(*team.range(n), dtype=float), team))
oracle = Slepc(n, team=team)
try:
    oracle.smallest(V)
except Cancelled as error:
    held = error
assert abs(oracle.smallest(V, 1e-6).value) < 1e-6
oracle.release()
"""


def test_an_error_that_stopped_an_oracle_may_be_held_to_the_end(tmp_path):
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED)
    ended = ranks.run(2, script)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
