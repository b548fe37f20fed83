"""A saved result: the result, and what is known of the problem and the solve.

The point is named arrays and a description of them: x = U diag(weights) U' is U and weights,
x = U diag(weights) V' these and V, an array x, and a tuple of blocks `0.U`, `0.weights`, `1.x`, ...
The history is a table: a row per iteration, exact numbers, and no cell that a spreadsheet
evaluates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condal.certificates.history import History, Row
from condal.errors import FormatError, ProblemError
from condal.io.container.manifest import FolderKind, Kind
from condal.io.formats.npy import NUMBERS
from condal.io.results.fields import Fields
from condal.linalg.points import LowRank, Outer
from condal.result import Result

RESULT = Kind(
    "condal result",
    remedy="save the result again",
    other_version="solve and save again, or use condal {writer} to read it",
)
OWNER = "a saved result"  # in error messages
TEXT_DTYPE = "U"  # a kind of dtype that pictures may have besides numbers
TIME = "%Y-%m-%dT%H:%M:%SZ"

# The files of a folder, by what they hold.
RECORD, X, Y, HISTORY = "result.json", "x.npz", "y.npy", "history.csv"
TANGENT, SEPARATOR, LABELS = "tangent.npy", "separator.npy", "labels.npy"
PICTURE, README = "picture.npz", "README.txt"
RECONSTRUCTION = "reconstruction"  # the field of a record that only sketched points have
# The fields of the objects of a record and their types, as `Fields` has them.
CERTIFICATE = {
    **dict.fromkeys(("objective", "bound", "infeasibility", "price"), "number"),
    **dict.fromkeys(("distance_to_X", "size_of_X"), "number"),
    "unit": "positive",
    "inside": "flag",
    "bracket": "flag",
    "how": "text",
    "failure": "number",
    "dimacs": "numbers",
}
PROOF = {"value": "number", "how": "text", "failure": "number"}
ACCURACY = {"R": "whole", "rank": "whole", "missing_trace": "number", "image_error": "number"}
WORK = {
    **dict.fromkeys(("oracle_calls", "matvecs", "first_k"), "whole"),
    **dict.fromkeys(("seconds", "oracle_cpu_seconds", "cpu_seconds"), "number"),
}
NAMES = (RECORD, X, Y, TANGENT, HISTORY, SEPARATOR, LABELS, PICTURE, README)


@dataclass(frozen=True, eq=False)
class Saved:
    """A result as its folder states it; `condal.saved.verify` proves or refutes it.

    Parameters
    ----------
    result : Result
        x, y, status, certificate, history and counts.
    application : str or None
        Name of the application for `condal solve --as`; None for a problem of one's own.
    file, digest : str or None
        Name of the problem's file, and SHA-256 of its unpacked contents.
    options : dict
        Options of the application, with those that the model chose by itself.
    settings : dict
        Settings of the solve: tol, method, seed, storage, limits.
    answer : list of (str, str)
        What the result means, for a person.
    figures : dict
        What the result means, for a program.
    versions : dict
        Versions of condal, python, numpy and scipy.
    created : str
        When it was saved, in UTC, such as 2024-02-29T12:00:00Z.
    picture : dict
        Arrays to draw the answer from.
    labels : array of int or None
        The answer itself, if it was rounded: a sign, group, place or membership for each vertex.
    """

    result: Result
    application: str | None = None
    file: str | None = None
    digest: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    answer: list[tuple[str, str]] = field(default_factory=list)
    figures: dict[str, float | None] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    picture: dict[str, Any] = field(default_factory=dict)
    labels: Any = None


RESULT_FOLDER = FolderKind(RESULT, RECORD, "result", OWNER, NAMES.__contains__)
check_target = RESULT_FOLDER.check_target
check_earlier = RESULT_FOLDER.check_earlier

LOW_RANK, OUTER, ARRAY, BLOCKS = "low rank", "outer", "array", "blocks"
PARTS = {LOW_RANK: ("U", "weights"), OUTER: ("U", "weights", "V"), ARRAY: ("x",)}
FORMULAS = {
    LOW_RANK: "(U * weights) @ U.conj().T",
    OUTER: "(U * weights) @ V.T",
    ARRAY: "x itself",
    BLOCKS: "a tuple of blocks, the arrays of the first named 0.U, 0.weights or 0.x, and so on",
}


def described(x: Any) -> dict[str, Any] | None:
    """Describe the kind of a point, and the shapes and dtypes of its arrays; None if x is None."""
    if x is None:
        return None
    if isinstance(x, tuple):
        return {"kind": BLOCKS, "blocks": [described(block) for block in x]}
    return {"kind": _kind(x), "arrays": {name: _shape(array) for name, array in arrays_of(x)}}


def arrays_of(x: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of the point with their names."""
    if isinstance(x, tuple):
        for i, block in enumerate(x):
            yield from arrays_of(block, f"{prefix}{i}.")
    elif x is not None:
        kind = _kind(x)
        for name in PARTS[kind]:
            array = np.asarray(x if kind == ARRAY else getattr(x, name))
            if array.dtype.kind not in NUMBERS:
                raise ProblemError(
                    f"a result is saved as arrays of numbers; got {type(x).__name__} in x, of "
                    f"{array.dtype}"
                )
            yield prefix + name, array


