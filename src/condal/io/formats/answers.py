"""Answers of other solvers, each in the format that the solver writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from condal.errors import FormatError
from condal.io.formats.arrays import read_arrays
from condal.io.formats.sdpa_solution import DUAL, read_factors, read_result, read_solution
from condal.io.formats.signatures import is_npz
from condal.io.formats.text import read_text
from condal.io.safe_files import PathLike
from condal.linalg.points import LowRank

HEAD_BYTES = 1 << 16
POINT, FACTOR, DUALS = "x", ("U", "weights"), ("y", "z")
_BLOCK = re.compile(r"X([1-9][0-9]{0,5})?")


@dataclass(frozen=True, eq=False)
class GivenAnswer:
    """What a file holds: the point, as one array or block by block, and the dual.

    `writer` says who writes such files.
    """

    writer: str
    x: Any = None
    X: tuple[Any, ...] | None = None
    y: Any = None


def read_answer(path: PathLike, sizes: Sequence[int]) -> GivenAnswer:
    """Read the answer to an SDPA program: a file of CSDP, DSDP, SDPA or SDPLR, or a .npz archive.

    The contents tell which. `sizes` are the sizes of the program's blocks.
    """
    if is_npz(path):
        return read_pair(path)
    head = read_text(path, wanted="the solution of an SDPA program").data[:HEAD_BYTES]
    if head.split()[:2] == DUAL:
        name, solution = "SDPLR", read_factors(path, sizes)
    elif b"SDPA" in head or b"xVec" in head:
        name, solution = "SDPA", read_result(path, sizes)
    else:
        name, solution = "CSDP or DSDP", read_solution(path, sizes)
    # A solver that writes no entry of X has kept it to itself.
    has_point = any(isinstance(X, LowRank) or X.any() for X in solution.X)
    return GivenAnswer(name, X=solution.X if has_point else None, y=solution.z)


def read_pair(path: PathLike) -> GivenAnswer:
    """Read a .npz archive of a point and a dual.

    The dual is `y` (or `z`). The point is `x`, or `U` with `weights` for U diag(weights) U', or
    blocks `X` (a single one) or `X1`, `X2`, ...
    """
    arrays = read_arrays(path)
    for name in arrays:
        if name not in (POINT, *FACTOR, *DUALS) and not _BLOCK.fullmatch(name):
            raise FormatError(
                f"holds {name[:40]!a}; wanted y, and x, or U and weights, or X, or X1, X2, ...",
                path=str(path),
            )
    duals = [arrays[name] for name in DUALS if name in arrays]
    if len(duals) > 1:
        raise FormatError("holds y and z, of which one is the dual: leave one out", path=str(path))
    blocks = sorted((int(name[1:] or 1), name) for name in arrays if name.startswith("X"))
    if [number for number, _ in blocks] != list(range(1, 1 + len(blocks))):
        raise FormatError("has blocks that are not X1, X2, ... in order", path=str(path))
    x = arrays.get(POINT)
    if "U" in arrays:
        x = _factor(arrays, path)
    if (x is not None) and blocks:
        raise FormatError("holds the point twice: give x, or U and weights, or X", path=str(path))
    X = tuple(arrays[name] for _, name in blocks) or None
    return GivenAnswer(".npz", x, X, duals[0] if duals else None)


def _factor(arrays: dict[str, Any], path: PathLike) -> LowRank:
    U, weights = arrays["U"], arrays.get("weights")
    if U.ndim != 2 or weights is None or weights.shape != U.shape[1:]:
        raise FormatError("needs weights, a number for each column of U", path=str(path))
    return LowRank(U.astype(float), weights.astype(float))
