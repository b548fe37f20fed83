"""A result, for a machine and for a person."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from condal.cli.text import number, percent
from condal.problems.maxcut import Cut, MaxCut
from condal.result import Result, Status

SOLVED, STOPPED = 0, 1  # exit codes

# What the statuses advise, in the words of the command line.
_ADVICE = {
    Status.MAX_ITERS: "stopped at the iteration limit; raise --max-iters or --tol",
    Status.MAX_SECONDS: "stopped at the time limit; raise --max-seconds or --tol",
    Status.INTERRUPTED: "interrupted; what follows is proved of where it stopped",
    Status.STALLED: "stalled: the method can do no more; try another --method",
    Status.NUMERICAL_ERROR: "stopped: a product was not finite; look for overflow in the weights",
}


def exit_code(result: Result) -> int:
    """0 if solved to the tolerance, else 1."""
    return SOLVED if result.status is Status.SOLVED else STOPPED


def record(result: Result, cut: Cut | None) -> dict[str, Any]:
    """The keys of --json; what is not a finite number is None."""
    return {
        "problem": result.problem_name,
        "method": result.method,
        "why": result.why,
        "status": result.status.name.lower(),
        "objective": _finite(result.objective),
        "bound": _finite(result.bound),
        "gap": _finite(result.gap),
        "infeasibility": _finite(result.infeasibility),
        "certified": bool(result.certificate.certified),
        "iterations": int(result.iterations),
        "oracle_calls": int(result.oracle_calls),
        "matvecs": int(result.matvecs),
        "seconds": _finite(result.seconds),
        "cut": None if cut is None else _finite(cut.weight),
    }


def summary(model: MaxCut, result: Result, cut: Cut | None) -> list[tuple[str, str]]:
    """Names and values: the cut, what is proved of it, and what it cost."""
    rows = [("status", _ADVICE.get(result.status, result.status.value))]
    if cut is not None:
        rows += _cut(model, result, cut)
    certificate = result.certificate
    if certificate.certified:
        rows += [
            ("objective", f"{number(result.objective)}, a feasible point of the relaxation"),
            ("gap", f"{result.gap:.2g} between objective and bound"),
            ("infeasibility", f"{result.infeasibility:.2g}"),
            ("proof", certificate.because),
        ]
    return [
        *rows,
        ("method", result.method),
        (
            "work",
            f"{result.iterations:,} iterations, {result.oracle_calls:,} oracle calls, "
            f"{result.matvecs:,} matrix products",
        ),
        ("time", f"{result.seconds:.2f} s"),
    ]


def _cut(model: MaxCut, result: Result, cut: Cut) -> list[tuple[str, str]]:
    ones = int((cut.signs > 0).sum())
    sides = f"sides of {ones:,} and {cut.signs.size - ones:,} vertices"
    rows = [("cut", f"{number(cut.weight)}, {sides}")]
    if not math.isfinite(result.bound):
        return [*rows, ("bound", "none was proved")]
    # The weight of a cut is an integer if the weights are: so is the best of them.
    whole = bool(np.all(model.W.data == np.rint(model.W.data)))
    most = float(math.floor(result.bound)) if whole else result.bound
    rows.append(("bound", f"{number(result.bound, up=True)}, no cut of this graph weighs more"))
    if whole and cut.weight == most:
        rows.append(("quality", "the best possible: no cut of this graph is heavier"))
    elif most > 0 and cut.weight >= 0:
        rows.append(("quality", f"at least {percent(cut.weight, most)} of the best possible cut"))
    return rows


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
