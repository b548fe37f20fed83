"""The ranks of a test, which all of them run at the same time."""

import sys
import tempfile
from pathlib import Path

import pytest

from condal_mpi.team import Team

sys.path.append(str(Path(__file__).parents[4] / "tests" / "faults"))  # for its cells


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Where one rank fails, the others wait for it: end them all."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        team = Team()
        print(f"rank {team.rank}, {item.name}:\n{report.longreprtext}", file=sys.stderr, flush=True)
        team.comm.Abort(1)


@pytest.fixture(scope="session")
def team():
    return Team()


@pytest.fixture
def fewer(team):
    """The ranks of a team without its last, if there are others; None on the last."""
    stays = team.rank < max(1, team.size - 1)
    comm = team.comm.Split(0 if stays else 1)
    yield Team(comm) if stays else None
    comm.Free()


@pytest.fixture
def alone(team):
    """A team of this rank alone."""
    comm = team.comm.Split(team.rank)
    yield Team(comm)
    comm.Free()


@pytest.fixture
def shared(team):
    """A folder, the same for all ranks, which is empty when they begin and gone afterwards."""
    folder = tempfile.TemporaryDirectory() if team.rank == 0 else None
    yield Path(team.agreed(folder and folder.name))
    team.comm.Barrier()
    if folder is not None:
        folder.cleanup()
