"""Points, a row each: a table of text, or a .npy file."""

from __future__ import annotations

import os

import numpy as np

from condal.errors import FormatError
from condal.formats.arrays import is_numpy, read_array
from condal.formats.table import read_table
from condal.formats.text import PathLike
from condal.points import Array


def read_points(path: PathLike) -> Array:
    """An array of a row a point: of a .npy file, or of a table with or without names of columns."""
    if not is_numpy(path):
        return read_table(path, wanted="points, a row each").values
    array = read_array(path)
    name = os.fsdecode(path)
    if array.dtype.kind == "c":
        raise FormatError("holds complex numbers; points are real", path=name)
    if array.ndim != 2 or 0 in array.shape:
        raise FormatError(
            f"holds an array of shape {array.shape}; wanted two dimensions, a row a point",
            path=name,
        )
    return np.asarray(array, dtype=np.float64)
