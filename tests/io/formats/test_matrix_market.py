import numpy as np
import pytest
from scipy import io, sparse

from condal.errors import FormatError
from condal.io.formats import numerals, read_matrix_market

REAL = "%%MatrixMarket matrix coordinate real symmetric\n"
GENERAL = "%%MatrixMarket matrix coordinate real general\n"
INTEGER = "%%MatrixMarket matrix coordinate integer symmetric\n"
PATTERN = "%%MatrixMarket matrix coordinate pattern symmetric\n"
PATH = np.array([[0.0, 2.5, 0], [2.5, 0, -3], [0, -3, 7]])
ONES = (PATH != 0).astype(float)


@pytest.mark.parametrize(
    ("contents", "W"),
    [
        (REAL + "3 3 3\n2 1 2.5\n3 2 -3\n3 3 7\n", PATH),
        (REAL + "3 3 3\n1 2 2.5\n3 3 7\n2 3 -3", PATH),
        (REAL.upper() + "%\n% café\n\n  %\n3 3 3\n2 1 25E-1\n\n3 2 -3.\n3 3 7\n\n", PATH),
        (GENERAL + "3 3 5\n1 2 2.5\n2 1 2.5\n3 2 -3\n2 3 -3\n3 3 7\n", PATH),
        (GENERAL + "3 3 6\n1 2 2.5\n2 1 1.5\n3 2 -3\n2 3 -3\n3 3 7\n2 1 1\n", PATH),
        (REAL.replace("\n", "\r\n") + "3 3 3\r\n2 1 2.5\r\n3 2 -3\r\n3 3 7\r\n", PATH),
        (PATTERN + "3 3 3\n2 1\n3 2\n3 3\n", ONES),
        (PATTERN.replace("symmetric", "general") + "2 2 2\n1 2\n2 1\n", [[0, 1], [1, 0]]),
        (INTEGER + "2 2 1\n2 1 -0012\n", [[0, -12], [-12, 0]]),
        (INTEGER + "2 2 1\n2 1 +9007199254740994\n", (2.0**53 + 2) * np.eye(2)[::-1]),
        (REAL + "2 2 3\n2 1 1\n2 1 2\n2 2 0\n", [[0, 3], [3, 0]]),
        (REAL + "2 2 0\n", [[0, 0], [0, 0]]),
    ],
)
def test_reads_known_matrices(put, contents, W):
    found = read_matrix_market(put(contents))
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), W)
    assert found.nnz == np.count_nonzero(W)


def test_a_general_matrix_is_made_exactly_symmetric(put):
    contents = GENERAL + "2 2 2\n1 2 0.30000000000000004\n2 1 0.3\n"
    found = read_matrix_market(put(contents)).toarray()
    np.testing.assert_array_equal(found, 0.30000000000000004 * np.eye(2)[::-1])


BANNER = r"matrix coordinate real\|integer\|pattern symmetric\|general"


