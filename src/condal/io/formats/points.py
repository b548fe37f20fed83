"""Points, a row each: a table of text, or a .npy file."""

from __future__ import annotations

import os

import numpy as np

from condal.errors import FormatError
from condal.io.formats.arrays import is_npz, read_array
from condal.io.formats.npy import MAGIC
from condal.io.formats.table import read_table
from condal.io.safe_files import PathLike, first_bytes
from condal.linalg.points import Array


def read_points(path: PathLike) -> Array:
    """An array of a row a point: of a .npy file, or of a table with or without names of columns."""
    name = os.fsdecode(path)
    if is_npz(path):
        raise FormatError(
            "is a .npz file, of which it is not known which array holds the points: save one array "
            "with numpy.save(path, points)",
            path=name,
        )
    if first_bytes(path, len(MAGIC)) != MAGIC:
        return read_table(path, wanted="points, a row each").values
    array = read_array(path)
    if array.dtype.kind == "c":
        raise FormatError("holds complex numbers; points are real", path=name)
    if array.ndim != 2 or 0 in array.shape:
        raise FormatError(
            f"holds an array of shape {array.shape}; wanted two dimensions, a row a point",
            path=name,
        )
    return np.asarray(array, dtype=np.float64)
