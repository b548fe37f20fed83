"""The command `certify`: a saved result, proved or refuted with only the files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from condal.cli.application import Application, Chosen, Lines
from condal.cli.applications import APPLICATIONS
from condal.cli.command import OfApplication
from condal.cli.options import restored
from condal.cli.text import WIDTH, table
from condal.cli.verify_answer import found_again
from condal.driver.stop import Stop
from condal.errors import FormatError
from condal.io.formats.contents import digest_of
from condal.io.results import Claim, Saved, Verdict, load, verify
from condal.io.results.record import RECORD
from condal.runtime.text import escape_terminal

PROVED, REFUTED = 0, 1


@click.command(cls=OfApplication)
@click.argument("problem", type=click.Path())
@click.argument("result", type=click.Path())
@click.option(
    "--as",
    "kind",
    type=click.Choice(list(APPLICATIONS)),
    metavar="NAME",
    help="What PROBLEM was solved as, with its options: for a result that does not say.",
)
@click.option(
    "--tol", type=float, metavar="TOL", help="A relative gap to prove, beside what is claimed."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Of proofs that draw random numbers; else a new one each time.",
)
@click.option("--quiet", is_flag=True, help="Print errors only: the exit code tells.")
@click.pass_context
def certify(
    context: click.Context,
    /,
    problem: str,
    result: str,
    kind: str | None,
    tol: float | None,
    seed: int | None,
    quiet: bool,
    **own: Any,
) -> None:
    """Prove or refute a RESULT that condal solve --save kept, anew.

    The problem is made again from its file PROBLEM, and all that the result
    claims of it is recomputed from the point and the dual in the folder RESULT:
    objective, infeasibility, bound, and that it is solved. No number is
    believed. Time, work and history are not looked at.

    Exit codes: 0 all that is claimed is proved; 1 a claim is refuted; 2 a file
    cannot be read, or was changed after it was saved.

    \b
    Example:
      condal solve G1.txt --as max-cut --save run1
      condal certify G1.txt run1
    """
    if tol is not None:
        Stop(tol)  # refuses one that is none
    saved = load(result)
    application, chosen = _application(saved, result, kind, own)
    if saved.digest is not None and digest_of(problem) != saved.digest:
        raise FormatError(
            f"is not the file that {escape_terminal(result)} is a result of: its contents differ "
            f"from those of {saved.file}, or were changed since",
            path=problem,
        )
    model = application.build(problem, chosen)
    verdict = verify(model, saved.result, tol=tol, seed=seed)
    if verdict.proved:
        claim = found_again(application, model, saved, chosen)
        verdict = Verdict((*verdict.claims, claim), verdict.certificate)
    if not quiet:
        name, file = saved.result.problem_name, Path(problem).name
        click.echo(f"\n{escape_terminal(name)} of {escape_terminal(file)}\n")
        click.echo(table(_rows(verdict.claims)))
        click.echo(f"\n{_sentence(verdict)}")
    context.exit(PROVED if verdict.proved else REFUTED)


def _application(
    saved: Saved, result: str, kind: str | None, own: dict[str, Any]
) -> tuple[Application, Chosen]:
    """What the problem is made by, and its options: the result's own, or those that are typed."""
    path, seed = str(Path(result) / RECORD), saved.settings.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise FormatError(f"settings: the seed is {seed!r:.20}, no whole number", path=path)
    more = {"seed": seed, "max_seconds": None, "say": None}
    if saved.application is None:
        if kind is None:
            raise FormatError(
                "does not say what its problem was solved as; give --as NAME and its options",
                path=result,
            )
        return APPLICATIONS[kind], {**own, **more}
    if kind is not None:
        raise FormatError(
            f"was solved as {saved.application[:40]}, with options that it keeps: leave --as",
            path=result,
        )
    application = APPLICATIONS.get(saved.application)
    if application is None:
        raise FormatError(
            f"is of the application {saved.application[:40]!a}, which this condal does not have",
            path=path,
        )
    return application, {**restored(application, saved.options, path), **more}


def _rows(claims: Iterable[Claim]) -> Lines:
    return [
        (claim.name, escape_terminal(claim.found if claim.holds else f"REFUTED: {claim.found}"))
        for claim in claims
    ]


def _sentence(verdict: Verdict) -> str:
    """The verdict in words."""
    if verdict.proved:
        return "Proved: all of this is true."
    names = ", ".join(claim.name for claim in verdict.refuted)
    text = f"Refuted: what the result claims is not true, or is not proved by its files: {names}."
    return textwrap.fill(text, WIDTH)
