"""Folders of results that are begun once and reopened by the same version of condal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from condal.errors import FormatError
from condal.io.container.atomic import replacing, write_errors
from condal.io.container.manifest import (
    Kind,
    read_json,
    require_seal,
    require_version,
    sealed,
    shown,
)
from condal.runtime.version import __version__


def write_sealed(path: Path, values: Mapping[str, Any]) -> None:
    """Write an object with its seal."""
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.writelines(piece.encode("ascii") for piece in sealed(values))


def claim_folder(folder: Path, manifest: str, kind: Kind, of: str | None = None) -> None:
    """Begin a folder, or reopen one that this version of condal began for the same `of`."""
    place = str(folder)
    try:
        if folder.exists() and not folder.is_dir():
            raise FormatError("is not a folder; give one (--out, out=)", path=place)
        folder.mkdir(parents=True, exist_ok=True)
        # Temporary files are those of a process that was killed before it began.
        empty = not set(folder.iterdir()) - set(folder.glob(".condal-*.tmp"))
    except OSError as error:
        raise FormatError(
            f"cannot be used: {error.strerror}; give a folder that you can write to", path=place
        ) from error
    if (folder / manifest).exists():
        _require_same(folder / manifest, kind, of)
    elif empty:
        write_sealed(folder / manifest, {**kind.stamp(), "of": of})
    else:
        raise FormatError(
            f"holds files, but no {manifest}: it is not a {kind.name} folder; give an empty or "
            "a new folder (--out, out=)",
            path=place,
        )


def _require_same(path: Path, kind: Kind, of: str | None) -> None:
    values, place = read_json(path, kind.remedy), str(path.parent)
    require_version(values, kind, path)
    writer = values.get("condal")
    if writer != __version__:
        raise FormatError(
            f"was written by condal {shown(writer)}, and this is condal {__version__}: results of "
            "different versions do not mix; give another folder (--out, out=), or delete this one",
            path=place,
        )
    require_seal(values, path)
    if values.get("of") != of:
        raise FormatError(
            f"holds results of {shown(values.get('of'), 200)}, and this is {of}; give another "
            "folder (--out, out=)",
            path=place,
        )
