"""A writer that is killed, or that the disk fails, at any step: the last good one is always there.

A child process is ended without notice, by os._exit, before the i-th line that it runs of the code
that writes, for every i: so also between any two system calls, with what is in its buffers lost.
"""

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bits import names, same

import condal
from condal.errors import FormatError
from condal.io.checkpoint.file import read, write
from condal.io.container.atomic import previous
from condal.io.container.lock import locked
from killing import DONE, KILLED, killed_at, needs_fork
from soak.kills import VICTIMS, trial

CODE = {
    str(Path(condal.__file__).parent / "io" / name)
    for name in ("checkpoint/file.py", "container/atomic.py", "container/lock.py")
}


def value(k: int) -> list[Any]:
    return [{"k": k}, np.full(4000, float(k)), np.arange(k + 3)]


@needs_fork
@pytest.mark.parametrize(("before", "links"), [(0, True), (1, False), (2, True)])
def test_killed_before_any_line_of_a_write_the_last_good_one_is_there(
    tmp_path, before, links, monkeypatch
):
    def refuse(*given):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    ends, found = [], set()
    while not ends or ends[-1] != DONE:
        folder = tmp_path / str(len(ends))
        folder.mkdir()
        path = folder / "run"
        for k in range(before):
            write(path, {"k": k}, value(k))

        def work(path: Path = path) -> None:
            with locked(path):
                write(path, {"k": before}, value(before))

        ends.append(killed_at(len(ends) + 1, work, CODE))
        assert ends[-1] in (KILLED, DONE)
        if before == 0 and not path.exists():
            with pytest.raises(FormatError, match="there is no such file"):
                read(path)
        else:
            contents = read(path)
            assert contents.generation == 0
            assert contents.about["k"] in (before - 1, before)
            assert same(contents.value, value(contents.about["k"]))
            found.add(contents.about["k"])
        # The next writer finds no trace of the one that was killed.
        with locked(path):
            assert [name for name in names(folder) if "tmp" in name] == []
            write(path, {"k": 9}, value(9))
        assert read(path).about == {"k": 9}
        assert set(names(folder)) <= {"run", "run.previous"}
    assert len(ends) > 40
    assert found == ({before} if before == 0 else {before - 1, before})


def test_what_takes_the_name_is_on_the_disk_before_and_the_folder_after(tmp_path, monkeypatch):
    """A computer that loses its power has the old one or the new one, and both generations."""
    path, steps = tmp_path / "run", []
    write(path, {"k": 0}, value(0))
    fsync, replaced, link = os.fsync, Path.replace, os.link

    def synced(descriptor):
        what = os.fstat(descriptor)
        is_folder = os.path.samestat(what, tmp_path.stat())
        steps.append("folder" if is_folder else f"file of {what.st_size}")
        fsync(descriptor)

    def named(self, target):
        steps.append(f"-> {Path(target).name}")
        return replaced(self, target)

    def linked(old, new):
        steps.append("link")
        link(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", named)
    monkeypatch.setattr(os, "link", linked)
    write(path, {"k": 1}, value(1))
    size = path.stat().st_size
    wanted = [f"file of {size}", "link", "-> run", "folder", "-> run.previous", "folder"]
    assert steps == wanted


class Failing(io.FileIO):
    """A file on a disk that is full after some bytes."""

    room = 0

    def write(self, data):
        if Failing.room < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        Failing.room -= len(data)
        return super().write(data)


@pytest.mark.parametrize("room", [0, 10, 500, 4096, 32000])
def test_a_full_disk_leaves_the_last_good_one(tmp_path, room, monkeypatch):
    path = tmp_path / "run"
    for k in range(2):
        write(path, {"k": k}, value(k))
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    Failing.room = room
    monkeypatch.setattr(Path, "open", lambda self, mode: io.BufferedWriter(Failing(self, mode)))
    with pytest.raises(FormatError) as caught:
        write(path, {"k": 2}, value(2))
    assert str(caught.value) == (
        f"{path}: cannot be written: No space left on device; check the folder, its permissions "
        "and the space left, or give another path; what was there before is unchanged"
    )
    monkeypatch.undo()
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


@pytest.mark.parametrize("owner", [os, Path], ids=["fsync and link", "open, replace and unlink"])
@pytest.mark.parametrize("error", [errno.EIO, errno.EROFS, errno.EDQUOT, errno.ENOSPC])
def test_a_call_that_fails_leaves_the_last_good_one(tmp_path, owner, error, monkeypatch):
    """Every call by which a file is changed fails in turn."""
    wanted = ("fsync", "link") if owner is os else ("open", "replace", "unlink")
    for name in wanted:
        for turn in range(6):
            folder = tmp_path / f"{name} {turn}"
            folder.mkdir()
            path = folder / "run"
            for k in range(2):
                write(path, {"k": k}, value(k))
            real, left = getattr(owner, name), [turn]

            def failing(*given, real=real, left=left, **named):
                left[0] -= 1
                if left[0] == -1:
                    raise OSError(error, os.strerror(error))
                return real(*given, **named)

            with monkeypatch.context() as patch:
                patch.setattr(owner, name, failing)
                try:
                    write(path, {"k": 2}, value(2))
                    said = ""
                except FormatError as fault:
                    said = str(fault)
            assert said == "" or f"cannot be written: {os.strerror(error)}" in said
            found = read(path)
            assert found.generation == 0
            assert found.about["k"] in ((1, 2) if said else (2,))
            assert same(found.value, value(found.about["k"]))
            assert read(previous(path)).about["k"] in (0, 1)
            if name != "unlink":
                assert names(folder) == ["run", "run.previous"]


def test_a_missing_folder_is_named(tmp_path):
    for verb in (lambda path: write(path, {}, None), lambda path: locked(path).__enter__()):
        with pytest.raises(FormatError, match=r"cannot be written: No such file.* folder"):
            verb(tmp_path / "none" / "run")


@pytest.mark.usefixtures("permissions")
def test_a_folder_that_may_not_be_written_leaves_the_last_good_one(tmp_path):
    path = tmp_path / "run"
    write(path, {"k": 1}, value(1))
    tmp_path.chmod(0o555)
    try:
        for verb in (lambda: write(path, {}, None), lambda: locked(path).__enter__()):
            with pytest.raises(FormatError, match="cannot be written: Permission denied"):
                verb()
        assert read(path).about == {"k": 1}
    finally:
        tmp_path.chmod(0o755)


def test_a_folder_on_a_disk_that_is_read_only_leaves_the_last_good_one(tmp_path, monkeypatch):
    path = tmp_path / "run"
    write(path, {"k": 1}, value(1))

    def refuse(*given):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FormatError, match="cannot be written: Read-only file system"):
        write(path, {"k": 2}, value(2))
    assert read(path).about == {"k": 1}
    assert names(tmp_path) == ["run"]


