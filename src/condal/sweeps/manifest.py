"""Folders of results: whose a folder is, said by a small file in it, and its files of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from condal.errors import CondalError
from condal.io.formats.writing import write_text
from condal.runtime.version import __version__

FORMAT = 1


class FolderError(CondalError):
    """A results folder that cannot be used; the text says what to do."""


def claim(path: Path, manifest: str, *, kind: str, about: str | None = None) -> None:
    """Begin a folder, or take one up that is of this kind, version and `about`; refuse others."""
    wanted: dict[str, Any] = {"format": FORMAT, "condal": __version__}
    wanted |= {} if about is None else {"of": about}
    try:
        if path.exists() and not path.is_dir():
            raise FolderError(f"{path} is no folder; give one (--out, out=)")
        path.mkdir(parents=True, exist_ok=True)
        spares = set(path.glob(".condal-*.tmp"))  # of one that was killed before it began
        empty = not set(path.iterdir()) - spares
    except OSError as error:
        raise FolderError(
            f"{path} cannot be used: {error.strerror}; give a folder that you can write to"
        ) from error
    if (path / manifest).exists():
        _accept(path, read_record(path / manifest), wanted)
    elif empty:
        write_record(path / manifest, wanted)
    else:
        raise FolderError(
            f"{path} holds files, but no {manifest}: it is not a folder of {kind}; give an "
            "empty or a new folder (--out, out=)"
        )


def _accept(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    if found == wanted:
        return
    if {**found, "of": ""} == {**wanted, "of": ""}:
        raise FolderError(
            f"the results in {path} are of {found.get('of')}, and this is {wanted.get('of')}; give "
            "another folder (--out, out=)"
        )
    made = f"condal {found.get('condal', 'of an unknown version')}"
    if found.get("condal") == wanted["condal"]:
        made += f" (format {found.get('format')})"
    raise FolderError(
        f"the results in {path} were made by {made}, and this is condal {wanted['condal']} (format "
        f"{FORMAT}): results of different versions do not mix; give another folder (--out, "
        "out=), or delete this one"
    )


def read_record(path: Path) -> dict[str, Any]:
    """The object of a file; FolderError if there is none."""
    try:
        record = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise damaged(path) from error
    if not isinstance(record, dict):
        raise damaged(path)
    return record


def write_record(path: Path, record: dict[str, Any]) -> None:
    """The object as a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, [json.dumps(record, allow_nan=False, indent=1), "\n"])


def damaged(path: Path) -> FolderError:
    """What to do with a file that is no result."""
    return FolderError(f"{path} cannot be read as a result; delete it, and it is computed again")
