"""A folder that `save` wrote, read with distrust: nothing is unpickled, followed or believed."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate, relative_gap
from condal.errors import FormatError
from condal.io.formats.arrays import read_array, read_arrays
from condal.io.formats.npy import NUMBERS
from condal.io.results.fields import MAX_BYTES, Fields, parsed, seal_of
from condal.io.results.points import RECONSTRUCTION, arrays_of, point_of, reconstruction_of
from condal.io.results.record import (
    FORMAT,
    HISTORY,
    PICTURE,
    RECORD,
    SEPARATOR,
    TANGENT,
    TEXT,
    TIME,
    VERSION,
    Saved,
    X,
    Y,
)
from condal.io.results.rows import history_of
from condal.io.safe_files import PathLike, opened
from condal.linalg.points import Array
from condal.linalg.proof import Proof
from condal.result import History, Result, Status

CHUNK = 1 << 20
MAX_HISTORY = 1 << 30  # bytes
_DIGEST = re.compile(r"[0-9a-f]{64}")
MAX_BLOCKS = 1 << 20  # arrays of a point
STATUSES = {status.name.lower(): status for status in Status}
FIELDS = [
    "format",
    "version",
    "problem",
    "application",
    "file",
    "status",
    "reason",
    "tol",
    "certificate",
    "infeasible",
    "method",
    "why",
    "work",
    "answer",
    "figures",
    "options",
    "settings",
    "versions",
    "created",
    "x",
    "files",
    "seal",
]


def load(folder: PathLike) -> Saved:
    """The result that `condal.save` or `condal solve --save` wrote to a folder.

    FormatError where a file is missing, was changed after it was saved, or is none of a result's.
    What the files claim is not proved by their being whole: `condal.saved.verify` proves it.
    """
    name = os.fsdecode(folder)
    if not Path(name).is_dir():
        what = "is no folder" if Path(name).exists() else "is not there"
        raise FormatError(f"{what}; wanted the folder of a saved result", path=name)
    fields = _record(Path(name))
    _check_files(Path(name), fields)
    return Saved(
        result=_result(Path(name), fields),
        application=None if fields.absent("application") else fields.text("application"),
        **_file(fields),
        options=fields.table("options").values,
        settings=fields.table("settings").values,
        answer=fields.pairs("answer"),
        figures=_numbers(fields.table("figures")),
        versions=_texts(fields.table("versions")),
        created=_time(fields),
        picture=_picture(Path(name), fields),
    )


def is_result(folder: Path) -> bool:
    """Whether a folder holds a record of a result, of any version."""
    try:
        return parsed(_bytes(folder / RECORD, MAX_BYTES), RECORD).values.get("format") == FORMAT
    except FormatError:
        return False


def _record(folder: Path) -> Fields:
    path = folder / RECORD
    fields = parsed(_bytes(path, MAX_BYTES), str(path))
    if fields.values.get("format") != FORMAT:
        raise FormatError("is no record of a result of condal", path=str(path))
    if fields.values.get("version") != VERSION:
        raise FormatError(
            f"is of version {fields.values.get('version')!r:.20} of the format; this condal reads "
            f"version {VERSION}: use the condal that saved it",
            path=str(path),
        )
    fields.only(*FIELDS, perhaps=(RECONSTRUCTION,))
    if fields.text("seal") != seal_of(fields.values):
        raise FormatError("was changed after it was saved", path=str(path))
    return fields


def _check_files(folder: Path, fields: Fields) -> None:
    """Refuse files that are missing, not what the record says, or not named there."""
    files = fields.table("files")
    needed = {Y, HISTORY} | (set() if fields.absent("x") else {X})
    for name in sorted(needed - set(files.values)):
        raise FormatError(f"does not name {name}, which a result has", path=fields.path)
    for name in files.values:
        if name not in needed | {TANGENT, SEPARATOR, PICTURE}:
            raise FormatError(
                f"names the file {name[:60]!a}, which is none of a result's", path=fields.path
            )
        claim = files.table(name)
        claim.only("bytes", "sha256")
        size, digest = claim.whole("bytes"), claim.text("sha256")
        if _regular(folder / name).st_size != size or _digest(folder / name) != digest:
            raise FormatError(
                f"is not what {RECORD} says: it was changed after it was saved",
                path=str(folder / name),
            )


def _result(folder: Path, fields: Fields) -> Result:
    work = fields.table("work")
    work.only("oracle_calls", "matvecs", "seconds", "oracle_cpu_seconds", "cpu_seconds")
    status = STATUSES[fields.choice("status", STATUSES)]
    files = fields.table("files").values
    return Result(
        x=_point(folder, fields),
        y=_vector(folder / Y),
        status=status,
        certificate=_certificate(fields.table("certificate")),
        history=_history(folder / HISTORY),
        seconds=work.number("seconds"),
        oracle_calls=work.whole("oracle_calls"),
        matvecs=work.whole("matvecs"),
        problem_name=fields.text("problem"),
        method=fields.text("method"),
        why=fields.text("why"),
        reason=fields.text("reason"),
        infeasible=None if fields.absent("infeasible") else _proof(fields.table("infeasible")),
        oracle_cpu_seconds=work.number("oracle_cpu_seconds"),
        cpu_seconds=work.number("cpu_seconds"),
        tol=None if fields.absent("tol") else fields.number("tol"),
        separator=_vector(folder / SEPARATOR) if SEPARATOR in files else None,
        reconstruction=reconstruction_of(fields),
        tangent=_vector(folder / TANGENT) if TANGENT in files else None,
    )


def _certificate(fields: Fields) -> Certificate:
    names = ("objective", "bound", "infeasibility", "failure", "distance_to_X")
    fields.only(*names, "gap", "how", "dimacs")
    dimacs = fields.table("dimacs")
    objective, bound, infeasibility, failure, distance = (fields.number(name) for name in names)
    gap, true = fields.number("gap"), relative_gap(objective, bound)
    if not (gap == true or (np.isnan(gap) and np.isnan(true))):
        raise FormatError(
            f"certificate.gap is {gap!r}, but objective and bound make it {true!r}: it was changed "
            "after it was saved",
            path=fields.path,
        )
    return Certificate(
        objective=objective,
        bound=bound,
        infeasibility=infeasibility,
        how=fields.text("how"),
        failure=failure,
        distance_to_X=distance,
        dimacs={name: dimacs.number(name) for name in dimacs.values},
    )


def _proof(fields: Fields) -> Proof:
    fields.only("value", "how", "failure")
    return Proof(fields.number("value"), fields.text("how"), fields.number("failure"))


def _point(folder: Path, fields: Fields) -> Any:
    if fields.absent("x"):
        return None
    arrays = read_arrays(folder / X, most=MAX_BLOCKS, finite=False)
    point = point_of(fields.table("x"), arrays)
    for name in sorted(set(arrays) - {name for name, _ in arrays_of(point)}):
        raise FormatError(f"holds {name[:40]!a}, which is none of x", path=str(folder / X))
    return point


def _vector(path: Path) -> Array:
    array = read_array(path, finite=False)
    if array.ndim != 1 or array.dtype != np.float64:
        raise FormatError(
            f"holds shape {array.shape} of {array.dtype}; wanted a vector of float64",
            path=str(path),
        )
    return np.asarray(array)


def _history(path: Path) -> History:
    return history_of(_bytes(path, MAX_HISTORY), str(path))


def _picture(folder: Path, fields: Fields) -> dict[str, Any]:
    if PICTURE not in fields.table("files").values:
        return {}
    return read_arrays(folder / PICTURE, kinds=NUMBERS + TEXT, finite=False)


def _file(fields: Fields) -> dict[str, str | None]:
    if fields.absent("file"):
        return {"file": None, "digest": None}
    file = fields.table("file")
    file.only("name", "sha256")
    name, digest = file.text("name"), file.text("sha256")
    if name != Path(name).name or not name or not _DIGEST.fullmatch(digest):
        raise FormatError(
            f"file is {name[:40]!a} of SHA-256 {digest[:70]!a}; wanted a name without a folder, "
            "and 64 hexadecimal digits",
            path=fields.path,
        )
    return {"file": name, "digest": digest}


def _numbers(fields: Fields) -> dict[str, float | None]:
    return {name: None if fields.absent(name) else fields.number(name) for name in fields.values}


def _texts(fields: Fields) -> dict[str, str]:
    return {name: fields.text(name) for name in fields.values}


def _time(fields: Fields) -> str:
    created = fields.text("created")
    try:
        datetime.strptime(created, TIME)
    except ValueError:
        raise FormatError(
            f"created is {created[:40]!a}; wanted a time in UTC such as 2024-02-29T12:00:00Z",
            path=fields.path,
        ) from None
    return created


def _bytes(path: Path, most: int) -> bytes:
    """All of a regular file, if it is not too large."""
    size = _regular(path).st_size
    if size > most:
        raise FormatError(f"is larger than {most} bytes, the most that is read", path=str(path))
    with opened(path) as file:
        return file.read(size)  # not `most`: a buffer of that size would be made first


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with opened(path) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _regular(path: Path) -> os.stat_result:
    """What the system says of a file that is one itself, and no link to one."""
    try:
        found = path.lstat()
    except OSError as error:
        raise FormatError(
            f"cannot be read: {error.strerror}; a saved result has it", path=str(path)
        ) from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "no regular file"
        raise FormatError(f"is {kind}; a saved result has the file itself there", path=str(path))
    return found
