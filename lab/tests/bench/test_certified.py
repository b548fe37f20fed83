"""The certificate of an answer: correct for a right answer, not deceived by a wrong one."""

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal_lab.bench.peers.packages import OURS
from condal_lab.bench.peers.peer import Limits, PeerAnswer
from condal_lab.bench.worker import certify_answer, make_feasible, recover_dual
from condal_lab.generated import torus
from known import PLANTED

TOL = 1e-6
CUT = condal.problems.max_cut(torus(5, 6, seed=3))


@pytest.fixture(scope="module")
def solved():
    return condal.solve(CUT, tol=1e-7)


def test_a_known_solution_is_certified():
    known = PLANTED["sdp-equal"]()
    certified = certify_answer(known.problem, PeerAnswer(np.asarray(known.x), known.y), tol=TOL)
    assert certified.basis == "x, y"
    assert certified.error < 1e-7
    assert certified.bound <= known.optimum + 1e-12
    assert certified.how


@pytest.mark.parametrize("name", ["sdp-equal", "sdp-box", "sdp-at-most"])
def test_a_wrong_dual_shows_a_large_gap_and_no_wrong_bound(name):
    known = PLANTED[name]()
    wrong = known.y + np.random.default_rng(0).standard_normal(known.y.size)
    certified = certify_answer(known.problem, PeerAnswer(np.asarray(known.x), wrong), tol=TOL)
    assert certified.gap > 1e-2
    assert certified.bound <= known.optimum + 1e-12


def test_a_wrong_point_shows_a_large_gap(solved):
    n = CUT.n
    certified = certify_answer(CUT, PeerAnswer(np.eye(n), solved.y), tol=TOL)
    assert certified.gap > 1e-2
    assert certified.infeasibility < 1e-12
    assert certified.bound >= solved.objective


def test_a_point_outside_is_moved_to_the_domain_and_repaired(solved):
    """A peer gains nothing by a negative part, a wrong trace or a wrong diagonal."""
    x = 3.0 * np.asarray(solved.x) - 0.2 * np.eye(CUT.n)
    x[0, 0] += 5.0
    moved = make_feasible(CUT.problem, x)
    assert CUT.problem.infeasibility(moved) < 1e-12
    assert CUT.problem.X.distance(moved) < 1e-9
    certified = certify_answer(CUT, PeerAnswer(x, solved.y), tol=TOL)
    assert certified.objective <= solved.bound


def test_an_infeasible_point_without_a_repair_stays_infeasible():
    known = PLANTED["sdp-equal"]()
    n = known.problem.X.n
    certified = certify_answer(known.problem, PeerAnswer(np.eye(n), known.y), tol=TOL)
    assert certified.infeasibility > 1e-2
    assert certified.error >= certified.infeasibility


def test_a_dual_is_made_of_a_point_where_the_diagonal_is_all(solved):
    np.testing.assert_allclose(recover_dual(CUT.problem, solved.x), solved.y, atol=1e-3)
    certified = certify_answer(CUT, PeerAnswer(solved.x), tol=1e-4)
    assert certified.basis == "x, our y"
    assert certified.error < 1e-4
    known = PLANTED["sdp-equal"]()
    bare = certify_answer(known.problem, PeerAnswer(np.asarray(known.x)), tol=TOL)
    assert (bare.basis, bare.objective) == ("x alone", pytest.approx(known.optimum))
    assert np.isnan(bare.error)


def test_a_dual_that_proves_nothing_gives_way_to_one_that_does(solved):
    certified = certify_answer(CUT, PeerAnswer(solved.x, np.zeros(CUT.n)), tol=1e-4)
    assert certified.basis == "x, our y"
    assert certified.error < 1e-4
    known = PLANTED["sdp-equal"]()
    kept = certify_answer(known.problem, PeerAnswer(np.asarray(known.x), 0 * known.y), tol=TOL)
    assert kept.basis == "x, y"


def test_a_dual_that_is_not_finite_is_none(solved):
    certified = certify_answer(CUT, PeerAnswer(solved.x, np.full(CUT.n, np.nan)), tol=1e-4)
    assert certified.basis == "x, our y"


@pytest.mark.parametrize(("outside", "solves"), [(0.9e-6, True), (1.1e-6, False), (0.1, False)])
def test_an_answer_far_from_the_domain_solves_nothing(solved, outside, solves):
    far = replace(solved.certificate, distance_to_X=outside * CUT.problem.X.max_norm)
    certified = certify_answer(CUT, PeerAnswer(solved.x, certificate=far), tol=1e-3)
    assert certified.outside == pytest.approx(outside)
    assert certified.error >= outside * (1 - 1e-9)
    assert certified.solves(1e-3) is solves
    assert not certified.solves(1e-9)


def test_the_distance_of_a_point_without_a_dual_is_told():
    simplex = condal.Problem.of(
        f=condal.Linear(np.ones(2)),
        X=condal.Simplex(2),
        A=condal.Matrix(np.eye(2)),
        K=condal.Box(np.zeros(2), np.full(2, 9.0)),
    )
    certified = certify_answer(simplex, PeerAnswer(np.array([3.0, 4.0])), tol=TOL)
    assert certified.basis == "x alone"
    assert certified.outside > 1.0


def test_a_claim_is_marked_as_one():
    certified = certify_answer(CUT, PeerAnswer(claim=12.5), tol=TOL)
    assert (certified.basis, certified.objective) == ("own claim", 12.5)
    assert np.isnan(certified.error)
    assert np.isnan(certified.bound)


def test_ours_brings_its_own_certificate(tmp_path):
    task = OURS.prepare(CUT, 1e-4, Limits(60.0, 8 << 30, tmp_path))
    task.solve()
    certified = certify_answer(CUT, task.answer(), tol=1e-4)
    assert certified.basis == "x, y"
    assert certified.error <= 1e-4
    assert certified.bound == task.output.bound
