import tarfile

import numpy as np
import pytest

from condal.errors import FormatError
from condal.io.formats import read_qaplib, read_qaplib_solution

A, B = np.array([[0.0, 1], [2, 0]]), np.array([[0, 3.5], [-4, 0]])


@pytest.mark.parametrize(
    "contents",
    [
        "2\n\n0 1\n2 0\n\n0 3.5\n-4 0\n",
        "2 7\n0 1\n2 0\n0 3.5\n-4 0",
        "\n  2\r\n0 1 2\r\n0 0 35e-1\r\n-4 0\r\n\r\n",
        "2\n0 1 2 0 0 +3.5 -4. 0\n",
    ],
)
def test_reads_known_problems(put, contents):
    found = read_qaplib(put(contents))
    assert found.n == 2
    np.testing.assert_array_equal(found.A, A)
    np.testing.assert_array_equal(found.B, B)


@pytest.mark.parametrize(
    "contents", ["3 12\n2 3 1\n", "3 12.0\n\n 2\n3,1", "3 12\r\n2, 3, 1\r\n", "3 12\n1 2 0"]
)
def test_reads_known_solutions(put, contents):
    found = read_qaplib_solution(put(contents))
    assert found.cost == 12.0
    assert found.permutation.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        ("2 3 4\n0 1\n", 1, "the first line must be 'n', got '2 3 4'; if this is another format"),
        ("x\n0 1\n", 1, "number of facilities must be a whole number .*got 'x'"),
        ("-2\n0 1\n", 1, "number of facilities must be a whole number without sign.*got '-2'"),
        ("\n\n0\n", 3, "0 facilities; wanted at least 1"),
        ("2\n", 1, "8 numbers, but the file ends after 0"),
        ("2\n" + "0\n" * 7, 8, "8 numbers, but the file ends after 7"),
        ("1\n5\nx\n", 3, "a value must be a decimal number, got 'x'"),
    ],
)
def test_refuses_problems(refuses, contents, line, message):
    refuses(read_qaplib, contents, message, line)


@pytest.mark.parametrize("read", [read_qaplib, read_qaplib_solution])
def test_commas_alone_are_no_numbers(put, read):
    with pytest.raises(FormatError, match="holds no number; wanted n on the first line"):
        read(put(",\n ,\n"))


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        ("3\n1 2 3\n", 1, "the first line must be 'n cost', got '3'"),
        ("3 x\n1 2 3\n", 1, "a value must be a decimal number, got 'x'"),
        ("3 5\n0 1 3\n", 2, "the permutation must hold each of 0 to 2 once"),
        ("3 5\n1 2.5 3\n", 2, "the permutation must hold each of 1 to 3 once"),
    ],
)
def test_refuses_solutions(refuses, contents, line, message):
    refuses(read_qaplib_solution, contents, message, line)


def test_every_file_of_the_library_is_read(data, tmp_path):
    with tarfile.open(data("qaplib/qaplib_dat_sln.tar.xz")) as archive:
        members = [member for member in archive if member.isfile()]
        costs = {}
        for member in members:
            path = tmp_path / member.name.rsplit("/", 1)[-1]
            path.write_bytes(archive.extractfile(member).read())
    problems = sorted(tmp_path.glob("*.dat"))
    assert len(problems) == 139
    for path in problems:
        problem = read_qaplib(path)
        solution = path.with_suffix(".sln")
        if solution.exists():
            found = read_qaplib_solution(solution)
            p, q = found.permutation, np.argsort(found.permutation)
            either = [(problem.A * problem.B[np.ix_(o, o)]).sum() for o in (p, q)]
            costs[path.stem] = (found.cost, either)
    wrong = [name for name, (cost, either) in costs.items() if cost not in either]
    assert wrong == ["kra32"]  # whose file says 88900, where its permutation costs 88700
