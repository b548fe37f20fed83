"""Answers of other solvers: recognised by their contents, and read as they were meant."""

import numpy as np
import pytest

from condal.errors import FormatError
from condal.io.formats.answers import (
    read_answer,
    read_factors,
    read_pair,
    read_result,
    read_solution,
)
from condal.linalg.points import LowRank
from readers.contents import FACTORS, RESULT, SIZES, SOLUTION

LOGGED = b"phase.value = pdOPT\nxVec = \n{+5.0e-01,-1.0e+00}\nxMat = \nNOPRINT\nyMat = \n{\n"
LOGGED += b"{ {+1.0e+00,-2.5e-01 },\n  {-2.5e-01,+2.0e+00 }   }\n{+1.25e-01}\n}\n"
LOGGED += b"    main loop time = 0.000958\n"


@pytest.mark.parametrize(
    ("contents", "writer", "X"),
    [
        (SOLUTION, "CSDP or DSDP", ([[1.0, -0.25], [-0.25, 2.0]], [0.125])),
        (RESULT, "SDPA", ([[1.0, 2.0], [2.0, 5.0]], [0.125])),
        (LOGGED, "SDPA", ([[1.0, -0.25], [-0.25, 2.0]], [0.125])),
        (FACTORS, "SDPLR", ([[1.0, -0.25], [-0.25, 0.0625]], [0.25])),
    ],
)
def test_an_answer_is_recognised_by_its_contents(tmp_path, contents, writer, X):
    path = tmp_path / "answer"
    path.write_bytes(contents)
    found = read_answer(path, SIZES)
    assert found.writer == writer
    assert found.y.tolist() == [0.5, -1.0]
    for block, wanted in zip(found.X, X, strict=True):
        np.testing.assert_array_equal(np.asarray(block), wanted)


def test_a_file_without_entries_has_no_point(tmp_path):
    path = tmp_path / "answer"
    path.write_text("0.5 -1\n1 1 1 1 1\n")
    found = read_answer(path, SIZES)
    assert found.X is None
    assert found.y.tolist() == [0.5, -1.0]


def test_factors_of_sdplr_are_squared(tmp_path):
    path = tmp_path / "answer"
    path.write_bytes(FACTORS + b"special majiter 3\nspecial scale 1.0\n")
    found = read_factors(path, SIZES)
    assert isinstance(found.X[0], LowRank)
    np.testing.assert_array_equal(np.asarray(found.X[0]), [[1.0, -0.25], [-0.25, 0.0625]])
    np.testing.assert_array_equal(found.X[1], [0.25])  # x_i = r_i^2 on a diagonal block


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("variable 2", f"variable {'9' * 5000}", "does not begin with 'dual variable'"),
        ("1 s 2", "1 d 2", "is not a solution of this problem: a block is '1 d 2 2 1'"),
        ("1 s 2", "1 s 3", "is not a solution of this problem"),
        ("\n-0.25", "", "a factor holds 1 numbers; wanted 2 x 1"),
        ("primal variable 2 d 1 1 1\n0.5\n", "", "holds 1 blocks; wanted 2"),
    ],
)
def test_broken_factors_are_refused(tmp_path, old, new, text):
    path = tmp_path / "answer"
    path.write_text(FACTORS.decode().replace(old, new, 1))
    with pytest.raises(FormatError, match=text):
        read_factors(path, SIZES)


def test_factors_of_another_problem_are_refused(tmp_path):
    path = tmp_path / "answer"
    path.write_bytes(FACTORS)
    with pytest.raises(FormatError, match="is not a solution of this problem of 3 rows: it has 2"):
        read_factors(path, SIZES, 3)


@pytest.mark.parametrize(
    ("arrays", "x", "blocks"),
    [
        ({"x": np.ones(3)}, (3,), None),
        ({"X": np.eye(2)}, None, [(2, 2)]),
        ({"X1": np.eye(2), "X2": np.ones(1)}, None, [(2, 2), (1,)]),
        ({"U": np.ones((3, 2)), "weights": np.ones(2)}, (3, 3), None),
        ({}, None, None),
    ],
)
@pytest.mark.parametrize("name", ["y", "z"])
def test_a_point_and_a_dual_have_their_names(tmp_path, arrays, x, blocks, name):
    path = tmp_path / "answer.npz"
    np.savez(path, **arrays, **{name: np.arange(2.0)})
    found = read_pair(path)
    assert found.writer == ".npz"
    assert found.y.tolist() == [0.0, 1.0]
    assert (None if found.x is None else found.x.shape) == x
    assert (None if found.X is None else [block.shape for block in found.X]) == blocks


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"Y": np.ones(2)}, "holds 'Y'; wanted y, and x, or U and weights, or X, or X1, X2"),
        ({"y": np.ones(2), "z": np.ones(2)}, "holds y and z, of which one is the dual"),
        ({"X2": np.ones(2)}, "has blocks that are not X1, X2, ... in order"),
        ({"X1": np.ones(2), "X": np.ones(2)}, "has blocks that are not X1, X2, ... in order"),
        ({"X": np.ones(2), "x": np.ones(2)}, "holds the point twice"),
        ({"U": np.ones((2, 2))}, "needs weights, a number for each column of U"),
    ],
)
def test_names_that_say_nothing_are_refused(tmp_path, arrays, text):
    path = tmp_path / "answer.npz"
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=text):
        read_pair(path)


def test_a_solution_without_entries_is_zero(put):
    found = read_solution(put("1.0 2.0\n"), (2,))
    np.testing.assert_array_equal(found.X[0], np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ("nan\n", "must be finite numbers; got 'nan'"),
        ("nan 1e\n", "the dual, on the first line, must be finite numbers; got 'nan'"),
        (
            "1.0\n2 1 1 1\n",
            "line 2: wanted 'matrix block i j value', 5 finite numbers, 4 of them whole",
        ),
        (
            "1.0\n2 1 x 1 1.0\n",
            "line 2: wanted 'matrix block i j value', 5 finite numbers, 4 of them whole; got",
        ),
        ("1.0\n#5\n", "line 2: wanted 'matrix block i j value'"),
        (
            "1.0\n2 1 1.5 1 1\n",
            "line 2: wanted 'matrix block i j value', 5 finite numbers, 4 of them whole",
        ),
        ("1.0\n2 1 1 2 1\n2 1 2 1 3\n", "block 1 has an entry twice, with two values"),
    ],
)
def test_a_broken_solution_is_refused(put, contents, text):
    with pytest.raises(FormatError, match=text):
        read_solution(put(contents), (2,))


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ("xVec = {1}\nxMat = \nyMat = {NOPRINT}\n", "yMat must be finite numbers"),
    ],
)
def test_a_broken_result_is_refused(put, contents, text):
    with pytest.raises(FormatError, match=text):
        read_result(put(contents), (2,))
