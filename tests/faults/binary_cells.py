"""The expected outcome of each fault in binary files and in saved results."""

import numpy as np
import scipy.sparse as sp
from cell import (
    BANNED,
    COUNT,
    FORTRAN,
    HUGE,
    LOWER,
    NAN,
    OFF,
    OVERFLOW,
    TRAILING,
    TWICE,
    ZERO,
    Cell,
    NoSuchThing,
    Read,
    Refused,
    without,
)

from readers import results, shards
from readers.contents import INTENSITIES, PROGRAM, A, W, claiming, csr, mat, npy, npz

RECORD = results.files()["result.json"]
HISTORY = results.files()["history.csv"]
POINT = results.files()["x.npz"]
PICTURE = results.files()["picture.npz"]
DUAL = results.files()["y.npy"]
_NNZ = int(np.count_nonzero(W))
BAD = np.where(W, W, np.nan)
WITH_INF = np.where(W, W, np.inf)
ONE_SIDED = A + np.array([[0.0], [1.0]]) * np.array([0, 0, 0, 0, 0, 5, -5, 0])
ONE_TRIANGLE = "a graph needs a symmetric matrix: store A \\+ A.T"


def _cell(text: bytes, line: int = 2) -> bytes:
    """Return the history with another first cell in a line."""
    lines = HISTORY.split(b"\n")
    lines[line - 1] = text + lines[line - 1][lines[line - 1].index(b",") :]
    return b"\n".join(lines)


def _objective(text: bytes) -> bytes:
    """Return the history with another objective in its first row."""
    lines = HISTORY.split(b"\n")
    first, _, *rest = lines[1].split(b",")
    return b"\n".join([lines[0], b",".join([first, text, *rest]), *lines[2:]])


def _without_a_cell() -> bytes:
    lines = HISTORY.split(b"\n")
    lines[1] = lines[1].rpartition(b",")[0]
    return b"\n".join(lines)


def _array(**cells: Cell) -> dict[str, Cell]:
    """The cells of a file with a single array."""
    return {
        TRAILING: Refused(npy(W) + b"more", "72 bytes, but 76 follow; the file is truncated"),
        BANNED: Refused(
            b"\x93NUMPZ" + npy(W)[6:], "is not an array as numpy.save writes it; save it"
        ),
        **without(ZERO, LOWER, OFF, TWICE, FORTRAN),
        COUNT: Refused(npy(W)[:-8], "72 bytes, but 64 follow; the file is truncated or damaged"),
        HUGE: Refused(claiming((10**12, 1)), "8000000000000 bytes, but 0 follow"),
        OVERFLOW: Refused(npy(WITH_INF), "holds nan or inf; every entry must be finite"),
        NAN: Refused(npy(BAD), "holds nan or inf; every entry must be finite"),
        **cells,
    }


