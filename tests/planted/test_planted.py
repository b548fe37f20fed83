"""Planted problems through every door: no claim is false. `make soak` tries many thousands."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from attempts import Findings
from condal.problems.conic.files import read_sdpa, read_sedumi
from planted import forms, trial
from planted.cones import Block
from planted.doors import DOORS, chosen, there
from planted.judging import Answer, faults, is_far, norm
from planted.planting import STATUSES, Profile, plant
from planted.problem import exact
from soak import pool

pytestmark = pytest.mark.usefixtures("processor_clock")

COUNTS = {  # problems of each door, and how many of them must be judged
    "Problem.of": (40, 30),
    "certify": (40, 40),
    "proofs": (40, 40),
    "folders": (6, 4),
    "Program": (15, 7),
    "SDPA": (15, 7),
    "SeDuMi": (15, 7),
    "conic.certify": (15, 8),
    "condal solve": (6, 3),
    "CVXPY": (30, 24),
    "CVXPY, Clarabel": (12, 8),
    "CVXPY, SCS": (12, 8),
}


@pytest.mark.parametrize("door", DOORS)
def test_nothing_false_is_said_through(door):
    if not there(door):
        pytest.skip("CVXPY 1.9 is not installed")
    count, least = COUNTS[door]
    outcomes = [trial.attempt(door, seed) for seed in range(count)]
    assert [f"{'; '.join(one.wrong)}: {one.command}" for one in outcomes if one.wrong] == []
    assert sum(outcome.solved for outcome in outcomes) >= least


FOUND = {  # by `make soak`
    "a verdict from numbers that underflow": ("proofs", 303),
    "a repaired point outside X": ("Problem.of", 1961),
    "a surface whose rows are all wide": ("Problem.of", 849),
    "the rounding of a residual": ("Problem.of", 593),
    "a vector of 1e164": ("CVXPY, Clarabel", 172),
}


@pytest.mark.parametrize(("door", "seed"), FOUND.values(), ids=FOUND)
def test_what_was_false_once_is_not_said_again(door, seed):
    if not there(door):
        pytest.skip("CVXPY 1.9 is not installed")
    assert not trial.attempt(door, seed).wrong


# ---- the generator -------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", {door.profile for door in DOORS.values()}, ids=str)
def test_every_truth_is_exact(profile):
    planted = [plant(seed, profile) for seed in range(60)]
    assert [one.fault() for one in planted if one.fault()] == []
    assert {one.status for one in planted} == set(profile.statuses)


def test_a_false_truth_is_found():
    planted = plant(0)
    assert planted.status == "optimal"
    for change in ({"v": planted.v + 1}, {"y": planted.y + 1}, {"c": planted.c + 1}):
        assert replace(planted, **change).fault()
    infeasible, unbounded = plant(1), plant(2)
    assert replace(infeasible, b=infeasible.b * 0).fault() == "y proves nothing"
    assert replace(unbounded, ray=-unbounded.ray).fault() == "the ray is none"


def test_a_weak_problem_is_checked_by_its_rows():
    planted = [plant(seed) for seed in range(300)]
    weak = [one for one in planted if one.weak is not None]
    assert {one.status for one in weak} == {"optimal", "infeasible"}
    for one in weak:
        assert replace(one, b=0 * one.b).fault() == "the block has other rows or costs"
        assert one.margin == 0 or one.status == "optimal"


def test_problems_are_of_many_kinds():
    planted = [plant(seed) for seed in range(400)]
    story = {part.split(" of ")[0] for one in planted for part in one.story}
    assert story >= {"empty row", "copy row", "sum row", "constant objective", "none objective"}
    assert story >= {"variables in other units", "rows in millionths", "rows in powers"}
    assert {block.kind for one in planted for block in one.blocks} == {
        "free",
        "orthant",
        "second-order",
        "psd",
    }
    assert any(one.b.size == 0 for one in planted)
    assert {one.maximise for one in planted} == {True, False}


def test_the_numbers_of_a_seed_are_the_same_again():
    first, second = plant(5), plant(5)
    assert np.array_equal(first.A, second.A)
    assert first.story == second.story


def test_membership_is_exact():
    assert Block("second-order", 3).has(exact(np.array([5.0, 3.0, 4.0])))
    assert not Block("second-order", 3).has(exact(np.array([5.0, 3.0, np.nextafter(4.0, 5)])))
    assert Block("psd", 2).has(exact(np.array([1.0, 2.0, 4.0])))
    assert not Block("psd", 2).has(exact(np.array([1.0, np.nextafter(2.0, 3), 4.0])))
    assert Block("psd", 2).dual_has(exact(np.array([1.0, 4.0, 4.0])))
    assert not Block("free", 1).dual_has([Fraction(1, 10**30)])


@pytest.mark.parametrize("seed", range(12))
def test_files_hold_the_same_program(seed, tmp_path):
    planted = plant(seed, Profile(free=0.3, caps=0.5))
    program = forms.as_program(planted)
    forms.write_sdpa(planted, tmp_path / "planted.dat-s")
    forms.write_sedumi(planted, tmp_path / "planted.mat")
    sdpa = read_sdpa(tmp_path / "planted.dat-s").program
    sedumi = read_sedumi(tmp_path / "planted.mat")
    assert np.array_equal(sdpa.b, program.b)
    assert np.array_equal(sedumi.b, program.b)
    assert sorted(map(repr, sedumi.blocks)) == sorted(map(repr, _with_one_orthant(program.blocks)))
    norms = [np.sqrt((one.A.toarray() ** 2).sum(axis=1)) for one in (program, sedumi)]
    assert norms[0] == pytest.approx(norms[1])


def _with_one_orthant(blocks):
    count = sum(block.n for block in blocks if block.kind == "orthant")
    others = [block for block in blocks if block.kind != "orthant"]
    return [*others, *([replace(blocks[0], kind="orthant", n=count)] if count else [])]


# ---- the judge -----------------------------------------------------------------------------------


def clearly_planted():
    """Return problems whose infeasibility, if they are infeasible, is no rounding of a residual."""
    every = (plant(seed) for seed in range(20))
    return [one for one in every if one.status != "infeasible" or one.margin > 1e-6 * norm(one)]


@pytest.mark.parametrize("planted", clearly_planted(), ids=lambda planted: planted.status)
def test_a_status_that_is_not_the_truth_is_wrong(planted):
    for status in STATUSES:
        answer = Answer(status, objective=0.0, residual=0.0, price=0.0)
        if status == planted.status == "optimal":
            answer = replace(answer, objective=float(planted.value))
        assert bool(faults(planted, answer)) == (status != planted.status)
    assert faults(planted, Answer("user_limit")) == []


def test_a_bound_above_the_optimum_is_wrong():
    planted = plant(0)
    value = float(planted.value)
    assert Fraction(value) == planted.value
    assert faults(planted, Answer("stalled", bound=value)) == []
    for bound in (np.nextafter(value, np.inf), np.inf, np.nan):
        assert faults(planted, Answer("stalled", bound=bound))
    assert faults(plant(2), Answer("stalled", bound=-1e300))
    assert faults(plant(1), Answer("stalled", bound=1e300)) == []


def test_a_point_below_the_optimum_must_owe_it_to_its_residual():
    planted = plant(0)
    low = Answer("optimal", float(planted.value) - 1e3, -1e300, residual=0.0)
    assert faults(planted, low)
    assert faults(planted, replace(low, residual=1e20)) == []


def test_a_bound_past_the_objective_must_owe_it_to_the_price():
    planted = plant(0)
    value = float(planted.value)
    low = Answer("optimal", value - 1e3, value, residual=1e20, price=1.0)
    assert "past the objective" in faults(planted, low)[0]
    assert faults(planted, replace(low, price=1e3)) == []
    assert is_far(planted, replace(low, bound=value - 1e3))
    assert not is_far(planted, replace(low, price=1e3))


def test_an_exception_is_wrong_and_comes_with_its_command(monkeypatch):
    def broken(planted, rng):
        raise ZeroDivisionError("nothing")

    monkeypatch.setitem(DOORS, "proofs", replace(DOORS["proofs"], enter=broken))
    outcome = trial.attempt("proofs", 5)
    assert outcome.wrong[0].startswith("ZeroDivisionError: nothing")
    assert outcome.command.endswith("-m planted 'proofs' 5")
    assert not outcome.solved


def test_the_suite_counts_by_door(monkeypatch):
    found = Findings("nothing"), Findings("optimal", ["false"]), Findings("optimal")
    answers = iter(found)
    monkeypatch.setitem(
        DOORS, "proofs", replace(DOORS["proofs"], enter=lambda planted, rng: next(answers))
    )
    monkeypatch.setattr(trial, "plant", lambda seed, profile: plant(0, profile))
    row = pool.attempts(pool.Task("planted", "proofs", 0, 3, next_round=7))
    assert (row.tried, row.judged, row.solved, row.short, row.wrong) == (3, 2, 1, 1, 1)
    assert row.resume == 7
    assert "-m planted 'proofs' 1" in row.faults[0]


def test_doors_are_chosen_by_name_or_group():
    assert chosen("") == chosen("all") == list(DOORS)
    assert chosen("conic") == ["Program", "SDPA", "SeDuMi", "condal solve", "CVXPY"]
    assert chosen("CVXPY, SCS; conic; SDPA")[:2] == ["CVXPY, SCS", "Program"]
    assert len(chosen("CVXPY, SCS; conic; SDPA")) == 6
    with pytest.raises(ValueError, match="there is no door 'cones'; there are all; conic; Problem"):
        chosen("cones")


def test_the_suite_takes_the_chosen_doors(monkeypatch):
    monkeypatch.setattr(pool, "DOORS", "SDPA; Program")
    tasks = pool.tasks("planted", 0)
    assert [next(tasks).name for _ in range(3)] == ["SDPA", "Program", "SDPA"]
