"""Check the answer of a saved result: its labels, or what follows from its point."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from condal.certificates.claims import Claim
from condal.certificates.verification import Verdict
from condal.cli.application import NO_ANSWER, Application, Chosen
from condal.errors import CondalError
from condal.io.results.record import Saved
from condal.runtime.version import versions

NAME = "answer"
CLOSE = 1e-6  # relative difference allowed between machines
_NUMBER = re.compile(r"[0-9](?:[0-9,]*[0-9])?(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")


def verify_answer(
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
        return Claim(NAME, True, "none is claimed")
    if saved.result.x is None:
        return Claim(NAME, False, "there is no point to recompute it from")
    restore = None if saved.labels is None else application.restore
    source = "x" if restore is None else "its labels"
    try:
        if restore is not None:
            answer = restore(model, saved)
        else:
            answer = application.answer(model, saved.result, chosen)
        lines = application.describe(model, saved.result, answer)
        figures = application.figures(model, saved.result, answer)
    except CondalError as error:
        return Claim.false(NAME, f"cannot be recomputed from {source}: {error}")
    for key in sorted(set(figures) | set(saved.figures)):
        a, b = saved.figures.get(key), figures.get(key)
        if not _same(a, b):
            return Claim.false(NAME, f"{key} {a} is claimed; recomputed from {source}, it is {b}")
    if [name for name, _ in saved.answer] != [name for name, _ in lines]:
        return Claim.false(NAME, f"its lines differ from those recomputed from {source}")
    for (name, claimed), (_, recomputed) in zip(saved.answer, lines, strict=True):
        if not _alike(claimed, recomputed):
            text = f"{name}: {claimed!r} is claimed; recomputed from {source}, it is {recomputed!r}"
            return Claim.false(NAME, text)
    return Claim(NAME, True, f"the same when recomputed from {source}")


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
