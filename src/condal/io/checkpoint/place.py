"""Where a checkpoint is on the disk: its name, its previous generation, and files on the way."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from condal.errors import FormatError
from condal.io.safe_files import PathLike, created

PREVIOUS = ".previous"
ENDING = ".tmp"
DRAWN = 8  # random bytes in the name of a temporary file


def resolved(path: PathLike) -> Path:
    """The path in its real folder, so that one checkpoint has one name; what is there must be a
    regular file, and no link to one, which would have another name."""
    name = os.fsdecode(path)
    if Path(name).name in ("", ".."):
        raise FormatError("is no name of a file; give one, such as run.checkpoint", path=name)
    try:
        target = Path(name).parent.resolve() / Path(name).name
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return target
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"is no path of a file: {reason}; give another", path=name) from error
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"))
        kind = next((kind for test, kind in kinds if test(mode)), "a device or a socket")
        raise FormatError(f"is {kind}; wanted a regular file: give the path of one", path=name)
    return target


def previous(target: Path) -> Path:
    """The generation before."""
    return target.with_name(target.name + PREVIOUS)


def spare(target: Path) -> Path:
    """A new name for a file that is not complete."""
    return target.with_name(f".{target.name}.{secrets.token_hex(DRAWN)}{ENDING}")


def clean(target: Path) -> None:
    """Remove what killed writers left behind: for the one that holds the lock."""
    begin = f".{target.name}."
    length = len(begin) + 2 * DRAWN + len(ENDING)
    for other in target.parent.iterdir():
        name = other.name
        if len(name) == length and name.startswith(begin) and name.endswith(ENDING):
            remove(other)


def keep(target: Path, older: Path) -> None:
    """A second name for what is there; where the disk has no links, a copy."""
    try:
        os.link(target, older)
    except OSError:
        with target.open("rb") as source, created(older) as copy:
            shutil.copyfileobj(source, copy)


def remove(path: Path) -> None:
    """Remove a file if it is there and can be removed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def unwritable(error: Exception, path: PathLike) -> FormatError:
    """What the system does not allow."""
    reason = getattr(error, "strerror", None) or error
    return FormatError(
        f"cannot be written: {reason}; the checkpoint that was there, if any, is as it was: check "
        "the folder, its permissions and the space left, or give another path",
        path=os.fsdecode(path),
    )
