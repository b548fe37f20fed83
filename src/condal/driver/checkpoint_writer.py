"""Write the checkpoint of a solve at intervals, and read it back."""

from __future__ import annotations

import os
import time
import warnings
from contextlib import AbstractContextManager, suppress
from typing import Any

from condal.certificates.history import Row
from condal.driver.checkpoint import Checkpoint
from condal.driver.run_record import ADVICE, RunRecord
from condal.errors import CondalError, FormatError
from condal.io.checkpoint.about import about_of, described, require_same
from condal.io.checkpoint.file import Contents, read, write
from condal.io.checkpoint.packing import pack
from condal.io.container.atomic import previous, resolve_target
from condal.io.container.lock import locked
from condal.problem import Problem
from condal.runtime.meter import agreed

DAMAGED = ".damaged"
WRITING_SHARE = 0.1  # of the time, at most, is spent on writing


class CheckpointWriter:
    """Writes the checkpoint of one solve; while it is entered, no other process can."""

    def __init__(self, checkpoint: Checkpoint, problem: Problem) -> None:
        self.checkpoint, self.problem = checkpoint, problem
        self.path = str(
            resolve_target(checkpoint.path)
        )  # a callback may change the working directory
        self.options: dict[str, Any] = dict(checkpoint.options)
        self._described: dict[str, Any] | None = None
        self._next, self._last_error = 0.0, ""
        self.seconds = 0.0  # that the last write took
        self._lock: AbstractContextManager[None] | None = None

    def __enter__(self) -> CheckpointWriter:
        self._lock = locked(self.path)
        self._lock.__enter__()
        self._next = time.perf_counter() + self.checkpoint.every_seconds
        return self

    def __exit__(self, *error: Any) -> None:
        if self._lock is not None:
            self._lock.__exit__(*error)

    def require_new(self, held: Any) -> None:
        """Raise FormatError if there is a checkpoint already, or if it could not hold `held`."""
        self._require_free()
        self._require_packable(held)
        self._described = self._describe(self.problem)

    def read(self) -> tuple[RunRecord, dict[str, Any], dict[str, Any]]:
        """Return the record, the certification and the options; FormatError for another solve."""
        contents = self._contents()
        note = require_same(contents.about, self.problem, self.path, describe=self._describe)
        for text in (contents.note, note):
            if text:
                self._say(text)
        if contents.generation > 0:
            self._set_aside()
        fields, options = contents.value, contents.about["options"]
        if not isinstance(fields, dict) or not {"tol", "max_bytes"} <= set(options):
            raise FormatError(f"does not hold a solve; {ADVICE}", path=self.path)
        self._described = contents.about["problem"]
        self.options = dict(options)
        certification = fields.pop("certification", None)
        return RunRecord.unpacked(fields, self.path), certification, options

    def due(self) -> bool:
        """Return whether it is time to write."""
        return agreed(time.perf_counter() >= self._next)

    def write(self, value: Any, row: Row) -> None:
        """Write the checkpoint; if that fails, the previous one stays and the solve continues."""
        began, every = time.perf_counter(), self.checkpoint.every_seconds
        assert self._described is not None
        about = about_of(
            self._described,
            options=self.options,
            k=row.k,
            objective=row.objective,
            bound=row.bound,
        )
        try:
            self._write(about, value)
            self._last_error = ""
        except CondalError as error:
            if str(error) != self._last_error:  # say it once, as it may be tried for hours
                self._last_error = str(error)
                self._say(self._last_error)
        now = time.perf_counter()
        self.seconds = now - began
        self._next = now + (max(every, self.seconds / WRITING_SHARE) if every else 0.0)

    # One process writes one file; many ranks override these.

    def _describe(self, problem: Problem) -> dict[str, Any]:
        return described(problem)

    def _require_free(self) -> None:
        target = resolve_target(self.path)
        if os.path.lexists(target) or os.path.lexists(previous(target)):
            raise FormatError(
                "exists already and is not overwritten: resume it with condal.resume (condal "
                "resume), remove it, or give another path",
                path=self.path,
            )

    def _require_packable(self, held: Any) -> None:
        pack(held)

    def _contents(self) -> Contents:
        return read(self.path)

    def _set_aside(self) -> None:
        """Rename a damaged file, so that it does not replace the previous one."""
        target = resolve_target(self.path)
        with suppress(OSError):
            target.replace(target.with_name(target.name + DAMAGED))

    def _write(self, about: dict[str, Any], value: Any) -> None:
        write(self.path, about, value)

    def _say(self, text: str) -> None:
        if self.checkpoint.say is not None:
            self.checkpoint.say(text)
        else:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
