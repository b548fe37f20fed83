"""Show a running solve in a notebook: one output that IPython updates."""

from __future__ import annotations

import contextlib
import importlib
import math
import time
from typing import Any

from condal.certificates.history import ESTIMATES, Row, marked
from condal.result import Result
from condal.runtime.text import escape_html

SECONDS_BETWEEN_UPDATES = 0.2
DIGITS = 6  # of accuracy in a full bar
NAMES = ("gap", "infeasibility", "price", "proved")

_TRACK = (
    "display:inline-block;width:16em;height:0.7em;vertical-align:middle;border-radius:0.35em;"
    "overflow:hidden;background:rgba(128,128,128,0.25)"
)


class Bar:
    """The last `Row` as bars of its errors, at most 5 times per second.

    Each factor of 10 in the error is a sixth of the bar.
    """

    def __init__(self) -> None:
        ipython: Any = importlib.import_module("IPython.display")
        self._html = ipython.HTML
        self._began = self._drawn = time.perf_counter()
        self._row: Row | None = None
        self._result: Result | None = None
        self._notes: list[str] = []
        self._handle = ipython.display(ipython.HTML(self._draw()), display_id=True)

    def show(self, row: Row) -> None:
        """Record a row, and draw it if it is due."""
        self._row = row
        if time.perf_counter() - self._drawn >= SECONDS_BETWEEN_UPDATES:
            self._update()

    def note(self, text: str) -> None:
        """Add a line of text below the bars."""
        self._notes.append(text)
        self._update()

    def conclude(self, result: Result) -> None:
        """Draw what is proved at the end in the place of the last row."""
        self._result = result

    def close(self) -> None:
        """Draw the result, or else the last row."""
        self._update()

    def _update(self) -> None:
        self._drawn = time.perf_counter()
        # The solve continues if the output fails; a kernel interrupt is not an Exception.
        with contextlib.suppress(Exception):
            self._handle.update(self._html(self._draw()))

    def _draw(self) -> str:
        notes = "".join(f"<div>{escape_html(text)}</div>" for text in self._notes)
        seconds = time.perf_counter() - self._began
        if self._result is not None:
            return concluded(self._result, seconds) + notes
        return drawn(self._row, seconds) + notes


def drawn(row: Row | None, seconds: float) -> str:
    """Return the row as HTML, in the colours of the page."""
    if row is None:
        return _lines(["starting"])
    bound = f"~{row.bound:#.7g}" if math.isfinite(row.bound) else "none yet"
    texts = [
        f"objective {row.objective + 0.0:#.7g}, bound {bound}",
        f"iteration {row.k:,}, {max(seconds, row.seconds):.1f} s",
        ESTIMATES,
    ]
    bars = [_bar(name, value := getattr(row, name), marked(name, f"{value:.1e}")) for name in NAMES]
    return _lines(bars + texts)


def concluded(result: Result, seconds: float) -> str:
    """Return the proved values of a result as HTML, in the colours of the page."""
    from condal.report.words import bound_of, objective_of

    values = (result.gap, result.infeasibility, result.price, result.certificate.error)
    bars = [_bar(name, value, f"{value:.1e}") for name, value in zip(NAMES, values, strict=True)]
    texts = [
        f"objective {objective_of(result)}, proved bound {bound_of(result)}",
        f"{result.status.name.lower()} in {result.iterations:,} iterations, {seconds:.1f} s",
    ]
    return _lines(bars + texts)


def _lines(texts: list[str]) -> str:
    style = "color:inherit;font-variant-numeric:tabular-nums;line-height:1.6"
    return f'<div style="{style}">' + "".join(f"<div>{text}</div>" for text in texts) + "</div>"


def _bar(name: str, error: float, text: str) -> str:
    known = math.isfinite(error)
    share = min(max(-math.log10(error), 0.0), DIGITS) / DIGITS if known and error > 0 else 0.0
    share = 1.0 if error == 0 else share
    value = text if known else "not known yet"
    fill = f'<span style="display:block;height:100%;width:{100 * share:.1f}%;background:#4c8bbe">'
    return (
        f'<span style="display:inline-block;width:7em">{name}</span>'
        f'<span role="progressbar" aria-label="{name}" aria-valuemin="0" aria-valuemax="{DIGITS}" '
        f'aria-valuenow="{DIGITS * share:.1f}" aria-valuetext="{value}" style="{_TRACK}">'
        f"{fill}</span></span> {value}"
    )
