"""When a proof is tried, what one that is cut short says, and what a run returns of them."""

import io
from dataclasses import FrozenInstanceError, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import condal
from condal.certificates.evaluation import EvaluatedPoint
from condal.driver.certification import Certifier
from condal.driver.run_record import Stop
from condal.driver.scaling import normalise
from condal.driver.schedule import Attempts, CertificationSchedule, Estimates
from condal.problem import problem_of
from condal.report.notebook import drawn
from condal.report.progress import LEGEND
from condal.result import Status
from condal.runtime.meter import Deadline, Stopper
from known import random_graph

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


@pytest.fixture
def certifier():
    """Return a certifier of max-cut at the optimal dual, where discs prove little."""
    half = np.triu(np.random.default_rng(0).random((100, 100)) < 0.1, 1)
    model = condal.problems.max_cut((half + half.T).astype(float))
    result = condal.solve(model, tol=1e-4)
    problem = problem_of(model)
    normalised, scaling = normalise(problem)
    certifier = Certifier(problem, normalised, scaling, Stop(1e-4), 0)
    certifier.w = scaling.normalised_dual(result.y)
    certifier.lower = problem.sense * result.bound * scaling.c
    certifier.point = problem.repair(result.x)
    return certifier


def stopped():
    stopper = Stopper()
    stopper.stop()
    return Deadline(stopper)


def certify(certifier):
    seen = EvaluatedPoint.of(certifier.problem, certifier.point)
    return certifier._certify(seen, certifier.w, 1e-3)


@pytest.mark.parametrize("deadline", [lambda: Deadline(until=0.0), stopped])
def test_a_starved_proof_does_not_lower_the_estimate(certifier, deadline):
    before = certifier.lower
    certifier.ledger.deadline = deadline()
    proved = certify(certifier)
    assert proved.certificate.gap > 0.1
    assert certifier.lower == before
    assert certifier.proved_w is None
    certifier.ledger.deadline = Deadline()
    assert certify(certifier).certificate.gap < 2e-4
    assert certifier.proved_w is certifier.w


def test_a_proof_in_time_lowers_an_estimate_that_was_too_good(certifier):
    before = certifier.lower
    certifier.lower = before + 1.0
    certify(certifier)
    assert certifier.lower <= before + 1e-3


def inexact():
    """A problem on which estimates of inexact oracles are better than what is proved."""
    return condal.problems.max_cut(random_graph(300, 10))


def theta():
    return condal.problems.theta(random_graph(30, 6))


CASES = {  # the last are the tolerances of a few hundred iterations
    "max-cut": (lambda: condal.problems.max_cut(random_graph(100, 10)), condal.CGAL, 2e-4),
    "theta": (theta, condal.CGAL, 1e-3),
    "theta by splitting": (theta, condal.methods.Splitting, 1e-3),
}


@cache
def whole(name, tol):
    model, method, _ = CASES[name]
    return condal.solve(model(), method(), tol=tol, max_iters=3000).history


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("loose", [True, False])
def test_a_stopped_run_is_never_worse_than_what_it_showed_as_proved(name, loose):
    model, method, tol = CASES[name]
    tol = 1e-2 if loose else tol
    model, last = model(), len(whole(name, tol))
    for k in sorted({1, 2, last // 3, last // 2, (9 * last) // 10, last - 1, last}):
        if k < 1:
            continue
        stopped = condal.solve(model, method(), tol=tol, max_iters=k)
        assert stopped.certificate.error <= stopped.history["proved"].min()
        assert condal.saved.verify(model, stopped).proved
        called = condal.solve(model, method(), tol=tol, callback=lambda row, k=k: row.k >= k)
        assert called.certificate.error <= called.history["proved"].min()
        assert called.status in (Status.INTERRUPTED, Status.SOLVED)


@pytest.mark.parametrize("name", CASES)
def test_what_is_proved_only_improves(name):
    proved = whole(name, CASES[name][2])["proved"]
    assert (np.diff(np.nan_to_num(proved, posinf=1e300)) <= 0).all()


def test_a_run_that_gets_worse_returns_its_best_pair():
    """The pair of a tolerance that was almost reached outlives the states after it."""
    seen = []

    def stop(row):
        seen.append(row)
        return np.isfinite(row.proved) and row.k > 1.2 * next(
            other.k for other in seen if np.isfinite(other.proved)
        )

    result = condal.solve(theta(), condal.CGAL(), tol=2e-3, callback=stop)
    assert result.certificate.error <= seen[-1].proved


def test_history_gap_and_progress_never_show_an_estimate_as_the_proved_gap():
    """3.5e-5 was shown as the proved gap where 9.68e-5 was proved."""
    stream = io.StringIO()
    result = condal.solve(inexact(), tol=1e-4, callback=condal.Progress(stream))
    history = result.history
    assert result.status is Status.SOLVED
    # No row claims more than was proved when it was shown, which the result is not worse than.
    assert history["proved"].min() >= result.certificate.error
    header, legend, *rows = stream.getvalue().splitlines()
    assert legend == LEGEND
    assert "~ marks estimates" in legend
    names = header.split()
    for line in rows:
        cells = dict(zip(names, line.replace(" s", "s").split(), strict=True))
        assert cells["gap"][0] in "~-"
        assert cells["bound"][0] in "~-"
        assert not cells["proved"].startswith("~")
    assert "~gap" in repr(history)
    assert "~bound" in repr(history)
    assert "~ marks estimates" in repr(history)
    html = history._repr_html_()
    assert "~gap" in html
    assert "~ marks estimates" in html
    bars = drawn(history.last, 1.0)
    assert f"~{history.last.gap:.1e}" in bars
    assert "~ marks estimates" in bars


def test_a_proposed_dual_that_proves_less_than_before_does_not_replace_a_better_proof(monkeypatch):
    """What a proposed dual once proved may be out of reach of the time that is left."""
    model, best = inexact(), Certifier.best
    alone = condal.solve(model, condal.CGAL(), tol=1e-6, max_iters=30)

    def with_a_proposal(self, *args):
        ledger = self.ledger
        ledger.proposed_bound = self.problem.sense * np.inf
        ledger.proposed_dual = 1e3 * np.arange(self.problem.A.size)
        return best(self, *args)

    monkeypatch.setattr(Certifier, "best", with_a_proposal)
    result = condal.solve(model, condal.CGAL(), tol=1e-6, max_iters=30)
    assert np.isfinite(alone.certificate.error)
    assert result.certificate.error == alone.certificate.error
