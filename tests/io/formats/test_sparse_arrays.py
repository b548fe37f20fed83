"""Matrices of SciPy and NumPy as graphs: round trips, and files that lie."""

import zipfile

import numpy as np
import pytest
from scipy import sparse

from condal.errors import FormatError
from condal.io.formats import read_graph, read_sparse_array
from readers.contents import W, csr


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("compressed", [True, False])
def test_what_scipy_saves_comes_back(tmp_path, kind, make, compressed):
    sparse.save_npz(tmp_path / "g.npz", make(W).asformat(kind), compressed=compressed)
    found = read_graph(tmp_path / "g.npz")
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_array_equal(found.toarray(), W)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_other_real_numbers_do_as_well(tmp_path, dtype):
    sparse.save_npz(tmp_path / "g.npz", sparse.csr_array((W != 0).astype(dtype)))
    np.testing.assert_array_equal(read_graph(tmp_path / "g.npz").toarray(), W != 0)


def test_a_square_array_of_numpy_is_a_graph(tmp_path):
    np.save(tmp_path / "g.npy", W)
    np.testing.assert_array_equal(read_graph(tmp_path / "g.npy").toarray(), W)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format": None},
            "holds data, indices, indptr, shape, which is not a sparse matrix; save",
        ),
        ({"format": np.array(7.0)}, "format.npy: holds float64, not text"),
        ({"format": np.array([b"csr", b"csr"])}, "in the format ''"),
        ({"shape": np.array([3, 4])}, r"the shape is \(3, 4\); a graph needs a square"),
        ({"shape": np.array([3.0, 3.0])}, "a graph needs a square"),
        ({"shape": np.array([0, 0])}, "the shape says 0 vertices"),
        ({"shape": np.array([10**6] * 2)}, "indptr must have 1000001 numbers that rise"),
        ({"indptr": np.array([0, 3, 1, 4])}, "indptr must have 4 numbers that rise from 0 to 4"),
        (
            {"indptr": np.array([0, 2**31 - 1, -(2**31), 4], dtype=np.int32)},  # by differences
            "indptr must have 4 numbers that rise from 0 to 4",
        ),
        ({"indptr": None}, "indptr must be present"),
        ({"indices": np.array([1, 0, 2, 7])}, r"an index is not in 0\.\.2"),
        ({"indices": np.array([1, 0, -2, 1])}, r"an index is not in 0\.\.2"),
        ({"indices": np.array([1.0, 0.0, 2.0, 1.0])}, "indices must be present, a vector of whole"),
        ({"data": np.ones(4) * 1j}, "data is complex; a graph has real weights"),
    ],
)
def test_refuses(tmp_path, changes, message):
    path = tmp_path / "g.npz"
    path.write_bytes(csr(**changes))
    with pytest.raises(FormatError, match=message):
        read_sparse_array(path)


def test_a_coordinate_file_that_claims_many_vertices_is_refused(tmp_path):
    none = np.zeros(0, dtype=np.int32)
    parts = {"format": np.array(b"coo"), "shape": np.array([10**8] * 2), "data": np.zeros(0)}
    np.savez(tmp_path / "g.npz", row=none, col=none, **parts)
    with pytest.raises(FormatError, match="the shape says 100000000 vertices, and 0 entries"):
        read_graph(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\); a graph needs a square"),
        (np.zeros((0, 0)), "a graph needs a square"),
        (np.zeros(4), "a graph needs a square"),
        (np.eye(2) * 1j, "the array is complex"),
    ],
)
def test_refuses_an_array(tmp_path, array, message):
    np.save(tmp_path / "g.npy", array)
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / "g.npy")


def test_a_zip_of_something_else_is_still_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        archive.writestr("g.txt", "2 1\n1 2\n")
    with pytest.raises(FormatError, match="is a zip archive; unpack it"):
        read_graph(tmp_path / "g.zip")
