"""Numbers as JSON, exact to the last bit: integers of any size, floats, NumPy's scalars."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from condal.io.container.arrays import DTYPES, MAX_EXACT_INT, dtype_name

LONGEST = 2**14  # digits of an integer, in hexadecimal


def of_int(value: int) -> Any:
    """An integer, in hexadecimal where JSON may not be exact."""
    return value if abs(value) < MAX_EXACT_INT else {"int": hex(value)}


def to_int(text: Any) -> int:
    """The integer; ValueError for any other spelling than `of_int`'s."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError("no integer")
    value = int(text, 16)
    if hex(value) != text or abs(value) < MAX_EXACT_INT:
        raise ValueError("no integer as it is written here")
    return value


def of_float(value: float) -> Any:
    """A float; by its bits where it is not finite."""
    return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}


def to_float(text: Any) -> float:
    """The float that is not finite; ValueError for another."""
    value = float(struct.unpack(">d", _unhex(text, 8))[0])
    if math.isfinite(value):
        raise ValueError("a finite number is written as it is")
    return value


def of_scalar(value: Any) -> Any:
    """A scalar of NumPy, by its dtype and its bits; None if a checkpoint holds none such."""
    name = dtype_name(value.dtype)
    if name is None:
        return None
    return {"scalar": [name, value.astype(value.dtype.newbyteorder("<")).tobytes().hex()]}


def to_scalar(pair: Any) -> Any:
    """The scalar; ValueError for anything else."""
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise ValueError("no scalar")
    dtype = DTYPES.get(pair[0])
    if dtype is None:
        raise ValueError("no dtype of a checkpoint")
    data = _unhex(pair[1], dtype.itemsize)
    if dtype.kind == "b" and data not in (b"\0", b"\1"):
        raise ValueError("no truth value")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)[0]


def _unhex(text: Any, size: int) -> bytes:
    if not isinstance(text, str) or len(text) != 2 * size:
        raise ValueError("no bits of that size")
    data = bytes.fromhex(text)
    if data.hex() != text:
        raise ValueError("no bits as they are written here")
    return data
