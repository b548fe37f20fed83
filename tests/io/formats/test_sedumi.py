"""SeDuMi's files: known programs, faults, and files that lie."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from condal.errors import FormatError
from condal.problems.conic import Block
from condal.problems.conic.files import read_sedumi

# One of K.l, a cone of 3 and a 2 x 2 matrix: 8 variables; entries off the diagonal on one side.
A = np.array([[1.0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5, 7, 6]])
C = np.array([1.0, 0, 0, 0, 1, 0, 2, 3])
B = np.array([[1.0], [2.0]])
K = {"l": 1.0, "q": 3.0, "s": 2.0}


def contents(**changes):
    parts = {"A": sp.csc_matrix(A), "b": B, "c": C[:, None], "K": K, **changes}
    stream = io.BytesIO()
    compressed = parts.pop("compressed", False)
    kept = {name: part for name, part in parts.items() if part is not None}
    savemat(stream, kept, do_compression=compressed)
    return stream.getvalue()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"compressed": True},
        {"A": A},
        {"A": A.T},
        {"A": None, "At": sp.csc_matrix(A.T)},
        {"c": C[None, :], "b": sp.csc_matrix(B)},
        {"K": {**K, "f": 0.0, "r": np.zeros((1, 0))}},
        {"other": "text"},
    ],
)
def test_reads_a_known_program(put, changes):
    found = read_sedumi(put(contents(**changes), "known.mat"))
    assert found.blocks == (Block("orthant", 1), Block("second-order", 3), Block("psd", 2))
    symmetric = A.copy()
    symmetric[1, 5:7] = 6.0
    np.testing.assert_array_equal(found.A.toarray(), symmetric)
    np.testing.assert_array_equal(found.c.toarray().ravel(), [1, 0, 0, 0, 1, 1, 1, 3])
    np.testing.assert_array_equal(found.b, [1.0, 2.0])
    assert (found.name, found.maximise) == ("known", False)


def test_free_variables_become_differences(put):
    columns, costs = np.hstack([[[5.0, 0.0], [0.0, -7.0]], A]), np.concatenate([[2.0, 3.0], C])
    made = contents(A=sp.csc_matrix(columns), c=costs[:, None], K={**K, "f": 2.0})
    found, without = (read_sedumi(put(each, "free.mat")) for each in (made, contents()))
    assert found.blocks == (Block("orthant", 4), *without.blocks)
    split = [[5.0, 0.0, -5.0, 0.0], [0.0, -7.0, 0.0, 7.0]]
    np.testing.assert_array_equal(found.A.toarray(), np.hstack([split, without.A.toarray()]))
    np.testing.assert_array_equal(found.c.toarray()[0, :4], [2.0, 3.0, -2.0, -3.0])
    np.testing.assert_array_equal(found.c.toarray()[0, 4:], without.c.toarray()[0])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (b"\x89HDF\r\n", "is a MATLAB 7.3 file; save it with save"),
        (contents(b=None, A=None), "has no A, b; wanted SeDuMi's A"),
        (contents(K=3.0), "K must be a struct, with fields such as l, q and s"),
        (contents(A=K), "A must be a matrix"),
        (contents(A="text"), "A is neither a matrix of numbers nor a single struct"),
        (contents(A=A * 1j), "A is complex; wanted real numbers"),
        (contents(A=A.reshape(2, 2, 4)), "A has 3 dimensions; wanted two"),
        (contents(K={"s": {"t": 1.0}}), "K.s must hold whole numbers"),
        (contents(A=A[:, :7]), r"K takes 8 variables and b has 2: .* got A of \(2, 7\)"),
        (contents(c=C[:5]), "c of 5"),
        (contents(c=np.ones((2, 4))), r"c must be a vector of at most 8; got shape \(2, 4\)"),
        (contents(K={**K, "f": 2.0}), "K takes 10 variables and b has 2"),
        (contents(K={**K, "r": 3.0}), "K.r asks for rotated cones"),
        (contents(K={"s": 1.5}), "K.s must hold whole numbers from 0"),
        (contents(K={"s": -2.0}), "K.s must hold whole numbers from 0"),
        (contents(K={"s": 1e9}), "K.s must hold whole numbers from 0"),
        (contents(c=sp.csc_matrix((10**9, 1))), "c must be a vector of at most 8"),
        (contents(K={"l": 0.0}), "K names no cone"),
        (contents()[:-100], "bytes are announced, but .* follow; fetch it again"),
    ],
)
def test_refuses(put, made, message):
    with pytest.raises(FormatError, match=message):
        read_sedumi(put(made, "bad.mat"))


def test_a_bomb_inside_is_refused(put, monkeypatch):
    made = contents(A=np.zeros((2, 100_000)), compressed=True)
    monkeypatch.setattr("condal.io.formats.sedumi.most_bytes", lambda size, packed: 10_000)
    with pytest.raises(FormatError, match="is truncated, or larger than what is read"):
        read_sedumi(put(made, "bomb.mat"))


def pointers(kind: int, values, dtype) -> bytes:
    """The file with other pointers to the columns of A, of another type."""
    made = contents(A=sp.csc_matrix(np.ones((2, 8))))
    at = made.index(np.arange(0, 18, 2, dtype=np.int32).tobytes())
    given = np.array(values, dtype=dtype).tobytes()
    return made[: at - 8] + bytes([kind, 0, 0, 0]) + made[at - 4 : at] + given + made[at + 36 :]


@pytest.mark.parametrize(
    ("kind", "values", "dtype", "message"),
    [
        (6, [0, 16, 4, 6, 8, 10, 12, 14, 16], np.uint32, "the columns of A do not begin where"),
        (7, [0, 2.5, 4, 6, 8, 10, 12, 14, 16], np.float32, "columns of A are not whole numbers"),
        (5, [0, 16, 4, 6, 8, 10, 12, 14, 16], np.int32, "the columns of A do not begin where"),
        (5, [0, 2, 4, 6, 8, 10, 12, 14, 99], np.int32, "the columns of A do not begin where"),
    ],
)
def test_pointers_that_fall_are_refused_whatever_their_type(put, kind, values, dtype, message):
    """SciPy follows them unseen, into memory that is not its own."""
    with pytest.raises(FormatError, match=message):
        read_sedumi(put(pointers(kind, values, dtype), "bad.mat"))


def test_numbers_beyond_what_is_solved_name_the_file(put):
    path = put(contents(b=np.array([[1.0], [1e200]])), "large.mat")
    with pytest.raises(FormatError, match=r"large.mat: c, A and b have entries of up to 1e\+200"):
        read_sedumi(path)


@pytest.mark.parametrize(
    ("name", "n", "m"), [("hamming_7_5_6", 128, 1793), ("toruspm3-8-50", 512, 512)]
)
def test_reads_real_files(data, name, n, m):
    found = read_sedumi(data(f"dimacs7/{name}.mat.gz"))
    assert found.blocks == (Block("psd", n),)
    assert found.A.shape == (m, n * n)
    assert found.name == name
