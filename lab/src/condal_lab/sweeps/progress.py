"""Progress of many solves: a live line on a terminal, and a line per finished solve."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from contextlib import suppress
from typing import Any, TextIO

from condal.report.progress import clock
from condal.runtime.text import escape_terminal

MAX_LABEL_WIDTH = 47  # in a line of 80 columns


class Watch:
    """Receives the progress of many solves, and ignores it; it may also be a context manager."""

    def asked(self, what: str) -> None:
        """A solve was requested."""

    def done(self, what: str, seconds: float, score: float | None) -> None:
        """A solve ended, with the score of a trial, if it is known, or the gap of a point."""

    def failed(self, what: str, error: str) -> None:
        """A solve failed."""

    def found(self, what: str) -> None:
        """The result was in the folder already."""


class Lines(Watch):
    """Write a line per finished point, and on a terminal the number of finished points.

    Pass it as ``condal_lab.sweep(..., watch=condal_lab.sweeps.Lines())``.

    Parameters
    ----------
    stream : file, optional
        Where the lines go; stderr by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._status: Any = None
        self._wanted = self._made = self._kept = 0
        self._began = time.perf_counter()

    def __enter__(self) -> Lines:
        if self._stream.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown"):
            from rich.console import Console

            self._status = Console(file=self._stream).status("starting")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
        if self._kept:
            self._write(f"  {self._kept} results were there already")

    def asked(self, what: str) -> None:
        self._wanted += 1
        if self._wanted == 1:
            self._write(f"  first: {_shortened(what)}; it may take minutes")
        self._draw()

    def done(self, what: str, seconds: float, score: float | None) -> None:
        reached = "" if score is None else f"{score:.1e}"
        self._end(what, f"{reached:>8} {clock(seconds):>8}")

    def failed(self, what: str, error: str) -> None:
        self._end(what, f"{'failed':>8}")
        indent = " " * 12
        for line in textwrap.wrap(error, 80, initial_indent=indent, subsequent_indent=indent):
            self._write(line)

    def found(self, what: str) -> None:
        self._kept += 1

    def _end(self, what: str, how: str) -> None:
        self._made += 1
        line = f"  {self._made:>4}/{self._wanted:<4} {_shortened(what)}"
        self._write(f"{line:<60} {how}")
        self._draw()

    def _draw(self) -> None:
        if self._status is not None:
            elapsed = clock(time.perf_counter() - self._began)
            self._status.update(f"{self._made} of {self._wanted} so far, {elapsed}")

    def _write(self, line: str) -> None:
        if self._status is not None:
            self._status.console.print(escape_terminal(line), highlight=False, markup=False)
            return
        with suppress(OSError):  # the solves continue when nobody reads
            self._stream.write(f"{escape_terminal(line)}\n")
            self._stream.flush()


def _shortened(what: str) -> str:
    """Return the end of a long text, which tells solves apart."""
    return what if len(what) <= MAX_LABEL_WIDTH else f"...{what[3 - MAX_LABEL_WIDTH :]}"
