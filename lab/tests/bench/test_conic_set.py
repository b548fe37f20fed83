"""The set `conic`: known answers that are true, peers that are asked the same, judgement, page."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("cvxpy", minversion="1.9", reason="the set needs CVXPY 1.9")

from condal.problems.conic.program import Block, Program
from condal_lab.bench import table as compact
from condal_lab.bench.conic import families, through_cvxpy
from condal_lab.bench.conic.everyday import PROBLEMS
from condal_lab.bench.conic.instances import (
    COUNT,
    EVERYDAY,
    FILES,
    STARTS,
    TITLES,
    family_group,
    member,
)
from condal_lab.bench.conic.through_cvxpy import CvxpyQuestion, ResolveQuestion, violation
from condal_lab.bench.conic.through_file import ConicAnswer, FileQuestion, Question, Truth, judge
from condal_lab.bench.peers import installed
from condal_lab.bench.peers.executables import ProgramTask, sdpa_of
from condal_lab.bench.peers.packages import PACKAGES
from condal_lab.bench.peers.peer import Limits, PeerAnswer, Refusal
from condal_lab.bench.results import BenchRun, Job, Results
from condal_lab.bench.run import run_once
from condal_lab.bench.sets import SETS
from condal_lab.bench.table import page
from condal_lab.bench.worker import measure_solve
from known import DATA, needs_data

CONIC = SETS["conic"]
PEERS = [name for name in ("CSDP", "SCS", "Clarabel") if name in installed()]


def answer_of(question, solver, tmp_path, tol=1e-6):
    task = question.prepare(solver, tol, Limits(60.0, 8 << 30, tmp_path))
    task.solve()
    return task.answer().recovered


# ---- the instances -------------------------------------------------------------------------------


def test_the_set_has_what_it_says():
    groups = {}
    for case in CONIC.cases:
        groups.setdefault(case.group, []).append(case)
    assert len(groups[EVERYDAY]) == len(PROBLEMS) == 25
    assert all(len(groups[family_group(family)]) == COUNT == 15 for family in TITLES)
    assert len(groups[STARTS]) == 2
    assert {"hinf1", "infp1", "truss5", "mater-1", "theta1", "hamming_7_5_6"} <= {
        case.name for case in groups[FILES]
    }
    assert len({case.name for case in CONIC.cases}) == len(CONIC.cases)


@pytest.mark.parametrize("build", PROBLEMS, ids=lambda build: build.__name__)
def test_an_everyday_optimum_is_what_clarabel_finds(build, tmp_path):
    question = CvxpyQuestion(build)
    found = answer_of(question, "Clarabel", tmp_path, tol=1e-7)
    assert found.distance(question.truth) < 1e-5
    assert found.violation < 1e-5


@pytest.mark.parametrize("k", [0, 1, 4, 12])
@pytest.mark.parametrize("family", TITLES)
def test_what_is_known_of_a_family_is_what_clarabel_finds(family, k, tmp_path):
    problem, truth = member(family, k)
    found = answer_of(FileQuestion(problem.program, truth), "Clarabel", tmp_path, tol=1e-7)
    assert found.status == truth.status
    if truth.status == "optimal":
        assert found.distance(truth) < 2e-5


def test_a_seed_gives_the_same_program():
    first, second = (families.control(4, seed=7) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert not np.array_equal(first.values, families.control(4, seed=8).values)


def test_a_peak_gain_is_that_of_a_first_order_lag():
    one = np.ones((1, 1))
    assert families.peak_gain(-2 * one, one, 3 * one) == pytest.approx(1.5)


def test_a_minimisation_is_the_same_program_in_sdpas_format():
    rng = np.random.default_rng(0)
    C = rng.standard_normal((3, 3))
    rows = np.vstack([np.append(np.eye(3).ravel(), [0, 0]), np.append(np.ones(9), [1.0, -1.0])])
    cost = np.append((C + C.T).ravel(), [1.0, 2.0])
    program = Program(cost, rows, np.ones(2), (Block("psd", 3), Block("orthant", 2)))
    again = sdpa_of(program).program
    assert again.maximise
    assert np.array_equal(-again.c.toarray(), program.c.toarray())
    assert np.array_equal(again.A.toarray(), program.A.toarray())
    assert again.blocks == program.blocks


@needs_data
@pytest.mark.parametrize("name", ["truss1", "infd1", "infp1", "control1", "hamming_7_5_6"])
def test_files_are_read_with_what_is_known(name):
    case = CONIC.case(name)
    question = case.model(case.locate(DATA))
    assert isinstance(question, Question)
    assert (question.truth.status == "optimal") == (case.optimum is not None)


# ---- the solvers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["condal", *PEERS])
def test_solvers_answer_a_program_of_several_blocks(solver, tmp_path):
    problem, truth = member("truss", 1)
    found = answer_of(FileQuestion(problem.program, truth), solver, tmp_path)
    assert judge(truth, found, 1e-4) == "solved"


@pytest.mark.parametrize("solver", ["condal", *PEERS])
def test_solvers_say_that_a_program_has_no_optimum(solver, tmp_path):
    problem, truth = member("arch", 1)
    assert truth.status == "unbounded"
    found = answer_of(FileQuestion(problem.program, truth), solver, tmp_path)
    assert found.status == "unbounded"


@pytest.mark.parametrize("peer", PACKAGES[:2], ids=lambda peer: peer.name)
def test_a_minimisation_with_an_orthant_has_its_multiplier_as_the_point(peer, tmp_path):
    program = Program(
        np.array([1.0, 0, 0, 2.0, 3.0]),
        np.array([[1.0, 0, 0, 1.0, 0.0], [0, 0.5, 0.5, 0, 1.0]]),
        np.array([1.0, 0.5]),
        (Block("psd", 2), Block("orthant", 1)),
    )
    limits = Limits(60.0, 8 << 30, tmp_path)
    task = peer.ask(program, 1e-8, limits, lambda found: PeerAnswer(recovered=found))
    task.solve()
    found = task.answer().recovered
    X, u = found.blocks
    assert found.verdict == "optimal"
    assert np.trace(X) == pytest.approx(1.0, abs=1e-5)
    assert X[0, 1] + u[0] == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("solver", ["condal", *(name for name in PEERS if name != "CSDP")])
def test_solvers_of_cvxpy_are_timed_without_the_compilation(solver, tmp_path, monkeypatch):
    import cvxpy

    clock, compiled, compile_it = count(), [], cvxpy.Problem.get_problem_data

    def counted(*given, **options):
        compiled.append(given)
        return compile_it(*given, **options)

    # A clock that moves at each look, because CPU clocks may be too coarse for the compilation.
    ticks = SimpleNamespace(process_time=lambda: next(clock))
    monkeypatch.setattr(through_cvxpy, "time", ticks)
    monkeypatch.setattr(cvxpy.Problem, "get_problem_data", counted)
    question = CvxpyQuestion(PROBLEMS[18])
    task = question.prepare(solver, 1e-6, Limits(60.0, 8 << 30, tmp_path))
    before = len(compiled)
    task.solve()
    assert len(compiled) == before >= 1
    found = task.answer().recovered
    assert judge(question.truth, found, 1e-4) == "solved"
    assert found.setup > 0
    assert next(clock) >= 2 * through_cvxpy.COMPILATIONS + 2  # the unpacking is timed as well


def test_a_repeated_solve_shares_nothing_with_the_first(tmp_path, monkeypatch):
    task = CvxpyQuestion(PROBLEMS[18]).prepare("condal", 1e-4, Limits(60.0, 8 << 30, tmp_path))
    caches = []
    solve = type(task.solver).solve_via_data

    def watched(self, data, warm_start, verbose, options, cache):
        caches.append((warm_start, dict(cache)))
        return solve(self, data, warm_start, verbose, options, cache)

    monkeypatch.setattr(type(task.solver), "solve_via_data", watched)
    task.solve()
    task.solve()
    assert caches == [(False, {}), (False, {})]


def test_other_solvers_are_refused(tmp_path):
    limits = Limits(60.0, 8 << 30, tmp_path)
    with pytest.raises(Refusal, match="not among the solvers of CVXPY"):
        CvxpyQuestion(PROBLEMS[0]).prepare("CSDP", 1e-4, limits)
    problem, truth = member("truss", 0)
    with pytest.raises(Refusal, match="no conic program of several blocks"):
        FileQuestion(problem.program, truth).prepare("Pymanopt", 1e-4, limits)


def test_the_violation_is_that_of_constraints_and_attributes():
    import cvxpy as cp

    x, X = cp.Variable(2), cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, X[0, 1] == 0])
    assert math.isnan(violation(problem))
    x.value, X.value = np.array([0.5, 2.0]), np.diag([1.0, 0.0])
    assert violation(problem) == pytest.approx(0.25)
    x.value = np.array([1.0, 4.0])
    X.save_value(np.diag([1.0, -0.4]))
    assert violation(problem) == pytest.approx(0.1)


@pytest.mark.parametrize("name", ["start-cvxpy", "start-file"])
def test_start_up_is_an_instance(name):
    job = Job("conic", name, "condal", 1e-4, 1e-4, seconds=60.0, memory=8 << 30)
    run = run_once(job)
    assert run.outcome == "solved", run.reason
    assert run.cpu > 0.1


# ---- the judgement -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ConicAnswer("optimal", 10.0005), "solved"),
        (ConicAnswer("optimal", 10.005), "short"),
        (ConicAnswer("optimal", 10.05), "wrong"),
        (ConicAnswer("optimal", 10.0, violation=5e-4), "short"),
        (ConicAnswer("optimal", float("nan")), "wrong"),
        (ConicAnswer("infeasible"), "wrong"),
        (ConicAnswer("optimal_inaccurate", 10.0), "unproved"),
        (ConicAnswer("user_limit", 3.0), "unproved"),
    ],
)
def test_an_answer_is_judged_by_the_truth(answer, outcome):
    assert judge(Truth(optimum=10.0), answer, 1e-4) == outcome


def test_a_status_is_judged_by_the_truth():
    assert judge(Truth("infeasible"), ConicAnswer("infeasible"), 1e-4) == "solved"
    assert judge(Truth("infeasible"), ConicAnswer("optimal", 1.0), 1e-4) == "wrong"


# ---- the page ------------------------------------------------------------------------------------


def result_of(*runs):
    facts = {"tol": 1e-4, "eps": 1e-4}
    listed = [
        BenchRun(case, solver, outcome=outcome, cpu=cpu, gap=1e-5, infeasibility=0.0, **facts)
        for case, solver, outcome, cpu in runs
    ]
    return Results("conic", 60.0, listed, {}, {"condal": "0", "SCS": "3", "Clarabel": "0"})


def test_ratios_are_over_the_best_rival_that_is_right():
    results = result_of(
        ("design", "condal", "solved", 2.0),
        ("design", "SCS", "wrong", 0.1),
        ("design", "Clarabel", "solved", 4.0),
        ("truss1", "condal", "solved", 3.0),
        ("truss1", "SCS", "solved", 0.001),
        ("truss1", "CSDP", "solved", 1.0),
        ("huber", "condal", "unproved", 1.0),
        ("huber", "SCS", "solved", 1.0),
    )
    assert compact.ratio(CONIC, results, "design") == 0.5
    assert compact.ratio(CONIC, results, "truss1") == 3.0
    assert compact.ratio(CONIC, results, "huber") is None
    rows = {(row[0], row[1]): row[2:] for row in compact.summary(CONIC, results)}
    assert rows[EVERYDAY, "condal"] == ("2", "1", "0", "1", "0", "0.5", "0.5")
    assert rows[FILES, "condal"][-2:] == ("3", "3")
    assert rows["", "Clarabel"][0] == "1"


def test_the_whole_ratio_counts_the_setup_of_the_fastest_rival():
    results = result_of(
        ("design", "condal", "solved", 2.0),
        ("design", "SCS", "solved", 1.0),
        ("design", "Clarabel", "solved", 4.0),
    )
    setups = {"condal": 8.0, "SCS": 19.0, "Clarabel": 16.0}
    runs = [replace(run, setup=setups[run.solver]) for run in results.runs]
    assert compact.ratio(CONIC, results, "design", compact.WHOLE_TIME) is None
    assert compact.group_table(CONIC, results, ["design"])[0][-1] == "x"
    results = replace(results, runs=runs)
    assert compact.ratio(CONIC, results, "design", compact.WHOLE_TIME) == 0.5
    head, rows = compact.group_table(CONIC, results, ["design"])
    assert (head[-2:], rows[0][-2:]) == (("x", "whole x"), ("2", "0.5"))


def test_the_page_tells_of_wrong_answers_and_absent_peers():
    results = result_of(("design", "condal", "solved", 2.0), ("design", "SCS", "wrong", 0.1))
    results = replace(results, runs=[replace(run, reason="optimal") for run in results.runs])
    text = page(CONIC, results)
    assert "| design | A-optimal experiment design: 30 experiments on 5 parameters |" in text
    assert "0.100 **wrong**" in text
    assert "* SDPA is absent: apt-get install sdpa" in text
    assert "* design: SCS says optimal, off by 1.0e-05" in text


# ---- the time ------------------------------------------------------------------------------------


def test_a_batch_is_measured_by_its_mean():
    class Spinning:
        calls = 0

        def solve(self):
            Spinning.calls += 1
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass

    used = measure_solve(Spinning(), 60.0, times=5)
    assert Spinning.calls == 5
    assert 0.015 < used.cpu < 0.06


def test_a_program_is_charged_for_its_own_process(tmp_path):
    spin = "import time\nwhile time.process_time() < 0.2: pass"
    command, limits = [sys.executable, "-S", "-c", spin], Limits(60.0, 8 << 30, tmp_path)
    task = ProgramTask(command, limits, lambda folder, log: PeerAnswer())
    used = measure_solve(task, 60.0, times=3)
    assert task.usage is not None
    assert 0.2 <= used.cpu < 1.0  # the mean of the three, not their sum with this process


def test_later_solves_are_compared_with_the_first():
    task = ResolveQuestion().prepare("condal", 1e-4, Limits(60.0, 8 << 30, DATA))
    task.solve()
    answer = task.answer().recovered
    seconds = [row[-1] for row in task.output]
    assert len(seconds) == 51
    assert judge(ResolveQuestion().truth, answer, 1e-4) == "solved"
    assert answer.later_share == pytest.approx(np.mean(seconds[1:]) / seconds[0])
