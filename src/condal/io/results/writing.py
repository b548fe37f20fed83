"""A result as a folder of open formats, which appears whole under its name or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.io.formats.arrays import MAX_MEMBERS
from condal.io.formats.contents import digest_of
from condal.io.formats.npy import MAX_HEADER, NUMBERS
from condal.io.results.fields import plain, seal_of
from condal.io.results.folder import appearing, check_target
from condal.io.results.points import accuracy_of, arrays_of, described
from condal.io.results.readme import readme
from condal.io.results.record import (
    FORMAT,
    HISTORY,
    PICTURE,
    README,
    RECORD,
    SEPARATOR,
    TANGENT,
    TEXT,
    TIME,
    VERSION,
    X,
    Y,
)
from condal.io.results.rows import lines_of
from condal.io.safe_files import MAX_BYTES, PathLike, created
from condal.io.strict_json import encoded
from condal.result import Result
from condal.runtime.version import versions

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def save(
    result: Result,
    folder: PathLike,
    *,
    application: str | None = None,
    file: PathLike | None = None,
    digest: str | None = None,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    answer: Iterable[tuple[str, str]] = (),
    figures: Mapping[str, float | None] | None = None,
    picture: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the result to a new folder, and return its path; `condal.load` reads it.

    Parameters
    ----------
    application : what `condal solve --as` calls it, for `condal certify`.
    file, digest : the problem's file, of which the name is kept and the digest: that of its
        contents now, if it is not given.
    options : of the application, by which its model is made again from the file.
    settings : of the solve: tol, method, seed and others, to be shown.
    answer, figures : what the result means, for a person and for a machine.
    picture : arrays of numbers, or of text, to draw the answer by.
    overwrite : take the place of an earlier result; nothing else is ever overwritten.
    """
    target = check_target(folder, overwrite=overwrite)
    if file is not None and digest is None:
        digest = digest_of(file)
    record = {
        "format": FORMAT,
        "version": VERSION,
        "problem": result.problem_name,
        "application": application,
        "file": None if file is None else {"name": Path(os.fsdecode(file)).name, "sha256": digest},
        **_claims(result),
        "answer": [[str(name), str(value)] for name, value in answer],
        "figures": {
            name: None if value is None else encoded(value)
            for name, value in (figures or {}).items()
        },
        "options": plain(dict(options or {}), "options"),
        "settings": plain(dict(settings or {}), "settings"),
        "versions": versions(),
        "created": datetime.now(UTC).strftime(TIME),
        "x": described(result.x),
    }
    arrays, pictures = dict(arrays_of(result.x)), _pictures(picture or {})
    for what, parts in (("x", arrays), ("the picture", pictures)):
        # A little less than is read: names and headers are bytes of the file, too.
        total = sum(array.nbytes + MAX_HEADER for array in parts.values())
        if total >= MAX_BYTES:
            raise ProblemError(
                f"{what} has {total} bytes, more than the {MAX_BYTES} that are read again: solve "
                "with a smaller storage, such as condal.storage.Sketch(n, 10)"
            )
    with appearing(target, overwrite=overwrite) as spare:
        if result.x is not None:
            _write_arrays(spare / X, arrays)
        _write_array(spare / Y, result.y)
        for name, perhaps in ((TANGENT, result.tangent), (SEPARATOR, result.separator)):
            if perhaps is not None:
                _write_array(spare / name, perhaps)
        if pictures:
            _write_arrays(spare / PICTURE, pictures)
        _write_text(spare / HISTORY, lines_of(result.history))
        record["files"] = {path.name: _claim(path) for path in sorted(spare.iterdir())}
        record["seal"] = seal_of(record)
        _write_text(spare / README, [readme(record)])
        _write_text(spare / RECORD, [json.dumps(record, indent=1, allow_nan=False), "\n"])
    return target


def _claims(result: Result) -> dict[str, Any]:
    """What the result says of itself."""
    certificate, proof = result.certificate, result.infeasible
    return {
        "status": result.status.name.lower(),
        "reason": result.reason,
        "tol": None if result.tol is None else float(result.tol),
        "certificate": {
            "objective": encoded(certificate.objective),
            "bound": encoded(certificate.bound),
            "gap": encoded(certificate.gap),
            "infeasibility": encoded(certificate.infeasibility),
            "distance_to_X": encoded(certificate.distance_to_X),
            "how": certificate.how,
            "failure": encoded(certificate.failure),
            "dimacs": {name: encoded(error) for name, error in certificate.dimacs.items()},
        },
        "infeasible": None
        if proof is None
        else {
            "value": encoded(proof.value),
            "how": proof.how,
            "failure": encoded(proof.failure),
        },
        **accuracy_of(result.reconstruction),
        "method": result.method,
        "why": result.why,
        "work": {
            "oracle_calls": int(result.oracle_calls),
            "matvecs": int(result.matvecs),
            "seconds": encoded(result.seconds),
            "oracle_cpu_seconds": encoded(result.oracle_cpu_seconds),
            "cpu_seconds": encoded(result.cpu_seconds),
        },
    }


def _pictures(picture: Mapping[str, Any]) -> dict[str, Any]:
    arrays = {name: np.asarray(values) for name, values in picture.items()}
    for name, array in arrays.items():
        if not _NAME.fullmatch(name) or array.dtype.kind not in NUMBERS + TEXT:
            raise ProblemError(
                f"a picture is arrays of numbers or text by names of letters, digits and _; got "
                f"{name!r} of {array.dtype}"
            )
    if len(arrays) > MAX_MEMBERS:
        raise ProblemError(f"a picture is at most {MAX_MEMBERS} arrays; got {len(arrays)}")
    return arrays


def _claim(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def _write_text(path: Path, pieces: Iterable[str]) -> None:
    with created(path) as file:
        file.writelines(piece.encode("ascii") for piece in pieces)


def _write_array(path: Path, array: Any) -> None:
    with created(path) as file:
        np.save(file, np.asarray(array), allow_pickle=False)


def _write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    # Not numpy.savez, which takes its arrays by keywords: `file` is one of its own.
    with created(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
