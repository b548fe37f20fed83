"""Small files of every format, and how they are made."""

import io
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import savemat

W = np.array([[0.0, 2, 0], [2, 0, -15], [0, -15, 0]])
RUDY = b"3 2\n1 2 2\n2 3 -15\n"
BANNER = b"%%MatrixMarket matrix coordinate real symmetric\n"
MARKET = BANNER + b"3 3 2\n2 1 2\n3 2 -15\n"
METIS = b"3 2 1\n2 2\n1 2 3 -15\n2 -15\n"
EDGES = b"1 2 2\n2 3 -15\n"
SDPA = b"2\n2\n2 -2\n1 2\n0 1 1 2 0.5\n1 1 1 1 1\n2 1 2 2 1\n2 2 1 1 1\n2 2 2 2 25\n"
SIZES = (2, -1)  # of the blocks of the next two
SOLUTION = b"0.5 -1\n1 1 1 1 1\n2 1 1 1 1\n2 1 1 2 -0.25\n2 1 2 2 2\n2 2 1 1 0.125\n"
FACTORS = b"dual variable 2\n-0.5\n1\nprimal variable 1 s 2 2 1\n1\n-0.25\n"
FACTORS += b"primal variable 2 d 1 1 1\n0.5\n"
RESULT = b"xVec = \n{+5.0e-01,-1.0e+00}\nxMat = \nyMat = \n{\n{ {1,2},{2,5} }\n{0.125}\n}\n"
QAPLIB = b"2\n0 1\n2 0\n\n0 3\n4 15\n"
G2O = (
    b"VERTEX_SE2 4 0 0 0\nEDGE_SE2 4 7 1 0 1.5 1 0.5 0 1 0 2\nEDGE_SE2 7 9 1 -1 -0.5 1 0 0 1 0 15\n"
)
G2O_SPACE = (
    b"# a\nFIX 1\nEDGE_SE3:QUAT 1 2 0 0 1 0 0 0 1 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1\n"
)
PERMUTATION = b"3 12\n2 3 1\n"
TABLE = b"x,y\n1,2\n3,4\n5,16\n"
RATINGS = b"user,film,rating\n7,30,4.5\n7,10,3\n9,30,15\n"
RECTANGLE = b"%%MatrixMarket matrix coordinate real general\n2 4 2\n1 4 0.5\n2 1 -15\n"
A = np.array([[1.0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5, 5, 6]])
PROGRAM: dict[str, Any] = {
    "A": sp.csc_matrix(A),
    "b": np.array([[1.0], [2.0]]),
    "c": np.array([[1.0, 0, 0, 0, 1, 0, 0, 3]]).T,
    "K": {"l": 1.0, "q": 3.0, "s": 2.0},
}
INTENSITIES = {"b": np.array([1.0, 4.0, 9.0]), "a": np.eye(3)[:, :2] + 1.0}


def npy(array: Any, **options: Any) -> bytes:
    """An array as numpy.save writes it."""
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def claiming(shape: tuple[int, ...], descr: str = "<f8", data: bytes = b"") -> bytes:
    """A .npy file whose header says what it likes."""
    stream = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + data


def npz(*, packed: bool = False, **arrays: Any) -> bytes:
    """Arrays as numpy.savez writes them."""
    stream = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(stream, **arrays)
    return stream.getvalue()


def mat(*, packed: bool = False, **changes: Any) -> bytes:
    """PROGRAM as MATLAB writes it, with other values in the place of some, and without those that
    are None."""
    stream = io.BytesIO()
    values = {name: value for name, value in {**PROGRAM, **changes}.items() if value is not None}
    savemat(stream, values, do_compression=packed)
    return stream.getvalue()


def csr(*, packed: bool = False, **changes: Any) -> bytes:
    """W as scipy.sparse.save_npz has it, with other arrays in the place of some, and without those
    that are None."""
    held = sp.csr_array(W)
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array(held.shape),
        "data": held.data,
        "indices": held.indices,
        "indptr": held.indptr,
        **changes,
    }
    return npz(packed=packed, **{name: part for name, part in parts.items() if part is not None})


def coo(**changes: Any) -> bytes:
    """W as a list of entries, likewise."""
    held = sp.coo_array(W)
    entries = {"row": held.row, "col": held.col, "data": held.data, **changes}
    return csr(**{"format": np.array(b"coo"), "indices": None, "indptr": None, **entries})
