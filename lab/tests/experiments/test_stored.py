"""Compact results: what they keep of a study, and how small they are."""

import numpy as np
import pytest
from synthetic import CALLS, K, study, trial

from condal.errors import CondalError
from condal_lab.experiments import paper, rivals
from condal_lab.experiments.folder import ExperimentFolder, Known, collect, read_study, write_study


@pytest.fixture
def made():
    outer = (np.arange(CALLS.size) % 20 == 19).astype(float)
    stairs = np.where(outer > 0, 1.0, 50.0) * 1e-3
    return study(
        [
            *(trial("cgal", (e,), (1 + e * e) * CALLS**-1.0) for e in (-1, 0, 1)),
            *(trial("hcgm", (e,), -(1 + e * e) * CALLS**-0.5) for e in (-1, 0, 1)),
            trial("ial", (1, -1), stairs, outer=outer),
        ]
    )


def test_claims_are_the_same_after_writing_and_reading(made, tmp_path):
    write_study(made, tmp_path / "made.json", atoms=False)
    back = read_study(tmp_path / "made.json")
    assert back.reference == made.reference
    assert list(back.tuned) == list(made.tuned)
    for test in (paper.hcgm_is_slow, paper.cgal_is_fast, rivals.ial_has_stairs):
        assert test(back).verdict is test(made).verdict
    assert back.tuned["cgal"].score == pytest.approx(made.tuned["cgal"].score, rel=0.06)


def test_a_study_is_written_as_it_was_read(made, tmp_path):
    write_study(made, tmp_path / "a.json", atoms=True)
    write_study(read_study(tmp_path / "a.json"), tmp_path / "b.json", atoms=True)
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_a_curve_takes_a_few_kilobytes(made, tmp_path):
    write_study(made, tmp_path / "a.json", atoms=False)
    assert (tmp_path / "a.json").stat().st_size < 5_000 * 7


def test_a_folder_is_collected_at_the_budget_with_the_most_trials(made, tmp_path):
    folder = ExperimentFolder(tmp_path / "out")
    assert collect(folder, "made") is None
    folder.keep_reference("made", Known(made.title, made.reference))
    for tuned in made.tuned.values():
        for each in tuned.trials.values():
            folder.keep_trial(each)
    back = collect(folder, "made")
    assert back is not None
    assert back.budget.calls == K
    assert {n: set(t.trials) for n, t in back.tuned.items()} == {
        n: set(t.trials) for n, t in made.tuned.items()
    }


def test_a_method_that_was_not_run_is_named(made, tmp_path):
    write_study(made, tmp_path / "a.json", atoms=False)
    with pytest.raises(CondalError, match="UPD was not run"):
        rivals.upd_saturates(read_study(tmp_path / "a.json"))
    assert made.tuned["cgal"].remark == ""
    assert read_study(tmp_path / "a.json").tuned["ial"].remark == "not all neighbours were tried"
