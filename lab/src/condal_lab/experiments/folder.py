"""The folder of experiments: a file per trial, so that no trial is computed twice.

condal-experiments.json             the manifest
references/INSTANCE.json            the certified optimum
trials/INSTANCE/METHOD/SETTING.json one curve
EXPERIMENT/                         figures and claims.md
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from condal.errors import FormatError
from condal.io.container.manifest import Kind, read_json, require_seal
from condal_lab.experiments.curve import Curve
from condal_lab.experiments.reference import Reference
from condal_lab.experiments.trial import MethodTrial, TrialBudget, TrialTask
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
