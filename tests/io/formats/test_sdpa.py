"""SDPA files: what is written, what solvers write, and the faults of both."""

from __future__ import annotations

import numpy as np
import pytest

from condal.errors import FormatError, ProblemError
from condal.io.formats.answers import read_result, read_solution
from condal.problems.conic.files import SdpaProblem, write_sdpa

# maximise <F_0, X> with X_11 = 1, X_22 + s = 2: the optimum is at X_12 = sqrt(2).
TINY = SdpaProblem(
    b=np.array([1.0, 2.0]),
    sizes=(2, -1),
    matrices=np.array([0, 1, 2, 2]),
    blocks=np.array([0, 0, 0, 1]),
    rows=np.array([0, 0, 1, 0]),
    cols=np.array([1, 0, 1, 0]),
    values=np.array([0.5, 1.0, 1.0, 1.0]),
)


def test_a_problem_is_written_as_the_format_says(tmp_path):
    path = tmp_path / "tiny.dat-s"
    write_sdpa(path, TINY)
    assert path.read_text() == (
        "2\n2\n2 -1\n1.0 2.0\n0 1 1 2 0.5\n1 1 1 1 1.0\n2 1 2 2 1.0\n2 2 1 1 1.0\n"
    )


def test_numbers_keep_all_their_digits(tmp_path):
    value = 1 / 3 + 1e-16
    path = tmp_path / "one.dat-s"
    one = np.zeros(1, dtype=int)
    write_sdpa(path, SdpaProblem(np.array([value]), (1,), one, one, one, one, np.array([-value])))
    lines = path.read_text().splitlines()
    assert float(lines[3]) == value
    assert float(lines[4].split()[-1]) == -value


def test_many_entries_are_all_written(tmp_path):
    count = 70_000  # more than a piece
    order = np.arange(count)
    path = tmp_path / "long.dat-s"
    same = np.zeros(count, dtype=int)
    write_sdpa(path, SdpaProblem(np.ones(count), (count,), order + 1, same, order, order, order))
    entries = np.loadtxt(path, skiprows=4)
    np.testing.assert_array_equal(entries[:, 2], order + 1)
    np.testing.assert_array_equal(entries[:, 4], order)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"values": np.ones(3)}, "give the same number of each"),
        ({"sizes": (2, 0)}, "every block must have a size"),
        (
            {"rows": np.array([1, 0, 1, 0]), "cols": np.array([0, 0, 1, 0])},
            "only the upper triangle",
        ),
    ],
)
def test_a_problem_that_is_none_is_refused(change, text):
    whole = {name: getattr(TINY, name) for name in TINY.__dataclass_fields__}
    with pytest.raises(ProblemError, match=text):
        SdpaProblem(**{**whole, **change})


def test_a_solution_of_csdp_is_read(put):
    path = put("5.0e-01 -1\n1 1 1 1 9.0\n2 1 1 1 1.0\n2 1 1 2 -0.25\n2 1 2 2 2\n2 2 1 1 0.125\n")
    found = read_solution(path, (2, -1))
    np.testing.assert_array_equal(found.z, [0.5, -1.0])
    np.testing.assert_array_equal(found.X[0], [[1.0, -0.25], [-0.25, 2.0]])
    np.testing.assert_array_equal(found.X[1], [0.125])


def test_a_solution_without_entries_is_zero(put):
    found = read_solution(put("1.0 2.0\n"), (2,))
    np.testing.assert_array_equal(found.X[0], np.zeros((2, 2)))


def test_a_result_of_sdpa_is_read(put):
    path = put(
        "phase.value = pdOPT\nxVec = \n{+5.0e-01,-1.0e+00}\nxMat = \nNOPRINT\nyMat = \n{\n"
        "{ {+1.0e+00,-2.5e-01 },\n  {-2.5e-01,+2.0e+00 }   }\n{+1.25e-01}\n}\n"
        "    main loop time = 0.000958\n"
    )
    found = read_result(path, (2, -1))
    np.testing.assert_array_equal(found.z, [0.5, -1.0])
    np.testing.assert_array_equal(found.X[0], [[1.0, -0.25], [-0.25, 2.0]])
    np.testing.assert_array_equal(found.X[1], [0.125])


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ("a b\n", "the dual, on the first line, must be numbers"),
        ("nan\n", "must be finite numbers; got 'nan'"),
        ("nan 1e\n", "the dual, on the first line, must be numbers; got '1e'"),
        (
            "1.0\n2 1 1 1\n",
            "line 2: wanted 'matrix block i j value', 5 finite numbers; got '2 1 1 1'",
        ),
        ("1.0\n2 1 3 3 1.0\n", "block 1 has entries beyond its size, 2"),
        ("1.0\n2 1 x 1 1.0\n", "line 2: wanted 'matrix block i j value', 5 finite numbers; got"),
        ("1.0\n\n2 1 1 1 nan\n", "line 3: wanted 'matrix block i j value', 5 finite"),
        ("1.0\n#5\n", "line 2: wanted 'matrix block i j value'"),
        ("1.0\n2 1 1.5 1 1\n", "line 2: the matrix, block, row and column of an entry must be"),
        ("1.0\n2 1 1 2 1\n2 1 2 1 3\n", "block 1 has an entry twice, with two values"),
    ],
)
def test_a_broken_solution_is_refused(put, contents, text):
    with pytest.raises(FormatError, match=text):
        read_solution(put(contents), (2,))


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ("nothing here\n", "has no xVec"),
        ("xVec = {1}\nxMat = \nyMat = {1, 2}\n", "yMat holds 2 numbers; wanted 4"),
        ("xVec = {1}\nxMat = \nyMat = {NOPRINT}\n", "yMat must be numbers"),
    ],
)
def test_a_broken_result_is_refused(put, contents, text):
    with pytest.raises(FormatError, match=text):
        read_result(put(contents), (2,))
