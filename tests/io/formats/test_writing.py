from __future__ import annotations

import os
import stat
from collections.abc import Iterator

import pytest

from condal.errors import FormatError
from condal.io.formats.text import read_text
from condal.io.formats.writing import write_text


def broken(error: BaseException) -> Iterator[str]:
    yield "half"
    raise error


@pytest.mark.parametrize("name", ["g", "g.gz", "g.xz"])
def test_same_text_makes_same_bytes(tmp_path, name):
    path = tmp_path / name
    write_text(path, ["a\n", "b\n"])
    first = path.read_bytes()
    path.unlink()
    write_text(str(path), iter(["a\n", "b\n"]))
    assert path.read_bytes() == first
    assert read_text(path).data == b"a\nb\n"


@pytest.mark.parametrize("name", ["g", "g.gz", "g.xz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, name, error):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(type(error)):
        write_text(path, broken(error))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path):
    error = OSError(28, "No space left on device")
    with pytest.raises(FormatError, match="cannot be written: No space left on device; check"):
        write_text(tmp_path / "g", broken(error))
    assert not list(tmp_path.iterdir())


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "g", ["x"])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "g").stat().st_mode) == 0o640


def test_writes_through_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", ["new"])
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_refuses_folders_pipes_and_missing_folders(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(FormatError, match="is not a regular file, so it is not overwritten"):
            write_text(path, ["x"])
    with pytest.raises(FormatError, match="cannot be written: No such file or directory"):
        write_text(tmp_path / "absent" / "g", ["x"])
    with pytest.raises(FormatError, match="cannot be written"):
        write_text("a\0b", ["x"])


def test_refuses_a_loop_of_links(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FormatError, match="cannot be written"):
        write_text(loop, ["x"])
