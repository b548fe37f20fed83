"""The results folder: a plain file a trial, so that what is there is not computed again.

condal-experiments.json             what made the folder
references/INSTANCE.json            the certified optimum
trials/INSTANCE/METHOD/SETTING.json a curve each
EXPERIMENT/                         figures and claims.md
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from condal.lab.experiments.curve import Curve
from condal.lab.experiments.reference import Reference
from condal.lab.experiments.trial import MethodTrial as Trial
from condal.lab.experiments.trial import TrialTask as Task
from condal.sweeps.manifest import claim, damaged, read_record, write_record

MANIFEST = "condal-experiments.json"


@dataclass(frozen=True)
class Known:
    """An instance's title and its certified optimum."""

    title: str
    reference: Reference


class ExperimentFolder:
    """OUT, opened or begun; refused if it is another program's or another version's."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        claim(self.path, MANIFEST, kind="experiments")

    def trial(self, task: Task) -> Trial | None:
        """The trial of the task, if it has been made."""
        path = self._trial_path(task)
        if not path.exists():
            return None
        record = read_record(path)
        try:
            curve = Curve.of(record.pop("curve"))
            return Trial(task=task, curve=curve, **record["result"])
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(path) from error

    def keep_trial(self, trial: Trial) -> None:
        """Write it, whole or not at all."""
        result = {
            name: getattr(trial, name)
            for name in ("ended", "seconds", "oracle_calls", "matvecs", "oracle_share", "c")
        }
        record = {"task": asdict(trial.task), "result": result, "curve": trial.curve.columns()}
        write_record(self._trial_path(trial.task), record)

    def reference(self, instance: str) -> Known | None:
        """The optimum of the instance, if it has been found."""
        path = self._reference_path(instance)
        if not path.exists():
            return None
        record = read_record(path)
        try:
            return Known(record["title"], Reference(**record["reference"]))
        except (KeyError, TypeError) as error:
            raise damaged(path) from error

    def keep_reference(self, instance: str, known: Known) -> None:
        """Write it, whole or not at all."""
        write_record(self._reference_path(instance), asdict(known))

    def section(self, experiment: str) -> Path:
        """The folder of an experiment's figures and claims."""
        path = self.path / experiment
        path.mkdir(exist_ok=True)
        return path

    def _trial_path(self, task: Task) -> Path:
        return self.path / "trials" / task.instance / task.contender / f"{task.name}.json"

    def _reference_path(self, instance: str) -> Path:
        return self.path / "references" / f"{instance}.json"
