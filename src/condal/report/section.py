"""The section of a page for one result: words, figures, and the iterations as a table."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.certificates.history import History, Row, marked
from condal.io.results.record import Saved
from condal.io.results.rows import cell
from condal.report import figures, words
from condal.report.figures import Drawing
from condal.report.spectrum import spectra
from condal.result import Result
from condal.runtime.version import versions

MAX_TABLE_ROWS = 40
MAX_DOWNLOAD_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Section:
    """A result with its verdict, its proof in words, its figures and its data."""

    key: str
    label: str
    saved: Saved
    verdict: words.VerdictText
    proof: list[str]
    figures: list[Drawing]
    spectrum: Drawing | None
    picture: Drawing | None
    rows: list[list[str]]
    download: str

    @property
    def result(self) -> Result:
        """The result."""
        return self.saved.result

    @property
    def headline(self) -> tuple[str, str] | None:
        """The value that the application is about, such as the cut, or None."""
        name, value = next(iter(self.saved.figures.items()), ("", None))
        return None if value is None else (name.replace("_", " "), words.number(value))

    @property
    def under(self) -> str:
        """The line below the title."""
        saved = self.saved.created.replace("T", " at ").replace("Z", " UTC")
        parts = [f"method {self.result.method}", f"saved {saved}" if saved else ""]
        return ", ".join(part for part in parts if part)

    @property
    def how(self) -> list[tuple[str, str]]:
        """The method, why it was chosen, settings and versions."""
        result, saved = self.result, self.saved
        made_with = saved.versions or versions()
        return [
            ("method", result.method),
            *([("why", result.why)] if result.why else []),
            *_items({**saved.settings, "tol": result.tol, **saved.options}, without=("method",)),
            *([("file", saved.file)] if saved.file else []),
            *([("SHA-256 of the file", saved.digest)] if saved.digest else []),
            ("versions", ", ".join(f"{name} {version}" for name, version in made_with.items())),
        ]


def section(saved: Saved, label: str, key: str) -> Section:
    """Return the section of a result; `key` is unique on the page."""
    result = saved.result
    return Section(
        key=key,
        label=label,
        saved=saved,
        verdict=words.verdict(result),
        proof=words.proof(result),
        figures=figures.of_solve(result.trace(), key),
        spectrum=figures.of_spectrum(spectra(result.x), key),
        picture=figures.of_picture(saved.picture, key) if saved.picture else None,
        rows=[_cells(row) for row in _thinned(result.history)],
        download=_csv(result.history),
    )


def title_of(saved: Saved) -> str:
    """Return the name of the problem and of its file."""
    name = saved.result.problem_name
    return f"{name} of {saved.file}" if saved.file else name


def _items(given: Mapping[str, Any], *, without: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return names and values, without options that were not set."""
    return [
        (name.replace("_", " "), f"{value}")
        for name, value in given.items()
        if value is not None and value is not False and name not in without
    ]


def _thinned(history: History) -> list[Any]:
    """Return at most MAX_TABLE_ROWS rows, geometrically spaced, with the last one."""
    if len(history) <= MAX_TABLE_ROWS:
        return list(history)
    steps = np.geomspace(1, len(history), MAX_TABLE_ROWS).round().astype(int) - 1
    return [history[int(i)] for i in np.unique(steps)]


def _cells(row: Row) -> list[str]:
    """Return the texts of a row, estimates with their mark."""
    return [marked(name, _cell(value)) for name, value in zip(row._fields, row, strict=True)]


def _cell(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if np.isfinite(value) else "-"


def _csv(history: History) -> str:
    """Return the rows as a data: URL, at most MAX_DOWNLOAD_ROWS, evenly spaced."""
    rows = list(history)
    if len(rows) > MAX_DOWNLOAD_ROWS:
        steps = np.linspace(0, len(rows) - 1, MAX_DOWNLOAD_ROWS).round().astype(int)
        rows = [rows[int(i)] for i in np.unique(steps)]
    lines = [",".join(History.columns)]
    lines += [",".join(map(cell, History.columns, row)) for row in rows]
    text = "\n".join([*lines, ""])
    return f"data:text/csv;base64,{base64.b64encode(text.encode()).decode()}"
