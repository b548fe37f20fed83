"""The folder of a sweep: a saved result per point, and a table with a line per finished point.

condal-sweep.json   the manifest: which family, and the version of condal
table.jsonl         a line of JSON per point; of several lines of one point the last counts
points/NAME/        the result, as `condal.save` writes it
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from condal.errors import FormatError
from condal.io.container.atomic import sync_folder
from condal.io.container.lock import locked
from condal.io.container.manifest import (
    Kind,
    read_json,
    require_seal,
    require_version,
)
from condal.io.results.reading import load
from condal.io.results.record import RECORD
from condal.io.results.writing import save
from condal.io.safe_files import PathLike, opened
from condal.io.strict_json import decoded, encoded, json_object
from condal.result import Result
from condal_lab.folders import claim_folder
from condal_lab.sweeps.table import COUNTS, FAILED, NUMBERS, Entry, Table
from condal_lab.sweeps.tasks import Task

MANIFEST, TABLE, POINTS = "condal-sweep.json", "table.jsonl", "points"
SWEEP = Kind("condal sweep", remedy="give another folder (--out, out=), or delete this one")
LINE_FIELDS = frozenset(f.name for f in fields(Entry)) - {"folder"} | {"digest", "name"}


class SweepFolder:
    """The folder of one family's points; one sweep at a time writes to it."""

    def __init__(self, path: PathLike, family: str) -> None:
        self.path = Path(os.fsdecode(path))
        claim_folder(self.path, MANIFEST, SWEEP, family)
        self._entries: dict[str, Entry] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other sweeps from writing here while the block runs, and read the table."""
        with locked(self.path / TABLE):
            self._points.mkdir(exist_ok=True)
            for leftover in self._points.glob(".condal-*.tmp"):  # of a sweep that was killed
                shutil.rmtree(leftover, ignore_errors=True)
            self._read()
            yield

    @property
    def _points(self) -> Path:
        return self.path / POINTS

    def entry(self, task: Task) -> Entry | None:
        """Return the entry of the task, which may be a failure; None if the task was not tried, or
        its result is missing."""
        entry = self._entries.get(task.digest)
        if entry is None or (not entry.failed and not (self._points / task.name / RECORD).exists()):
            return None
        return entry

    def start(self, task: Task) -> Result:
        """Read the result of a task that is done."""
        return load(self._points / task.name).result

    def keep(
        self, task: Task, result: Result, *, start: Task | None, about: dict[str, Any]
    ) -> Entry:
        """Write a result, and then its line."""
        place = self._points / task.name
        if place.exists() and not (place / RECORD).exists():  # the rest of a damaged result
            shutil.rmtree(place)
        save(result, place, overwrite=place.exists(), **about)
        return self._add(
            task,
            Entry(
                parameters=task.parameters,
                status=result.status.name.lower(),
                objective=float(result.objective),
                bound=float(result.bound),
                gap=float(result.gap),
                infeasibility=float(result.infeasibility),
                price=float(result.price),
                seconds=float(result.seconds),
                iterations=int(result.iterations),
                oracle_calls=int(result.oracle_calls),
                figures=dict(about.get("figures") or {}),
                start=None if start is None else start.name,
                folder=place,
            ),
        )

    def keep_failure(self, task: Task, error: str, traceback: str = "") -> Entry:
        """Write the line of a task without a result."""
        return self._add(task, Entry(task.parameters, FAILED, error=error, traceback=traceback))

    def _add(self, task: Task, entry: Entry) -> Entry:
        record = {"digest": task.digest, "name": task.name, **_record(entry)}
        with (self.path / TABLE).open("ab") as file:
            file.write(json.dumps(record, allow_nan=False).encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._entries[task.digest] = entry
        return entry

    def _read(self) -> None:
        path = self.path / TABLE
        if not path.exists():
            path.touch()
            sync_folder(self.path)
        with opened(path) as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):  # killed while it wrote a line: the point is computed again
            os.truncate(path, whole)
        self._entries |= _entries(path, data[:whole])


def is_sweep(path: PathLike) -> bool:
    """Return whether a folder holds the manifest of a sweep."""
    return (Path(os.fsdecode(path)) / MANIFEST).is_file()


def read_sweep(path: PathLike) -> Table:
    """Return the points of a sweep that are finished so far; nothing is written."""
    folder = Path(os.fsdecode(path))
    manifest = folder / MANIFEST
    values = read_json(manifest, SWEEP.remedy)
    require_seal(values, manifest)
    require_version(values, SWEEP, manifest)
    table = folder / TABLE
    if not table.exists():
        return Table((), folder)
    with opened(table) as file:
        data = file.read()
    whole = data.rfind(b"\n") + 1  # a sweep that is running may be writing a line
    return Table(tuple(_entries(table, data[:whole]).values()), folder)


def _entries(path: Path, data: bytes) -> dict[str, Entry]:
    """Return the entries of the lines of a table by the digest of their task."""
    entries: dict[str, Entry] = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            record = json_object(line.decode("ascii"))
            digest, entry = record["digest"], _entry(record)
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise FormatError(
                "cannot be read as a point of a sweep; delete the line, and it is computed again",
                path=str(path),
                line=number,
            ) from error
        place = path.parent / POINTS / str(record["name"])
        entries[digest] = entry if entry.failed else replace(entry, folder=place)
    return entries


def _record(entry: Entry) -> dict[str, Any]:
    values = {f.name: getattr(entry, f.name) for f in fields(entry) if f.name != "folder"}
    numbers = {name: encoded(values[name]) for name in NUMBERS}
    figures = {n: None if v is None else encoded(v) for n, v in entry.figures.items()}
    return {**values, **numbers, "figures": figures}


def _entry(record: dict[str, Any]) -> Entry:
    if set(record) != LINE_FIELDS:
        raise ValueError("other fields")
    values = {name: value for name, value in record.items() if name not in ("digest", "name")}
    for name in NUMBERS:
        values[name] = decoded(values[name])
    for name in COUNTS:
        values[name] = int(values[name])
    figures = values["figures"].items()
    values["figures"] = {n: None if v is None else decoded(v) for n, v in figures}
    return Entry(**values)
