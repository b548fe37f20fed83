"""A folder that appears whole under its name, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from condal.errors import CondalError, FormatError
from condal.io.results.reading import is_result
from condal.io.results.record import NAMES
from condal.io.safe_files import PathLike, sync_folder


def check_target(folder: PathLike, *, overwrite: bool = False) -> Path:
    """The folder that is to be written, refused if it could not be, or holds anything but an
    earlier result that is to be overwritten."""
    name = os.fsdecode(folder)
    path = Path(name)
    try:
        path = path.parent.resolve() / path.name
        if os.path.lexists(path):
            _check_earlier(path, name, overwrite)
        spare = _spare(path)
        spare.mkdir()
        spare.rmdir()
    except (OSError, RuntimeError, ValueError) as error:
        raise _unwritable(error, name) from error
    return path


@contextmanager
def appearing(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write to, which has the name of the target in the end, or is gone."""
    spare, old = _spare(target), _spare(target)
    try:
        spare.mkdir()
        yield spare
        sync_folder(spare)
        if os.path.lexists(target):  # once more: another may have come meanwhile
            _check_earlier(target, str(target), overwrite)
            target.rename(old)
        spare.rename(target)
        sync_folder(target.parent)
    except (OSError, RuntimeError, ValueError) as error:
        raise _unwritable(error, str(target)) from error
    finally:
        if old.exists() and not os.path.lexists(target):  # interrupted between the two
            old.rename(target)
        for folder in (spare, old):
            shutil.rmtree(folder, ignore_errors=True)


def _spare(target: Path) -> Path:
    return target.with_name(f".condal-{secrets.token_hex(8)}.tmp")


def _check_earlier(path: Path, name: str, overwrite: bool) -> None:
    """Refuse what is there, unless it is an earlier result and nothing more."""
    if path.is_symlink() or not path.is_dir():
        raise FormatError("is there and is no folder; give a new folder", path=name)
    if not is_result(path):
        raise FormatError("is there and is no saved result; give a new folder", path=name)
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


def _unwritable(error: Exception, name: str) -> Exception:
    if isinstance(error, CondalError):
        return error
    reason = getattr(error, "strerror", None) or error
    return FormatError(
        f"cannot be written: {reason}; check the folder that it is to be in, its permissions and "
        "the space left",
        path=name,
    )
