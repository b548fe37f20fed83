"""Where a result may be saved: a new folder, or that of an earlier result."""

from __future__ import annotations

import os
from pathlib import Path

from condal.errors import FormatError
from condal.io.container.atomic import temporary, write_errors
from condal.io.container.manifest import read_json
from condal.io.results.record import NAMES, OWNER, RECORD, RESULT
from condal.io.safe_files import PathLike, size_of


def check_target(folder: PathLike, *, overwrite: bool = False) -> Path:
    """Return the resolved folder to write; refuse one that cannot be written, or that holds
    anything but an earlier result to overwrite."""
    name = os.fsdecode(folder)
    path = Path(name)
    with write_errors(name):
        path = path.parent.resolve() / path.name
        if os.path.lexists(path):
            check_earlier(path, name, overwrite)
        trial = temporary(path)
        trial.mkdir()
        trial.rmdir()
    return path


def check_earlier(path: Path, name: str, overwrite: bool) -> None:
    """Refuse what is at the path unless it is an earlier result to overwrite, and nothing more."""
    if path.is_symlink() or not path.is_dir():
        raise FormatError("exists and is not a folder; give a new folder", path=name)
    if not _is_result(path):
        raise FormatError("exists and is not a saved result; give a new folder", path=name)
    if not overwrite:
        raise FormatError(
            "holds an earlier result; give a new folder, or overwrite it (--overwrite, "
            "overwrite=True)",
            path=name,
        )
    for other in sorted(path.iterdir()):
        if other.name not in NAMES or not (other.is_file() or other.is_symlink()):
            raise FormatError(
                f"holds {other.name!a} beside an earlier result, and is not overwritten: move "
                "that, or give a new folder",
                path=name,
            )


def _is_result(folder: Path) -> bool:
    """Whether a folder holds the manifest of a result, of any version."""
    try:
        size_of(folder / RECORD, OWNER)
        return read_json(folder / RECORD, RESULT.remedy).get("format") == RESULT.name
    except FormatError:
        return False