OF_POINTS: dict[str, Cell] = {
    TRAILING: Refused(POINT[:-1] + b"more", "x.npz: the archive is truncated or damaged.*make it"),
    BANNED: Refused(b"PK\x05\x06" + POINT[4:], "x.npz: is not a .npz file; save one with"),
    **without(ZERO, LOWER, OFF, FORTRAN),
    TWICE: NoSuchThing("of two members of one name: test_files.py"),
    COUNT: Refused(
        npz(U=W, weights=np.ones(3), V=W), "holds 'V', which is not part of x|says that U"
    ),
    HUGE: NoSuchThing("of a member: test_files.py"),
    OVERFLOW: NoSuchThing("what a solve ended with, be it infinite, is kept"),
    NAN: NoSuchThing("what a solve ended with, be it nan, is kept"),
}
BINARY: dict[str, dict[str, Cell]] = {
    "array": _array(),
    "dense array": _array(**{LOWER: Refused(npy(np.tril(W)), ONE_TRIANGLE)}),
    "sparse array": {
        TRAILING: Refused(
            csr(data=np.ones(5)), "indices has 4 entries and data 5; the file is dam"
        ),
        BANNED: Refused(csr(format=np.array(b"dia")), "in the format 'dia'; save it with scipy"),
        ZERO: NoSuchThing("it counts from 0"),
        LOWER: Refused(csr(data=np.array([0.0, 2, 0, -15])), ONE_TRIANGLE),
        **without(OFF, FORTRAN),
        TWICE: Read(
            csr(
                data=np.array([1.0, 1, 2, -15, -15]),
                indices=np.array([1, 1, 0, 2, 1]),
                indptr=np.array([0, 2, 4, 5]),
            ),
            csr(),
        ),
        COUNT: Refused(
            csr(indptr=np.array([0, 1, 3, 9])), "4 numbers that rise from 0 to 4; the fi"
        ),
        HUGE: Refused(
            csr(shape=np.array([10**12] * 2)), "says 1000000000000 vertices.*wanted 1 to 1"
        ),
        OVERFLOW: Refused(
            csr(data=np.array([1, 1, np.inf, 1])), "data.npy: holds nan or inf; every"
        ),
        NAN: Refused(
            csr(data=np.array([1, 1, np.nan, 1])), "data.npy: holds nan or inf; every entry"
        ),
    },
    "arrays": {
        TRAILING: Refused(
            npz(a=W)[:-1] + b"more", "the archive is truncated or damaged.*make it ag"
        ),
        BANNED: Refused(b"PK\x05\x06" + npz(a=W)[4:], "is not a .npz file; save one with"),
        **without(ZERO, LOWER, OFF, FORTRAN),
        TWICE: NoSuchThing("of two members of one name: test_files.py"),
        COUNT: NoSuchThing("of a member: test_files.py"),
        HUGE: NoSuchThing("of a member: test_files.py"),
        OVERFLOW: Refused(npz(**{**INTENSITIES, "b": WITH_INF}), "b.npy: holds nan or inf; every"),
        NAN: Refused(npz(**{**INTENSITIES, "b": BAD}), "b.npy: holds nan or inf; every entry must"),
    },
    "sedumi": {
        TRAILING: Refused(
            mat() + b"more", "the MATLAB file is damaged: it ends inside a tag; fetch"
        ),
        BANNED: Refused(b"MATLAB" * 30, "is not a MATLAB file of version 5 to 7"),
        ZERO: NoSuchThing("its matrices count from 0"),
        LOWER: Read(mat(A=sp.csc_matrix(ONE_SIDED)), mat()),
        OFF: NoSuchThing("a diagonal block is K.l, of which it holds the diagonal"),
        TWICE: NoSuchThing("a matrix of MATLAB has an entry once"),
        COUNT: Refused(mat(b=np.ones((3, 1))), "b has 3: wanted A of 3 x 8 and c of 8; got A of"),
        HUGE: Refused(
            mat(K={"s": 1e6}), "K takes 1000000000000 variables, and A has 1. numbers in"
        ),
        OVERFLOW: Refused(
            mat(b=np.array([[1.0], [np.inf]])), "b holds nan or inf; every entry must"
        ),
        NAN: Refused(
            mat(c=PROGRAM["c"] * np.nan), "c holds nan or inf; every entry must be finite"
        ),
        **without(FORTRAN),
    },
    "shard": {
        TRAILING: Refused(shards.right() + b"more", "has 4 bytes that belong to nothing"),
        BANNED: Refused(b"x" + shards.right(), "it does not begin as one"),
        ZERO: Refused(shards.of(columns=np.int32([-1, 0, 2, 1])), "do not rise"),
        LOWER: Refused(shards.of(weights=np.arange(1.0, _NNZ + 1)), "W is not symmetric"),
        **without(OFF, FORTRAN),
        TWICE: Refused(shards.of(columns=np.zeros(_NNZ, np.int32)), "do not rise within 0 to 2"),
        COUNT: Refused(shards.of(counts=np.zeros(3, np.int32)), "do not add up"),
        HUGE: Refused(shards.claiming(10**12), "longer than the file"),
        OVERFLOW: Refused(shards.of(weights=np.full(_NNZ, np.inf)), "zero or not finite"),
        NAN: Refused(shards.of(weights=np.full(_NNZ, np.nan)), "zero or not finite"),
    },
    "saved result.json": {
        TRAILING: Refused(
            RECORD + b"more", "is not JSON that condal wrote .*; save the result again"
        ),
        BANNED: Refused(
            RECORD.replace(b'"condal result"', b'"other"'), "is not the manifest of a condal"
        ),
        **without(ZERO, LOWER, OFF),
        TWICE: Refused(
            RECORD.replace(b"{", b'{"why": "", ', 1), "a field is given twice.*; save the"
        ),
        COUNT: Refused(
            RECORD.replace(b'"float64[3, ', b'"float64[4, '), "says that U of x is 'float"
        ),
        HUGE: Refused(
            RECORD.replace(b'"float64[3, ', b'"float64[1000000000000, '),
            "says that U of x is 'float",
        ),
        OVERFLOW: Refused(
            RECORD.replace(b'"tol": 0.001', b'"tol": 1e999'), "is not JSON that condal"
        ),
        NAN: Refused(
            RECORD.replace(b'"tol": 0.001', b'"tol": NaN'), "NaN is not a number.*; save the"
        ),
        FORTRAN: Refused(
            RECORD.replace(b'"tol": 0.001', b'"tol": 1D-3'), "is not JSON that condal w"
        ),
    },
    "saved history.csv": {
        TRAILING: Refused(HISTORY + b"more\n", "has 1 cells; wanted 13", HISTORY.count(b"\n") + 1),
        BANNED: Refused(
            b"k," + HISTORY, "wanted the columns k, objective.*; save the result again"
        ),
        **without(ZERO, LOWER, OFF, TWICE),
        COUNT: Refused(_without_a_cell(), "has 12 cells; wanted 13", 2),
        HUGE: Refused(_cell(b"9" * 19), "k is b'9999999999999999999'; wanted a whole number", 2),
        OVERFLOW: Read(_objective(b"1e999"), _objective(b"1e999")),
        NAN: Read(_objective(b"nan"), _objective(b"nan")),
        FORTRAN: Refused(_objective(b"1D3"), "objective is b'1D3'; wanted a number", 2),
    },
    "saved x.npz": OF_POINTS,
    "saved picture.npz": {
        **OF_POINTS,
        TRAILING: Refused(
            PICTURE[:-1] + b"more", "picture.npz: the archive is truncated or damaged"
        ),
        BANNED: Refused(b"PK\x05\x06" + PICTURE[4:], "picture.npz: is not a .npz file; save"),
        COUNT: NoSuchThing("it may have any arrays"),
    },
    "saved y.npy": {
        **_array(),
        TRAILING: Refused(
            DUAL + b"more", "y.npy: the header says .* but 28 follow; the file is trunc"
        ),
        COUNT: Refused(
            DUAL[:-8], "y.npy: the header says .* 24 bytes, but 16 follow; the file is tr"
        ),
        LOWER: Refused(
            npy(W), r"y.npy: holds shape \(3, 3\) of float64; wanted a vector of float64"
        ),
        OVERFLOW: Read(npy(np.full(3, np.inf)), npy(np.full(3, np.inf))),
        NAN: Read(npy(np.full(3, np.nan)), npy(np.full(3, np.nan))),
    },
}
