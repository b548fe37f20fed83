"""One writer a checkpoint, in this process and in others, for as long as it lives."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from bits import names

from condal.errors import FormatError
from condal.io.checkpoint.file import read, write
from condal.io.container.lock import locked

HOLDING = """
import sys
from condal.io.container.lock import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""
WRITING = """
import sys
import numpy as np
from condal.io.checkpoint.file import write
from condal.io.container.lock import locked
from condal.errors import FormatError
path, mine = sys.argv[1], int(sys.argv[2])
wrote = refused = 0
for _ in range(25):
    try:
        with locked(path):
            write(path, {"by": mine}, np.full(1000, mine))
            wrote += 1
    except FormatError as error:
        assert "is being written by another solve" in str(error), error
        refused += 1
print(wrote, refused)
"""


def started(script: str, *given: object) -> subprocess.Popen:
    command = [sys.executable, "-c", script, *map(str, given)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_second_writer_is_refused_while_the_first_lives(tmp_path):
    path = tmp_path / "run"
    with started(HOLDING, path) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(FormatError) as caught, locked(path):
            pass
        assert str(caught.value) == (
            f"{path}: is being written by another solve (process {other.pid}); wait for it, or "
            "give another path"
        )
        write(path, {}, None)
        assert read(path).value is None  # reading is free
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert "run.lock" in names(tmp_path)
    with locked(path):  # which the system has released
        pass
    assert names(tmp_path) == ["run"]


def test_two_threads_are_two_writers(tmp_path):
    path, refused = tmp_path / "run", []

    def second():
        try:
            with locked(path):
                pass
        except FormatError as error:
            refused.append(str(error))

    with locked(path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert "is being written by another solve" in refused[0]


def test_other_checkpoints_are_free(tmp_path):
    with locked(tmp_path / "a"), locked(tmp_path / "b"), locked(tmp_path / "a.previous"):
        assert names(tmp_path) == ["a.lock", "a.previous.lock", "b.lock"]


def test_another_name_of_the_folder_is_the_same_lock(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a", target_is_directory=True)
    with (
        locked(tmp_path / "a" / "run"),
        pytest.raises(FormatError, match="is being written by another solve"),
        locked(tmp_path / "link" / "run"),
    ):
        pass


def test_the_lock_is_released_and_its_file_removed_by_an_error_too(tmp_path):
    path = tmp_path / "run"
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), locked(path):
            raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_two_processes_at_once_never_mix(tmp_path):
    """Each may be refused, but what is there is always whole, and one of theirs."""
    path = tmp_path / "run"
    write(path, {"by": 0}, None)
    with started(WRITING, path, 1) as one, started(WRITING, path, 2) as two:
        seen = set()
        while one.poll() is None or two.poll() is None:
            found = read(path)
            by = found.about["by"]
            assert found.generation == 0
            assert by == 0 or found.value.tolist() == [by] * 1000
            seen.add(by)
        ends = [other.communicate() for other in (one, two)]
    assert [error for _, error in ends] == ["", ""]
    assert [sum(map(int, said.split())) for said, _ in ends] == [25, 25]
    assert names(tmp_path) == ["run", "run.previous"]
    assert read(path).about["by"] in (1, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the file of a lock")
def test_a_lock_that_was_removed_and_made_again_is_taken_again(tmp_path, monkeypatch):
    """Between opening the file and locking it, the holder ends and removes it."""
    import fcntl

    path = tmp_path / "run"
    real, tried = fcntl.flock, []

    def slow(descriptor, operation):
        if operation & fcntl.LOCK_EX:
            tried.append(os.fstat(descriptor).st_ino)
        if len(tried) == 1:
            (tmp_path / "run.lock").unlink()
            (tmp_path / "other").write_text("")  # so that the number of the file is not free
            (tmp_path / "run.lock").write_text("")
        return real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    with locked(path):
        assert len(tried) == 2
        assert (tmp_path / "run.lock").stat().st_ino == tried[1]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_regular_file_is_refused(tmp_path, kind):
    place = tmp_path / "run.lock"
    if kind == "link":
        place.symlink_to(tmp_path / "other")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    with pytest.raises(FormatError, match=r"run"), locked(tmp_path / "run"):
        pass
    assert not Path(tmp_path / "other").exists()


def test_who_has_it_is_told_only_if_it_says(tmp_path, monkeypatch):
    from condal.io.container import lock

    path = tmp_path / "run"
    monkeypatch.setattr(lock, "_sign", lambda descriptor: None)
    with (
        locked(path),
        pytest.raises(FormatError, match="written by another solve; wait for it"),
        locked(path),
    ):
        pass
