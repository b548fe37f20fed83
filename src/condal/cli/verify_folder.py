"""Verify a folder that `condal solve --save` wrote, and assume nothing that only it states."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from condal.certificates.claims import Claim
from condal.certificates.verification import Verdict, verify
from condal.cli.application import Application, Chosen
from condal.cli.applications import APPLICATIONS
from condal.cli.finding import Finding, not_within
from condal.cli.options import restore_options
from condal.cli.verify_answer import verify_answer
from condal.errors import FormatError, ProblemError
from condal.io.formats.signatures import digest_of
from condal.io.results.reading import load
from condal.io.results.record import RECORD, Saved
from condal.runtime.meter import check_cancelled
from condal.runtime.text import escape_terminal
from condal.runtime.time_limit import UNLIMITED, TimeLimit

TRACE_BOUND = "trace_bound"  # the option of a program that is an assumption
GIVEN_TRACE = "within the given trace bound"  # what a proof says that assumes it
UNPROVED_TRACE = (
    "the result states this bound and nothing proves it: give --assume-trace T to assume one"
)


def verify_folder(
    problem: str,
    folder: str,
    *,
    kind: str | None,
    own: dict[str, Any],
    tol: float | None,
    seed: int | None,
    assume_trace: float | None,
    limit: TimeLimit = UNLIMITED,
) -> Finding:
    """Prove or refute every claim of a saved result; Cancelled if the time is up."""
    saved = load(folder)
    application, chosen = _application(saved, folder, kind, own)
    chosen = {**chosen, "limit": limit}
    if saved.digest is not None and digest_of(problem) != saved.digest:
        raise FormatError(
            f"is not the file that {escape_terminal(folder)} is a result for: its contents differ "
            f"from those of {saved.file}, or were changed since",
            path=problem,
        )
    if assume_trace is not None:
        chosen = {**chosen, **assumed_trace(application, assume_trace)}
    model = application.build(problem, chosen)
    check_cancelled()
    verdict = verify(model, saved.result, tol=tol, seed=seed)
    if assume_trace is None and any(map(_rests_on_trace, verdict.claims)):
        verdict = _of_proved_trace(verdict, application, problem, chosen)
    asked = "" if tol is None else f"tol {tol:g}"  # and not claimed by the folder
    within = next((claim for claim in verdict.claims if claim.name == asked), None)
    stated = Verdict(tuple(claim for claim in verdict.claims if claim is not within))
    if stated.proved:
        claim = verify_answer(application, model, saved, chosen, verdict)
        stated = Verdict((*stated.claims, claim))
    claims = stated.claims if within is None else (*stated.claims, within)
    finding = Finding.of(heading_of(application, problem, chosen), Verdict(claims))
    if within is None or within.holds or not stated.proved:
        return finding
    return replace(finding, verdict=not_within(within, stated.headline))


def assumed_trace(application: Application, trace: float) -> Chosen:
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
            text = claim.text if proved else f"{claim.text}; {UNPROVED_TRACE}"
            claim = replace(claim, holds=proved, text=text, assuming=kept)
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


def heading_of(application: Application, problem: str, chosen: Chosen) -> str:
    """Return the application, the file and the options that the problem is built with."""
    words = []
    for option in application.options:
        value = chosen.get(str(option.name))
        if option.name in application.inputs or value in (None, False) or value == option.default:
            continue
        value = ",".join(value) if isinstance(value, list) else value
        words.append(option.opts[0] if option.is_flag else f"{option.opts[0]} {value}")
    with_options = f" with {' '.join(words)}" if words else ""
    return f"{application.name} of {Path(problem).name}{with_options}"


def _application(
    saved: Saved, result: str, kind: str | None, own: dict[str, Any]
) -> tuple[Application, Chosen]:
    """Return the application and its options: those of the result, or those that were typed."""
    path, seed = str(Path(result) / RECORD), saved.settings.get("seed") or 0
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise FormatError(
            f"settings: the seed is {seed!r:.20}, not a non-negative integer", path=path
        )
    more = {"seed": seed, "say": None}
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
