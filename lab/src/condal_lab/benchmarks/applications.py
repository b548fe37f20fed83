"""Applications: condal against the obvious alternative to each, from the data to the answer.

Each run has its own process, one thread, 8 GB and a limit on CPU time. The ratios compare CPU times
from one run. `--quick` tries everything on tiny instances and records nothing; `--only=theta,map`
reruns these and keeps the records of the others.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from condal_lab.bench.table import power, seconds
from condal_lab.benchmarks.instance import GOAL, Instance
from condal_lab.benchmarks.instances import INSTANCES
from condal_lab.benchmarks.runner import RESULTS
from condal_lab.benchmarks.timed import REFERENCE, run, work
from condal_lab.markdown import markdown

OURS = "condal"
REPEATS = (5.0, 30.0)  # CPU seconds: runs below both limits are made three times, below one twice
MEASURED = ("cpu", "wall", "mb", "engine_seconds")  # taken from the fastest run
TIGHTER = (1, 10, 100)  # divisors of eps, tried until the answer is good enough
HEAD = ("application", "solver", "CPU s", "wall s", "MB", "xCPU", "value", "error")
HOW = """\
CPU and wall seconds run from the data to the answer, including CVXPY's own work; MB is the peak
memory of the process. xCPU is condal's CPU time over the solver's: values below 1 favour condal.
`value` is the objective, the test RMSE for ratings, or the fidelity to the state that was meant
(the measured one has 0.95). `error` is the larger of the infeasibility
and the distance of the objective from the best bound that condal's certificate proves (divided by
the larger of 1 and the objective), whichever solver produced the point; for a signal it is the
relative error, and for a public pose graph the gap that condal proves. * marks an error above the
target: 1e-3, 1e-2 for a signal, or 1e-6 for a public pose graph. A solver that misses
the target is run again at a tenth and a hundredth of the tolerance. The sets `kmeans` and
`clusters` of `condal bench` measure k-means: bench-kmeans.md and bench-clusters.md."""


def measured(case: str, instance: Instance, *, quick: bool) -> list[dict[str, Any]]:
    """Return one row per solver, condal first; `quick` runs all in this process."""
    go, limit = (work, 0.0) if quick else (run, instance.seconds)
    rows: list[dict[str, Any]] = []
    best = None
    if instance.what == "objective" and instance.rivals:
        tight = go(case, REFERENCE, GOAL / 100, limit)
        best = tight.get("bound")
    for solver in (OURS, *instance.rivals):
        for times in TIGHTER:
            eps = GOAL / times
            row: dict[str, Any] = {
                "case": case,
                "application": instance.title,
                "solver": solver,
                "eps": eps,
            }
            row |= {"what": instance.what, "limit": limit, "goal": instance.goal}
            row["load"] = os.getloadavg()[0]
            row |= go(case, solver, eps, limit)
            best = row.get("bound") if best is None else best
            _judge(row, best)
            if rows and rows[-1]["solver"] == solver:
                if "cpu" not in row:
                    break  # keep the earlier, less accurate answer
                rows.pop()
            rows.append(row)
            if row["outcome"] != "short":
                break
    for most in () if quick else REPEATS:
        for row in rows:  # alternate: a busy machine slows whichever solver runs at the time
            if row.get("cpu", most) < most:
                more = go(case, row["solver"], row["eps"], limit)
                if more["outcome"] == "solved" and more["cpu"] < row["cpu"]:
                    row |= {key: more[key] for key in MEASURED if key in more}
    return rows


def _judge(row: dict[str, Any], bound: float | None) -> None:
    """Compute the error of an answer and whether it is small enough."""
    if row["outcome"] not in ("solved", "short"):
        return
    if row["what"] == "objective" and bound is not None:
        gap = abs(row["value"] - bound) / max(1.0, abs(row["value"]))
        row["error"] = max(gap, row["infeasibility"])
    error = row.get("error")
    row["outcome"] = "short" if error is not None and error > row["goal"] else "solved"


def cells(row: dict[str, Any], ours: dict[str, Any]) -> tuple[str, ...]:
    """Return a line of the table; without an answer, the outcome replaces the time."""
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
    """Say why an answer is missing, which tolerance was used, and what share of time is CVXPY's."""
    remarks = []
    for row in rows:
        who = f"{row['application']}, {row['solver']}"
        if "cpu" not in row:
            remarks.append(f"{who}: {row['outcome']}, {row['said']}")
        elif row["solver"] == OURS and row["said"] != "SOLVED":
            remarks.append(f"{who}: {row['said']}")
        if row["eps"] < GOAL:
            remarks.append(f"{who} was asked for {power(row['eps'])}")
        if row.get("engine_seconds") is not None and row["engine_seconds"] < 0.5 * row["wall"]:
            remarks.append(
                f"{who}: {seconds(row['engine_seconds'])} s of wall time in the solver itself"
            )
    return remarks


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table and its notes in Markdown."""
    first = {row["case"]: row for row in reversed(rows)}
    lines = [cells(row, first[row["case"]]) for row in rows]
    blocks = ["# Applications", markdown(HEAD, lines), HOW]
    return "\n\n".join(blocks + [f"* {note}" for note in notes(rows)]) + "\n"


def text(rows: list[dict[str, Any]]) -> str:
    """Return the same table for a terminal."""
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
    """Run all instances, or those named after --only; skip cases whose data are missing."""
    quick = "--quick" in sys.argv
    cases = [name for name in INSTANCES if name.startswith("quick-") == quick]
    named = next((word[7:].split(",") for word in sys.argv if word.startswith("--only=")), None)
    chosen = cases if named is None else named
    for name in chosen:
        if name not in cases:
            raise SystemExit(f"no application {name!r}; the applications are {', '.join(cases)}")
    file = RESULTS / "applications.json"
    recorded = (
        json.loads(file.read_text(encoding="utf-8"))["rows"] if named and file.is_file() else []
    )
    rows = [] if quick else [row for row in recorded if row["case"] not in chosen]
    for name in chosen:
        try:
            instance = INSTANCES[name]()
        except FileNotFoundError:
            print(f"{name}: skipped, its data are missing")
            continue
        measured_rows = measured(name, instance, quick=quick)
        print(text(measured_rows), flush=True)
        rows += measured_rows
        if not quick:
            rows.sort(key=lambda row: cases.index(row["case"]))
            (RESULTS / "applications.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
            (RESULTS / "applications.md").write_text(page(rows), encoding="utf-8")
    if quick:
        print("\n".join(notes(rows)))


if __name__ == "__main__":
    main()
