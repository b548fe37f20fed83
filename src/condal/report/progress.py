"""Show a running solve: a live line on a terminal, bars in a notebook, printed rows elsewhere."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from condal.certificates.history import Row
from condal.result import Result
from condal.runtime.text import rounded

if TYPE_CHECKING:
    from rich.live import Live

    from condal.report.notebook import Bar

REFRESHES_PER_SECOND = 10
SECONDS_BETWEEN_ROWS = 10.0

HEADER = (
    f"{'k':>8} {'objective':>14} {'bound':>15} {'gap':>9} {'infeas':>8} {'proved':>8} {'time':>8}"
)
LEGEND = "~ marks estimates; infeas includes its price; proved is what is proved so far"


class Progress:
    """Show each `Row` of a running solve.

    `~` marks estimates. "infeas" is the larger of the infeasibility and its price, and "proved" the
    largest of gap, infeasibility and price that is proved so far, a dash before the first proof.
    On a terminal, a thread redraws one line at most 10 times per second; an iteration costs one
    assignment. In a notebook, bars show the gap and the infeasibility. Elsewhere, without rich, or
    if it is called outside `solve` and `with`, rows are printed: when k passes a power of 2, or
    when 10 seconds, and a quarter of the time before, have passed since the last row. Ctrl-C, or an
    interrupt of the kernel, ends the solve with the best answer so far.

    Parameters
    ----------
    stream : file object, optional
        The destination of the rows; by default stderr or the notebook.

    Examples
    --------
    >>> import condal, io, networkx
    >>> rows = io.StringIO()
    >>> model = condal.problems.max_cut(networkx.cycle_graph(5))
    >>> result = condal.solve(model, callback=condal.Progress(rows))
    >>> rows.getvalue().split()[:4]
    ['k', 'objective', 'bound', 'gap']
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._notebook = stream is None and in_notebook()
        self._live: Live | None = None
        self._bar: Bar | None = None
        self._depth = 0
        self._reset()

    def _reset(self) -> None:
        self._row: Row | None = None
        self._shown: Row | None = None
        self._last = ""
        self._next_k, self._next_seconds = 1, SECONDS_BETWEEN_ROWS
        self._began = time.perf_counter()

    def __call__(self, row: Row) -> None:
        """Record a row; never ask the solve to stop."""
        self._row = row
        if self._bar is not None:
            self._bar.show(row)
        elif self._live is None and (row.k >= self._next_k or row.seconds >= self._next_seconds):
            self._print(row)

    def __enter__(self) -> Progress:
        # Both `solve` and its caller may enter the context.
        self._depth += 1
        if self._depth == 1:
            self._reset()
            self._bar = _bar() if self._notebook else None
            self._live = None if self._notebook else self._start_live()
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth:
            return
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._live is not None:
            self._live.stop()
            self._live = None
        elif self._row is not None:
            if self._row is not self._shown:
                self._print(self._row)
            if self._last:
                self._write(self._last)

    def conclude(self, result: Result) -> None:
        """Show what is proved at the end as the last row; the caller leaves the context then."""
        if result.certificate.certified and not result.status.excludes_optimum:
            self._last = last_line(result)
            if self._bar is not None:
                self._bar.conclude(result)

    def note(self, text: str) -> None:
        """Print a line of text, above the live one."""
        if self._bar is not None:
            self._bar.note(text)
        elif self._live is not None:
            self._live.console.print(text, highlight=False, markup=False)
        else:
            self._write(text)

    def _print(self, row: Row) -> None:
        lines = [HEADER, LEGEND] if self._shown is None else []
        self._shown = row
        while self._next_k <= row.k:
            self._next_k *= 2
        self._next_seconds = max(row.seconds + SECONDS_BETWEEN_ROWS, 1.25 * row.seconds)
        self._write("\n".join([*lines, line(row)]))

    def _write(self, text: str) -> None:
        # The solve continues if the stream is closed, or if a signal's note interrupts a write.
        with contextlib.suppress(OSError, RuntimeError):
            self._stream.write(text + "\n")
            self._stream.flush()

    def _start_live(self) -> Live | None:
        if not self._stream.isatty() or os.environ.get("TERM") in (None, "dumb", "unknown"):
            return None
        try:
            from rich.console import Console
            from rich.live import Live
        except ImportError:
            return None
        live = Live(
            console=Console(file=self._stream),
            get_renderable=self._draw,
            refresh_per_second=REFRESHES_PER_SECOND,
        )
        live.start()
        return live

    def _draw(self) -> Any:
        from rich.text import Text

        row, elapsed = self._row, time.perf_counter() - self._began
        drawn = Text(f"{LEGEND}\n{HEADER}\n", style="dim", no_wrap=True, overflow="crop")
        if self._last:
            return drawn.append(self._last, style="not dim")
        if row is None:
            return drawn.append(f"{'starting':>8}{clock(elapsed):>68}")
        return drawn.append(line(row._replace(seconds=max(elapsed, row.seconds))), style="not dim")


def in_notebook() -> bool:
    """Return whether a kernel that can show HTML runs this code."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _bar() -> Bar:
    from condal.report.notebook import Bar

    return Bar()


def line(row: Row) -> str:
    """Return a row of at most 80 columns, aligned with `HEADER`."""
    return (
        f"{row.k:>8} {row.objective + 0.0:>#14.7g} {estimate(row.bound, '#.7g'):>15} "
        f"{estimate(row.gap, '.1e'):>9} {max(row.infeasibility, row.price):>8.1e} "
        f"{proved(row):>8} {clock(row.seconds):>8}"
    )


def last_line(result: Result) -> str:
    """Return the proved values of a result, aligned with `HEADER`."""
    upper, bracket = result.bounded_above, result.bracket
    objective = _seven(result.objective, up=bracket and not upper, down=bracket and upper)
    error = result.certificate.error
    return (
        f"{'result':>8} {objective:>14} {_seven(result.bound, up=upper, down=not upper):>15} "
        f"{result.gap:>9.1e} {max(result.infeasibility, result.price):>8.1e} "
        f"{f'{error:.1e}' if math.isfinite(error) else '-':>8} {clock(result.seconds):>8}"
    )


def _seven(value: float, *, up: bool, down: bool) -> str:
    return f"{float(rounded(value, 7, up=up, down=down)) + 0.0:#.7g}"


def estimate(value: float, spec: str) -> str:
    """Return ~value, as it is not proved; a dash if there is none yet."""
    return f"~{value:{spec}}" if math.isfinite(value) else "-"


def proved(row: Row) -> str:
    """Return the error that is proved so far; a dash if there is none yet."""
    return f"{row.proved:.1e}" if math.isfinite(row.proved) else "-"


def clock(seconds: float) -> str:
    """Return a duration as 12.3 s, 4:05 or 1:02:03."""
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
