"""An array as NumPy writes it to a .npy file: magic, version, length, a header of text, numbers.

The header is a piece of Python, which is matched here and never evaluated.
"""

from __future__ import annotations

import math
import re
from io import BufferedIOBase
from typing import IO, Any

import numpy as np

from condal.errors import FormatError
from condal.io.formats.text import quote

MAGIC = b"\x93NUMPY"
NUMBERS = "biufc"  # the kinds of their dtypes
MAX_DIMENSIONS = 32  # which every NumPy can have
MAX_HEADER = 10_000  # bytes
NOT_FINITE = "holds nan or inf; every entry must be finite"

_LENGTHS = {b"\x01\x00": 2, b"\x02\x00": 4}  # bytes of the length of the header, by the version
_HEADER = re.compile(
    rb"\{\s*'descr':\s*('[^'\\]{1,40}'|\[.*\]),\s*'fortran_order':\s*(True|False),"
    rb"\s*'shape':\s*\(\s*((?:\d{1,18}\s*,\s*)*(?:\d{1,18}\s*)?)\),?\s*\}\s*",
    re.DOTALL,
)
_DTYPE = re.compile(rb"'([<>=|]?[biufcSU]\d{1,9})'")
_LAST = 0x10FFFF  # of the characters of Unicode


def parse(
    file: BufferedIOBase,
    size: int,
    name: str,
    where: str,
    *,
    kinds: str = NUMBERS,
    finite: bool = True,
) -> Any:
    """The array of a file of so many bytes; refused unless its header fits the bytes that are
    there, and is of one of the `kinds`. `where` begins the texts of errors."""

    def error(text: str) -> FormatError:
        return FormatError(where + text, path=name)

    dtype, shape, order, begin = head_of(file, size, kinds, error)
    raw = np.empty(size - begin, np.uint8)
    if raw.size and file.readinto(raw.data) != raw.size:
        raise error("the file ends before the array does; fetch it again")
    array = entries_of(raw, dtype)
    if dtype.kind in NUMBERS and finite and not np.isfinite(array).all():
        raise error(NOT_FINITE)
    if dtype.kind == "U" and (raw.view(np.dtype("u4").newbyteorder(dtype.byteorder)) > _LAST).any():
        raise error("holds characters that there are none of; the file is damaged")
    return array.reshape(shape, order=order)


def entries_of(raw: Any, dtype: Any) -> Any:
    """The numbers of their bytes."""
    # Other bytes than 0 and 1 are no bool, and do what they like.
    return raw.astype(bool) if dtype.kind == "b" else raw.view(dtype)


def head_of(
    file: IO[bytes] | BufferedIOBase, size: int, kinds: str, error: Any
) -> tuple[Any, tuple[int, ...], Any, int]:
    """The dtype, the shape, the order, and how many of the bytes come before the numbers; refused
    unless the shape is that of the bytes that follow. `error` makes an error of a text."""
    head = file.read(len(MAGIC) + 2)
    length = _LENGTHS.get(head[len(MAGIC) :]) if head.startswith(MAGIC) else None
    counted = file.read(length or 0)
    count = int.from_bytes(counted, "little")
    text = file.read(count) if count <= MAX_HEADER else b""
    found = _HEADER.fullmatch(text) if length == len(counted) else None
    if found is None:
        raise error("is no array as numpy.save writes it; save it again")
    dtype = _dtype(found[1], kinds, error)
    shape = tuple(map(int, re.findall(rb"\d+", found[3])))
    order = "F" if found[2] == b"True" else "C"
    begin = len(head) + len(counted) + len(text)
    _check_shape(dtype, shape, size - begin, error)
    return dtype, shape, order, begin


def _dtype(text: bytes, kinds: str, error: Any) -> Any:
    known = _DTYPE.fullmatch(text)
    try:
        dtype = np.dtype(known[1].decode()) if known else None
    except TypeError:  # no number has that many bytes
        dtype = None
    if dtype is None or dtype.kind not in kinds or not dtype.itemsize:
        parts = ("numbers" * ("f" in kinds), "text" * ("U" in kinds))
        wanted = " or ".join(filter(None, parts))
        held = quote(text) if dtype is None else dtype
        raise error(f"holds {held}, not {wanted}; objects are not read: save an array of {wanted}")
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        raise error(f"holds {dtype}, of more digits than are computed with; save it as float64")
    return dtype


def _check_shape(dtype: Any, shape: tuple[int, ...], held: int, error: Any) -> None:
    """Refuse a shape that is not that of the bytes that follow."""
    if len(shape) > MAX_DIMENSIONS:
        raise error(f"the header says {len(shape)} dimensions; wanted at most {MAX_DIMENSIONS}")
    claimed = math.prod(shape) * dtype.itemsize
    # Beside a side of 0 the others could be what they like.
    if claimed != held or math.prod(max(side, 1) for side in shape) > 2**40:
        raise error(
            f"the header says shape {str(shape)[:60]} of {dtype}, {claimed} bytes, but {held} "
            "follow; the file is truncated or damaged"
        )
