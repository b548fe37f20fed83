"""Results as one HTML page: verdicts, certificates, curves, spectra, pictures, tables.

The page is one file: its figures are inline, it has no scripts, and its own policy forbids it to
load anything. It is in ASCII, so that no encoding can go wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from condal.errors import ProblemError
from condal.io.formats.writing import write_text
from condal.io.results.record import Saved
from condal.io.safe_files import PathLike
from condal.report import figures, words
from condal.report.curves.panels import require_matplotlib
from condal.report.section import section, title_of
from condal.result import History, Result
from condal.runtime import extras
from condal.runtime.text import escape_controls

if TYPE_CHECKING:
    from jinja2 import Environment

MOST = 12  # results on a page: no more curves can be told apart


def page(
    results: Result | Saved | Sequence[Result | Saved],
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> str:
    """One self-contained HTML page of one or several results.

    Parameters
    ----------
    results : as `condal.solve` or `condal.saved.load` returned them; those of a folder bring
        settings, versions, the answer and its picture with them.
    labels : what to call each, if there are several; else the problem and the method.
    title : of the page.
    """
    require()
    listed = [_saved(one) for one in _listed(results)]
    names = [_name(one) for one in listed] if labels is None else list(labels)
    if len(names) != len(listed):
        raise ProblemError(f"wanted a label for each of {len(listed)} results; got {len(names)}")
    if not 1 <= len(listed) <= MOST:
        raise ProblemError(f"a page shows 1 to {MOST} results; got {len(listed)}")
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
    """`page` as a file, which appears whole or not at all."""
    write_text(path, [page(results, **options)])


def require() -> None:
    """Raise MissingExtra now if what draws and writes pages is not installed."""
    extras.require("jinja2", what="pages need Jinja2", extra="report")
    require_matplotlib()


def render(template: str, **context: Any) -> str:
    """A template with the style of all pages, in ASCII."""
    text = environment().get_template(template).render(context)
    return text.encode("ascii", "xmlcharrefreplace").decode()


def environment() -> Environment:
    """Where the templates are, and the words that they use; what they are given is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    import condal

    found = Environment(
        loader=PackageLoader("condal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        number=words.number, bound=words.bound_of, count=words.count, duration=words.duration
    )
    found.globals.update(version=condal.__version__, columns=History.columns)
    return found


def _plain(value: Any) -> Any:
    """Names and words as they are, with what would act on a page spelt out; markup as it is."""
    return escape_controls(value) if type(value) is str else value


def _listed(results: Any) -> list[Any]:
    return [results] if isinstance(results, Result | Saved) else list(results)


def _saved(one: Any) -> Saved:
    if isinstance(one, Saved):
        return one
    if not isinstance(one, Result):
        raise ProblemError(
            f"a page shows results, of condal.solve or condal.saved.load; got {type(one).__name__}"
        )
    return Saved(one)


def _name(saved: Saved) -> str:
    return f"{title_of(saved)}, {saved.result.method}"


def _cut(label: str, most: int = 34) -> str:
    label = label.encode("utf-8", "replace").decode()  # names of files may be no text
    return label if len(label) <= most else f"{label[: most - 1]}…"
