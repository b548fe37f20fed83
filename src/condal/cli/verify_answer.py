"""Whether the answer that a result keeps is the one that is made again of its point."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from condal.cli.application import NO_ANSWER, Application, Chosen
from condal.errors import CondalError
from condal.io.results import Claim, Saved
from condal.runtime.version import versions

NAME = "answer"
CLOSE = 1e-6  # of a number that is computed again on another machine
_NUMBER = re.compile(r"[0-9](?:[0-9,]*[0-9])?(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")


def found_again(application: Application, model: Any, saved: Saved, chosen: Chosen) -> Claim:
    """Whether figures and lines of the answer are those that x and the seed make."""
    claim, now = _tried(application, model, saved, chosen), versions()
    other = [name for name, version in now.items() if saved.versions.get(name) != version]
    if claim.holds or not other:
        return claim
    note = f"it was saved with another {' and '.join(other)}, which may round otherwise"
    return replace(claim, found=f"{claim.found}; {note}")


def _tried(application: Application, model: Any, saved: Saved, chosen: Chosen) -> Claim:
    figured = any(value is not None for value in saved.figures.values())
    if not figured and saved.answer in ([], [NO_ANSWER]):
        return Claim(NAME, True, "none is claimed")
    if saved.result.x is None:
        return Claim(NAME, False, "there is no point that it could be made of")
    try:
        answer = application.answer(model, saved.result, chosen)
        told = application.told(model, saved.result, answer)
        figures = application.figures(model, saved.result, answer)
    except CondalError as error:
        return Claim(NAME, False, f"none can be made of x: {error}")
    for key in sorted(set(figures) | set(saved.figures)):
        a, b = saved.figures.get(key), figures.get(key)
        if not _same(a, b):
            return Claim(NAME, False, f"{key} {a} is claimed; made again of x, it is {b}")
    if [what for what, _ in saved.answer] != [what for what, _ in told]:
        return Claim(NAME, False, "it has other lines than the one that is made again of x")
    for (what, claimed), (_, found) in zip(saved.answer, told, strict=True):
        if not _alike(claimed, found):
            return Claim(NAME, False, f"{what}: {claimed!r} is claimed, of x is made {found!r}")
    return Claim(NAME, True, "the same is made again of x")


def _alike(claimed: str, found: str) -> bool:
    """Whether two texts are the same but for the last digits of their numbers."""
    if _NUMBER.sub("#", claimed) != _NUMBER.sub("#", found):
        return False
    pairs = zip(_NUMBER.findall(claimed), _NUMBER.findall(found), strict=True)
    return all(_same(*map(_value, pair), digit=max(map(_digit, pair))) for pair in pairs)


def _value(word: str) -> float:
    return float(word.replace(",", ""))


def _digit(word: str) -> float:
    """What the last digit of a number that was rounded stands for; 0 for a whole number."""
    if "." not in word and "e" not in word:
        return 0.0
    return 10.0 ** int(Decimal(word.replace(",", "")).as_tuple().exponent)


def _same(a: float | None, b: float | None, *, digit: float = 0.0) -> bool:
    if a is None or b is None:
        return a is b
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= max(1.01 * digit, CLOSE * max(abs(a), abs(b), CLOSE))
