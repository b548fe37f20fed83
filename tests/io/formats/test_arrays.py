"""NumPy's files: round trips, and files that lie."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from condal.errors import FormatError
from condal.io.formats import names_of_arrays, read_array, read_arrays


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([1 + 2j]),
        np.array(3.0),
        np.zeros((0, 4)),
        np.array([True, False]),
    ],
)
def test_an_array_comes_back(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(read_array(tmp_path / "a.npy"), array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_by_name(tmp_path, save):
    save(tmp_path / "a.npz", b=np.arange(3.0), masks=np.ones((2, 2), dtype=complex))
    found = read_arrays(tmp_path / "a.npz")
    assert set(found) == {"b", "masks"}
    np.testing.assert_array_equal(found["b"], [0.0, 1.0, 2.0])
    assert found["masks"].dtype == np.complex128


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (b"", "is not an array as numpy.save writes it"),
        (b"\x93NUMPY", "is not an array as numpy.save writes it"),
        (b"\x93NUMPY\x09\x00", "is not an array as numpy.save writes it"),
        (npy(np.zeros(4)).replace(b"}", b"("), "is not an array as numpy.save writes it"),
        (
            npy(np.zeros(4)).replace(b"'shape'", b"b'shap'"),
            "is not an array as numpy.save writes it",
        ),
        (npy(np.arange(4.0))[:-8], "32 bytes, but 24 follow; the file is truncated or damaged"),
        (npy(np.arange(4.0)) + b"more", "32 bytes, but 36 follow"),
        (npy(np.array([{}], dtype=object), allow_pickle=True), "objects are not read"),
        (npy(np.array([np.inf])), "holds nan or inf; every entry must be finite"),
        (npy(np.zeros(4)).replace(b"(4,), }  ", b"(1<<40,)}"), "is not an array"),
        (
            npy(np.zeros(4)).replace(b"(4,), }            ", b"(4294967296, 1), } "),
            "34359738368 by",
        ),
    ],
)
def test_a_file_that_lies_is_refused_before_memory_is_asked_for(tmp_path, contents, text):
    path = tmp_path / "a.npy"
    path.write_bytes(contents)
    with pytest.raises(FormatError, match=text):
        read_array(path)


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, contents in members.items():
            file.writestr(name, contents)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"../b.npy": npy(np.zeros(2))}, "holds '../b.npy'; wanted only arrays"),
        ({"b.txt": b"1"}, "holds 'b.txt'; wanted only arrays"),
        ({"b.npy": b"no array"}, "b.npy: is not an array as numpy.save writes it"),
        ({"b.npy": npy(np.zeros(3))[:-4]}, "b.npy: the header says"),
        ({f"b{i}.npy": b"" for i in range(65)}, "holds 65 files; wanted a few arrays"),
        ({"b.npy": b"\0" * (80 << 20)}, r"unpacks to 83886080 bytes in a file of \d+, and all"),
    ],
)
def test_archives_that_lie(tmp_path, members, text):
    path = tmp_path / "a.npz"
    archive(path, members)
    with pytest.raises(FormatError, match=text):
        read_arrays(path)


def test_files_that_are_none(tmp_path):
    for read in (read_array, read_arrays):
        with pytest.raises(FormatError, match="cannot be read: No such file"):
            read(tmp_path / "absent.npz")
        with pytest.raises(FormatError, match="is a folder; wanted a regular file"):
            read(tmp_path)
    (tmp_path / "plain.npz").write_bytes(npy(np.zeros(2)))
    with pytest.raises(FormatError, match=r"is not a .npz file; save one with numpy.savez"):
        read_arrays(tmp_path / "plain.npz")
    np.savez(tmp_path / "cut.npz", b=np.zeros(100))
    whole = (tmp_path / "cut.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="the archive is truncated or damaged"):
        read_arrays(tmp_path / "cut.npz")


def test_some_arrays_are_read_and_no_others(tmp_path):
    np.savez(tmp_path / "a.npz", b=np.arange(3.0), names=np.array(["x"]), n=np.array([np.nan]))
    assert names_of_arrays(tmp_path / "a.npz") == ["b", "n", "names"]
    found = read_arrays(tmp_path / "a.npz", ("b", "a"))
    assert list(found) == ["b"]
    np.testing.assert_array_equal(found["b"], [0.0, 1.0, 2.0])
    with pytest.raises(FormatError, match="not numbers"):
        read_arrays(tmp_path / "a.npz")


def test_a_damaged_compressed_archive(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, b=np.random.default_rng(0).random(200))
    whole = bytearray(path.read_bytes())
    whole[60:90] = b"\xff" * 30
    path.write_bytes(whole)
    with pytest.raises(FormatError, match=r"the archive is truncated or damaged .*make it again"):
        read_arrays(path)
