"""A run computes the settings that tuning asks for, each once, and stores every result at once."""

import multiprocessing
import os
from dataclasses import replace
from functools import partial

import pytest

from condal.errors import CondalError
from condal_lab.experiments import run as runner
from condal_lab.experiments.contenders import CONTENDERS, at_edge
from condal_lab.experiments.folder import ExperimentFolder
from condal_lab.experiments.instances import build
from condal_lab.experiments.run import ExperimentCase, run
from condal_lab.experiments.trial import TrialBudget
from condal_lab.sweeps.processes import ONE_THREAD
from condal_lab.sweeps.workers import Workers

CASE = ExperimentCase("gd97b-like", TrialBudget(40, 60.0))
METHODS = ("cgal", "hcgm")


class Silent:
    """A watch that only counts."""

    def __init__(self):
        self.wanted, self.made, self.kept = [], [], []

    def asked(self, what):
        self.wanted.append(what)

    def done(self, what, seconds, score):
        self.made.append(what)

    def found(self, what):
        self.kept.append(what)


def small():
    return [build("gd97b", quick=True)]


def go(path, *, workers=0, case=CASE, methods=METHODS, instances=small):
    watch = Silent()
    with Workers.of(workers) as pool:
        studies = run([case], instances, methods, ExperimentFolder(path), workers=pool, watch=watch)
    return studies[0], watch


def unbuildable():
    raise AssertionError("the folder holds everything: nothing is to be built")


def test_each_method_is_tuned_by_the_rule(tmp_path):
    study, watch = go(tmp_path)
    assert sorted(watch.made) == sorted(watch.wanted)
    assert watch.kept == []
    for name in METHODS:
        tuned = study.tuned[name]
        assert tuned.score == min(tuned.scores.values())
        (exponent,) = tuned.setting
        if not at_edge(CONTENDERS[name].parameters, tuned.setting):
            assert {(exponent - 1,), (exponent + 1,)} <= set(tuned.trials)


def test_what_the_folder_holds_is_not_computed_again(tmp_path, monkeypatch):
    first, watch = go(tmp_path)
    made = len(watch.made)
    monkeypatch.setattr(runner, "run_trial", unbuildable)
    second, again = go(tmp_path, instances=unbuildable)
    assert again.made == []
    assert len(again.kept) == made
    assert second.reference == first.reference
    for name in METHODS:
        assert second.tuned[name].scores == first.tuned[name].scores


def test_another_budget_is_computed_again(tmp_path):
    go(tmp_path)
    _, watch = go(tmp_path, case=replace(CASE, budget=TrialBudget(50, 60.0)))
    assert len(watch.kept) >= 1  # the optimum
    assert len(watch.made) >= 3 * len(METHODS)


def test_what_was_done_before_an_interruption_is_kept(tmp_path, monkeypatch):
    real, count = runner.run_trial, 0

    def interrupted(problem, task):
        nonlocal count
        count += 1
        if count == 3:
            raise KeyboardInterrupt
        return real(problem, task)

    monkeypatch.setattr(runner, "run_trial", interrupted)
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path)
    monkeypatch.setattr(runner, "run_trial", real)
    _, watch = go(tmp_path)
    assert len(watch.kept) == 3  # the optimum and two trials


def test_worker_processes_give_the_same_and_are_gone_afterwards(tmp_path):
    here, _ = go(tmp_path / "here")
    there, _ = go(tmp_path / "there", workers=2, instances=partial(build_all, "gd97b"))
    for name in METHODS:
        assert there.tuned[name].scores == pytest.approx(here.tuned[name].scores, rel=1e-6)
    assert multiprocessing.active_children() == []


def build_all(key):
    return [build(key, quick=True)]


def test_workers_have_one_thread_and_the_parent_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with Workers.of(1) as pool:
        pool.submit(os.getenv, "OPENBLAS_NUM_THREADS")
        seen = pool.next_done().result()
    assert seen == "1"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
    assert set(ONE_THREAD.values()) == {"1"}


def test_leaving_early_does_not_wait_for_the_workers():
    with Workers.of(1) as pool:
        future = pool.submit(sum, range(10))
        assert pool.next_done() is future
        assert future.result() == 45
        pool.submit(_sleep)
    assert multiprocessing.active_children() == []


def _sleep():
    import time

    time.sleep(3600)


def test_a_worker_that_dies_is_an_error_with_advice(tmp_path):
    with pytest.raises(CondalError, match=r"2 worker processes died.*repeat the command"):
        go(tmp_path, workers=1, instances=partial(os._exit, 1))
