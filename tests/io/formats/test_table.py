"""Tables of numbers, points and ratings: what is read, and every fault with its text."""

import gzip

import numpy as np
import pytest

from condal.errors import FormatError
from condal.io.formats import read_points, read_ratings, read_table


def written(folder, contents, name="table.csv"):
    path = folder / name
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return path


@pytest.mark.parametrize(
    ("contents", "names", "values"),
    [
        ("1,2\n3,4\n", None, [[1, 2], [3, 4]]),
        ("x,y\n1,2\n3,4\n", ("x", "y"), [[1, 2], [3, 4]]),
        ('"x" ; "a b"\n1;2\n', ("x", "a b"), [[1, 2]]),
        ("1 2\n3   4", None, [[1, 2], [3, 4]]),
        ("\n 1\t2 \r\n\r\n3\t4\r\n\n", None, [[1, 2], [3, 4]]),
        ("x\n1e3\n-.5\n+2.\n", ("x",), [[1000], [-0.5], [2]]),
        ("1", None, [[1]]),
        ('"1","2"\n"3", "4"\n', None, [[1, 2], [3, 4]]),
        ("'1' '-2e3'\n3 4\n", None, [[1, -2000], [3, 4]]),
        ("# x y\n1 2\n  # a note, with commas; and more\n3 4\n", None, [[1, 2], [3, 4]]),
        ("# saved by hand\n\nx,y\n1,2\n", ("x", "y"), [[1, 2]]),
        ("RI,Na,Mg\n1,2,3\n", ("RI", "Na", "Mg"), [[1, 2, 3]]),
        ("1st,x\n1,2\n", ("1st", "x"), [[1, 2]]),
    ],
)
def test_tables(tmp_path, contents, names, values):
    table = read_table(written(tmp_path, contents))
    assert table.names == names
    np.testing.assert_array_equal(table.values, np.array(values, dtype=float))


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ("", "is empty; wanted rows of numbers"),
        ("x,y\n", "has names of columns, but no row of numbers after them"),
        ("x,y\n1,2\n\n3,4,5\n", "line 4: got 3 columns, wanted 2"),
        ("1,2\n3,\n", "line 2: wanted finite decimal numbers, but column 2 is missing"),
        ("1,2\n3,x\n", "line 2: wanted finite decimal numbers, but column 2 is 'x'"),
        ("1,x\n3,4\n", "line 1: wanted finite decimal numbers, but column 2 is 'x'"),
        ("1,5;2,5\n", "line 1: got '1,5', with a decimal comma; write '1.5'"),
        ("1,5\t2\n", "line 1: got '1,5', with a decimal comma"),
        ("2 -1,5e3\n", "line 1: got '-1,5e3', with a decimal comma; write '-1.5e3'"),
        ("1;2\n3;4,5\n", "line 2: got '4,5', with a decimal comma"),
        ("x;y\n3;4,5\n", "line 2: got '4,5', with a decimal comma"),
        ('"1,5","2,5"\n3,4\n', "line 1: wanted finite decimal numbers, but column 1 is"),
        ('1,"2"3\n', "line 1: wanted finite decimal numbers, but column 2 is"),
        ("\n1::2::3\n", "line 2: the columns are separated by '::'; write commas"),
        ("nan,nan\n1,2\n", "line 1: wanted finite decimal numbers, but column 1 is 'nan'"),
        ("NA,NA\n1,2\n", "line 1: wanted finite decimal numbers, but column 1 is 'NA'"),
        ("x,null\n1,2\n", "line 1: wanted finite decimal numbers, but column 2 is 'null'"),
        ("?;-Inf\n1;2\n", "line 1: wanted finite decimal numbers, but column 1 is '?'"),
        (",x,y\n0,1,2\n", "line 1: column 1 has neither a name nor a number; give it one"),
        ('x,""\n1,2\n', "line 1: column 2 has neither a name nor a number"),
        ('1,2\n\n3,""\n', "line 3: wanted finite decimal numbers, but column 2 is missing"),
        ("1D3,2D3\n1,2\n", "line 1: wanted finite decimal numbers, but column 1 is '1D3'"),
        ("# alone\n#\n", "holds only comments; wanted rows of numbers"),
        ("# a\n1,2\n3,x\n", "line 3: wanted finite decimal numbers, but column 2 is 'x'"),
        ("1,0x10\n", "wanted finite decimal numbers, but column 2 is '0x10'"),
        ("1,2\n3,1_000\n", "line 2: wanted finite decimal numbers"),
        ("1,2\n3,=1+1\n", "line 2: wanted finite decimal numbers"),
        ("1,2\n3,4 # four\n", "line 2: wanted finite decimal numbers, but column 2 is '4 # four'"),
        (b"1,\x002\n", "holds a NUL byte"),
        ("1,2\n\x1c\n", r"line 2: holds the control character '\\x1c'; remove it, or end lines"),
        ("1,2\n3,4\r5,6\n", r"line 2: holds the control character '\\r'"),
        ("x\n\x1c\n", r"line 2: holds the control character '\\x1c'"),
        (b"PK\x03\x04", "is a zip archive"),
    ],
)
def test_faults_of_a_table(tmp_path, contents, text):
    with pytest.raises(FormatError, match=text):
        read_table(written(tmp_path, contents))


