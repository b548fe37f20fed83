"""Points, one per row: a table of text, or a .npy file."""

from __future__ import annotations

import os

import numpy as np

from condal.errors import FormatError
from condal.io.formats.arrays import read_array
from condal.io.formats.signatures import is_npy, is_npz
from condal.io.formats.table import read_table
from condal.io.safe_files import PathLike
from condal.linalg.points import Array


def read_points(path: PathLike) -> Array:
    """Read points from a .npy file, or from a table with or without names of columns.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    ndarray
        A matrix with one point per row.
    """
    name = os.fsdecode(path)
    if is_npz(path):
        raise FormatError(
            "is a .npz file, and it is not known which of its arrays holds the points: save one "
            "array with numpy.save(path, points)",
            path=name,
        )
    if not is_npy(path):
        return read_table(path, wanted="points, one per row").values
    array = read_array(path)
    if array.dtype.kind == "c":
        raise FormatError("holds complex numbers; points are real", path=name)
    if array.ndim != 2 or 0 in array.shape:
        raise FormatError(
            f"holds an array of shape {array.shape}; wanted two dimensions, one row per point",
            path=name,
        )
    return np.asarray(array, dtype=np.float64)
