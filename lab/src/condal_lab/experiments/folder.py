"""The folder of experiments: a file per trial, so that no trial is computed twice.

condal-experiments.json             the manifest
references/INSTANCE.json            the certified optimum
trials/INSTANCE/METHOD/SETTING.json one curve
EXPERIMENT/                         figures and claims.md

The documentation keeps one file per instance, from which its claims and figures are made. A curve
has there a row per 5% more calls, with four digits of (f - f*) / |f*| and of the infeasibility.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from condal.errors import FormatError
from condal.io.container.manifest import Kind, read_json, require_seal
from condal.io.formats.writing import write_text
from condal.linalg.points import Array
from condal_lab.experiments.claims import Study, make_study
from condal_lab.experiments.curve import Curve, Thinning
from condal_lab.experiments.trial import MethodTrial, Reference, TrialBudget, TrialTask
from condal_lab.folders import claim_folder, write_sealed

MANIFEST = "condal-experiments.json"
RESULT_FIELDS = (
    "ended",
    "seconds",
    "oracle_calls",
    "matvecs",
    "cpu_seconds",
    "oracle_share",
    "c",
)
EXPERIMENTS = Kind(
    "condal experiments", remedy="give another folder (--out, out=), or delete this one"
)


@dataclass(frozen=True)
class Known:
    """An instance's title and its certified optimum."""

    title: str
    reference: Reference


class ExperimentFolder:
    """The folder; refused if another program or another version of condal wrote it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        claim_folder(self.path, MANIFEST, EXPERIMENTS)

    def trial(self, task: TrialTask) -> MethodTrial | None:
        """Read the trial of a task; None if it was not made yet."""
        path = self._trial_path(task)
        if not path.exists():
            return None
        record = _read(path)
        try:
            curve = Curve.of(record.pop("curve"))
            return MethodTrial(task=task, curve=curve, **record["result"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path) from error

    def trials(self, instance: str) -> list[MethodTrial]:
        """Read every trial of an instance, of any budget."""
        read = []
        for path in sorted((self.path / "trials" / instance).glob("*/*.json")):
            task = _read(path)["task"]
            setting, budget = tuple(task["setting"]), TrialBudget(**task["budget"])
            trial = self.trial(TrialTask(instance, task["contender"], setting, budget))
            assert trial is not None
            read.append(trial)
        return read

    def keep_trial(self, trial: MethodTrial) -> None:
        """Write a trial."""
        result = {name: getattr(trial, name) for name in RESULT_FIELDS}
        record = {"task": asdict(trial.task), "result": result, "curve": trial.curve.columns()}
        write_sealed(self._trial_path(trial.task), record)

    def reference(self, instance: str) -> Known | None:
        """Read the certified optimum of an instance; None if it was not computed yet."""
        path = self._reference_path(instance)
        if not path.exists():
            return None
        record = _read(path)
        try:
            return Known(record["title"], Reference(**record["reference"]))
        except (KeyError, TypeError) as error:
            raise _damaged(path) from error

    def keep_reference(self, instance: str, known: Known) -> None:
        """Write the certified optimum of an instance."""
        write_sealed(self._reference_path(instance), asdict(known))

    def section(self, experiment: str) -> Path:
        """Make the folder of an experiment's figures and claims."""
        path = self.path / experiment
        path.mkdir(exist_ok=True)
        return path

    def _trial_path(self, task: TrialTask) -> Path:
        return self.path / "trials" / task.instance / task.contender / f"{task.name}.json"

    def _reference_path(self, instance: str) -> Path:
        return self.path / "references" / f"{instance}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        record = read_json(path, "")
        require_seal(record, path)
    except FormatError as error:
        raise _damaged(path) from error
    return record


def _damaged(path: Path) -> FormatError:
    return FormatError(
        "cannot be read as a result; delete it, and it is computed again", path=str(path)
    )


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