@pytest.mark.usefixtures("permissions")
def test_one_that_may_not_be_read_is_not_taken_for_a_damaged_one(tmp_path):
    path = tmp_path / "run"
    for k in range(2):
        write(path, {"k": k}, value(k))
    path.chmod(0)
    with pytest.raises(FormatError, match=r"cannot be read: Permission denied"):
        read(path)


def test_a_disk_that_cannot_be_read_is_taken_for_damage(tmp_path, monkeypatch):
    path = tmp_path / "run"
    for k in range(2):
        write(path, {"k": k}, value(k))
    from condal.io.container import array_file

    real, calls = array_file.read_head, []

    def failing(kind, opened, name):
        calls.append(name)
        if len(calls) == 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(kind, opened, name)

    monkeypatch.setattr(array_file, "read_head", failing)
    assert (read(path).generation, read(path).generation) == (1, 0)


LIMITED = """
import resource, sys
import numpy as np
from condal.io.checkpoint.file import read, write
from condal.errors import FormatError
path = sys.argv[1]
write(path, {"k": 1}, np.zeros(10))
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    write(path, {"k": 2}, np.zeros(1000))
except FormatError as error:
    print(error)
print(read(path).about)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_file_that_may_not_grow_leaves_the_last_good_one(tmp_path):
    path = tmp_path / "run"
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    said, found = run.stdout.splitlines()
    assert re.match(re.escape(f"{path}: cannot be written: File too large; "), said)
    assert found == "{'k': 1}"
    assert names(tmp_path) == ["run"]


def test_files_of_others_are_not_taken_for_what_was_left_behind(tmp_path):
    path = tmp_path / "run"
    kept = [".run.tmp", ".run.0123.tmp", f".run2.{'0' * 16}.tmp", f"run.{'0' * 16}.tmp", ".run"]
    for name in (*kept, f".run.{'0' * 16}.tmp"):
        (tmp_path / name).write_text("")
    with locked(path):
        assert names(tmp_path) == sorted([*kept, "run.lock"])


@needs_fork
@pytest.mark.parametrize("name", VICTIMS)
@pytest.mark.parametrize("seed", [1])
def test_a_solve_that_is_killed_goes_on_and_is_never_wrong(name, seed):
    """SIGKILL at random moments; `make soak` does it some hundred times more."""
    row = trial(name, seed)
    assert row.faults == ()
    assert row.solved == row.tried
