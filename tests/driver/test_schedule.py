"""When a proof is tried, as a function of the estimates alone."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import pytest

from condal.driver.schedule import Attempts, CertificationSchedule, Estimates

TOL = 1e-3
NOTHING = Attempts(infeasibility=False, bound=False, proposal=False, gap=False)
FAR = Estimates(
    k=1,
    rise=-1.0,
    missed=1.0,
    infeasibility=1.0,
    price=1.0,
    tol=TOL,
    allowed=TOL,
    max_rise=10.0,
)
NEAR = FAR._replace(rise=-0.5e-3, missed=0.5e-3, infeasibility=0.0, price=0.0)


def tried(estimates, last=1000, **changes):
    """The attempts at each k up to the last, by what is tried."""
    schedule, ks = CertificationSchedule(), {name: [] for name in Attempts._fields}
    for k in range(1, last + 1):
        attempts, schedule = schedule.due(estimates._replace(k=k, **changes))
        if attempts.gap:
            schedule = schedule.after_proof(k)
        for name, due in attempts._asdict().items():
            if due:
                ks[name].append(k)
    return ks


def test_a_schedule_is_a_value():
    schedule = CertificationSchedule()
    assert schedule.due(FAR) == (NOTHING, schedule)
    assert schedule.due(NEAR) == schedule.due(NEAR)
    assert schedule == CertificationSchedule()
    with pytest.raises(FrozenInstanceError):
        schedule.next_look = 3


def test_far_from_the_tolerance_only_proposals_are_tried_at_doubling_iterations():
    ks = tried(FAR, infeasibility=0.5)
    assert ks["proposal"] == [8, 16, 32, 64, 128, 256, 512]
    assert ks["gap"] == ks["bound"] == []


def test_a_gap_is_tried_at_most_every_five_percent():
    ks = tried(NEAR)["gap"]
    assert ks[:4] == [1, 5, 9, 13]
    assert all(b - a >= max(4, int(0.05 * a)) for a, b in pairwise(ks))
    assert ks[-1] > 900


@pytest.mark.parametrize(
    ("changes", "due"),
    [
        ({}, True),
        ({"infeasibility": 1.04 * TOL}, True),
        ({"infeasibility": 1.06 * TOL}, False),
        ({"infeasibility": 1.06 * TOL, "repairs": True}, True),
        ({"infeasibility": 0.5 * TOL, "price": 1.04 * TOL}, True),
        ({"infeasibility": 0.5 * TOL, "price": 1.06 * TOL}, False),
        ({"infeasibility": 0.5 * TOL, "price": 1.06 * TOL, "repairs": True}, True),
        ({"missed": 1.4 * TOL, "rise": -1.4 * TOL}, False),  # exact, so nothing can be repaired
        ({"missed": 1.4 * TOL, "rise": -1.4 * TOL, "infeasibility": 1e-6}, True),
        ({"missed": 1.6 * TOL, "rise": -1.6 * TOL, "infeasibility": 1e-6}, False),
    ],
)
def test_a_gap_is_tried_where_the_estimates_are_near(changes, due):
    assert CertificationSchedule().due(NEAR._replace(**changes))[0].gap is due


def test_a_gap_with_twice_the_room_is_tried_at_once():
    schedule = CertificationSchedule().after_proof(10, room=0.2)
    assert not schedule.due(NEAR._replace(k=11, missed=0.7 * TOL))[0].gap
    attempts, after = schedule.due(NEAR._replace(k=11, missed=0.6 * TOL))
    assert attempts.gap
    assert not after.due(NEAR._replace(k=11, missed=0.6 * TOL))[0].gap


def test_a_look_without_a_proof_comes_again_after_a_percent():
    schedule = replace(CertificationSchedule(), next_look=1)
    _, after = schedule.due(NEAR._replace(k=1000))
    assert after.next_look == 1011
    assert after.after_proof(1000).next_look == 1050


def test_infeasibility_that_does_not_fall_is_tried_at_doubling_iterations():
    assert tried(FAR)["infeasibility"] == [64, 128, 256, 512]
    assert tried(FAR, infeasibility=0.5 * TOL)["infeasibility"] == []


def test_infeasibility_that_falls_is_not_tried():
    schedule = CertificationSchedule()
    for k in range(1, 1000):
        attempts, schedule = schedule.due(FAR._replace(k=k, infeasibility=1.0 / k))
        assert not attempts.infeasibility


def test_a_bound_above_all_values_is_tried_at_once():
    ks = tried(FAR, rise=20.0, last=31)["infeasibility"]
    assert ks == [1, 2, 4, 8, 16]


def test_a_bound_above_the_objective_is_doubted_unless_it_is_proved():
    assert tried(FAR, rise=0.1)["bound"] == [256, 512]
    assert tried(FAR, rise=0.1, doubtful=False)["bound"] == []
    assert tried(FAR, rise=-0.1)["bound"] == []


def test_a_bound_above_the_objective_of_an_infeasible_point_is_beyond_the_tolerance():
    assert FAR.beyond_tol
    assert not NEAR.beyond_tol
    assert NEAR._replace(infeasibility=0.5 * TOL, rise=2 * TOL).beyond_tol
    assert not NEAR._replace(infeasibility=0.5 * TOL, rise=0.5 * TOL).beyond_tol
    assert not NEAR._replace(infeasibility=1e-13, rise=2 * TOL).beyond_tol


# The share of a run that failed proofs may take.


def test_failed_proofs_take_at_most_their_share_of_the_work():
    schedule = CertificationSchedule().after_proof(100)
    assert schedule.affords(105, failed=5.0, method=10.0)
    assert not schedule.affords(105, failed=5.1, method=10.0)
    assert schedule.affords(105, failed=5.1, method=11.0)


def test_a_proof_is_tried_again_at_twice_the_iterations_whatever_it_costs():
    schedule = CertificationSchedule().after_proof(100)
    assert not schedule.affords(199, failed=1e9, method=1.0)
    assert schedule.affords(200, failed=1e9, method=1.0)


def test_the_first_proof_and_the_proofs_of_a_method_that_counts_nothing_are_free():
    assert CertificationSchedule().affords(1, failed=0.0, method=1.0)
    assert CertificationSchedule().after_proof(100).affords(104, failed=1e9, method=0.0)
