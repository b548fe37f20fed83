"""--json and --out: stdout, or a file that is written completely or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from condal.errors import FormatError

STDOUT = "-"


def check_all(targets: Mapping[str, str | None], inputs: Mapping[str, str]) -> None:
    """Refuse before the solve a target that cannot be written, is an input, or stands twice.

    `targets` maps options to paths, and `inputs` descriptions to the files that are read.
    """
    taken = dict(inputs)
    for option, target in targets.items():
        if target is None or target == STDOUT:
            continue
        check(target, option)
        for what, path in taken.items():
            if _same(target, path):
                raise FormatError(f"is {what}; give {option} another path", path=target)
        taken[f"the {option} file"] = target


def check_outside(target: str, option: str, results: Iterable[str]) -> None:
    """Refuse a target inside one of the folders of saved results."""
    for folder in results:
        if within(target, folder):
            raise FormatError(f"is in the result {folder}; give {option} another path", path=target)


def within(path: str | Path, folder: str | Path) -> bool:
    """Return whether a path is inside a folder; neither needs to exist."""
    try:
        return Path(path).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError, ValueError):  # opening it will fail with a message
        return False


def check(target: str, option: str) -> None:
    """Refuse a path that is not a writable file."""
    path = Path(target)
    try:
        if path.exists():
            if not path.is_file():
                raise FormatError(f"is not a regular file; give {option} another path", path=target)
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
    """Return whether two paths lead to the same file; neither needs to exist."""
    try:
        first, second = Path(target), Path(other)
        if first.exists() and second.exists():
            return first.samefile(second)
        return first.resolve() == second.resolve()
    except (OSError, RuntimeError, ValueError):  # opening it will fail with a message
        return False


def write_record(target: str, record: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Write a record as a JSON object, or several as a list."""
    _write(target, json.dumps(record, indent=2, allow_nan=False) + "\n")


def write_lines(target: str, lines: Iterable[str]) -> None:
    """Write the lines of an answer."""
    _write(target, "".join(f"{line}\n" for line in lines))


def _write(target: str, text: str) -> None:
    if target == STDOUT:
        click.echo(text, nl=False)
    else:
        from condal.io.formats.writing import write_text

        write_text(target, [text])
