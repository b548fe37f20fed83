"""A job ends with exit code 0, whatever it holds until Python ends."""

import pytest
import ranks

pytestmark = ranks.needed

JOB = """
import numpy as np

from condal_mpi import Team
from condal_mpi.oracle import Slepc
from condal_mpi.sharded_array import ShardedArray
from condal.runtime.meter import Cancelled, Deadline


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
"""


@pytest.mark.parametrize(
    "last",
    ["oracle.release()", "held = [oracle]; held.append(held); del oracle"],
    ids=["an error that stopped an oracle", "an oracle in a cycle"],
)
def test_it_may_be_held_to_the_end(last, tmp_path):
    script = tmp_path / "held.py"
    script.write_text(JOB + last)
    ended = ranks.run(2, script)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
