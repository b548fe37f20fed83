"""What a checkpoint is about: the problem, the versions that wrote it, and its progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

import numpy as np

from condal.errors import FormatError, ProblemError
from condal.io.checkpoint.fingerprint import WordsOf, agree, fingerprint_of, probes
from condal.io.container.manifest import shown
from condal.io.strict_json import decoded, encoded
from condal.problem import Problem
from condal.runtime.version import versions
from condal.types import Domain

KEYS = {"versions", "byte_order", "problem", "options", "k", "objective", "bound", "created"}
PROBLEM_KEYS = {"fingerprint", "probes", "name", "n", "p", "maximise"}


def described(problem: Problem, words_of: WordsOf | None = None) -> dict[str, Any]:
    """Describe the problem as plain JSON; this reads all its data.

    `words_of` returns words for data that are identified by these alone.
    """
    fingerprint, complete = fingerprint_of(problem, words_of)
    return {
        "fingerprint": fingerprint,
        "probes": [] if complete else [encoded(value) for value in probes(problem)],
        "name": problem.name,
        "n": side(problem.X),
        "p": int(problem.A.size),
        "maximise": bool(problem.maximise),
    }


def about_of(
    problem: Mapping[str, Any],
    *,
    options: Mapping[str, Any],
    k: int,
    objective: float,
    bound: float,
) -> dict[str, Any]:
    """Return what can be read of a checkpoint without its arrays, for a `described` problem.

    `options` is plain JSON with finite numbers.
    """
    return {
        "versions": versions(),
        "byte_order": sys.byteorder,
        "problem": dict(problem),
        "options": dict(options),
        "k": int(k),
        "objective": encoded(objective),
        "bound": encoded(bound),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def require_same(
    about: Mapping[str, Any],
    problem: Problem,
    path: str,
    *,
    describe: Callable[[Problem], Mapping[str, Any]] = described,
) -> str:
    """Return a note on what may round differently, or "".

    ProblemError if the checkpoint is for other data or was written by another condal, FormatError
    if it does not say. The problem is described last.
    """
    of: Any = about.get("problem")
    valid = isinstance(of, dict) and set(of) == PROBLEM_KEYS
    if set(about) != KEYS or not valid or not isinstance(about["options"], dict):
        raise FormatError(
            "does not say which problem it is for; give another, or solve again", path=path
        )
    ours, theirs = versions(), about["versions"]
    if not isinstance(theirs, dict) or theirs.get("condal") != ours["condal"]:
        writer = theirs.get("condal") if isinstance(theirs, dict) else None
        _refuse(
            path,
            f"condal {shown(writer)} wrote it, and this is condal {ours['condal']}",
            "resume with the condal that wrote it, or solve again",
        )
    changed = [name for name in ours if theirs.get(name) != ours[name]]
    _require_data(
        of, describe(problem), path, [f"{name} {shown(theirs.get(name))}" for name in changed]
    )
    if about["byte_order"] != sys.byteorder:
        changed.append("byte order")
    if not changed:
        return ""
    return (
        f"the checkpoint was written with another {', '.join(changed)}: the answer is as good, but "
        "not bit-identical"
    )


def _require_data(
    of: Mapping[str, Any], now: Mapping[str, Any], path: str, versions: list[str]
) -> None:
    """Refuse other data than those of the checkpoint."""
    sizes = [
        f"{shown(data['name'])} (n = {shown(data['n'])}, p = {shown(data['p'])})"
        for data in (of, now)
    ]
    if of["fingerprint"] != now["fingerprint"]:
        rounding = (
            f" If the data are computed, they may round differently: the checkpoint was written "
            f"with {', '.join(versions)}."
            if versions and sizes[0] == sizes[1]
            else ""
        )
        _refuse(
            path,
            f"it is for {sizes[0]}, and this is {sizes[1]} with other data",
            f"resume with the data of the checkpoint, or solve again at another path.{rounding}",
        )
    try:
        before = [decoded(each) for each in of["probes"]]
    except (TypeError, ValueError):
        raise FormatError(
            "has probes that are not numbers; give another, or solve again", path=path
        ) from None
    if not agree(before, [decoded(each) for each in now["probes"]]):
        _refuse(
            path,
            f"it is for {sizes[0]}, and now an operator or a function of the problem gives other "
            "values",
            "resume with those of the checkpoint, or solve again at another path",
        )


def side(X: Domain) -> int | None:
    """Return n: the length of a vector of X, the side of a matrix, or the sum over blocks; None if
    X does not say."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        sides = [side(part) for part in parts]
        known = [n for n in sides if n is not None]
        return sum(known) if len(known) == len(sides) else None
    n = getattr(X, "n", None)
    return int(n) if isinstance(n, int | np.integer) else None


def _refuse(path: str, why: str, do: str) -> NoReturn:
    raise ProblemError(f"{path}: this checkpoint cannot be resumed: {why}; {do}")
