"""A trial uses exactly its budget, and its curve describes the method."""

import numpy as np
import pytest

from condal.problems import max_cut
from condal_lab.experiments.contenders import CONTENDERS
from condal_lab.experiments.trial import TrialBudget, TrialTask, run_trial
from known import planted_sdp, torus

CALLS = 60


@pytest.fixture(scope="module")
def cut():
    return max_cut(torus(3, 4)).problem


@pytest.fixture(scope="module", params=list(CONTENDERS))
def trial(request, cut):
    contender = CONTENDERS[request.param]
    setting = tuple(p.start for p in contender.parameters)
    return run_trial(cut, TrialTask("torus", contender.name, setting, TrialBudget(CALLS, 60.0)))


def test_it_ends_with_its_budget_of_calls(trial):
    assert trial.ended == "calls"
    assert CALLS <= trial.oracle_calls <= CALLS + 60  # a line search finishes
    assert trial.curve.calls[-1] >= CALLS


def test_calls_rise_and_errors_are_finite(trial):
    curve = trial.curve
    assert np.all(np.diff(curve.calls) > 0)
    for values in (curve.objective, curve.infeasibility, curve.atom_objective):
        assert np.isfinite(values).all()
    assert np.all(curve.infeasibility >= 0)
    assert 0 <= trial.oracle_share <= 1


def test_only_stairs_have_inner_rows(trial):
    stairs = CONTENDERS[trial.task.contender].stairs
    assert bool((trial.curve.outer == 0).any()) == stairs


def test_the_atom_of_the_first_step_is_the_iterate(cut):
    trial = run_trial(cut, TrialTask("torus", "cgal", (0,), TrialBudget(5, 60.0)))
    curve = trial.curve
    assert curve.atom_objective[0] == pytest.approx(curve.objective[0])
    assert curve.atom_infeasibility[0] == pytest.approx(curve.infeasibility[0])
    assert curve.atom_objective[-1] != pytest.approx(curve.objective[-1])


def test_time_ends_a_trial_too(cut):
    trial = run_trial(cut, TrialTask("torus", "cgal", (0,), TrialBudget(10**9, 0.05)))
    assert trial.ended == "seconds"


def test_a_trial_that_has_converged_ends():
    problem = planted_sdp().problem
    trial = run_trial(problem, TrialTask("planted", "corrective", (0,), TrialBudget(10**5)))
    assert trial.ended == "converged"
    assert trial.curve.infeasibility[-1] <= 1e-8


def test_an_exact_oracle_is_another_trial(cut):
    task = TrialTask("torus", "cgal", (0,), TrialBudget(5, 60.0, exact=True))
    assert task.name.endswith(",exact")
    assert run_trial(cut, task).ended == "calls"


def test_curves_are_thinned(cut):
    trial = run_trial(cut, TrialTask("torus", "hcgm", (0,), TrialBudget(1000, 60.0)))
    assert trial.curve.calls.size < 250
    assert trial.curve.calls[:20].tolist() == list(range(1, 21))
