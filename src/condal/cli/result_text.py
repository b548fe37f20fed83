"""A result for --json and for the terminal."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from condal.cli.application import Rows
from condal.result import Result, Status
from condal.runtime.text import counted, escape_terminal, number, table

SOLVED, STOPPED = 0, 1  # exit codes


def exit_code(result: Result) -> int:
    """Return 0 if the tolerance was reached, else 1."""
    return SOLVED if result.status is Status.SOLVED else STOPPED


def record(result: Result, figures: dict[str, float | None]) -> dict[str, Any]:
    """Return the keys of --json, those of the application last; non-finite numbers become None."""
    sketched = result.reconstruction
    measured = ("objective", "bound", "gap", "infeasibility", "price")
    return {
        "problem": result.problem_name,
        "method": result.method,
        "why": result.why,
        "status": result.status.name.lower(),
        **{name: _finite(getattr(result, name)) for name in measured},
        "bracket": bool(result.bracket),
        "certified": bool(result.certificate.certified),
        "failure": _finite(result.certificate.failure),
        "reconstruction": None
        if sketched is None
        else {**asdict(sketched), "image_error": _finite(sketched.image_error)},
        **{name: int(getattr(result, name)) for name in ("iterations", "oracle_calls", "matvecs")},
        "seconds": _finite(result.seconds),
        **{name: None if value is None else _finite(value) for name, value in figures.items()},
    }


def page(result: Result, file: str, answer: Rows) -> str:
    """Return a result as text of 80 columns."""
    title = f"{result.problem_name} of {file}" if file else result.problem_name
    rows = [
        (escape_terminal(name), escape_terminal(value)) for name, value in summary(result, answer)
    ]
    return f"{escape_terminal(title)}\n\n{table(rows)}"


def summary(result: Result, answer: Rows) -> Rows:
    """Return names and values: the answer, what is proved about it, and the cost."""
    rows = [("status", result.ending(result.status.command_text))]
    rows += [("reason", result.reason)] if result.reason else []
    rows += answer
    if result.status.excludes_optimum:  # then no objective, gap or bound says anything
        rows += [("proof", result.infeasible.because)] if result.infeasible else []
    elif result.certificate.certified:
        point = "point feasible up to rounding" if result.bracket else "nearly feasible point"
        rows += [
            ("objective", f"{_objective(result)}, at a {point} of the convex problem"),
            ("gap", f"{result.gap:.2g} from objective to bound{_unit(result)}"),
            ("infeasibility", f"{result.infeasibility:.2g}, worth {_worth(result)} (its price)"),
        ]
        if result.bracket:
            rows.append(("optimum", "between objective and bound, up to rounding"))
        rows.append(("proof", result.certificate.because))
    if result.reconstruction is not None:
        rows.append(("x", str(result.reconstruction)))
    work = (
        counted(result.iterations, "iteration"),
        counted(result.oracle_calls, "oracle call"),
        counted(result.matvecs, "matrix product"),
    )
    return [
        *rows,
        ("method", result.method),
        ("work", ", ".join(work)),
        ("time", f"{result.seconds:.2f} s"),
    ]


def _objective(result: Result) -> str:
    """Return the objective; if it is an end of a bracket, rounded away from the bound."""
    up = result.bracket and not result.bounded_above
    return number(result.objective, up=up, down=result.bracket and not up)


def _unit(result: Result) -> str:
    """Return what a gap is relative to, in words."""
    unit = result.certificate.unit
    if unit <= abs(result.objective):
        return ", relative to the objective"
    return ", absolute" if unit == 1 else f", relative to {unit:.2g}, about what f can reach"


def _worth(result: Result) -> str:
    """Return the price: a part of the objective if that is at least 1, else an amount."""
    share = result.certificate.unit <= abs(result.objective)
    return f"{result.price:.2g} {'of' if share else 'in'} the objective"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
