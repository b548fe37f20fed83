"""The command `report`: saved results as one page to look at."""

from __future__ import annotations

from pathlib import Path

import click

from condal.cli import output_paths as target
from condal.driver.memory import size
from condal.errors import FormatError
from condal.io.formats.writing import write_text
from condal.io.results import load
from condal.report import page
from condal.report.pages import require
from condal.runtime.text import escape_terminal


@click.command("report")
@click.argument("results", type=click.Path(), nargs=-1, required=True, metavar="RESULT...")
@click.option("-o", "--out", "out", required=True, metavar="FILE", help="The page: a new file.")
@click.option("--title", metavar="TEXT", help="Of the page; else the problem's name.")
@click.option("--overwrite", is_flag=True, help="Let the page take the place of a file.")
def report(results: tuple[str, ...], out: str, title: str | None, overwrite: bool) -> None:
    """Write saved results as one HTML page, side by side if there are several.

    A RESULT is a folder that condal solve --save wrote. The page needs nothing
    else: it is one file, and loads nothing from anywhere.

    \b
    Example:
      condal report run1 run2 -o page.html
    """
    require()
    _check(out, results, overwrite)
    loaded = [load(folder) for folder in results]
    names = [escape_terminal((Path.cwd() / folder).name) for folder in results]
    text = page(loaded, labels=names if len(names) > 1 else None, title=title)
    write_text(out, [text])
    click.echo(f"{escape_terminal(out)}: {size(len(text))}")


def _check(out: str, results: tuple[str, ...], overwrite: bool) -> None:
    """Refuse now what cannot be written."""
    if out == target.STDOUT:
        raise click.UsageError("a page goes to a file: -o page.html")
    target.check(out, "-o")
    target.check_beside(out, "-o", results)
    if Path(out).exists() and not overwrite:
        raise FormatError("exists; give -o another path, or add --overwrite", path=out)
