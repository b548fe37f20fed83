"""Results of experiments in compact form: one JSON file per instance, for the documentation.

A curve keeps a row per 5% more calls, with four digits of (f - f*) / |f*| and of the infeasibility.
Claims and figures of the documentation are made from these files alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from condal.io.formats.writing import write_text
from condal.linalg.points import Array
from condal_lab.experiments.curve import Curve, Thinning
from condal_lab.experiments.folder import RESULT_FIELDS, ExperimentFolder
from condal_lab.experiments.reference import Reference
from condal_lab.experiments.study import Study, make_study
from condal_lab.experiments.trial import MethodTrial, TrialBudget, TrialTask

GROWTH = 1.05  # of the calls from row to row
DIGITS = 4


def collect(folder: ExperimentFolder, instance: str) -> Study | None:
    """Return the study of an instance from its trials in the folder; None if there are none.

    Trials of different budgets cannot be compared: the budget with the most trials counts.
    """
    known, trials = folder.reference(instance), folder.trials(instance)
    if known is None or not trials:
        return None
    budgets = Counter(trial.task.budget for trial in trials)
    budget = max(budgets, key=lambda each: (budgets[each], each.calls))
    chosen = [trial for trial in trials if trial.task.budget == budget]
    return make_study(instance, known.title, known.reference, budget, chosen)


def write_study(study: Study, path: Path, *, atoms: bool) -> None:
    """Write a study; the atoms of its curves only if they are shown."""
    trials = [
        {
            "method": tuned.contender.name,
            "setting": setting,
            **{name: getattr(trial, name) for name in RESULT_FIELDS},
            **_compact(trial.curve, study.optimum, atoms=atoms),
        }
        for tuned in study.tuned.values()
        for setting, trial in sorted(tuned.trials.items())
    ]
    head = {
        "instance": study.instance,
        "title": study.title,
        "budget": asdict(study.budget),
        "reference": asdict(study.reference),
    }
    lines = [json.dumps(head)[:-1] + ', "trials": [']
    lines.append(",\n".join(json.dumps(trial, separators=(",", ":")) for trial in trials))
    write_text(path, ["\n".join([*lines, "]}"]) + "\n"])


def read_study(path: Path) -> Study:
    """Read a study that `write_study` wrote."""
    record = json.loads(path.read_text(encoding="utf-8"))
    reference, budget = Reference(**record["reference"]), TrialBudget(**record["budget"])
    trials = []
    for each in record["trials"]:
        task = TrialTask(record["instance"], each["method"], tuple(each["setting"]), budget)
        curve = _expand(each, reference.objective)
        result = {name: each[name] for name in RESULT_FIELDS}
        trials.append(MethodTrial(task=task, curve=curve, **result))
    return make_study(record["instance"], record["title"], reference, budget, trials)


def _compact(curve: Curve, optimum: float, *, atoms: bool) -> dict[str, list[float | None]]:
    kept, unit, ends = Thinning(GROWTH), abs(optimum) or 1.0, curve.calls.size - 1
    rows = [
        row
        for row, (calls, outer) in enumerate(zip(curve.calls, curve.outer > 0, strict=True))
        if kept.keeps(calls, outer=bool(outer), last=row == ends)
    ]
    columns = {
        "calls": curve.calls[rows],
        "residual": curve.signed(optimum)[rows],
        "infeasibility": curve.infeasibility[rows],
    }
    if not curve.outer.all():
        columns["outer"] = curve.outer[rows]
    if atoms:
        columns["atom_residual"] = ((curve.atom_objective - optimum) / unit)[rows]
        columns["atom_infeasibility"] = curve.atom_infeasibility[rows]
    whole = ("calls", "outer")
    return {
        name: [int(v) for v in values] if name in whole else [_round(float(v)) for v in values]
        for name, values in columns.items()
    }


def _expand(record: dict[str, Any], optimum: float) -> Curve:
    unit = abs(optimum) or 1.0
    calls = np.array(record["calls"], dtype=np.float64)
    missing = [None] * calls.size

    def column(name: str, default: Sequence[float | None]) -> Array:
        return np.array(record.get(name, default), dtype=np.float64)

    return Curve(
        calls,
        optimum + unit * column("residual", missing),
        column("infeasibility", missing),
        column("outer", [1.0] * calls.size),
        optimum + unit * column("atom_residual", missing),
        column("atom_infeasibility", missing),
    )


def _round(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
