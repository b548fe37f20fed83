"""Results as one HTML page: verdicts, certificates, curves, spectra, pictures, tables.

The page is one file with inline figures and no scripts, and its content security policy forbids
loading anything. It is pure ASCII, independent of encodings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from condal.certificates.history import History, column_label
from condal.errors import ProblemError
from condal.io.formats.writing import write_text
from condal.io.results.record import Saved
from condal.io.safe_files import PathLike
from condal.report import figures, words
from condal.report.curves.panels import require_matplotlib
from condal.report.section import section, title_of
from condal.result import Result
from condal.runtime import extras
from condal.runtime.text import escape_controls
from condal.runtime.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_RESULTS = 12  # on a page; more curves cannot be told apart


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
    listed = [_saved(result) for result in _listed(results)]
    names = [_name(saved) for saved in listed] if labels is None else list(labels)
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


def _listed(results: Any) -> list[Any]:
    return [results] if isinstance(results, Result | Saved) else list(results)


def _saved(result: Any) -> Saved:
    if isinstance(result, Saved):
        return result
    if not isinstance(result, Result):
        raise ProblemError(
            "a page shows results of condal.solve or condal.saved.load; got "
            f"{type(result).__name__}"
        )
    return Saved(result)


def _name(saved: Saved) -> str:
    return f"{title_of(saved)}, {saved.result.method}"


def _cut(label: str, most: int = 34) -> str:
    label = label.encode("utf-8", "replace").decode()  # file names need not be valid text
    return label if len(label) <= most else f"{label[: most - 1]}…"
