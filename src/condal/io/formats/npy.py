"""Arrays in .npy files: NumPy reads them, after their header was held against the file's size."""

from __future__ import annotations

import math
import warnings
from io import BufferedIOBase, BytesIO
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format

from condal.errors import FormatError
from condal.io.formats.signatures import NPY

NUMBERS = "biufc"  # the kinds of their dtypes
MAX_DIMENSIONS = 32  # which every NumPy supports
MAX_SIDE = 10**18
MAX_HEADER_BYTES = 10_000
MAX_SHAPE_PRODUCT = 2**40  # of the sides that are not 0, in an array without numbers
NOT_FINITE = "holds nan or inf; every entry must be finite"
NOT_NPY = "is not an array as numpy.save writes it; save it again"

_READERS: dict[tuple[int, int], Any] = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}
_PREFIX_BYTES = len(NPY) + 2 + 4  # with the version and the length of the header
_LAST_CHARACTER = 0x10FFFF  # of Unicode


def parse(file: BufferedIOBase, size: int, *, kinds: str = NUMBERS, finite: bool = True) -> Any:
    """Read the array of a file of `size` bytes, whose dtype is of one of the `kinds`.

    The header must fit the bytes that follow it. Errors do not name the file.
    """
    dtype, *_ = head_of(file, size, kinds)
    file.seek(0)
    try:
        array = npy_format.read_array(file, allow_pickle=False, max_header_size=MAX_HEADER_BYTES)
    except ValueError:  # of a file that became shorter meanwhile
        raise FormatError("the file ends before the array does; fetch it again") from None
    if dtype.kind in NUMBERS and finite and not np.isfinite(array).all():
        raise FormatError(NOT_FINITE)
    if dtype.kind == "b":
        return array.view(np.uint8) != 0  # other bytes than 0 and 1 have undefined effects
    if dtype.kind == "U":
        codes = np.ravel(array, order="K").view(np.dtype("u4").newbyteorder(dtype.byteorder))
        if (codes > _LAST_CHARACTER).any():
            raise FormatError("holds characters that do not exist; the file is damaged")
    return array


def head_of(
    file: IO[bytes] | BufferedIOBase, size: int, kinds: str
) -> tuple[Any, tuple[int, ...], str, int]:
    """Read the dtype, the shape, the order, and the number of bytes before the numbers.

    The shape must be that of the bytes that follow.
    """
    head = BytesIO(file.read(min(size, _PREFIX_BYTES + MAX_HEADER_BYTES)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote, which are refused
            reader = _READERS[npy_format.read_magic(head)]
            shape, by_columns, dtype = reader(head, max_header_size=MAX_HEADER_BYTES)
    except Exception:  # whatever NumPy raises for a header that it did not write
        raise FormatError(NOT_NPY) from None
    if len(shape) > MAX_DIMENSIONS:
        raise FormatError(
            f"the header says {len(shape)} dimensions; wanted at most {MAX_DIMENSIONS}"
        )
    sides = all(type(side) is int and 0 <= side < MAX_SIDE for side in shape)
    if not sides or b"L" in head.getvalue()[: head.tell()]:  # as in 3L, of Python 2
        raise FormatError(NOT_NPY)
    _check_dtype(dtype, kinds)
    _check_size(dtype, shape, size - head.tell())
    return dtype, shape, "F" if by_columns else "C", head.tell()


def _check_dtype(dtype: Any, kinds: str) -> None:
    if dtype.kind not in kinds or not dtype.itemsize:
        wanted = " or ".join(filter(None, ("numbers" * ("f" in kinds), "text" * ("U" in kinds))))
        raise FormatError(
            f"holds {str(dtype)[:60]}, not {wanted}; objects are not read: save an array of "
            f"{wanted}"
        )
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        raise FormatError(
            f"holds {dtype}, of more digits than are computed with; save it as float64"
        )


def _check_size(dtype: Any, shape: tuple[int, ...], held: int) -> None:
    claimed = math.prod(shape) * dtype.itemsize
    # Beside a side of 0 the other sides could be anything.
    if claimed != held or math.prod(max(side, 1) for side in shape) > MAX_SHAPE_PRODUCT:
        raise FormatError(
            f"the header says shape {str(shape)[:60]} of {dtype}, {claimed} bytes, but {held} "
            "follow; the file is truncated or damaged"
        )
