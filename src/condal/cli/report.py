"""The command `report`: write saved results as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from condal.cli.outputs import STDOUT, check_target
from condal.cli.show import sweep_table
from condal.errors import FormatError
from condal.io.formats.writing import write_text
from condal.io.results.reading import load
from condal.report.pages import page, require
from condal.runtime.limits import size
from condal.runtime.text import escape_terminal


@click.command("report")
@click.argument("results", type=click.Path(), nargs=-1, required=True, metavar="RESULT...")
@click.option("-o", "--out", "out", required=True, metavar="FILE", help="The file to write.")
@click.option("--title", metavar="TEXT", help="The title of the page; default: the problem's name.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
def report(results: tuple[str, ...], out: str, title: str | None, overwrite: bool) -> None:
    """Write saved results as one HTML page.

    \b
    Examples:
      condal report run1 run2 -o page.html
      condal report seeds -o page.html

    A RESULT is a folder that condal solve --save wrote, or the folder of condal
    sweep, which stands for its points; several results stand side by side. The
    page is one file and loads nothing from the network.
    """
    require()
    _check(out, results, overwrite)
    labelled = [pair for folder in results for pair in _points(folder)]
    loaded, names = [load(folder) for folder, _ in labelled], [label for _, label in labelled]
    text = page(loaded, labels=names if len(names) > 1 else None, title=title)
    write_text(out, [text])
    click.echo(f"{escape_terminal(out)}: {size(len(text))}")


def _points(folder: str) -> list[tuple[str | Path, str]]:
    """Return the folder of a result and its name, or those of the points of a sweep."""
    table = sweep_table(folder)
    if table is None:
        return [(folder, escape_terminal((Path.cwd() / folder).name))]
    return [
        (row.folder, escape_terminal(table.label(row))) for row in table if row.folder is not None
    ]


def _check(out: str, results: tuple[str, ...], overwrite: bool) -> None:
    """Refuse an output that cannot be written."""
    if out == STDOUT:
        raise click.UsageError("a page needs a file: -o page.html")
    check_target(out, "-o", outside=results)
    if Path(out).exists() and not overwrite:
        raise FormatError("exists; give -o another path, or add --overwrite", path=out)
