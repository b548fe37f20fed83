"""Where --json and --out go: stdout, or a file that appears whole or not at all; and how long."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from condal.errors import FormatError
from condal.io.formats.writing import write_text

STDOUT = "-"
SHORTEST = 1e-9  # seconds: a limit is positive


def left(max_seconds: float | None, began: float) -> float | None:
    """What the making of the model left of the time."""
    if max_seconds is None:
        return None
    return max(max_seconds - (time.perf_counter() - began), SHORTEST)


def check_all(targets: Mapping[str, str | None], read: Mapping[str, str]) -> None:
    """Refuse now what could not be written after the solve, or would write over what is `read` or
    written before: the targets by their options, and the files that are read by what they are."""
    taken = dict(read)
    for option, target in targets.items():
        if target is None or target == STDOUT:
            continue
        check(target, option)
        for what, path in taken.items():
            if _same(target, path):
                raise FormatError(f"is {what}; give {option} another path", path=target)
        taken[f"where {option} goes"] = target


def check_beside(target: str, option: str, results: Iterable[str]) -> None:
    """Refuse a file in one of the folders, which are results."""
    for folder in results:
        if within(target, folder):
            raise FormatError(f"is in the result {folder}; give {option} another path", path=target)


def within(path: str | Path, folder: str | Path) -> bool:
    """Whether a path leads into a folder, be it there or not."""
    try:
        return Path(path).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError, ValueError):  # it is refused where it is opened
        return False


def check(target: str, option: str) -> None:
    """Refuse what is no file that can be written."""
    path = Path(target)
    try:
        if path.exists():
            if not path.is_file():
                raise FormatError(f"is no regular file; give {option} another path", path=target)
            if not os.access(path, os.W_OK):
                raise PermissionError(None, "Permission denied")
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be written: {reason}; give {option} a file in a folder that you can write to",
            path=target,
        ) from error


def _same(target: str, other: str) -> bool:
    """Whether two paths lead to one file, be it there or not."""
    try:
        first, second = Path(target), Path(other)
        if first.exists() and second.exists():
            return first.samefile(second)
        return first.resolve() == second.resolve()
    except (OSError, RuntimeError, ValueError):  # it is refused where it is opened
        return False


def write_record(target: str, record: dict[str, Any] | list[dict[str, Any]]) -> None:
    """The record as one JSON object, or several as a list of these."""
    _write(target, json.dumps(record, indent=2, allow_nan=False) + "\n")


def write_lines(target: str, lines: Iterable[str]) -> None:
    """The answer, a line each."""
    _write(target, "".join(f"{line}\n" for line in lines))


def _write(target: str, text: str) -> None:
    if target == STDOUT:
        click.echo(text, nl=False)
    else:
        write_text(target, [text])
