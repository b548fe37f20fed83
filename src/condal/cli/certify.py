"""The command `certify`: prove or refute a saved result from the files alone."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from condal.certificates.claims import Claim
from condal.certificates.verification import Verdict, verify
from condal.cli.application import Application, Chosen, Lines
from condal.cli.applications import APPLICATIONS
from condal.cli.command import ApplicationCommand
from condal.cli.options import restore_options
from condal.cli.text import WIDTH, table
from condal.cli.verify_answer import verify_answer
from condal.driver.stop import Stop
from condal.errors import FormatError, ProblemError
from condal.io.formats.contents import digest_of
from condal.io.results.reading import load
from condal.io.results.record import RECORD, Saved
from condal.runtime.text import escape_terminal
from condal.runtime.time_limit import UNLIMITED

PROVED, REFUTED = 0, 1
TRACE_BOUND = "trace_bound"  # the option of a program that is an assumption
GIVEN_TRACE = "within the given trace bound"  # what a proof says that assumes it
UNPROVED_TRACE = (
    "the result states this bound and nothing proves it: give --assume-trace T to assume one"
)


@click.command(cls=ApplicationCommand)
@click.argument("problem", type=click.Path())
@click.argument("result", type=click.Path())
@click.option(
    "--as",
    "kind",
    type=click.Choice(list(APPLICATIONS)),
    metavar="NAME",
    help="The application of PROBLEM, for a result that does not name it.",
)
@click.option(
    "--tol", type=float, metavar="TOL", help="A relative gap to prove, in addition to the claims."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="The seed of randomised proofs; default: a new one each time.",
)
@click.option(
    "--assume-trace",
    type=click.FloatRange(min=0, min_open=True),
    metavar="T",
    help="Assume that no block of a solution of an SDPA program has a larger trace.",
)
@click.option("--quiet", is_flag=True, help="Print errors only; the exit code is the verdict.")
@click.pass_context
def certify(
    context: click.Context,
    /,
    problem: str,
    result: str,
    kind: str | None,
    tol: float | None,
    seed: int | None,
    assume_trace: float | None,
    quiet: bool,
    **own: Any,
) -> None:
    """Prove or refute a saved RESULT from the files alone.

    RESULT is a folder that condal solve --save wrote. The problem is built again
    from its file PROBLEM, and every claim of the result is recomputed from the
    point and the dual in RESULT: objective, infeasibility, bound and status. No
    number is trusted, and the verdict states every assumption. Time, work and
    history are not checked.

    Exit codes: 0 every claim is proved; 1 a claim is refuted; 2 a file cannot be
    read, or was changed after it was saved.

    \b
    Example:
      condal solve G1.txt --as max-cut --save run1
      condal certify G1.txt run1
    """
    if tol is not None:
        Stop(tol)  # refuses a bad tolerance
    saved = load(result)
    application, chosen = _application(saved, result, kind, own)
    if saved.digest is not None and digest_of(problem) != saved.digest:
        raise FormatError(
            f"is not the file that {escape_terminal(result)} is a result for: its contents differ "
            f"from those of {saved.file}, or were changed since",
            path=problem,
        )
    if assume_trace is not None:
        chosen = {**chosen, **_assumed(application, assume_trace)}
    model = application.build(problem, chosen)
    verdict = verify(model, saved.result, tol=tol, seed=seed)
    if assume_trace is None and any(map(_rests_on_trace, verdict.claims)):
        verdict = _of_proved_trace(verdict, application, problem, chosen)
    if verdict.proved:
        claim = verify_answer(application, model, saved, chosen, verdict)
        verdict = Verdict((*verdict.claims, claim), verdict.certificate)
    if not quiet:
        heading = f"{application.name} of {Path(problem).name}{_with_options(application, chosen)}"
        click.echo(f"\n{textwrap.fill(escape_terminal(heading), WIDTH)}\n")
        click.echo(table(_rows(verdict.claims)))
        click.echo(f"\n{textwrap.fill(_sentence(verdict), WIDTH, break_on_hyphens=False)}")
    context.exit(PROVED if verdict.proved else REFUTED)


def _assumed(application: Application, trace: float) -> Chosen:
    """Return the options that assume a bound on the trace."""
    if TRACE_BOUND not in {option.name for option in application.options}:
        raise click.UsageError(
            f"--assume-trace is for SDPA programs; the trace of {application.name} is known"
        )
    return {TRACE_BOUND: trace}


def _rests_on_trace(claim: Claim) -> bool:
    return any(GIVEN_TRACE in text for text in claim.assuming)


def _of_proved_trace(
    verdict: Verdict, application: Application, problem: str, chosen: Chosen
) -> Verdict:
    """Return the verdict with no trace bound assumed that only the result states.

    If the constraints prove a bound that is no larger, nothing is assumed.
    """
    proved = _trace_is_proved(application, problem, chosen)
    claims = []
    for claim in verdict.claims:
        if _rests_on_trace(claim):
            kept = tuple(text for text in claim.assuming if GIVEN_TRACE not in text)
            found = claim.found if proved else f"{claim.found}; {UNPROVED_TRACE}"
            claim = replace(claim, holds=proved, found=found, assuming=kept)
        claims.append(claim)
    return Verdict(tuple(claims), verdict.certificate)


def _trace_is_proved(application: Application, problem: str, chosen: Chosen) -> bool:
    """Return whether the constraints of a program prove the trace bound that its result states."""
    try:
        trace = application.build(problem, {**chosen, TRACE_BOUND: None}).trace
    except ProblemError:  # no bound was found
        return False
    bounds, level = getattr(trace, "traces", None), getattr(trace, "level", math.inf)
    return bounds is not None and level == math.inf and max(bounds) <= chosen[TRACE_BOUND]


def _with_options(application: Application, chosen: Chosen) -> str:
    """Return the options that the problem is built with, as typed, except those left out."""
    words = []
    for option in application.options:
        value = chosen.get(str(option.name))
        if option.name in application.inputs or value in (None, False) or value == option.default:
            continue
        value = ",".join(value) if isinstance(value, list) else value
        words.append(option.opts[0] if option.is_flag else f"{option.opts[0]} {value}")
    return f" with {' '.join(words)}" if words else ""


def _application(
    saved: Saved, result: str, kind: str | None, own: dict[str, Any]
) -> tuple[Application, Chosen]:
    """Return the application and its options: those of the result, or those that were typed."""
    path, seed = str(Path(result) / RECORD), saved.settings.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise FormatError(
            f"settings: the seed is {seed!r:.20}, not a non-negative integer", path=path
        )
    more = {"seed": seed, "limit": UNLIMITED, "say": None}
    if saved.application is None:
        if kind is None:
            raise FormatError(
                "does not name the application of its problem; give --as NAME and its options",
                path=result,
            )
        return APPLICATIONS[kind], {**own, **more}
    if kind is not None:
        raise FormatError(
            f"was solved as {saved.application[:40]} and has its options: leave out --as",
            path=result,
        )
    application = APPLICATIONS.get(saved.application)
    if application is None:
        raise FormatError(
            f"belongs to the application {saved.application[:40]!a}, unknown to this condal",
            path=path,
        )
    return application, {**restore_options(application, saved.options, path), **more}


def _rows(claims: Iterable[Claim]) -> Lines:
    return [
        (claim.name, escape_terminal(claim.found if claim.holds else f"REFUTED: {claim.found}"))
        for claim in claims
    ]


def _sentence(verdict: Verdict) -> str:
    return f"{verdict.headline[0].upper()}{verdict.headline[1:]}."
