"""The file of a checkpoint: a header with lengths and digests, then arrays; whole or not there.

    magic line | format, u32 | length of the JSON, u64 | JSON | SHA-256 of all this | arrays

All numbers have their low end first. A new checkpoint is written beside the old one and takes its
name when it is on the disk; the old one then becomes the previous generation. Between any two steps
the last good one has its name, and what `read` gives is a checkpoint as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, BinaryIO, TypeVar

from numpy.typing import NDArray

from condal.errors import CondalError, FormatError
from condal.io.checkpoint.header import Header, head_of, header_of, refuse
from condal.io.checkpoint.place import keep, previous, remove, resolved, spare, unwritable
from condal.io.checkpoint.table import raw, table_of
from condal.io.checkpoint.tree import pack, unpack
from condal.io.safe_files import PathLike, created, opened, sync_folder

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Contents:
    """What a checkpoint holds: `about`, plain JSON, and the value.

    `generation` is 0 for the file itself and 1 for the previous one, of which `note` says why.
    """

    about: dict[str, Any]
    value: Any
    generation: int
    note: str = ""


def write(path: PathLike, about: dict[str, Any], value: Any) -> None:
    """Put a checkpoint at `path`, and what was there at `path`.previous: one writer at a time.

    ProblemError for a value that no checkpoint holds, FormatError where the system does not let it
    be written; the one that is there is then untouched.
    """
    skeleton, arrays = pack(value)
    put(path, head_of(about, skeleton, table_of(arrays)), arrays)


def put(path: PathLike, head: bytes, arrays: Sequence[NDArray[Any]]) -> None:
    """Put at `path` a file of that head and the arrays that it tells of, as `write` does."""
    target = resolved(path)
    new, older = spare(target), spare(target)
    try:
        with created(new) as file:
            fill(file, head, arrays)
        if os.path.lexists(target):
            keep(target, older)
        new.replace(target)
        sync_folder(target.parent)
        # Not before the new one is there: the old one may have been damaged meanwhile.
        if os.path.lexists(older):
            older.replace(previous(target))
            sync_folder(target.parent)
    except (OSError, ValueError) as error:
        raise unwritable(error, path) from error
    finally:
        remove(new)
        remove(older)


def fill(file: BinaryIO, head: bytes, arrays: Sequence[NDArray[Any]]) -> None:
    """Write the head and the bytes of the arrays."""
    file.write(head)
    for array in arrays:
        file.write(raw(array))


def read(path: PathLike) -> Contents:
    """The checkpoint at `path`; the previous one, and a note, where it is absent or damaged.

    FormatError if neither is good.
    """
    (header, value), generation, note = _newest(path, _whole)
    return Contents(header.about, value, generation, note)


def read_about(path: PathLike) -> dict[str, Any]:
    """What a checkpoint says of itself; its arrays are not read."""
    return _newest(path, header_of)[0].about


def _newest(path: PathLike, reader: Callable[[BufferedReader, str], T]) -> tuple[T, int, str]:
    """What the reader makes of the newest generation that is good, which one that is, and why."""
    target, name, faults = resolved(path), os.fsdecode(path), []
    for generation, place in enumerate((target, previous(target))):
        shown = name if generation == 0 else f"{name}.previous"
        if not os.path.lexists(place):
            faults.append(FormatError("there is no such file; check the path", path=shown))
            continue
        try:
            with opened(resolved(place)) as file:
                found = reader(file, shown)
        except FormatError as fault:
            if isinstance(fault.__cause__, PermissionError):
                raise
            faults.append(fault)
            continue
        return found, generation, older_note(name, os.path.lexists(target)) if generation else ""
    if os.path.lexists(previous(target)):
        raise neither(*faults)
    raise faults[0]


def neither(newer: FormatError, older: FormatError) -> FormatError:
    """The error where both generations are damaged."""
    return FormatError(f"{newer}; and the one before it: {older}")


def older_note(name: str, there: bool) -> str:
    """What is said where the generation before was read, of one that is `there`, or is not."""
    fault = "is damaged" if there else "is not there"
    return f"{name} {fault}: {name}.previous, the checkpoint before it, was read instead"


def _whole(file: BufferedReader, path: str) -> tuple[Header, Any]:
    """The header and the value; every digest is tried."""
    header, arrays = contents_of(file, path)
    return header, unpack(header.skeleton, arrays, path)


def contents_of(file: BufferedReader, path: str) -> tuple[Header, list[NDArray[Any]]]:
    """The header and the arrays; every digest is tried."""
    header = header_of(file, path)
    try:
        arrays = [entry.read(file) for entry in header.arrays]
        if file.read(1):
            raise ValueError("it goes on after its end")
    except CondalError:
        raise
    except ValueError as error:
        refuse(str(error), path)
    return header, arrays
