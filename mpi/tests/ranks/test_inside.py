"""The laws that ranks keep together: each rank runs all files check_*.py of the folder `inside`."""

from __future__ import annotations

from pathlib import Path

import pytest
import ranks

pytestmark = ranks.needed

INSIDE = Path(__file__).parent / "inside"


SOLVES = (
    "check_lowrank.py",
    "check_node.py",
    "check_pairs.py",
    "check_partition.py",
    "check_phase.py",
    "check_rows.py",
    "check_theta.py",
)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_what_ranks_do_together(count):
    """The other files compare ranks with each other, so they need two."""
    files = sorted(INSIDE.glob("check_*.py"))
    if count == 1:
        files = [INSIDE / name for name in SOLVES]
    ended = ranks.run(
        count, "-m", "pytest", "--capture=no", "--color=no", "-p", "no:cacheprovider", *files
    )
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-6000:]
    assert ended.stdout.count(" passed in ") == count
    assert ended.stderr == ""


def test_an_assertion_that_fails_on_one_rank_ends_all(tmp_path):
    file = tmp_path / "check_nothing.py"
    file.write_text(
        "def test_it(team):\n    assert team.rank == 0, 'of rank 1'\n    team.comm.Barrier()\n"
    )
    conftest = INSIDE / "conftest.py"
    (tmp_path / "conftest.py").write_text(conftest.read_text())
    ended = ranks.run(2, "-m", "pytest", "--capture=no", "--rootdir", tmp_path, file)
    assert ended.returncode != 0
    assert "of rank 1" in ended.stderr
