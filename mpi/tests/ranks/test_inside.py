"""The laws that ranks keep together: each rank runs all files check_*.py of the folder `inside`."""

from pathlib import Path

import pytest
import ranks

pytestmark = ranks.needed

INSIDE = Path(__file__).parent / "inside"


ALONE = (
    "check_lowrank.py",
    "check_models.py",
    "check_node.py",
    "check_pairs.py",
    "check_partition.py",
    "check_phase.py",
    "check_rows.py",
    "check_theta.py",
)


# The first, the last and another; and machines with two ranks each.
@pytest.mark.parametrize(
    ("count", "names"), [(1, ALONE), (3, ("check_*.py",)), (4, ("check_node.py",))]
)
def test_what_ranks_do_together(count, names):
    """What is not run on one rank compares ranks with each other."""
    files = sorted(file for name in names for file in INSIDE.glob(name))
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
