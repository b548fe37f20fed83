"""The command `show`: print saved results as `condal solve` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from condal.certificates.certificate import exact_text
from condal.cli import result_text
from condal.cli.application import Rows
from condal.cli.outputs import STDOUT, check_target, write_record
from condal.io.results.reading import load
from condal.io.results.record import Saved
from condal.runtime.extras import LAB, part
from condal.runtime.text import escape_terminal, table

SWEEP = "condal-sweep.json"  # the file by which a folder is known as that of a sweep


@click.command()
@click.argument("results", type=click.Path(), nargs=-1, required=True, metavar="RESULT...")
@click.option(
    "--json",
    "json_target",
    metavar="FILE",
    help="Write the results as JSON, a list if there are several; - for stdout.",
)
def show(results: tuple[str, ...], json_target: str | None) -> None:
    """Print saved results and how they were made.

    \b
    Examples:
      condal show run1
      condal show seeds

    A RESULT is a folder that condal solve --save wrote, or the folder of condal
    sweep, whose points are a table. Files that were changed since are refused.
    The claims of a result are proved only by condal certify.
    """
    if json_target is not None and json_target != STDOUT:
        check_target(json_target, "--json", outside=results)
    tables = [(folder, sweep_table(folder)) for folder in results]
    loaded = [load(folder) if table is None else table for folder, table in tables]
    for saved in loaded:
        click.echo(f"\n{_text(saved)}", err=json_target == STDOUT)
    if json_target is not None:
        records = [record for saved in loaded for record in _records(saved)]
        write_record(json_target, records[0] if len(records) == 1 else records)


def sweep_table(folder: str) -> Any:
    """Return the points of a folder that condal sweep wrote; None for any other folder."""
    if not (Path(folder) / SWEEP).is_file():
        return None
    return part("parts", "sweeps", package=LAB, what="the folder of a sweep").read_sweep(folder)


def _text(saved: Any) -> str:
    if not isinstance(saved, Saved):
        return f"{saved}" if len(saved) else "no point is finished"
    page = result_text.page(saved.result, saved.file or "", _answer(saved))
    return f"{page}\n\n{table(_origin(saved))}"


def _records(saved: Any) -> list[dict[str, Any]]:
    if not isinstance(saved, Saved):
        return [_record(load(row.folder)) for row in saved if row.folder is not None]
    return [_record(saved)]


def _answer(saved: Saved) -> Rows:
    """Return the answer, or at least the bound."""
    result = saved.result
    bounded = result.certificate.certified and not result.status.excludes_optimum
    return saved.answer or ([("bound", exact_text(result.bound))] if bounded else [])


def _origin(saved: Saved) -> Rows:
    """Return how the result was made, and when."""
    settings = {**saved.settings, "tol": saved.result.tol}
    rows = [("solved as", saved.application or "a problem built in Python")]
    for name, values in (("options", saved.options), ("settings", settings)):
        chosen = {key.replace("_", " "): value for key, value in values.items()}
        listed = ", ".join(
            key if value is True else f"{key} {f'{value:g}' if isinstance(value, float) else value}"
            for key, value in chosen.items()
            if value is not None and value is not False
        )
        rows += [(name, listed)] if listed else []
    rows += [
        ("versions", ", ".join(f"{name} {version}" for name, version in saved.versions.items())),
        ("saved", saved.created.replace("T", " ").replace("Z", " UTC")),
        ("verified", "no: this is what the folder says; condal certify proves it"),
    ]
    if saved.digest is not None:
        rows.append(("file", f"SHA-256 {saved.digest}"))
    return [(name, escape_terminal(value)) for name, value in rows]


def _record(saved: Saved) -> dict[str, Any]:
    return {
        **result_text.record(saved.result, saved.figures),
        "tol": saved.result.tol,
        "application": saved.application,
        "file": saved.file,
        "sha256": saved.digest,
        "options": saved.options,
        "settings": saved.settings,
        "versions": saved.versions,
        "created": saved.created,
    }
