import numpy as np
import pytest
from scipy import sparse

from condal.errors import FormatError, ProblemError
from condal.io.formats import numerals, read_rudy, write_rudy
from condal.io.formats.text import Text

TRIANGLE = np.array([[0.0, 1, -2.5], [1, 0, 3], [-2.5, 3, 0]])


def parse(contents: str | bytes) -> sparse.csr_array:
    return read_rudy(Text("g", contents.encode() if isinstance(contents, str) else contents))


@pytest.mark.parametrize(
    ("contents", "W"),
    [
        ("3 3\n1 2 1\n1 3 -2.5\n2 3 3\n", TRIANGLE),
        ("3 3\n1 2\n1 3 -2.5\n2 3 +3", TRIANGLE),
        ("3 3 \r\n2 1 \r\n3 1 -25e-1\r\n3 2 3.\r\n", TRIANGLE),
        ("\t3  3\n\n1\t2 1.0\n \n1 3 -.25E+1\n2 03 003\n\n\n", TRIANGLE),
        ("2 3\n1 2 1\n2 1 2\n1 2\n", [[0, 4], [4, 0]]),
        ("2 2\n1 1 5\n2 2 -1\n", [[5, 0], [0, -1]]),
        ("2 2\n1 2 5\n2 1 -5\n", [[0, 0], [0, 0]]),
        ("1 0", [[0]]),
        ("3 1\n1 3 9007199254740993\n", [[0, 0, 2.0**53], [0, 0, 0], [2.0**53, 0, 0]]),
        ("2 1\n1 2 100000000000000000000\n", [[0, 1e20], [1e20, 0]]),
        ("2 1\n1 2 1e-999\n", [[0, 0], [0, 0]]),
    ],
)
def test_reads_known_graphs(put, contents, W):
    found = read_rudy(put(contents))
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float64
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), W)
    assert found.nnz == np.count_nonzero(W)


def test_parallel_edges_are_summed_to_the_same_number_in_both_triangles():
    found = parse("2 4\n1 2 0.1\n2 1 0.2\n2 1 0.3\n1 2 1e16\n").toarray()
    assert found[0, 1] == found[1, 0]


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        ("800\n", 1, "the first line must be 'n m'.*got '800'"),
        ("3 1 1\n1 2\n", 1, "the first line must be 'n m'"),
        ("\n3 1\n1 2\n", 1, "the first line must be 'n m'"),
        ("% a comment\n3 1\n1 2\n", 1, "convert it to rudy or Matrix Market"),
        ("3 1\r1 2\r", 1, "the first line must be 'n m'"),
        ("3 -1\n", 1, "number of edges must be a whole number without sign.*got '-1'"),
        ("a b\nb c\n", 1, "got 'a'.*A file of edges alone must be named .edges or .csv"),
        (f"{'9' * 30} 1\n1 2\n", 1, "at most 18 digits"),
        ("0 0\n", 1, "0 vertices; wanted at least 1"),
        ("1000000000 0\n", 1, "1000000000 vertices, but the text has only 13 bytes"),
        ("3 1000000000000\n1 2\n", 1, "1000000000000 edges, but the 4 bytes .* at most 1; .*trunc"),
        ("3 2\n1 2 1\n1 4 1\n", 3, "got index 4, but the header says 3 vertices"),
        ("3 1\n-1 2\n", 2, "an index must be a whole number from 1 to 3, got '-1'"),
        ("3 1\n\n\n1 2 1 1\n", 4, "got 4 columns, wanted 'i j' or 'i j w'"),
        ("3 2\n1 2\n2       \n", 3, "got 1 columns, wanted"),
        (f"3 1\n1 2 {'9' * 400}\n", 2, "the weight '9+...' overflows"),
        ("3 1\n1 2 1_0\n", 2, "a weight must be a decimal number, got '1_0'"),
    ],
)
@pytest.mark.parametrize("block", [1, 1 << 23])
def test_refuses(refuses, monkeypatch, block, contents, line, message):
    monkeypatch.setattr(numerals, "BLOCK_BYTES", block)
    refuses(read_rudy, contents, message, line)


@pytest.mark.parametrize(
    "contents",
    [
        "1 2\n2 3\n3 1\n",
        "1 2 0.5\n2 3 1\n",
        "0 1\n1 2\n",
        "9 1\n1 2\n2 9\n",
        "5 900\n5 2\n",
        "3 3\n3 1 1.00000\n",
    ],
)
def test_a_list_of_edges_without_its_first_line(contents):
    with pytest.raises(FormatError, match=r"'n m' missing\? .* must be named \.edges or \.csv$"):
        parse(contents)


def test_refuses_a_sum_that_overflows():
    with pytest.raises(FormatError, match=r"weights given for \(2, 3\) add up to infinity"):
        parse("3 3\n1 2 1\n2 3 1e308\n3 2 1e308\n")


@pytest.mark.parametrize(
    "W",
    [
        TRIANGLE,
        TRIANGLE.tolist(),
        sparse.coo_matrix(TRIANGLE),
        sparse.csc_array(TRIANGLE),
        np.asfortranarray(TRIANGLE),
    ],
)
def test_writes_known_text(tmp_path, W):
    write_rudy(tmp_path / "g", W)
    assert (tmp_path / "g").read_text() == "3 3\n1 2 1\n1 3 -2.5\n2 3 3\n"
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32])
def test_writes_real_dtypes(tmp_path, dtype):
    write_rudy(tmp_path / "g", np.array([[1, 1], [1, 0]], dtype))
    assert (tmp_path / "g").read_text() == "2 2\n1 1 1\n1 2 1\n"


def test_writing_leaves_the_matrix_as_it_was(tmp_path):
    at = (np.array([0, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 0]))
    W = sparse.coo_array((np.array([1.0, 1.0, 2.0, 2.0, 0.0]), at), shape=(2, 2))
    write_rudy(tmp_path / "coo", W)
    assert W.nnz == 5
    W = sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 1, 2])))
    W.data.flags.writeable = False
    write_rudy(tmp_path / "csr", W)
    assert (tmp_path / "coo").read_text() == "2 1\n1 2 3\n"


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.zeros((0, 0)), r"shape \(0, 0\); wanted an adjacency matrix"),
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.eye(2) * 1j, "dtype complex128; wanted real numbers"),
        (np.array([["1"]]), "wanted real numbers"),
        (np.eye(2) * np.nan, "nan or infinite weights"),
        (np.array([[0, np.inf], [np.inf, 0]]), "nan or infinite weights"),
        (np.array([[0, 1], [2, 0]]), "W is not symmetric"),
        (sparse.csr_array(np.array([[0, 1], [0, 0]])), "W is not symmetric"),
    ],
)
def test_refuses_to_write(tmp_path, W, message):
    with pytest.raises(ProblemError, match=message):
        write_rudy(tmp_path / "g", W)
    assert not list(tmp_path.iterdir())
