"""What the tests know of a format that condal reads."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def never(one: Any, other: Any) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Format:
    """A format, its reader, small files of it, and what is true of whatever is read.

    Parameters
    ----------
    name, suffix : of the format, and of its files.
    read : its reader.
    files : small ones that are right.
    holds : raises AssertionError of what no reader may give.
    told : cuts of the first file that leave fewer bytes must be noticed; those that leave more can
        not be: the digits that a number lacks, or lines where no header counts them.
    command : what follows `condal solve FILE`; None where the command line reads no such file.
    text : whether it has lines.
    packed : whether gzip and xz are unpacked.
    write, same : its writer, if there is one, and whether two things that were read are the same.
    more : bytes of memory that a small file may claim beside what all may.
    """

    name: str
    suffix: str
    read: Callable[[Path], Any]
    files: tuple[bytes, ...]
    holds: Callable[[Any], None]
    told: int
    command: tuple[str, ...] | None = None
    text: bool = True
    packed: bool = True
    write: Callable[[Path, Any], None] | None = None
    same: Callable[[Any, Any], bool] = never
    more: int = 0

    def __repr__(self) -> str:
        return self.name
