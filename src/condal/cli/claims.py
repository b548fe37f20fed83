"""The claims of a folder that `condal solve --save` wrote, and of an archive of x and y."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from condal.certificates.claims import Claim
from condal.certificates.verification import Verdict
from condal.cli.application import POSITIVE, Application, Chosen, option, stored_seed
from condal.cli.applications import APPLICATIONS, application_named
from condal.cli.session import NO_ANSWER
from condal.errors import MISFITS, CondalError, FormatError, ProblemError
from condal.io.formats.signatures import digest_of
from condal.io.results.record import RECORD, Saved
from condal.runtime.text import escape_terminal
from condal.runtime.version import versions

TRACE_BOUND = "trace_bound"  # the option of a program that is an assumption
GIVEN_TRACE = "within the given trace bound"  # what a proof says that assumes it
UNPROVED_TRACE = (
    "the result states this bound and nothing proves it: give --assume-trace T to assume one"
)
ASSUME_TRACE = option(
    "--assume-trace T",
    "Assume that no block of a solution of an SDPA program has a larger trace.",
    POSITIVE,
)
ANSWER = "answer"  # the name of a claim
CLOSE = 1e-6  # relative difference allowed between machines
_NUMBER = re.compile(r"[0-9](?:[0-9,]*[0-9])?(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")


def saved_application(
    saved: Saved, problem: str, result: str, kind: str | None, own: dict[str, Any]
) -> tuple[Application, dict[str, Any]]:
    """Return the application and its options: those of the result, or those that were typed.

    Refuse a problem whose file is not that of the result.
    """
    path = str(Path(result) / RECORD)
    seed = stored_seed(saved.settings, path)
    if saved.digest is not None and digest_of(problem) != saved.digest:
        raise FormatError(
            f"is not the file that {escape_terminal(result)} is a result for: its contents differ "
            f"from those of {saved.file}, or were changed since",
            path=problem,
        )
    if saved.application is None:
        if kind is None:
            raise FormatError(
                "does not name the application of its problem; give --as NAME and its options",
                path=result,
            )
        return APPLICATIONS[kind], {**own, "seed": seed}
    if kind is not None:
        raise FormatError(
            f"was solved as {saved.application[:40]} and has its options: leave out --as",
            path=result,
        )
    application = application_named(saved.application, path)
    return application, {**application.restored_options(saved.options, path), "seed": seed}


def of_folder(
    verdict: Verdict,
    application: Application,
    model: Any,
    saved: Saved,
    problem: str,
    chosen: Chosen,
    asked: str,
    *,
    assumed: bool,
) -> tuple[Verdict, tuple[Claim, ...]]:
    """Return the verdict on all claims of a folder, its answer among them, and what is `asked`
    beside them: the claim to be within tol.

    A trace bound that only the result states counts as `assumed` if the user gave it.
    """
    if not assumed and any(map(_rests_on_trace, verdict.claims)):
        verdict = _of_proved_trace(verdict, application, problem, chosen)
    within = tuple(claim for claim in verdict.claims if claim.name == asked)
    stated = Verdict(tuple(claim for claim in verdict.claims if claim not in within))
    if stated.proved:
        claim = _answer_claim(application, model, saved, chosen, verdict)
        stated = Verdict((*stated.claims, claim))
    return stated, within


def _rests_on_trace(claim: Claim) -> bool:
    return any(GIVEN_TRACE in text for text in claim.assuming)


def _of_proved_trace(
    verdict: Verdict, application: Application, problem: str, chosen: Chosen
) -> Verdict:
    """Return the verdict with no trace bound assumed that only the result states.

    If the constraints prove a bound that is no larger, nothing is assumed.
    """
    proved = trace_is_proved(application, problem, chosen)
    claims = []
    for claim in verdict.claims:
        if _rests_on_trace(claim):
            kept = tuple(text for text in claim.assuming if GIVEN_TRACE not in text)
            text = claim.text if proved else f"{claim.text}; {UNPROVED_TRACE}"
            claim = replace(claim, holds=proved, text=text, assuming=kept)
        claims.append(claim)
    return Verdict(tuple(claims), verdict.certificate)


def trace_is_proved(application: Application, problem: str, chosen: Chosen) -> bool:
    """Return whether the constraints of a program prove the trace bound that a file states."""
    try:
        trace = application.build(problem, {**chosen, TRACE_BOUND: None}).trace
    except ProblemError:  # no bound was found
        return False
    bounds, proved = getattr(trace, "traces", None), getattr(trace, "proved", False)
    return proved and bounds is not None and max(bounds) <= chosen[TRACE_BOUND]


def _answer_claim(
    application: Application, model: Any, saved: Saved, chosen: Chosen, verdict: Verdict
) -> Claim:
    """Return whether the figures and lines of the answer are true of its labels.

    An answer that has no labels must follow from x and the seed. What they say of the proof must be
    true of the proof in the verdict.
    """
    if verdict.certificate is not None:
        how = verdict.certificate.how
        certificate = replace(saved.result.certificate, how=how)
        saved = replace(saved, result=replace(saved.result, certificate=certificate))
    claim, now = _recompute(application, model, saved, chosen), versions()
    other = [name for name, version in now.items() if saved.versions.get(name) != version]
    if claim.holds or not other:
        return claim
    note = (
        f"it was saved with another version of {' and '.join(other)}, which may round differently"
    )
    refuted = claim.refuted and saved.labels is not None  # labels are what they are
    return replace(claim, text=f"{claim.text}; {note}", refuted=refuted)


def _recompute(application: Application, model: Any, saved: Saved, chosen: Chosen) -> Claim:
    has_figures = any(value is not None for value in saved.figures.values())
    if not has_figures and saved.answer in ([], [NO_ANSWER]):
        return Claim(ANSWER, True, "none is claimed")
    if saved.result.x is None:
        return Claim(ANSWER, False, "there is no point to recompute it from")
    restore = None if saved.labels is None else application.restore
    source = "x" if restore is None else "its labels"
    try:
        if restore is not None:
            answer = restore(model, saved)
        else:
            answer = application.answer(model, saved.result, chosen)
        lines = application.describe(saved.result, answer)
        figures = application.figures(model, answer)
    except (*MISFITS, CondalError) as error:
        return Claim.false(ANSWER, f"cannot be recomputed from {source}: {error}")
    for key in sorted(set(figures) | set(saved.figures)):
        a, b = saved.figures.get(key), figures.get(key)
        if not _same(a, b):
            return Claim.false(ANSWER, f"{key} {a} is claimed; recomputed from {source}, it is {b}")
    if [name for name, _ in saved.answer] != [name for name, _ in lines]:
        return Claim.false(ANSWER, f"its lines differ from those recomputed from {source}")
    for (name, claimed), (_, recomputed) in zip(saved.answer, lines, strict=True):
        if not _alike(claimed, recomputed):
            text = f"{name}: {claimed!r} is claimed; recomputed from {source}, it is {recomputed!r}"
            return Claim.false(ANSWER, text)
    return Claim(ANSWER, True, f"the same when recomputed from {source}")


def _alike(claimed: str, recomputed: str) -> bool:
    """Return whether two texts are equal up to the last digits of their numbers."""
    if _NUMBER.sub("#", claimed) != _NUMBER.sub("#", recomputed):
        return False
    pairs = zip(_NUMBER.findall(claimed), _NUMBER.findall(recomputed), strict=True)
    return all(_same(*map(_value, pair), digit=max(map(_last_digit, pair))) for pair in pairs)


def _value(word: str) -> float:
    return float(word.replace(",", ""))


def _last_digit(word: str) -> float:
    """Return the value of one unit in the last digit; 0 for an integer."""
    if "." not in word and "e" not in word:
        return 0.0
    return 10.0 ** int(Decimal(word.replace(",", "")).as_tuple().exponent)


def _same(a: float | None, b: float | None, *, digit: float = 0.0) -> bool:
    if a is None or b is None:
        return a is b
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= max(1.01 * digit, CLOSE * max(abs(a), abs(b), CLOSE))
