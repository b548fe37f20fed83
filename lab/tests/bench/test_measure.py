"""Runs in separate processes: what they measure, and how they end."""

from dataclasses import replace

import numpy as np
import pytest

from condal_lab.bench import run as module
from condal_lab.bench.peers.packages import OURS
from condal_lab.bench.peers.peer import CallTask, Peer, PeerAnswer
from condal_lab.bench.process import begin_peak, peak
from condal_lab.bench.results import BenchRun, Job
from condal_lab.bench.run import BenchPlan, jobs, repeat_run, run_once, run_to_tolerance
from condal_lab.bench.sets import SETS
from condal_lab.bench.table import notes
from condal_lab.bench.worker import measure_solve, work

GB = 1 << 30


def job(solver="condal", **changes) -> Job:
    whole = {"set": "quick", "case": "cut-60", "solver": solver, "tol": 1e-4, "eps": 1e-4}
    return Job(**{**whole, "seconds": 60.0, "memory": 8 * GB, **changes})


def test_a_run_is_measured_and_certified():
    run = run_once(job())
    assert (run.outcome, run.certified) == ("solved", "x, y")
    assert 0 < run.cpu < 60
    assert 10**7 < run.memory < 8 * GB
    assert run.error <= 1e-4
    assert run.bound >= run.objective  # a maximisation


def test_time_that_is_over_ends_a_run():
    run = run_once(job(set="tori", case="G67", tol=1e-13, eps=1e-13, seconds=0.1))
    assert (run.outcome, run.reason) == ("time", "no answer within 0.1 s")
    assert run.cpu is None


def test_a_crash_is_a_failure():
    run = run_once(job(set="nothing"))
    assert run.outcome == "failed"
    assert "ended with code 1" in run.reason
    assert "KeyError: 'nothing'" in run.reason


@pytest.fixture
def peer(monkeypatch):
    """Put a function in place of the one that prepares a peer's task."""

    def put(prepare):
        made = Peer("SCS", "", lambda: "3", prepare)
        monkeypatch.setattr("condal_lab.bench.worker.solver", lambda name: made)

    return put


def answer_of_size_3():
    return PeerAnswer(np.eye(3), np.zeros(2))


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda *_: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda *_: CallTask(answer_of_size_3, lambda answer: answer), "its answer cannot be cert"),
    ],
)
def test_what_a_peer_does_wrong_is_its_failure(peer, prepare, reason):
    peer(prepare)
    run = work(job("SCS"))
    assert run.outcome == "failed"
    assert run.reason.startswith(reason)


def test_the_peak_is_that_of_the_solve():
    class PeerTask:
        size = 0

        def solve(self):
            self.size = np.ones(30_000_000).sum()

    large = np.ones(60_000_000)
    assert large.sum() > 0
    del large
    if not begin_peak():
        pytest.skip("the system does not let the peak be forgotten")
    before = peak()  # the process of the tests is already large
    used = measure_solve(PeerTask(), 60.0)
    assert 240e6 < used.memory < before + 240e6 + 100e6  # and not before + 480e6


def fake(monkeypatch, *runs):
    asked = []

    def give(one: Job) -> BenchRun:
        asked.append(one.eps)
        return runs[len(asked) - 1]

    monkeypatch.setattr(module, "run_once", give)
    return asked


def run(outcome="solved", cpu=10.0, gap=1e-5) -> BenchRun:
    times = [] if cpu is None else [cpu]
    facts = {"cpu": cpu, "gap": gap, "infeasibility": 0.0, "repeats": times}
    return BenchRun("cut-60", "SCS", 1e-4, 1e-4, outcome, **facts)


def test_short_runs_are_repeated_and_the_fastest_counts(monkeypatch):
    fake(monkeypatch, run(cpu=0.2), run(cpu=0.4))
    repeated = repeat_run(job("SCS"), repeat_run(job("SCS"), run(cpu=0.3)))
    assert (repeated.cpu, repeated.repeats) == (0.2, [0.3, 0.2, 0.4])


def test_long_runs_and_those_without_an_answer_are_not_repeated(monkeypatch):
    assert fake(monkeypatch) == []
    for one in (run(cpu=10.0), run("time", cpu=None), run("refused", cpu=None)):
        assert repeat_run(job("SCS"), one) is one


def test_a_repeat_is_asked_for_what_was_settled_on(monkeypatch):
    asked = fake(monkeypatch, run(cpu=0.2))
    repeat_run(job("SCS"), replace(run(cpu=0.3), eps=1e-6))
    assert asked == [1e-6]