@pytest.mark.parametrize(
    ("contents", "line", "message"),
    [
        ("3 3\n1 2\n", 1, f"the first line must be '%%MatrixMarket {BANNER}', got '3 3'"),
        ("\n" + REAL, 1, "the first line must be"),
        ("%%MatrixMarket\n", 1, f"the banner must be '%%MatrixMarket {BANNER}', got"),
        ("%%MatrixMarket matrix coordinate real\n", 1, "the banner must be"),
        ("%%MatrixMarket vector coordinate real general\n", 1, "the banner must be"),
        ("%%MatrixMarket matrix coordinate double general\n", 1, "the banner must be"),
        ("%%MatrixMarket matrix coordinate real general x\n", 1, "the banner must be"),
        ("%%MatrixMarket matrix array real general\n2 2\n", 1, "dense 'array' format .*mmwrite"),
        ("%%MatrixMarket matrix coordinate complex general\n", 1, "'complex' matrix is not read"),
        ("%%MatrixMarket matrix coordinate real hermitian\n", 1, "'hermitian' matrix is not read"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n", 1, "'skew-symmetric' matrix"),
        (REAL + "% only\n% comments\n", 3, "the file ends before the size line"),
        (REAL + "3 3\n", 2, "the size line must be 'rows columns entries', got '3 3'"),
        (REAL + "%\n3 3 1 1\n", 3, "the size line must be"),
        (REAL + "3 x 1\n", 2, "the number of columns must be a whole number .*got 'x'"),
        (REAL + "-3 3 1\n", 2, "the number of rows must be"),
        (REAL + "3 3 1.5\n", 2, "the number of entries must be"),
        (REAL + "3 4 0\n", 2, "the matrix is 3 x 4; a graph needs a square"),
        (REAL + "0 0 0\n", 2, "0 vertices; wanted at least 1"),
        (REAL + "900000000 900000000 0\n", 2, "but the text has only 70 bytes"),
        (REAL + "3 3 2\n2 1 1\n", 2, "2 entries, but the 6 bytes after it can hold at most 1"),
        (REAL + "3 3 2\n2 1 1.000000\n", 3, "2 entries, but the file ends after 1"),
        (REAL + "3 3 1\n4 1 1\n", 3, "got index 4, but the header says 3 vertices"),
        (REAL + "3 3 1\n2 1    \n", 3, "got 2 columns, wanted 'i j w'"),
        (REAL + "3 3 1\n2 1 1 0\n", 3, "got 4 columns, wanted 'i j w'"),
        (PATTERN + "3 3 1\n2 1 1\n", 3, "got 3 columns, wanted 'i j'"),
        (REAL + "3 3 2\n2 1 1\n% no\n3 1 1\n", 4, "got 2 columns, wanted 'i j w'"),
        (INTEGER + "3 3 1\n2 1 1.5\n", 3, "an integer file holds '1.5'; write 'real'"),
        (INTEGER + "3 3 1\n2 1 1e2\n", 3, "an integer file holds '1e2'"),
        (REAL + "3 3 2\n2 1 1\n\n1 3 1\n", 5, r"\(1, 3\) is in the upper triangle, .*lower"),
        (REAL + "3 3 3\n1 1 1\n1 2 1\n2 1 1\n", 5, r"\(2, 1\) is in the lower triangle, .*upper"),
    ],
)
@pytest.mark.parametrize("block", [1, 1 << 23])
def test_refuses(refuses, monkeypatch, block, contents, line, message):
    monkeypatch.setattr(numerals, "BLOCK_BYTES", block)
    refuses(read_matrix_market, contents, message, line)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("3 3 1\n2 1 2\n", r"entry \(1, 2\) is 0 but \(2, 1\) is 2; .*store A \+ A\^T"),
        ("3 3 2\n2 1 2\n1 2 2.001\n", r"entry \(1, 2\) is 2.001 but \(2, 1\) is 2;"),
        ("2 2 2\n2 1 1e308\n1 2 -1e308\n", r"entry \(1, 2\) is -1e\+308 but"),
        ("2 2 4\n2 1 1e308\n1 2 1e308\n2 1 1e308\n1 2 1e308\n", r"\(1, 2\) add up to infinity"),
    ],
)
def test_refuses_a_general_matrix(put, body, message):
    with pytest.raises(FormatError, match=message):
        read_matrix_market(put(GENERAL + body))


@pytest.mark.parametrize("symmetry", ["symmetric", "general"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_reads_what_scipy_writes(tmp_path, rng_matrix, symmetry, field):
    path = tmp_path / "scipy.mtx"
    io.mmwrite(path, sparse.coo_array(rng_matrix), field=field, symmetry=symmetry, precision=17)
    W = (rng_matrix != 0).astype(float) if field == "pattern" else rng_matrix
    np.testing.assert_array_equal(read_matrix_market(path).toarray(), W)


@pytest.fixture(params=[1, 40])
def rng_matrix(request):
    rng = np.random.default_rng(0)
    W = np.round(rng.standard_normal((request.param, request.param)) * 2)
    W = np.triu(W)
    return W + np.triu(W, 1).T
