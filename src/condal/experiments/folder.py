"""The results folder: a plain file a trial, so that what is there is not computed again.

condal-experiments.json             what made the folder
references/INSTANCE.json            the certified optimum
trials/INSTANCE/METHOD/SETTING.json a curve each
EXPERIMENT/                         figures and claims.md
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import condal
from condal.errors import CondalError
from condal.experiments.curve import Curve
from condal.experiments.reference import Reference
from condal.experiments.trial import Task, Trial
from condal.formats.writing import write_text

MANIFEST = "condal-experiments.json"
FORMAT = 1


class FolderError(CondalError):
    """A results folder that cannot be used; the text says what to do."""


@dataclass(frozen=True)
class Known:
    """An instance's title and its certified optimum."""

    title: str
    reference: Reference


class Folder:
    """OUT, opened or begun; refused if it is another program's or another version's."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        wanted = {"format": FORMAT, "condal": condal.__version__}
        try:
            if self.path.exists() and not self.path.is_dir():
                raise FolderError(f"{self.path} is no folder; give --out a folder")
            self.path.mkdir(parents=True, exist_ok=True)
            empty = not any(self.path.iterdir())
        except OSError as error:
            raise FolderError(
                f"{self.path} cannot be used: {error.strerror}; give --out a folder that you can "
                "write to"
            ) from error
        manifest = self.path / MANIFEST
        if manifest.exists():
            self._accept(_read(manifest), wanted)
        elif empty:
            _write(manifest, wanted)
        else:
            raise FolderError(
                f"{self.path} holds files, but no {MANIFEST}: it is not a folder of experiments; "
                "give --out an empty or a new folder"
            )

    def _accept(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        if found == wanted:
            return
        made = f"condal {found.get('condal', 'of an unknown version')}"
        if found.get("condal") == wanted["condal"]:
            made += f" (format {found.get('format')})"
        raise FolderError(
            f"the results in {self.path} were made by {made}, and this is condal "
            f"{wanted['condal']} (format {FORMAT}): results of different versions do not mix; give "
            "--out another folder, or delete this one"
        )

    def trial(self, task: Task) -> Trial | None:
        """The trial of the task, if it has been made."""
        path = self._trial_path(task)
        if not path.exists():
            return None
        record = _read(path)
        try:
            curve = Curve.of(record.pop("curve"))
            return Trial(task=task, curve=curve, **record["result"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path) from error

    def keep_trial(self, trial: Trial) -> None:
        """Write it, whole or not at all."""
        result = {
            name: getattr(trial, name)
            for name in ("ended", "seconds", "oracle_calls", "matvecs", "oracle_share", "c")
        }
        record = {"task": asdict(trial.task), "result": result, "curve": trial.curve.columns()}
        _write(self._trial_path(trial.task), record)

    def reference(self, instance: str) -> Known | None:
        """The optimum of the instance, if it has been found."""
        path = self._reference_path(instance)
        if not path.exists():
            return None
        record = _read(path)
        try:
            return Known(record["title"], Reference(**record["reference"]))
        except (KeyError, TypeError) as error:
            raise _damaged(path) from error

    def keep_reference(self, instance: str, known: Known) -> None:
        """Write it, whole or not at all."""
        _write(self._reference_path(instance), asdict(known))

    def section(self, experiment: str) -> Path:
        """The folder of an experiment's figures and claims."""
        path = self.path / experiment
        path.mkdir(exist_ok=True)
        return path

    def _trial_path(self, task: Task) -> Path:
        return self.path / "trials" / task.instance / task.contender / f"{task.name}.json"

    def _reference_path(self, instance: str) -> Path:
        return self.path / "references" / f"{instance}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise _damaged(path) from error
    if not isinstance(record, dict):
        raise _damaged(path)
    return record


def _write(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, [json.dumps(record, allow_nan=False, indent=1), "\n"])


def _damaged(path: Path) -> FolderError:
    return FolderError(f"{path} cannot be read as a result; delete it, and it is computed again")
