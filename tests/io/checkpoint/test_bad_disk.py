"""A checkpoint on a bad disk: never another value than the one that was written."""

from pathlib import Path

import numpy as np
import pytest
from bits import same

from condal.errors import FormatError
from condal.io.checkpoint.file import read, read_about, write

VALUE = [{"k": 7}, np.array([1.5, -2.0]), (np.float64(0.1), np.array([True, False]))]
OLDER = [{"k": 6}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name in ("alone", "second"):
        if name == "second":
            write(folder / name, {}, OLDER)
        write(folder / name, {}, VALUE)
    return folder


def test_a_byte_that_changes_is_seen_wherever_it_is(folder):
    path = folder / "alone"
    good = path.read_bytes()
    assert len(good) < 1000
    for i in range(len(good)):
        for flip in (1, 128, 255):
            data = bytearray(good)
            data[i] ^= flip
            path.write_bytes(bytes(data))
            with pytest.raises(FormatError):
                read(path)
    path.write_bytes(good)
    assert same(read(path).value, VALUE)


def test_a_file_that_is_cut_off_is_seen_wherever_it_is(folder):
    path = folder / "alone"
    good = path.read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        with pytest.raises(FormatError):
            read(path)
        with pytest.raises(FormatError):
            read_about(path)
    for more in (b"\0", good, b"\n" * 4096):
        path.write_bytes(good + more)
        with pytest.raises(FormatError, match="bytes that belong to nothing"):
            read(path)
    path.write_bytes(good)


def test_the_one_before_is_read_wherever_the_last_is_damaged(folder):
    path = folder / "second"
    good = path.read_bytes()
    for i in range(0, len(good), 7):
        for data in (good[:i], good[:i] + bytes([good[i] ^ 64]) + good[i + 1 :]):
            path.write_bytes(data)
            found = read(path)
            assert (found.generation, found.value) == (1, OLDER)
    path.write_bytes(good)
    assert read(path).generation == 0


def test_a_header_alone_is_good_where_an_array_is_not(folder):
    path = folder / "alone"
    good = path.read_bytes()
    path.write_bytes(good[:-1] + b"\7")
    assert read_about(path) == {}
    path.write_bytes(good)


def test_an_array_that_shrinks_while_it_is_read_is_seen(folder, monkeypatch):
    path = folder / "alone"
    good = path.read_bytes()
    from condal.io.container import array_file

    real = array_file.read_head

    def shrinking(kind, opened, name):
        header = real(kind, opened, name)
        with path.open("r+b") as other:
            other.truncate(len(good) - 2)
        opened.seek(opened.tell())
        return header

    big = [np.zeros(1 << 16)]
    write(path, {}, big)
    good = path.read_bytes()
    path.with_name("alone.previous").unlink()
    monkeypatch.setattr(array_file, "read_head", shrinking)
    with pytest.raises(FormatError, match="it ends too early"):
        read(path)
