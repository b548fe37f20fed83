"""What a page shows of one result: words, drawings, and the iterations as a table."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.io.results.record import Saved
from condal.io.results.rows import cell
from condal.report import figures, words
from condal.report.figures import Drawing
from condal.report.spectrum import spectra
from condal.result import History, Result
from condal.runtime.version import versions

LISTED = 40  # iterations in a table
KEPT = 2000  # iterations in a download


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
        """The result itself."""
        return self.saved.result

    @property
    def under(self) -> str:
        """A line below its title."""
        made = self.saved.created.replace("T", " at ").replace("Z", " UTC")
        parts = [f"method {self.result.method}", f"saved {made}" if made else ""]
        return ", ".join(part for part in parts if part)

    @property
    def how(self) -> list[tuple[str, str]]:
        """Method, why it was chosen, settings and versions."""
        result, saved = self.result, self.saved
        made_with = saved.versions or versions()
        return [
            ("method", result.method),
            *([("why", result.why)] if result.why else []),
            *_items({**saved.settings, "tol": result.tol, **saved.options}, beside=("method",)),
            *([("file", saved.file)] if saved.file else []),
            *([("SHA-256 of the file", saved.digest)] if saved.digest else []),
            ("versions", ", ".join(f"{name} {version}" for name, version in made_with.items())),
        ]


def section(saved: Saved, label: str, key: str) -> Section:
    """The section of a result; `key` tells it from others on the page."""
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
        rows=[[_cell(value) for value in row] for row in _thinned(result.history)],
        download=_csv(result.history),
    )


def title_of(saved: Saved) -> str:
    """The problem, and the file that it is of."""
    name = saved.result.problem_name
    return f"{name} of {saved.file}" if saved.file else name


def _items(given: Mapping[str, Any], *, beside: tuple[str, ...]) -> list[tuple[str, str]]:
    """Names and values, but for what was not chosen."""
    return [
        (name.replace("_", " "), f"{value}")
        for name, value in given.items()
        if value is not None and value is not False and name not in beside
    ]


def _thinned(history: History) -> list[Any]:
    """At most LISTED rows: close together at first, and the last."""
    if len(history) <= LISTED:
        return list(history)
    steps = np.geomspace(1, len(history), LISTED).round().astype(int) - 1
    return [history[int(i)] for i in np.unique(steps)]


def _cell(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if np.isfinite(value) else "-"


def _csv(history: History) -> str:
    """The rows as a data: URL, all of them or evenly KEPT."""
    rows = list(history)
    if len(rows) > KEPT:
        steps = np.linspace(0, len(rows) - 1, KEPT).round().astype(int)
        rows = [rows[int(i)] for i in np.unique(steps)]
    lines = [",".join(History.columns)]
    lines += [",".join(map(cell, History.columns, row)) for row in rows]
    text = "\n".join([*lines, ""])
    return f"data:text/csv;base64,{base64.b64encode(text.encode()).decode()}"
