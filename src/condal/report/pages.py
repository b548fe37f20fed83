"""Results as one HTML page: verdicts, certificates, curves, spectra, pictures, tables.

The page is one file with inline figures and no scripts, and its content security policy forbids
loading anything. It is pure ASCII, independent of encodings.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.history import History, Row, column_label, marked
from condal.errors import ProblemError
from condal.io.formats.writing import write_text
from condal.io.results.record import Saved, cell
from condal.io.safe_files import PathLike
from condal.report import figures, words
from condal.report.curves import require_matplotlib
from condal.report.figures import Drawing
from condal.result import Result
from condal.runtime import extras
from condal.runtime.text import escape_controls
from condal.runtime.version import __version__, versions

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_RESULTS = 12  # on a page; more curves cannot be told apart
MAX_TABLE_ROWS = 40
MAX_DOWNLOAD_ROWS = 2000


def page(
    results: Result | Saved | Sequence[Result | Saved],
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> str:
    """Return a self-contained HTML page of one or several results.

    Parameters
    ----------
    results : Result, Saved or sequence of these
        Results of `condal.solve` or `condal.saved.load`. Loaded results include settings, versions,
        the answer and its picture.
    labels : sequence of str, optional
        Names of the results, if there are several. By default the problem and the method.
    title : str, optional
        Title of the page.

    Returns
    -------
    str
        The page, in ASCII.

    Raises
    ------
    MissingExtra
        If Jinja2 or matplotlib is not installed.
    ProblemError
        If there are no results, too many results, or not one label per result.
    """
    require()
    given = [results] if isinstance(results, Result | Saved) else results
    listed = [_saved(result) for result in given]
    names = [f"{title_of(saved)}, {saved.result.method}" for saved in listed]
    names = names if labels is None else list(labels)
    if len(names) != len(listed):
        raise ProblemError(f"wanted a label for each of {len(listed)} results; got {len(names)}")
    if not 1 <= len(listed) <= MAX_RESULTS:
        raise ProblemError(f"a page shows 1 to {MAX_RESULTS} results; got {len(listed)}")
    sections = [
        section(saved, name, f"r{i}")
        for i, (saved, name) in enumerate(zip(listed, names, strict=True), 1)
    ]
    several = len(sections) > 1
    default = f"{len(sections)} results side by side" if several else title_of(listed[0])
    traces = [s.result.trace(f"{i}: {_cut(s.label)}") for i, s in enumerate(sections, 1)]
    return render(
        "page.html",
        title=title or default,
        sections=sections,
        compared=figures.of_several(traces) if several else [],
    )


def write(
    path: PathLike, results: Result | Saved | Sequence[Result | Saved], **options: Any
) -> None:
    """Write a `page` to a file, completely or not at all.

    Parameters
    ----------
    path : str or path-like
        The file.
    results, **options
        As for `page`.
    """
    write_text(path, [page(results, **options)])


def require() -> None:
    """Raise MissingExtra if Jinja2 or matplotlib is not installed."""
    extras.require("jinja2", what="pages need Jinja2", extra="report")
    require_matplotlib()


def render(template: str, **context: Any) -> str:
    """Render a template in ASCII."""
    text = environment().get_template(template).render(context)
    return text.encode("ascii", "xmlcharrefreplace").decode()


def environment() -> Environment:
    """Return the environment of the templates; values are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("condal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=words.number,
        objective=words.objective_of,
        bound=words.bound_of,
        count=words.count,
        duration=words.duration,
        label=column_label,
    )
    made.globals.update(version=__version__, columns=History.columns)
    return made


def _plain(value: Any) -> Any:
    """Escape control characters in text; leave markup unchanged."""
    return escape_controls(value) if type(value) is str else value


def _saved(result: Any) -> Saved:
    if isinstance(result, Saved):
        return result
    if not isinstance(result, Result):
        raise ProblemError(
            "a page shows results of condal.solve or condal.saved.load; got "
            f"{type(result).__name__}"
        )
    return Saved(result)


def _cut(label: str, most: int = 34) -> str:
    label = label.encode("utf-8", "replace").decode()  # file names need not be valid text
    return label if len(label) <= most else f"{label[: most - 1]}…"


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
        spectrum=figures.of_spectrum(figures.spectra(result.x), key),
        picture=figures.of_picture(saved.picture, key) if saved.picture else None,
        rows=[_cells(row) for row in _spaced(result.history, MAX_TABLE_ROWS, np.geomspace)],
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


def _spaced(history: History, most: int, space: Callable[..., Any]) -> list[Any]:
    """Return at most so many rows, spaced as `space` says, the last one included."""
    if len(history) <= most:
        return list(history)
    steps = space(1, len(history), most).round().astype(int) - 1
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
    rows = _spaced(history, MAX_DOWNLOAD_ROWS, np.linspace)
    lines = [",".join(History.columns)]
    lines += [",".join(map(cell, History.columns, row)) for row in rows]
    text = "\n".join([*lines, ""])
    return f"data:text/csv;base64,{base64.b64encode(text.encode()).decode()}"
