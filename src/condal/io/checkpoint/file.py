"""The file of a checkpoint, in two generations.

A new checkpoint is written beside the old one and takes its name once it is on disk; the old one
then becomes the previous generation. Whatever happens, the last good one has a name, and `read`
returns a checkpoint as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, TypeVar

from numpy.typing import NDArray

from condal.errors import FormatError
from condal.io.checkpoint import CHECKPOINT
from condal.io.checkpoint.codec import pack, unpack
from condal.io.container.array_file import Head, head_bytes, read_file, read_head, write_file
from condal.io.container.atomic import previous, replacing, resolve_target, write_errors
from condal.io.container.manifest import FormatVersionError
from condal.io.safe_files import PathLike, opened

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a checkpoint: `about`, plain JSON, and the value.

    `generation` is 0 for the file itself and 1 for the previous one; `note` then says why.
    """

    about: dict[str, Any]
    value: Any
    generation: int
    note: str = ""


def write(path: PathLike, about: dict[str, Any], value: Any) -> None:
    """Write a checkpoint to `path`, and move what was there to `path`.previous; hold the lock.

    ProblemError for a value that a checkpoint cannot hold, FormatError where the system refuses.
    The checkpoint that was there is then unchanged.
    """
    skeleton, arrays = pack(value)
    put(path, about, skeleton, arrays)


def put(
    path: PathLike, about: dict[str, Any], skeleton: Any, arrays: Sequence[NDArray[Any]]
) -> None:
    """Write a packed value as `write` does."""
    head = head_bytes(CHECKPOINT, about, skeleton, arrays)
    target = resolve_target(path)
    with write_errors(path), replacing(target, keep_previous=True) as file:
        write_file(file, head, arrays)


def read(path: PathLike) -> Contents:
    """Read the checkpoint at `path`, or the previous one, with a note, if it is absent or damaged.

    FormatError if neither is good.
    """
    (head, value), generation, note = _newest(path, _read_value)
    return Contents(head.about, value, generation, note)


def read_about(path: PathLike) -> dict[str, Any]:
    """Read what a checkpoint is about; its arrays are not read."""
    return _newest(path, lambda file, name: read_head(CHECKPOINT, file, name))[0].about


def _newest(path: PathLike, reader: Callable[[BufferedReader, str], T]) -> tuple[T, int, str]:
    """Apply the reader to the newest good generation; return which one that is, and a note."""
    target, name, faults = resolve_target(path), os.fsdecode(path), []
    for generation, place in enumerate((target, previous(target))):
        place_name = name if generation == 0 else f"{name}.previous"
        if not os.path.lexists(place):
            faults.append(FormatError("there is no such file; check the path", path=place_name))
            continue
        try:
            with opened(resolve_target(place)) as file:
                contents = reader(file, place_name)
        except FormatError as fault:
            if may_not_fall_back(fault):
                raise
            faults.append(fault)
            continue
        note = previous_note(name, os.path.lexists(target)) if generation else ""
        return contents, generation, note
    if os.path.lexists(previous(target)):
        raise both_damaged(*faults)
    raise faults[0]


def may_not_fall_back(fault: FormatError) -> bool:
    """Whether a fault is not damage, so that the previous generation must not be taken instead."""
    return isinstance(fault, FormatVersionError) or isinstance(fault.__cause__, PermissionError)


def both_damaged(newer: FormatError, older: FormatError) -> FormatError:
    """Return the error where both generations are damaged."""
    return FormatError(f"{newer}; and the one before it: {older}")


def previous_note(name: str, exists: bool) -> str:
    """Return the note that the previous generation was read."""
    fault = "is damaged" if exists else "is not there"
    return f"{name} {fault}: {name}.previous, the checkpoint before it, was read instead"


def _read_value(file: BufferedReader, path: str) -> tuple[Head, Any]:
    head, arrays = read_file(CHECKPOINT, file, path)
    return head, unpack(head.skeleton, arrays, path)
