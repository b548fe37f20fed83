"""SDPA files: every manner of writing one is read, every fault named by its line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condal.errors import ProblemError
from condal.problems.conic.files import SdpaProblem, read_sdpa, write_sdpa

# maximise <F_0, X> with X_11 = 1, X_22 + s = 2: the optimum is at X_12 = sqrt(2).
PLAIN = "2\n2\n2 -1\n1.0 2.0\n0 1 1 2 0.5\n1 1 1 1 1\n2 1 2 2 1\n2 2 1 1 1\n"
B, SIZES = [1.0, 2.0], (2, -1)
ENTRIES = [(0, 0, 0, 1, 0.5), (1, 0, 0, 0, 1.0), (2, 0, 1, 1, 1.0), (2, 1, 0, 0, 1.0)]
PLACES = np.array([entry[:4] for entry in ENTRIES])
TINY = SdpaProblem(np.array(B), SIZES, *PLACES.T, np.array([entry[4] for entry in ENTRIES]))


def entries(problem: SdpaProblem) -> list[tuple[float, ...]]:
    columns = problem.matrices, problem.blocks, problem.rows, problem.cols, problem.values
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    "contents",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        '"a comment"\n* another, of 3 numbers\n' + PLAIN,
        "  2 =mDIM\n  2 =nBLOCK\n  (2, -1) = bLOCKsTRUCT\n{1.0, 2.0}\n" + PLAIN[17:],
        "+2\n2\n{2,-1}\n{+1.0,+2.0}\n" + PLAIN[17:],
        "2\n2\n2\n-1\n1.0\n{2.0}\n" + PLAIN[17:],
        "\n2\n\n2\n2 -1\n\n1.0D+00 2.0d0\n0 1 1 2 5.0D-01\n\n1 1 1 1 1.\n2 1 2 2 +1\n2 2 1 1 1q0",
        "2\n2\n2 -1\n1 2\n0 1 2 1 .5\n1 1 1 1 1e0\n2 1 2 2 1\n2 2 1 1 1 \n",
        "2\n2\n2 -1\n1 2\n{0, 1, 2, 1, .5}\n1 1 (1 1) 1e0\n2 1 2 2 1\n02 2 1 1 1\n\n \n",
    ],
)
def test_every_manner_of_writing_it_is_read(put, contents):
    found = read_sdpa(put(contents, "tiny.dat-s"))
    np.testing.assert_array_equal(found.b, B)
    assert found.sizes == SIZES
    assert entries(found) == ENTRIES
    assert found.name == "tiny"


def test_a_file_without_entries_is_one_of_zeros(put):
    found = read_sdpa(put("1\n1\n3\n0\n"))
    assert found.values.size == 0
    assert found.program.A.shape == (1, 9)


@pytest.mark.parametrize(
    ("contents", "line", "text"),
    [
        (
            '2\n"late"\n2\n2 -1\n1 2\n',
            2,
            "number of blocks.*got '\"late\"'.*before the first number",
        ),
        ("0\n1\n2\n", 1, "a positive whole number, got '0'"),
        ("1\n1000000000000\n2\n", 2, "says 1000000000000 blocks, but the file has only"),
        ("1 2\n1\n2\n0\n", 1, "after the number of matrices there is one more number, '2'"),
        ("1\n1\n1000000000000\n0\n", 3, "1000000000000 rows in all, more than the 1000000 "),
        ("1\n2\n2 x\n0\n", 3, "wanted 2 sizes of blocks, whole numbers, got 'x' after 1"),
        ("1\n2\n2 0\n0\n", 3, "a block has size 0"),
        ("1\n1\n2 2\n0\n", 3, "after 1 sizes of blocks there is one more number, '2'"),
        ("2\n1\n2\n1 1e999\n", 4, "'1e999' overflows"),
        ("2\n1\n2\n1\n", 4, "ends before the numbers of b: 2 are wanted, 1 are there"),
        ("2\n1\n", 2, "ends before the sizes of blocks"),
        ("\n", None, "wanted a problem in the SDPA format"),
        # The first of several faults is named.
        ("2\n1\n2\n1 2\n1 1 1 1 1\n9 1 1 1 1\n1 1 1 1 1\n1 1 1 9 1\n", 6, "got matrix 9"),
        (PLAIN + "3 1 1 1 1\n", 9, "got matrix 3, but the header says 2 of them"),
        (PLAIN + "-1 1 1 1 1\n", 9, "the matrix of an entry must be a whole number, got '-1'"),
        (PLAIN + "1 3 1 1 1\n", 9, "got block 3, wanted 1 to 2"),
        (PLAIN + "1 1 1 3 1\n", 9, "got column 3 of block 1, wanted 1 to 2"),
        (PLAIN + "1 1 1 2 x\n", 9, "a value must be a decimal number, got 'x'"),
    ],
)
def test_faults_name_their_line(refuses, contents, line, text):
    refuses(read_sdpa, contents, text, line)


@st.composite
def problems(draw):
    sizes = tuple(draw(st.lists(st.integers(-3, 4).filter(bool), min_size=1, max_size=3)))
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    b = draw(st.lists(numbers, min_size=1, max_size=4))
    places = [
        (k, block, i, j)
        for k in range(len(b) + 1)
        for block, n in enumerate(sizes)
        for i in range(abs(n))
        for j in range(i, abs(n) if n > 0 else i + 1)
    ]
    chosen = draw(st.lists(st.sampled_from(places), max_size=12, unique=True))
    values = draw(st.lists(numbers, min_size=len(chosen), max_size=len(chosen)))
    columns = np.array(chosen, dtype=np.int64).reshape(-1, 4).T
    return SdpaProblem(np.array(b), sizes, *columns, np.array(values))


@settings(max_examples=60, deadline=None)
@given(problem=problems(), suffix=st.sampled_from(["", ".gz", ".xz"]))
def test_what_is_written_is_read_back_exactly(tmp_path_factory, problem, suffix):
    path = tmp_path_factory.mktemp("sdpa") / f"p.dat-s{suffix}"
    write_sdpa(path, problem)
    found = read_sdpa(path)
    np.testing.assert_array_equal(found.b, problem.b)
    assert found.sizes == problem.sizes
    assert entries(found) == entries(problem)


def test_a_program_has_both_triangles_and_the_blocks_of_the_file(put):
    program = read_sdpa(put(PLAIN)).program
    assert program.maximise
    assert [(block.kind, block.n) for block in program.blocks] == [("psd", 2), ("orthant", 1)]
    np.testing.assert_array_equal(program.c.toarray(), [[0, 0.5, 0.5, 0, 0]])
    np.testing.assert_array_equal(program.A.toarray(), [[1, 0, 0, 0, 0], [0, 0, 0, 1, 1]])
    np.testing.assert_array_equal(program.b, B)


# What is written.


def test_a_problem_is_written_as_the_format_says(tmp_path):
    path = tmp_path / "tiny.dat-s"
    write_sdpa(path, TINY)
    assert path.read_text() == (
        "2\n2\n2 -1\n1.0 2.0\n0 1 1 2 0.5\n1 1 1 1 1.0\n2 1 2 2 1.0\n2 2 1 1 1.0\n"
    )


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
