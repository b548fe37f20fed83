"""A result, for a machine and for a person."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from condal.cli.application import Lines
from condal.cli.text import counted, number, table
from condal.result import Result, Status
from condal.runtime.text import escape_terminal

SOLVED, STOPPED = 0, 1  # exit codes


def exit_code(result: Result) -> int:
    """0 if solved to the tolerance, else 1."""
    return SOLVED if result.status is Status.SOLVED else STOPPED


def record(result: Result, figures: dict[str, float | None]) -> dict[str, Any]:
    """The keys of --json, those of the application last; what is not a finite number is None."""
    made = result.reconstruction
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
        "reconstruction": None
        if made is None
        else {**asdict(made), "image_error": _finite(made.image_error)},
        "iterations": int(result.iterations),
        "oracle_calls": int(result.oracle_calls),
        "matvecs": int(result.matvecs),
        "seconds": _finite(result.seconds),
        **{name: None if value is None else _finite(value) for name, value in figures.items()},
    }


def page(result: Result, file: str, answer: Lines) -> str:
    """What a person reads of a result, in 80 columns."""
    title = f"{result.problem_name} of {file}" if file else result.problem_name
    rows = [
        (escape_terminal(name), escape_terminal(value)) for name, value in summary(result, answer)
    ]
    return f"{escape_terminal(title)}\n\n{table(rows)}"


def summary(result: Result, answer: Lines) -> Lines:
    """Names and values: the answer, what is proved of it, and what it cost."""
    certificate = result.certificate
    rows = [("status", result.status.command_text)]
    rows += [("reason", result.reason)] if result.reason else []
    rows += answer
    if certificate.certified:
        kind = "a feasible point" if result.certificate.feasible else "a nearly feasible point"
        rows += [
            ("objective", f"{number(result.objective)}, {kind} of the convex problem"),
            ("gap", f"{result.gap:.2g} between objective and bound"),
            ("infeasibility", f"{result.infeasibility:.2g}"),
            ("proof", certificate.because),
        ]
    if result.reconstruction is not None:
        rows.append(("x", str(result.reconstruction)))
    return [
        *rows,
        ("method", result.method),
        (
            "work",
            ", ".join(
                (
                    counted(result.iterations, "iteration"),
                    counted(result.oracle_calls, "oracle call"),
                    counted(result.matvecs, "matrix product"),
                )
            ),
        ),
        ("time", f"{result.seconds:.2f} s"),
    ]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
