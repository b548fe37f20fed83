"""What a checkpoint says of itself: for which problem, by which versions, and how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

import numpy as np

from condal.errors import FormatError, ProblemError
from condal.io.checkpoint.fingerprint import Told, seen
from condal.io.checkpoint.probes import agree, probes
from condal.io.strict_json import decoded, encoded
from condal.problem import Problem
from condal.runtime.version import versions
from condal.types import Domain

DTYPE = "float64"
KEYS = {
    "versions",
    "byte_order",
    "dtype",
    "problem",
    "options",
    "k",
    "objective",
    "bound",
    "created",
}
PROBLEM_KEYS = {"fingerprint", "probes", "name", "n", "p", "maximise"}


def described(problem: Problem, told: Told | None = None) -> dict[str, Any]:
    """The problem, as plain JSON: made once, since all its data are read; some by what is `told` of
    them."""
    fingerprint, whole = seen(problem, told)
    return {
        "fingerprint": fingerprint,
        "probes": [] if whole else [encoded(one) for one in probes(problem)],
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
    """What is to be known of a checkpoint of a `described` problem without reading its arrays.

    `options` is plain JSON, its numbers finite.
    """
    return {
        "versions": versions(),
        "byte_order": sys.byteorder,
        "dtype": DTYPE,
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
    """A note on what may differ in rounding, or ""; ProblemError if the checkpoint is one of other
    data or of another condal, FormatError if it does not say. The problem is described last."""
    of, options = about.get("problem"), about.get("options")
    told = isinstance(of, dict) and set(of) == PROBLEM_KEYS and isinstance(options, dict)
    if set(about) != KEYS or not told or of is None:
        raise FormatError(
            "does not say which problem it is of; give another, or begin anew", path=path
        )
    ours, theirs = versions(), about["versions"]
    if not isinstance(theirs, dict) or theirs.get("condal") != ours["condal"]:
        had = theirs.get("condal") if isinstance(theirs, dict) else None
        _refuse(
            path,
            f"it was made by condal {_shown(had)}, and this is condal {ours['condal']}",
            "resume with the condal that made it, or begin anew",
        )
    if about["dtype"] != DTYPE:
        _refuse(
            path,
            f"its numbers are of {_shown(about['dtype'])}, and this condal computes in {DTYPE}",
            "begin anew",
        )
    changed = [name for name in ours if theirs.get(name) != ours[name]]
    _require_data(
        of, describe(problem), path, [f"{name} {_shown(theirs.get(name))}" for name in changed]
    )
    if about["byte_order"] != sys.byteorder:
        changed.append("byte order")
    if not changed:
        return ""
    return (
        f"the checkpoint was made with another {', '.join(changed)}: the answer is as good, but "
        "not the same to the last bit"
    )


def _require_data(
    of: Mapping[str, Any], now: Mapping[str, Any], path: str, versions: list[str]
) -> None:
    """Refuse other data than those that the checkpoint was made with."""
    sizes = [
        f"{_shown(one['name'])} (n = {_shown(one['n'])}, p = {_shown(one['p'])})"
        for one in (of, now)
    ]
    if of["fingerprint"] != now["fingerprint"]:
        rounding = (
            f" If the data are the same but computed, they may be rounded in another way: it was "
            f"made with {', '.join(versions)}."
            if versions and sizes[0] == sizes[1]
            else ""
        )
        _refuse(
            path,
            f"it was made for {sizes[0]}, and this is {sizes[1]} with other data",
            f"resume with the data that it was made for, or begin anew at another path.{rounding}",
        )
    try:
        before = [decoded(each) for each in of["probes"]]
    except (TypeError, ValueError):
        raise FormatError(
            "has probes that are no numbers; give another, or begin anew", path=path
        ) from None
    if not agree(before, [decoded(each) for each in now["probes"]]):
        _refuse(
            path,
            f"it was made for {sizes[0]}, and now an operator or a function of the problem gives "
            "other values",
            "resume with those that it was made with, or begin anew at another path",
        )


def side(X: Domain) -> int | None:
    """n: the length of a vector of X, the side of a matrix; of blocks, their sum; None if X does
    not say."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        sides = [side(part) for part in parts]
        known = [n for n in sides if n is not None]
        return sum(known) if len(known) == len(sides) else None
    n = getattr(X, "n", None)
    return int(n) if isinstance(n, int | np.integer) else None


def _shown(value: Any) -> str:
    """A value of a file, in a text: short, and without control characters."""
    printable = isinstance(value, str) and value.isprintable()
    return (value if printable else ascii(value))[:60]


def _refuse(path: str, why: str, do: str) -> NoReturn:
    raise ProblemError(f"{path}: this checkpoint cannot be resumed: {why}; {do}")
