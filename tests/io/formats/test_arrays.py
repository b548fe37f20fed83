"""NumPy's files: round trips, and parts of arrays; files that lie are in tests/faults."""

import numpy as np
import pytest

from condal.errors import FormatError
from condal.io.formats import arrays, names_of_arrays, read_array, read_arrays
from condal.io.formats.arrays import read_array_part, stored_arrays


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


def test_some_arrays_are_read_and_no_others(tmp_path):
    np.savez(tmp_path / "a.npz", b=np.arange(3.0), names=np.array(["x"]), n=np.array([np.nan]))
    assert names_of_arrays(tmp_path / "a.npz") == ["b", "n", "names"]
    found = read_arrays(tmp_path / "a.npz", ("b", "a"))
    assert list(found) == ["b"]
    np.testing.assert_array_equal(found["b"], [0.0, 1.0, 2.0])
    with pytest.raises(FormatError, match="not numbers"):
        read_arrays(tmp_path / "a.npz")


# Parts of arrays.


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int16, bool, ">f4"])
@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_a_part_is_that_of_the_whole(tmp_path, monkeypatch, save, dtype, chunk):
    monkeypatch.setattr(arrays, "CHUNK_BYTES", chunk)
    array = np.random.default_rng(0).integers(0, 3, (5, 3, 2)).astype(dtype)
    save(tmp_path / "a.npz", other=np.ones(4), a=array)
    assert stored_arrays(tmp_path / "a.npz", ["a"])["a"].shape == (5, 3, 2)
    for begin, end in ((0, 5), (0, 2), (2, 3), (3, 5)):
        part = read_array_part(tmp_path / "a.npz", "a", begin, end, 5)
        np.testing.assert_array_equal(part.reshape(-1, 3, 2), array[begin:end])
    np.testing.assert_array_equal(
        read_array_part(tmp_path / "a.npz", "a", 1, 2, 2), array.flat[15:]
    )


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.ones(7), "a.npy: 7 numbers are not 2 equal parts"),
        (np.asfortranarray(np.ones((2, 3))), "a.npy: is stored by columns"),
        (np.array([1.0, np.nan]), "a.npy: holds nan or inf"),
        (np.array(["x", "y"]), "not numbers"),
    ],
)
def test_what_has_no_such_part_is_refused(tmp_path, array, text):
    np.savez(tmp_path / "a.npz", a=array)
    with pytest.raises(FormatError, match=text):
        read_array_part(tmp_path / "a.npz", "a", 1, 2, 2)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damage_anywhere_in_the_array_is_seen_by_the_reader_of_any_part(tmp_path, save):
    path = tmp_path / "a.npz"
    save(path, a=np.random.default_rng(1).standard_normal((4, 50)))
    contents = bytearray(path.read_bytes())
    for place in (len(contents) // 3, 2 * len(contents) // 3):
        contents[place] ^= 1
        path.write_bytes(contents)
        contents[place] ^= 1
        for part in range(4):
            with pytest.raises(FormatError, match="truncated or damaged"):
                read_array_part(path, "a", part, part + 1, 4)
        with pytest.raises(FormatError):
            read_arrays(path)
