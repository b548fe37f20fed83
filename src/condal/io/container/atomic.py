"""Files and folders that appear whole under their name, or not at all.

Each is written under a temporary name in the same folder, synced to disk, and renamed.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from condal.errors import CondalError, FormatError
from condal.io.safe_files import PathLike, refuse_special

PREVIOUS = ".previous"
TEMPORARY_SUFFIX = ".tmp"
ANY_OWNER = "condal-"
RANDOM_BYTES = 8  # in a temporary name


def resolve_target(path: PathLike) -> Path:
    """Return the path in its real folder, so that one container has one name.

    What is there must be a regular file, not a link.
    """
    name = os.fsdecode(path)
    if Path(name).name in ("", ".."):
        raise FormatError("is not a file name; give one, such as run.checkpoint", path=name)
    try:
        target = Path(name).parent.resolve() / Path(name).name
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return target
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"is not a path of a file: {reason}; give another", path=name) from error
    refuse_special(mode, name)
    return target


def previous(target: Path) -> Path:
    """Return the path of the generation before."""
    return target.with_name(target.name + PREVIOUS)


def temporary(target: Path, owner: str = ANY_OWNER) -> Path:
    """Return a new name beside the target for what is not complete."""
    return target.with_name(f".{owner}{secrets.token_hex(RANDOM_BYTES)}{TEMPORARY_SUFFIX}")


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files of killed writers of the target; call it under the lock."""
    prefix = f".{target.name}."
    length = len(prefix) + 2 * RANDOM_BYTES + len(TEMPORARY_SUFFIX)
    for other in target.parent.iterdir():
        name = other.name
        if len(name) == length and name.startswith(prefix) and name.endswith(TEMPORARY_SUFFIX):
            remove(other)


@contextmanager
def created(path: Path) -> Iterator[BinaryIO]:
    """Open a new file, which is on disk when the block ends."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Put what was created or renamed in a folder on disk."""
    # Not every system lets a folder be opened and synced; there the rename has to do.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def replacing(target: Path, *, keep_previous: bool = False) -> Iterator[BinaryIO]:
    """Open a new file, which takes the name of the target when the block ends.

    With `keep_previous`, what was there becomes the previous generation. At each moment the last
    complete generation has a name.
    """
    owner = f"{target.name}." if keep_previous else ANY_OWNER
    new, old = temporary(target, owner), temporary(target, owner)
    try:
        with created(new) as file:
            yield file
        if keep_previous and os.path.lexists(target):
            _link_or_copy(target, old)
        new.replace(target)
        sync_folder(target.parent)
        # Not before the new one has its name: the old one may be damaged, and must not replace a
        # good previous generation while it is the only one.
        if os.path.lexists(old):
            old.replace(previous(target))
            sync_folder(target.parent)
    finally:
        remove(new)
        remove(old)


@contextmanager
def replacing_folder(target: Path, check: Callable[[], object]) -> Iterator[Path]:
    """Make a folder to write to, which takes the name of the target when the block ends.

    `check` raises unless what is at the target may be replaced.
    """
    new, old = temporary(target), temporary(target)
    try:
        new.mkdir()
        yield new
        sync_folder(new)
        if os.path.lexists(target):  # checked again: it may have appeared meanwhile
            check()
            target.rename(old)
        new.rename(target)
        sync_folder(target.parent)
    finally:
        if old.exists() and not os.path.lexists(target):  # interrupted between the two renames
            old.rename(target)
        for folder in (new, old):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def write_errors(path: PathLike) -> Iterator[None]:
    """Turn what the system refuses in the block into a FormatError that names the path."""
    try:
        yield
    except CondalError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be written: {reason}; check the folder, its permissions and the space left, "
            "or give another path; what was there before is unchanged",
            path=os.fsdecode(path),
        ) from error


def remove(path: Path) -> None:
    """Remove a file if it is there and can be removed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _link_or_copy(target: Path, other: Path) -> None:
    """Give the target a second name; make a copy where the disk has no links."""
    try:
        os.link(target, other)
    except OSError:
        with target.open("rb") as source, created(other) as copy:
            shutil.copyfileobj(source, copy)