def point_of(description: Fields, arrays: Mapping[str, Any], prefix: str = "") -> Any:
    """Make the point of a description and its arrays; FormatError where these do not fit."""
    kind = description.choice("kind", (*PARTS, BLOCKS))
    if kind == BLOCKS:
        description.only("kind", "blocks")
        blocks = description.tables("blocks")
        return tuple(point_of(block, arrays, f"{prefix}{i}.") for i, block in enumerate(blocks))
    description.only("kind", "arrays")
    shapes = description.table("arrays")
    shapes.only(*PARTS[kind])
    parts: list[Any] = []
    for name in PARTS[kind]:
        array = arrays.get(prefix + name)
        if array is None or shapes.text(name) != _shape(array):
            held = "is not there" if array is None else f"is {_shape(array)}"
            raise FormatError(
                f"says that {prefix}{name} of x is {shapes.text(name)[:40]!a}, but it {held}: save "
                "the result again"
            )
        parts.append(array)
    if kind == ARRAY:
        return parts[0]
    U, weights, *V = parts
    sides = [factor.shape[1:] for factor in (U, *V)]
    if weights.ndim != 1 or any(side != weights.shape for side in sides) or weights.dtype != float:
        raise FormatError(
            f"the arrays {prefix}U and {prefix}weights do not fit: wanted a real weight for each "
            f"column; got shapes {U.shape} and {weights.shape}"
        )
    return LowRank(U, weights) if kind == LOW_RANK else Outer(U, weights, V[0])


def _kind(x: Any) -> str:
    return LOW_RANK if isinstance(x, LowRank) else OUTER if isinstance(x, Outer) else ARRAY


def _shape(array: Any) -> str:
    """Return the dtype and shape, as float64[64, 14]."""
    return f"{array.dtype.name}{list(array.shape)}"


INTEGER_COLUMNS = ("k", "oracle_calls", "matvecs")
ROWS_PER_PIECE = 1 << 12
INFINITE = "1e999"  # which every reader takes for infinity: a cell -inf would be a formula
_INTEGER = re.compile(rb"[0-9]{1,18}")
_REAL = re.compile(rb"-?[0-9]{1,25}(\.[0-9]{1,25})?(e[-+]?[0-9]{1,3})?|nan")


def lines_of(history: History) -> Iterator[str]:
    """Yield the text of a history in pieces."""
    yield ",".join(Row._fields) + "\n"
    rows = list(history)
    for begin in range(0, len(rows), ROWS_PER_PIECE):
        yield "".join(
            ",".join(map(cell, Row._fields, row)) + "\n"
            for row in rows[begin : begin + ROWS_PER_PIECE]
        )


def history_of(data: bytes) -> History:
    """Read the history of a text; errors do not name the file."""
    lines = data.split(b"\n")
    if lines[0] != ",".join(Row._fields).encode() or lines.pop() != b"":
        raise FormatError(
            f"wanted the columns {', '.join(Row._fields)} on the first line, and whole lines after "
            "it; save the result again"
        )
    history = History()
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(b",")
        if len(cells) != len(Row._fields):
            raise FormatError(f"has {len(cells)} cells; wanted {len(Row._fields)}", line=number)
        values: list[Any] = []
        for name, cell in zip(Row._fields, cells, strict=True):
            if not (_INTEGER if name in INTEGER_COLUMNS else _REAL).fullmatch(cell):
                wanted = "a whole number" if name in INTEGER_COLUMNS else "a number"
                raise FormatError(f"{name} is {cell[:40]!r}; wanted {wanted}", line=number)
            values.append(int(cell) if name in INTEGER_COLUMNS else float(cell))
        history.append(Row(*values))
    return history


def cell(name: str, value: float) -> str:
    """Spell a number exactly, as a cell that no spreadsheet takes for a formula."""
    if name in INTEGER_COLUMNS:
        return f"{int(value)}"
    if math.isinf(value):
        return INFINITE if value > 0 else f"-{INFINITE}"
    return repr(float(value))