# Points.


def test_points_of_a_table_and_of_an_array(tmp_path):
    points = np.random.default_rng(0).standard_normal((5, 3))
    np.save(tmp_path / "points.npy", points)
    np.testing.assert_array_equal(read_points(tmp_path / "points.npy"), points)
    np.save(tmp_path / "whole.npy", np.arange(6, dtype=np.int16).reshape(3, 2))
    assert read_points(tmp_path / "whole.npy").dtype == np.float64
    np.testing.assert_array_equal(read_points(written(tmp_path, "x,y\n1,2\n")), [[1.0, 2.0]])


def test_an_archive_of_arrays_is_no_points(tmp_path):
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "points.npz", points=np.zeros((2, 2)))
        with pytest.raises(FormatError, match=r"is a .npz file.*save one array with numpy.save\("):
            read_points(tmp_path / "points.npz")


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros(3), r"holds an array of shape \(3,\); wanted two dimensions, one row per point"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (np.array([[1j]]), "holds complex numbers; points are real"),
    ],
)
def test_arrays_that_are_no_points(tmp_path, array, text):
    np.save(tmp_path / "points.npy", array)
    with pytest.raises(FormatError, match=text):
        read_points(tmp_path / "points.npy")


# Ratings.


def test_ratings_of_a_table_by_the_names_of_its_columns(tmp_path):
    path = written(tmp_path, "userId,movieId,rating,timestamp\n7,30,4.5,1\n7,10,3,2\n9,30,1,3\n")
    for columns in (None, ("userId", "movieId", "rating"), ("1", "2", "3")):
        found = read_ratings(path, columns)
        assert found.shape == (2, 2)
        np.testing.assert_array_equal(found.rows, [0, 0, 1])
        np.testing.assert_array_equal(found.cols, [1, 0, 1])
        np.testing.assert_array_equal(found.values, [4.5, 3.0, 1.0])
        np.testing.assert_array_equal(found.row_names, [7, 9])
        np.testing.assert_array_equal(found.col_names, [10, 30])
    np.testing.assert_array_equal(
        read_ratings(path, ("movieId", "userId", "timestamp")).values, [1.0, 2.0, 3.0]
    )


def test_ratings_of_a_matrix_market_file(tmp_path):
    path = written(
        tmp_path,
        "%%MatrixMarket matrix coordinate real general\n% some\n2 4 3\n1 4 0.5\n2 1 -1\n1 1 2\n",
        "ratings.mtx",
    )
    found = read_ratings(path)
    assert found.shape == (2, 4)
    np.testing.assert_array_equal(found.rows, [0, 1, 0])
    np.testing.assert_array_equal(found.cols, [3, 0, 0])
    np.testing.assert_array_equal(found.values, [0.5, -1.0, 2.0])
    np.testing.assert_array_equal(found.col_names, [1, 2, 3, 4])


BANNER = "%%MatrixMarket matrix coordinate real"


@pytest.mark.parametrize(
    ("contents", "columns", "text"),
    [
        ("", None, "is empty; wanted entries: row, column, value"),
        ("1,2\n", None, "has 2 columns; wanted at least three: row, column, value"),
        (
            "a,b,c\n1,2,3\n\n1.5,2,3\n",
            None,
            r"line 4: the row of an entry must be a whole number, of at most 2\^53; got 1.5: ",
        ),
        ("1,2,3\n1,1e17,3\n", None, "line 2: the column of an .*; got 1e\\+17: correct the line"),
        ("1,2,3\n", ("1", "1", "3"), "must be three columns; got 1,1,3"),
        ("a,b,c\n1,2,3\n", ("a", "b", "2"), "must be three columns; got a,b,2"),
        (f"{BANNER} general\n2 4 0\n", ("1", "2", "3"), "columns can only be chosen for tables"),
        ("1,2,3\n", ("1", "3", "9"), "there is no unique column '9'; there are 1 to 3"),
        ("a,b,c\n1,2,3\n", ("a", "b", "d"), "no unique column 'd'; there are a, b, c, or 1 to 3"),
        (
            f"{BANNER} general\n2 4 1\n3 1 1\n",
            None,
            "line 3: got row 3, but the header says 2 rows",
        ),
        (f"{BANNER} general\n2 4 2\n1 1 1\n", None, "the file is truncated or the header is wrong"),
    ],
)
def test_faults_of_ratings(tmp_path, contents, columns, text):
    with pytest.raises(FormatError, match=text):
        read_ratings(written(tmp_path, contents), columns)


def test_a_file_named_mtx_has_a_banner(tmp_path):
    for name in ("ratings.mtx", "ratings.mtx.gz"):
        data = b"1 2 3\n2 1 4\n"
        path = written(tmp_path, gzip.compress(data) if name.endswith("gz") else data, name)
        with pytest.raises(FormatError, match="the first line must be '%%MatrixMarket"):
            read_ratings(path)