def test_a_repeat_that_fails_is_told_and_does_not_count(monkeypatch):
    fake(monkeypatch, replace(run("failed", cpu=None), reason="boom"))
    repeated = repeat_run(job("SCS"), run(cpu=0.3))
    assert (repeated.outcome, repeated.cpu, repeated.repeats) == ("solved", 0.3, [0.3])
    assert repeated.spoilt == ["failed, boom"]
    assert notes([repeated]) == ["SCS: a repeat that does not count: failed, boom"]


@pytest.mark.parametrize(("good", "bad"), [("solved", "short"), ("short", "unproved")])
def test_a_repeat_that_proves_less_does_not_count(monkeypatch, good, bad):
    fake(monkeypatch, run(bad, cpu=0.1), run(good, cpu=0.2))
    repeated = repeat_run(job("SCS"), run(good, cpu=0.3))
    assert (repeated.outcome, repeated.cpu, repeated.repeats) == (good, 0.3, [0.3])
    repeated = repeat_run(job("SCS"), repeated)
    assert (repeated.cpu, repeated.repeats, repeated.spoilt) == (0.2, [0.3, 0.2], [bad])


def test_a_repeat_that_proves_more_is_the_one_that_counts(monkeypatch):
    fake(monkeypatch, run("solved", cpu=0.4))
    repeated = repeat_run(job("SCS"), run("short", cpu=0.3))
    assert (repeated.outcome, repeated.cpu, repeated.repeats) == ("solved", 0.4, [0.4])
    assert repeated.spoilt == ["short"]


def test_a_run_says_how_it_was_made_whatever_becomes_of_it(monkeypatch):
    made = {"stand_in": True, "versions": {"condal": "0"}}
    late = run_once(job(set="tori", case="G67", tol=1e-13, eps=1e-13, seconds=0.1, **made))
    assert late.outcome == "time"
    done = run_once(job(seconds=30.0, **made))
    assert done.outcome == "solved"
    for run, seconds in ((late, 0.1), (done, 30.0)):
        assert (run.stand_in, run.versions, run.max_seconds) == (True, {"condal": "0"}, seconds)


def test_an_answer_outside_of_the_domain_is_not_solved(peer):
    def prepare(model, tol, limits):
        task = OURS.prepare(model, tol, limits)

        def read(result):
            far = replace(result.certificate, distance_to_X=1e-5 * model.problem.X.max_norm)
            return replace(task.read(result), certificate=far)

        return CallTask(task.run, read)

    assert work(job()).outside < 1e-12
    peer(prepare)
    run = work(job("SCS"))
    assert run.outcome == "short"
    assert run.gap <= 1e-4
    assert run.outside == pytest.approx(1e-5)
    assert notes([run]) == ["SCS is outside X by 1e-5 of the size of X"]


def test_a_peer_that_falls_short_is_asked_for_more(monkeypatch):
    asked = fake(monkeypatch, run("short", gap=1e-3), run("short", gap=2e-4), run(cpu=30.0))
    measured = run_to_tolerance(job("SCS"))
    assert asked == pytest.approx([1e-4, 5e-5, 2e-5])
    assert (measured.outcome, measured.cpu) == ("solved", 30.0)


def test_what_a_peer_reached_is_kept_if_more_is_too_much(monkeypatch):
    fake(monkeypatch, run("short", gap=1e-3), run("time", cpu=None))
    assert run_to_tolerance(job("SCS")).outcome == "short"


def test_ours_is_asked_once(monkeypatch):
    asked = fake(monkeypatch, run("short", gap=1e-3))
    assert run_to_tolerance(job()).outcome == "short"
    assert asked == [1e-4]


def test_the_jobs_of_a_set(tmp_path):
    plan = BenchPlan({"SCS": "3", "Pymanopt": "2"}, tmp_path, instances=("g67",), data=tmp_path)
    pairs = [(planned.solver, planned.tol) for planned in jobs(SETS["tori"], plan)]
    assert pairs == [("condal", 1e-5), ("SCS", 1e-5), ("Pymanopt", 1e-3)]
    plan = BenchPlan({"SCS": "3"}, tmp_path, instances=("G1",), data=tmp_path)
    pairs = [(planned.solver, planned.tol) for planned in jobs(SETS["gset"], plan)]
    assert pairs == [("condal", 1e-6), ("condal", 1e-3), ("SCS", 1e-6)]
    plan = BenchPlan({"SCS": "3"}, tmp_path, tol=1e-2, instances=("random-10000",))
    assert [(planned.solver, planned.tol) for planned in jobs(SETS["growth"], plan)] == [
        ("condal", 1e-2)
    ]
