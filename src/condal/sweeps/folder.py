"""The folder of a sweep: a saved result a point, and a table that grows by a line as each ends.

condal-sweep.json   which family, and the version of condal
table.jsonl         a line of JSON a point; of several of one point the last counts
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

from condal.io.checkpoint.lock import locked
from condal.io.results import load, save
from condal.io.results.record import RECORD
from condal.io.safe_files import PathLike, opened, sync_folder
from condal.io.strict_json import decoded, encoded, json_object
from condal.result import Result
from condal.sweeps.manifest import FolderError, claim
from condal.sweeps.table import COUNTS, FAILED, NUMBERS, Entry
from condal.sweeps.tasks import Task

MANIFEST, TABLE, POINTS = "condal-sweep.json", "table.jsonl", "points"
FIELDS = frozenset(one.name for one in fields(Entry)) - {"folder"} | {"digest", "name"}


class SweepFolder:
    """OUT, opened or begun, with what is in it; by one sweep at a time."""

    def __init__(self, path: PathLike, family: str) -> None:
        self.path = Path(os.fsdecode(path))
        claim(self.path, MANIFEST, kind="sweeps", about=family)
        self._entries: dict[str, Entry] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """For the time of the block no other sweep writes here."""
        with locked(self.path / TABLE):
            self._points.mkdir(exist_ok=True)
            for spare in self._points.glob(".condal-*.tmp"):  # of one that was killed
                shutil.rmtree(spare, ignore_errors=True)
            self._read()
            yield

    @property
    def _points(self) -> Path:
        return self.path / POINTS

    def entry(self, task: Task) -> Entry | None:
        """What came of the task, be it a failure; None if it was not tried, or its result is
        gone."""
        entry = self._entries.get(task.digest)
        if entry is None or (not entry.failed and not (self._points / task.name / RECORD).exists()):
            return None
        return entry

    def start(self, task: Task) -> Result:
        """The result of a task that is done."""
        return load(self._points / task.name).result

    def keep(
        self, task: Task, result: Result, *, start: Task | None, about: dict[str, Any]
    ) -> Entry:
        """Write a result, and then its line: each whole, or not at all."""
        place = self._points / task.name
        if place.exists() and not (place / RECORD).exists():  # what is left of a result
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
                seconds=float(result.seconds),
                iterations=int(result.iterations),
                oracle_calls=int(result.oracle_calls),
                figures=dict(about.get("figures") or {}),
                start=None if start is None else start.name,
                folder=place,
            ),
        )

    def keep_failure(self, task: Task, error: str, traceback: str = "") -> Entry:
        """Write that there is no result, and why."""
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
        if whole < len(data):  # killed in the middle of a line: its point is computed again
            os.truncate(path, whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                record = json_object(line.decode("ascii"))
                digest, entry = record["digest"], _entry(record)
            except (KeyError, RecursionError, TypeError, ValueError) as error:
                raise FolderError(
                    f"{path}, line {number} cannot be read as a point of a sweep; delete the line, "
                    "and it is computed again"
                ) from error
            place = self._points / str(record["name"])
            self._entries[digest] = entry if entry.failed else replace(entry, folder=place)


def _record(entry: Entry) -> dict[str, Any]:
    values = {one.name: getattr(entry, one.name) for one in fields(entry) if one.name != "folder"}
    numbers = {name: encoded(values[name]) for name in NUMBERS}
    figures = {n: None if v is None else encoded(v) for n, v in entry.figures.items()}
    return {**values, **numbers, "figures": figures}


def _entry(record: dict[str, Any]) -> Entry:
    if set(record) != FIELDS:
        raise ValueError("other fields")
    values = {name: value for name, value in record.items() if name not in ("digest", "name")}
    for name in NUMBERS:
        values[name] = decoded(values[name])
    for name in COUNTS:
        values[name] = int(values[name])
    figures = values["figures"].items()
    values["figures"] = {n: None if v is None else decoded(v) for n, v in figures}
    return Entry(**values)
