"""The file of a checkpoint, in two generations.

A new checkpoint is written beside the old one and takes its name once it is on disk; the old one
then becomes the previous generation. Whatever happens, the last good one has a name, and `read`
returns a checkpoint as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
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
    target, name = resolve_target(path), os.fsdecode(path)
    (head, value), generation, note = newest(target, name, _read_value)
    return Contents(head.about, value, generation, note)


def read_about(path: PathLike) -> dict[str, Any]:
    """Read what a checkpoint is about; its arrays are not read."""
    return newest(resolve_target(path), os.fsdecode(path), _read_head)[0].about


def newest(
    target: Path,
    name: str,
    reader: Callable[[Path, str], T],
    exists: Callable[[Path], bool] = os.path.lexists,
) -> tuple[T, int, str]:
    """Apply the reader to the newest good generation; return which one that is, and a note."""
    faults = []
    for generation, place in enumerate((target, previous(target))):
        place_name = name if generation == 0 else f"{name}.previous"
        if not exists(place):
            faults.append(FormatError("there is no such file; check the path", path=place_name))
            continue
        try:
            contents = reader(place, place_name)
        except FormatError as fault:
            # What is not damage: the previous generation must not be taken instead.
            if isinstance(fault, FormatVersionError) or isinstance(
                fault.__cause__, PermissionError
            ):
                raise
            faults.append(fault)
            continue
        note = ""
        if generation:
            why = "is damaged" if exists(target) else "is not there"
            note = f"{name} {why}: {name}.previous, the checkpoint before it, was read instead"
        return contents, generation, note
    if exists(previous(target)):
        raise FormatError("{}; and the one before it: {}".format(*faults))
    raise faults[0]


def _read_head(place: Path, name: str) -> Head:
    with opened(resolve_target(place)) as file:
        return read_head(CHECKPOINT, file, name)


def _read_value(place: Path, name: str) -> tuple[Head, Any]:
    with opened(resolve_target(place)) as file:
        head, arrays = read_file(CHECKPOINT, file, name)
    return head, unpack(head.skeleton, arrays, name)
