"""Applications: condal against the obvious alternative to each, from the data to the answer.

Every run has a process of its own, one thread, 8 GB and so many seconds of CPU time; the ratios are
of CPU time in one run. `--quick` tries everything on tiny instances and records nothing;
`--only=theta,map` runs these again and leaves what is recorded of the others.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from benchmarks.instance import GOAL, Instance
from benchmarks.instances import INSTANCES
from benchmarks.record import RESULTS, write
from benchmarks.recovery import RATINGS
from benchmarks.timed import REFERENCE, run, work
from condal.lab.bench.table import markdown, power, seconds

OURS = "condal"
REPEATS = (5.0, 30.0)  # seconds of CPU: what takes less than both is run thrice, than one twice
MEASURED = ("cpu", "wall", "mb", "engine_seconds")  # of the fastest run
TIGHTER = (1, 10, 100)  # times as much is asked of a solver until its answer is good enough
HEAD = ("application", "solver", "CPU s", "wall s", "MB", "xCPU", "value", "error")
HOW = """\
CPU and wall seconds are from the data to the answer, CVXPY's own work included; MB is the peak of
the process. xCPU is condal's CPU time over the solver's: less than 1 is in condal's favour.
`value` is the objective, or the test RMSE of ratings. `error` is the larger of the infeasibility
and the distance of the objective from the best bound that condal's certificate proves (over 1 or
the objective), whoever gave the point; of a signal it is its relative error. * is more than was
asked for: 1e-3, 1e-2 of a signal. Who falls short is asked for a tenth and a hundredth."""


def measured(case: str, instance: Instance, *, quick: bool) -> list[dict[str, Any]]:
    """A row a solver, ours first; `quick` runs all in this process."""
    go, limit = (work, 0.0) if quick else (run, instance.seconds)
    rows: list[dict[str, Any]] = []
    best = None
    if instance.what == "objective":
        tight = go(case, REFERENCE, GOAL / 100, limit)
        best = tight.get("bound")
    for solver in (OURS, *instance.rivals):
        for times in TIGHTER:
            eps = GOAL / times
            found = {"case": case, "application": instance.title, "solver": solver, "eps": eps}
            found |= {"what": instance.what, "limit": limit, "goal": instance.goal}
            found["load"] = os.getloadavg()[0]
            found |= go(case, solver, eps, limit)
            _judge(found, best)
            if rows and rows[-1]["solver"] == solver:
                if "cpu" not in found:
                    break  # what was reached before is more than nothing
                rows.pop()
            rows.append(found)
            if found["outcome"] != "short":
                break
    for most in () if quick else REPEATS:
        for row in rows:  # in turns, for a busy machine slows whoever runs just then
            if row.get("cpu", most) < most:
                more = go(case, row["solver"], row["eps"], limit)
                if more["outcome"] == "solved" and more["cpu"] < row["cpu"]:
                    row |= {key: more[key] for key in MEASURED if key in more}
    return rows


def _judge(row: dict[str, Any], bound: float | None) -> None:
    """The error of an answer, and whether it is small enough."""
    if row["outcome"] not in ("solved", "short"):
        return
    if row["what"] == "objective" and bound is not None:
        gap = abs(row["value"] - bound) / max(1.0, abs(row["value"]))
        row["error"] = max(gap, row["infeasibility"])
    error = row.get("error")
    row["outcome"] = "short" if error is not None and error > row["goal"] else "solved"


def cells(row: dict[str, Any], ours: dict[str, Any]) -> tuple[str, ...]:
    """A line of the table; what gave no answer says so in the place of its time."""
    mine = row is ours
    name = row["application"] if mine else ""
    if "cpu" not in row:
        timed_out = row["outcome"] == "time"
        word = f"> {row['limit']:g}" if timed_out else row["outcome"]
        ratio = f"<{ratio_of(ours.get('cpu'), row['limit'])}" if timed_out else ""
        return (name, row["solver"], word, "", "", ratio, "", "")
    value, error = row.get("value"), row.get("error")
    return (
        name,
        row["solver"],
        seconds(row["cpu"]),
        seconds(row["wall"]),
        f"{row['mb']:,.0f}",
        "" if mine else ratio_of(ours.get("cpu"), row["cpu"]),
        "" if value is None else f"{value:.6g}",
        "" if error is None else power(error, 1) + "*" * (row["outcome"] == "short"),
    )


def ratio_of(ours: float | None, its: float) -> str:
    if ours is None:
        return "-"
    value = ours / its
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Why there is no answer, what a solver was asked for, and how much of its time is CVXPY's."""
    said = []
    for row in rows:
        who = f"{row['application']}, {row['solver']}"
        if "cpu" not in row:
            said.append(f"{who}: {row['outcome']}, {row['said']}")
        elif row["solver"] == OURS and row["said"] != "SOLVED":
            said.append(f"{who}: {row['said']}")
        if row["eps"] < GOAL:
            said.append(f"{who} was asked for {power(row['eps'])}")
        if row.get("engine_seconds") is not None and row["engine_seconds"] < 0.5 * row["wall"]:
            said.append(
                f"{who}: {seconds(row['engine_seconds'])} s on the clock in the solver itself"
            )
    return said


def page(rows: list[dict[str, Any]]) -> str:
    """The table and its notes, in Markdown."""
    first = {row["case"]: row for row in reversed(rows)}
    lines = [cells(row, first[row["case"]]) for row in rows]
    blocks = ["# Applications", markdown(HEAD, lines), HOW]
    return "\n\n".join(blocks + [f"* {note}" for note in notes(rows)]) + "\n"


def text(rows: list[dict[str, Any]]) -> str:
    """The same table for a terminal."""
    first = {row["case"]: row for row in reversed(rows)}
    lines = [HEAD, *(cells(row, first[row["case"]]) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def main() -> None:
    """All instances, or those named after --only; a case of which the data are absent is left."""
    quick = "--quick" in sys.argv
    cases = [name for name in INSTANCES if name.startswith("quick-") == quick]
    named = next((word[7:].split(",") for word in sys.argv if word.startswith("--only=")), None)
    chosen = cases if named is None else named
    for name in chosen:
        if name not in cases:
            raise SystemExit(f"no application {name!r}; there are {', '.join(cases)}")
    file = RESULTS / "applications.json"
    kept = json.loads(file.read_text(encoding="utf-8"))["rows"] if named and file.is_file() else []
    rows = [] if quick else [row for row in kept if row["case"] not in chosen]
    for name in chosen:
        if name == "movielens" and not RATINGS.is_file():
            print("movielens: left out, its data are not here")
            continue
        found = measured(name, INSTANCES[name](), quick=quick)
        print(text(found), flush=True)
        rows += found
        if not quick:
            rows.sort(key=lambda row: cases.index(row["case"]))
            write("applications", rows)
            (RESULTS / "applications.md").write_text(page(rows), encoding="utf-8")
    if quick:
        print("\n".join(notes(rows)))


if __name__ == "__main__":
    main()
