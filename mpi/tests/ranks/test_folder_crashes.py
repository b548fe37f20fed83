"""The first rank is killed before any line of a write: the folder holds the old one or the new one,
whole. The other ranks write their parts alone, which no manifest names before all are there."""

from pathlib import Path

import numpy as np
import pytest

import condal
import condal_mpi
from condal.errors import FormatError
from condal.io.container.lock import locked
from condal_mpi.checkpoint.folder import read, write
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.team import Team
from killing import DONE, KILLED, killed_at, needs_fork

CODE = {
    str(Path(package.__file__).parent / name)
    for package, name in (
        (condal, "io/checkpoint/file.py"),
        (condal, "io/container/atomic.py"),
        (condal_mpi, "checkpoint/folder.py"),
        (condal_mpi, "checkpoint/manifest.py"),
    )
}


class Alone:
    """A communicator of one rank, without MPI."""

    def Get_rank(self):
        return 0

    def Get_size(self):
        return 1

    def allgather(self, value):
        return [value]

    def bcast(self, value, root):
        return value


TEAM = Team(Alone())


def put(path: Path, k: int) -> None:
    rows = ShardedArray(np.full((40, 2), float(k)), TEAM)
    write(TEAM, str(path), {"k": k}, {"rows": rows, "k": k})


def got(path: Path) -> int:
    contents = read(TEAM, str(path))
    k = contents.about["k"]
    assert contents.generation == 0
    assert contents.value["k"] == k
    assert (contents.value["rows"].local == k).all()
    return k


@needs_fork
def test_killed_before_any_line_of_a_write_the_last_good_one_is_there(tmp_path):
    ends, found = [], set()
    while not ends or ends[-1] != DONE:
        before = len(ends) % 3
        path = tmp_path / f"{len(ends)}" / "manifest"
        path.parent.mkdir()
        for k in range(before):
            put(path, k)

        def work(path: Path = path, before: int = before) -> None:
            with locked(path):
                put(path, before)

        ends.append(killed_at(len(ends) + 1, work, CODE))
        assert ends[-1] in (KILLED, DONE)
        if before == 0 and not path.exists():
            with pytest.raises(FormatError, match="there is no such file"):
                got(path)
        else:
            found.add(got(path) - before)
        # The next writer leaves no trace of the one that was killed.
        with locked(path):
            put(path, 9)
            put(path, 10)
        assert got(path) == 10
        names = sorted(one.name for one in path.parent.iterdir())
        assert names[2:] == ["manifest", "manifest.previous"]
        assert all(name.endswith(".0.rows") for name in names[:2])
    assert len(ends) > 60
    assert found == {-1, 0}
