"""Read a folder that `save` wrote, without trust: nothing is unpickled, followed or believed."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate
from condal.errors import FormatError
from condal.io.container.manifest import SEAL, STAMP, read_json, require_seal, require_version
from condal.io.formats.arrays import read_array, read_arrays
from condal.io.formats.npy import NUMBERS
from condal.io.results import record as parts
from condal.io.results.fields import Fields
from condal.io.results.record import Saved
from condal.io.safe_files import PathLike, naming, read_whole, sha256_of, size_of
from condal.linalg.rounding import Proof
from condal.result import Result, Status
from condal.storage.sketch import Reconstruction

MAX_HISTORY_BYTES = 1 << 30
MAX_BLOCKS = 1 << 20  # arrays of a point
STATUSES = {status.name.lower(): status for status in Status}
FIELDS = (
    *STAMP, "problem", "application", "file", "status", "reason", "tol", "seed", "certificate",
    "infeasible", "method", "why", "work", "answer", "figures", "options", "settings", "versions",
    "created", "x", "files", SEAL,
)  # fmt: skip
_SHA256 = re.compile(r"[0-9a-f]{64}")


def load(folder: PathLike) -> Saved:
    """Read the result that `condal.save` or `condal solve --save` wrote to a folder.

    That the files are whole does not prove what they claim: `condal.saved.verify` proves it.

    Parameters
    ----------
    folder : str or os.PathLike
        The folder.

    Returns
    -------
    Saved
        The result, and what is known of the problem and the solve.

    Raises
    ------
    FormatError
        If a file is missing, was changed after it was saved, or does not belong to a result; or if
        another version of condal wrote the folder in another format.

    Examples
    --------
    >>> import condal, numpy as np, tempfile
    >>> result = condal.solve(condal.problems.max_cut(np.ones((3, 3)) - np.eye(3)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = condal.load(condal.save(result, f"{folder}/run"))
    >>> saved.result.objective == result.objective
    True
    """
    name = os.fsdecode(folder)
    path = Path(name)
    if not path.is_dir():
        wrong = "is not a folder; wanted the folder of a saved result"
        raise FormatError(wrong if path.exists() else "there is no such file or folder", path=name)
    with naming(path / parts.RECORD):
        return _saved(path, _record(path / parts.RECORD))


def _saved(path: Path, fields: Fields) -> Saved:
    _check_files(path, fields)
    figures, used, picture = fields.table("figures"), fields.table("versions"), {}
    if parts.PICTURE in fields.table("files").values:
        kinds = NUMBERS + parts.TEXT_DTYPE
        picture = read_arrays(path / parts.PICTURE, kinds=kinds, finite=False)
    return Saved(
        result=_result(path, fields),
        application=None if fields.absent("application") else fields.text("application"),
        **_file(fields),
        options=fields.table("options").values,
        settings=fields.table("settings").values,
        answer=fields.pairs("answer"),
        figures={each: figures.number_or_none(each) for each in figures.values},
        versions={name: used.text(name) for name in used.values},
        created=_time(fields),
        picture=picture,
        labels=_vector(path, fields, parts.LABELS, np.int64),
    )


def _record(path: Path) -> Fields:
    size_of(path, parts.OWNER)
    values = read_json(path, parts.RESULT.remedy)
    require_version(values, parts.RESULT, path)
    fields = Fields(values)
    fields.only(*FIELDS, optional=(parts.RECONSTRUCTION,))
    require_seal(values, path)
    return fields


def _check_files(folder: Path, fields: Fields) -> None:
    """Refuse files that are missing, differ from the record, or are not named there."""
    files = fields.table("files")
    needed = {parts.Y, parts.HISTORY} | (set() if fields.absent("x") else {parts.X})
    for name in sorted(needed - set(files.values)):
        raise FormatError(f"does not name {name}, which a result has")
    for name in files.values:
        if name not in needed | {parts.TANGENT, parts.SEPARATOR, parts.LABELS, parts.PICTURE}:
            raise FormatError(f"names the file {name[:60]!a}, which no result has")
        claim, path = files.table(name), folder / name
        claim.only("bytes", "sha256")
        size, digest = claim.whole("bytes"), claim.text("sha256")
        if size_of(path, parts.OWNER) != size or sha256_of(path) != digest:
            raise FormatError(
                f"is not what {parts.RECORD} says: it was changed after it was saved",
                path=str(path),
            )


def _result(folder: Path, fields: Fields) -> Result:
    work = fields.table("work").declared(parts.WORK)
    path = folder / parts.HISTORY
    with naming(path):
        history = parts.history_of(read_whole(path, MAX_HISTORY_BYTES))
    first_k = work["first_k"]
    if first_k and (not len(history) or first_k > history.last.k):
        raise FormatError(
            f"has work.first_k = {first_k}, after the last iteration: save the result again"
        )

    def optional(name: str, cls: Any, types: dict[str, str]) -> Any:
        return None if fields.absent(name) else cls(**fields.table(name).declared(types))

    return Result(
        x=_point(folder, fields),
        y=_vector(folder, fields, parts.Y),
        status=STATUSES[fields.choice("status", STATUSES)],
        certificate=Certificate(**fields.table("certificate").declared(parts.CERTIFICATE)),
        history=history,
        problem_name=fields.text("problem"),
        method=fields.text("method"),
        why=fields.text("why"),
        reason=fields.text("reason"),
        infeasible=optional("infeasible", Proof, parts.PROOF),
        tol=fields.number_or_none("tol"),
        seed=None if fields.absent("seed") else fields.whole("seed"),
        separator=_vector(folder, fields, parts.SEPARATOR),
        reconstruction=optional(parts.RECONSTRUCTION, Reconstruction, parts.ACCURACY),
        tangent=_vector(folder, fields, parts.TANGENT),
        **work,
    )


def _point(folder: Path, fields: Fields) -> Any:
    if fields.absent("x"):
        return None
    arrays = read_arrays(folder / parts.X, most=MAX_BLOCKS, finite=False)
    point = parts.point_of(fields.table("x"), arrays)
    for name in sorted(set(arrays) - {name for name, _ in parts.arrays_of(point)}):
        raise FormatError(
            f"holds {name[:40]!a}, which is not part of x", path=str(folder / parts.X)
        )
    return point


def _vector(folder: Path, fields: Fields, name: str, dtype: Any = np.float64) -> Any:
    """Return the vector in a file; None if the record names no such file."""
    if name not in fields.table("files").values:
        return None
    array = read_array(folder / name, finite=dtype is not np.float64)
    if array.ndim != 1 or array.dtype != dtype:
        raise FormatError(
            f"holds shape {array.shape} of {array.dtype}; wanted a vector of {np.dtype(dtype)}",
            path=str(folder / name),
        )
    return array


def _file(fields: Fields) -> dict[str, str | None]:
    if fields.absent("file"):
        return {"file": None, "digest": None}
    file = fields.table("file")
    file.only("name", "sha256")
    name, digest = file.text("name"), file.text("sha256")
    if name != Path(name).name or not name or not _SHA256.fullmatch(digest):
        raise FormatError(
            f"file is {name[:40]!a} of SHA-256 {digest[:70]!a}; wanted a name without a folder, "
            "and 64 hexadecimal digits"
        )
    return {"file": name, "digest": digest}


def _time(fields: Fields) -> str:
    created = fields.text("created")
    try:
        datetime.strptime(created, parts.TIME)
    except ValueError:
        raise FormatError(
            f"created is {created[:40]!a}; wanted a time in UTC such as 2024-02-29T12:00:00Z"
        ) from None
    return created
