"""The results folder: what it keeps, and what it refuses."""

import json

import numpy as np
import pytest

from condal.errors import CondalError
from condal_lab.experiments.curve import Curve
from condal_lab.experiments.folder import MANIFEST, ExperimentFolder, Known
from condal_lab.experiments.trial import MethodTrial, Reference, TrialBudget, TrialTask

TASK = TrialTask("g1", "fwal", (1, -2), TrialBudget(100, 5.0))


def trial() -> MethodTrial:
    rows = np.arange(1.0, 4.0)
    curve = Curve(rows, rows / 3, rows / 7, np.ones(3), rows, np.array([np.inf, 1.0, 0.5]))
    return MethodTrial(TASK, curve, "calls", 1.5, 100, 2000, 1.25, 0.75, 0.01)


def test_a_trial_comes_back_as_it_was(tmp_path):
    folder = ExperimentFolder(tmp_path / "out")
    assert folder.trial(TASK) is None
    folder.keep_trial(trial())
    back = ExperimentFolder(tmp_path / "out").trial(TASK)
    assert back is not None
    assert (back.ended, back.seconds, back.oracle_calls, back.c) == ("calls", 1.5, 100, 0.01)
    assert np.array_equal(back.curve.objective, trial().curve.objective)
    assert np.isnan(back.curve.atom_infeasibility[0])


def test_another_budget_is_another_trial(tmp_path):
    folder = ExperimentFolder(tmp_path)
    folder.keep_trial(trial())
    longer = TrialTask("g1", "fwal", (1, -2), TrialBudget(200, 5.0))
    exact = TrialTask("g1", "fwal", (1, -2), TrialBudget(100, 5.0, exact=True))
    assert folder.trial(longer) is None
    assert folder.trial(exact) is None


def test_the_files_are_plain_and_named_after_what_they_hold(tmp_path):
    ExperimentFolder(tmp_path).keep_trial(trial())
    path = tmp_path / "trials/g1/fwal/lam=1e+01,rho=1e-02,calls=100,seconds=5.json"
    record = json.loads(path.read_text())
    assert record["task"]["setting"] == [1, -2]
    assert record["curve"]["calls"] == [1, 2, 3]


def test_references_come_back(tmp_path):
    known = Known("G1", Reference(-1.5, -1.6, 0.07, 0.0, 0.0, "proof", 0.0, "method", 2.0))
    folder = ExperimentFolder(tmp_path)
    assert folder.reference("g1") is None
    folder.keep_reference("g1", known)
    assert folder.reference("g1") == known


def test_a_folder_of_another_format_is_refused(tmp_path):
    (tmp_path / MANIFEST).write_text(
        json.dumps({"format": "condal experiments", "version": 1, "condal": "0.1.0"})
    )
    with pytest.raises(CondalError) as caught:
        ExperimentFolder(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / MANIFEST}: was written by condal 0.1.0 in format 1; this version reads "
        "format 2: give another folder (--out, out=), or delete this one"
    )


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(CondalError, match="is not a folder; give one"):
        ExperimentFolder(tmp_path / "out")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"task": {}, "result": {}, "curve": {}}'])
def test_a_damaged_result_is_named(tmp_path, text):
    folder = ExperimentFolder(tmp_path)
    folder.keep_trial(trial())
    (path,) = (tmp_path / "trials").rglob("*.json")
    path.write_text(text)
    with pytest.raises(CondalError, match=r"\.json: cannot be read as a result; delete it"):
        folder.trial(TASK)
