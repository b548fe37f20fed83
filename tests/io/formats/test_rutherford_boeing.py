"""The Rutherford-Boeing reader."""

from __future__ import annotations

import numpy as np
import pytest

from condal import FormatError, read_graph
from condal.io.formats import read_rutherford_boeing
from known import DATA, needs_data

# 1-2 weighs 2.5, 1-3 weighs -1, 3 has a loop of 4
SMALL = """a triangle less an edge                                                 |key
             3             1             1             1
rsa                        3             3             3             0
(8I3)           (8I3)           (3E10.2)
  1  3  3  4
  2  3  3
  2.50E+00 -1.00D+00    4.0
"""


def write(folder, text, name="small.rb"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_small_file_is_read(tmp_path):
    W = read_rutherford_boeing(write(tmp_path, SMALL))
    assert np.array_equal(W.toarray(), [[0, 2.5, -1], [2.5, 0, 0], [-1, 0, 4]])
    assert (read_graph(write(tmp_path, SMALL)) != W).nnz == 0


def test_a_pattern_has_unit_weights(tmp_path):
    text = "\n".join(SMALL.replace("rsa", "psa").splitlines()[:-1]) + "\n"
    W = read_rutherford_boeing(write(tmp_path, text.replace("(3E10.2)", "")))
    assert np.array_equal(W.toarray(), [[0, 1, 1], [1, 0, 0], [1, 0, 1]])
    with pytest.raises(
        FormatError, match=r"line 7: the header says 0 values, but '.*' follows them"
    ):
        read_rutherford_boeing(write(tmp_path, SMALL.replace("rsa", "psa")))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rsa", "rua", r"line 3: the matrix type must be one of rsa, isa, psa .*got 'rua'"),
        ("   3             3             3  ", "   3             4             3  ", "3 x 4"),
        (
            "(8I3)           (8I3)",
            "(8X3)           (8X3)",
            "line 4: the fourth line must hold Fortran",
        ),
        ("  1  3  3  4", "  1  3  3  3", "column pointers must rise from 1 to 4"),
        ("  1  3  3  4", "  1  3  3", "says 4 pointers, but there are 3"),
        ("  2  3  3\n", "  2  3  9\n", "line 6: got row 9 in column 3; wanted the lower triangle"),
        ("  2  3  3\n", "  2  3  1\n", "line 6: got row 1 in column 3; .* rows 3 to 3, each once"),
        ("  2  3  3\n", "  2  2  3\n", "line 6: got row 2 in column 1; .* each once in a column"),
        (
            "  2  3  3\n",
            "  2  3  3  1\n",
            "line 6: the header says 3 row indices, but '1' follows them",
        ),
        (
            "    4.0\n",
            "    4.0\nmore\n",
            "line 8: the header says 3 values, but 'more' follows them",
        ),
        ("    4.0\n", "    1_0\n", "line 7: a value must be a finite number, got '1_0'; correct"),
        ("(8I3)           (8", f"(8I{'3' * 5000})           (8", "line 4: the fourth line must"),
        ("2.50E+00", "2.50\x0c+00", "line 7: a value must be a finite number"),
        ("    4.0\n", "    nan\n", "line 7: a value must be a finite number, got 'nan'"),
        ("    4.0\n", "\n", "says 3 values, but there are 2"),
        ("             3             1             1             1\n", "x\n", "line 2: wanted"),
        (
            "3             3             3             0",
            "3             3  999999999999             0",
            "can hold at most",
        ),
    ],
)
def test_faults_are_named(tmp_path, old, new, message):
    assert old in SMALL
    with pytest.raises(FormatError, match=message):
        read_rutherford_boeing(write(tmp_path, SMALL.replace(old, new, 1)))


def test_a_truncated_file_is_refused(tmp_path):
    with pytest.raises(FormatError, match="ends inside the four header lines"):
        read_rutherford_boeing(write(tmp_path, SMALL[:150]))


@needs_data
def test_gd97_b():
    W = read_graph(DATA / "gd97b" / "GD97_b.rb")
    assert W.shape == (47, 47)
    assert W.nnz == 2 * 132
    assert W.sum() / 2 == pytest.approx(20112.4091, rel=1e-5)
