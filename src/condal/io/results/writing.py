"""Write a result as a folder of open formats, which appears whole under its name or not at all."""

from __future__ import annotations

import os
import re
import textwrap
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.io.container.atomic import created, replacing_folder, write_errors
from condal.io.container.manifest import sealed
from condal.io.formats.arrays import MAX_MEMBERS
from condal.io.formats.npy import MAX_HEADER_BYTES, NUMBERS
from condal.io.formats.signatures import digest_of
from condal.io.results import record as parts
from condal.io.results.fields import written
from condal.io.safe_files import MAX_BYTES, PathLike, sha256_of
from condal.io.strict_json import encoded, plain
from condal.result import Result
from condal.runtime.version import versions

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
LINE_WIDTH = 80
_READ = """\
  import json, pathlib, numpy as np
  record = json.loads(pathlib.Path("result.json").read_text())
  y = np.load("y.npy")
  arrays = np.load("x.npz")            # arrays["U"], arrays["weights"], ...
  history = np.genfromtxt("history.csv", delimiter=",", names=True)
"""


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
    labels: Any = None,
    overwrite: bool = False,
) -> Path:
    """Write a result to a new folder, which appears whole or not at all; `condal.load` reads it.

    Parameters
    ----------
    result : Result
        The result.
    folder : str or os.PathLike
        The folder to make.
    application : str, optional
        Name of the application for `condal solve --as`, for `condal certify`.
    file : str or os.PathLike, optional
        The problem's file, of which the name and the digest are kept.
    digest : str, optional
        SHA-256 of the unpacked contents of the file; computed if it is not given.
    options : mapping, optional
        Options of the application, with which its model is made again from the file.
    settings : mapping, optional
        Settings of the solve, such as tol, method and seed, to be shown.
    answer : iterable of (str, str), optional
        What the result means, for a person.
    figures : mapping, optional
        What the result means, for a program.
    picture : mapping, optional
        Arrays of numbers or text to draw the answer from.
    labels : array_like of int, optional
        The answer itself, if it was rounded: a sign, group, place or membership for each vertex.
    overwrite : bool, optional
        Replace an earlier result; nothing else is ever overwritten.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FormatError
        If the folder exists and may not be overwritten, or cannot be written.
    ProblemError
        If the result holds something else than arrays of numbers.
    """
    target = parts.check_target(folder, overwrite=overwrite)
    if file is not None and digest is None:
        digest = digest_of(file)
    record = {
        **parts.RESULT.stamp(),
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
        "created": datetime.now(UTC).strftime(parts.TIME),
        "x": parts.described(result.x),
    }
    arrays, pictures = dict(parts.arrays_of(result.x)), _pictures(picture or {})
    for what, named in (("x", arrays), ("the picture", pictures)):
        # A little less than is read: names and headers are bytes of the file, too.
        total = sum(array.nbytes + MAX_HEADER_BYTES for array in named.values())
        if total >= MAX_BYTES:
            raise ProblemError(
                f"{what} has {total} bytes, more than the {MAX_BYTES} that can be read again: "
                "solve with a smaller storage, such as condal.storage.Sketch(n, 10)"
            )
    with (
        write_errors(target),
        replacing_folder(
            target, lambda: parts.check_earlier(target, str(target), overwrite)
        ) as new,
    ):
        if result.x is not None:
            _write_arrays(new / parts.X, arrays)
        _write_array(new / parts.Y, result.y)
        for name, vector in ((parts.TANGENT, result.tangent), (parts.SEPARATOR, result.separator)):
            if vector is not None:
                _write_array(new / name, vector)
        if labels is not None:
            _write_array(new / parts.LABELS, np.asarray(labels, dtype=np.int64))
        if pictures:
            _write_arrays(new / parts.PICTURE, pictures)
        _write_text(new / parts.HISTORY, parts.lines_of(result.history))
        record["files"] = {
            path.name: {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
            for path in sorted(new.iterdir())
        }
        _write_text(new / parts.README, [readme(record)])
        _write_text(new / parts.RECORD, sealed(record))
    return target


def _claims(result: Result) -> dict[str, Any]:
    """Return the fields that the result claims."""
    proof, accuracy = result.infeasible, result.reconstruction
    return {
        "status": result.status.name.lower(),
        "reason": result.reason,
        "tol": None if result.tol is None else float(result.tol),
        "seed": result.seed,
        "certificate": written(result.certificate, parts.CERTIFICATE),
        "infeasible": None if proof is None else written(proof, parts.PROOF),
        **({} if accuracy is None else {parts.RECONSTRUCTION: written(accuracy, parts.ACCURACY)}),
        "method": result.method,
        "why": result.why,
        "work": written(result, parts.WORK),
    }


def _pictures(picture: Mapping[str, Any]) -> dict[str, Any]:
    arrays = {name: np.asarray(values) for name, values in picture.items()}
    for name, array in arrays.items():
        if not _NAME.fullmatch(name) or array.dtype.kind not in NUMBERS + parts.TEXT_DTYPE:
            raise ProblemError(
                f"a picture is arrays of numbers or text by names of letters, digits and _; got "
                f"{name!r} of {array.dtype}"
            )
    if len(arrays) > MAX_MEMBERS:
        raise ProblemError(f"a picture is at most {MAX_MEMBERS} arrays; got {len(arrays)}")
    return arrays


def _write_text(path: Path, pieces: Iterable[str]) -> None:
    with created(path) as file:
        file.writelines(piece.encode("ascii") for piece in pieces)


def _write_array(path: Path, array: Any) -> None:
    with created(path) as file:
        np.save(file, np.asarray(array), allow_pickle=False)


def _write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    # Not numpy.savez, which takes arrays as keywords: `file` is one of its own.
    with created(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def readme(record: dict[str, Any]) -> str:
    """Return one screen of text for the record of a result."""
    x = record["x"]
    texts = {
        parts.RECORD: "status, certificate, settings, SHA-256 of the files",
        parts.X: "" if x is None else f"the point x, {x['kind']}: {parts.FORMULAS[x['kind']]}",
        parts.Y: "the dual y, which proves the bound",
        parts.TANGENT: "the image Mx at which the bound takes the tangent of the objective",
        parts.SEPARATOR: "the dual that proves that no point is feasible",
        parts.HISTORY: "a row per iteration; bound and gap are estimates; 1e999 is infinity",
        parts.LABELS: "the answer: a sign, group, place or membership for each vertex",
        parts.PICTURE: "arrays to draw the answer from",
    }
    files = [
        textwrap.fill(text, LINE_WIDTH, initial_indent=f"  {name:<15}", subsequent_indent=" " * 17)
        for name, text in texts.items()
        if name == parts.RECORD or name in record["files"]
    ]
    arguments = "x, y, tangent=tangent" if parts.TANGENT in record["files"] else "x, y"
    certify = f"condal.certify(problem, {arguments})"
    if record["application"] is not None and record["file"] is not None:
        certify = "condal certify PROBLEM THIS-FOLDER"
    return "\n".join(
        [
            "A result of condal. Its files:",
            "",
            *files,
            "",
            "With NumPy alone:",
            "",
            _READ,
            "With condal:",
            "",
            "  condal show THIS-FOLDER",
            f"  {certify}   proves or refutes it",
            "",
        ]
    )
