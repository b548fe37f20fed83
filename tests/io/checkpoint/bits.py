"""Whether two trees are the same to the last bit and in memory; and what is in a folder."""

import struct
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from condal.io.container.array_file import without_gaps


def names(folder: Path) -> list[str]:
    """The names of its files, in order."""
    return sorted(each.name for each in folder.iterdir())


def same(a: Any, b: Any) -> bool:
    """Types, bits, shapes and orders, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return _same_array(a, b)
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if type(a) is float:
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if is_dataclass(a):
        return all(_part(a, b, field.name) for field in fields(a))
    if hasattr(type(a), "checkpoint_fields"):
        return all(_part(a, b, name) for name in type(a).checkpoint_fields if _is_there(a, name))
    return bool(a == b)


def _part(a: Any, b: Any, name: str) -> bool:
    return same(getattr(a, name), getattr(b, name))


def _is_there(a: Any, name: str) -> bool:
    return name in vars(a) or not isinstance(getattr(type(a), name, None), cached_property)


def _same_array(a: np.ndarray, b: np.ndarray) -> bool:
    filled = all(without_gaps(x.shape, x.strides, x.itemsize) for x in (a, b))
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.tobytes() == b.tobytes()
        and (not filled or a.strides == b.strides)
    )
