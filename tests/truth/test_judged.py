"""The judge detects false claims in manipulated results."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy", minversion="1.9", reason="the rivals come by CVXPY 1.9")

import condal
from condal.linalg.rounding import Proof
from condal.result import Status
from truth.constraints import Box
from truth.costs import linear
from truth.flats import Simplex
from truth.images import Image
from truth.judged import judge
from truth.rivals import UNKNOWN, clarabel_says
from truth.templates import Scale, Template
from truth.trial import attempt

TOL = 1e-3


def case_of(b=0.3, **known):
    """min x_1 + 2 x_2 + 3 x_3 over the simplex with x_2 + x_3 = b: 1 + b."""
    region = Simplex(3, 1.0)
    f = linear(region.space, np.array([1.0, 2.0, 3.0]))
    A, K = Image(np.array([[0.0, 1.0, 1.0]])), Box(np.array([b]), np.array([b]))
    scale = Scale(1.0, 1.0, np.ones(1))
    return Template(region, f, A, K).case("simplex", scale, kind="known", **known)


@pytest.fixture(scope="module")
def solved():
    case = case_of(upper=1.3 + 1e-12)
    result = condal.solve(case.model, tol=TOL)
    assert result.status is Status.SOLVED
    return case, result, clarabel_says(case.asked())


def wrong(case, result, said=UNKNOWN):
    return " | ".join(judge(case, result, said, TOL).wrong)


def with_certificate(result, **changes):
    return replace(result, certificate=replace(result.certificate, **changes))


def test_a_rival_knows_the_optimum(solved):
    _, _, said = solved
    assert said.status == "solved"
    assert said.low <= 1.3 <= said.high
    assert said.width < 1e-7
    assert said.price == pytest.approx(1.0, abs=1e-6)


def test_the_truth_passes(solved):
    case, result, said = solved
    assert judge(case, result, said, TOL).wrong == []
    assert judge(case, result, said, TOL).judged


@pytest.mark.parametrize(
    ("text", "certificate", "result"),
    [
        ("past the feasible", {"bound": 1.3 + 1e-6}, {}),
        ("certify has", {"bound": 1.31}, {}),
        ("the objective is", {"objective": 1.3001}, {}),
        ("SOLVED with a gap", {"bound": 1.0}, {}),
        ("SOLVED, infeasible", {"infeasibility": 0.1}, {}),
        ("Ax misses K", {}, {"x": np.array([0.6, 0.4, 0.0])}),
        ("y has shape", {}, {"y": np.zeros(2)}),
        ("y has shape", {}, {"y": np.array([np.nan])}),
        ("ERROR: a number", {}, {"status": Status.NUMERICAL_ERROR, "reason": "a number"}),
    ],
)
def test_false_claims_are_seen_without_a_rival(solved, text, certificate, result):
    case, true, _ = solved
    assert text in wrong(case, replace(with_certificate(true, **certificate), **result))


def test_a_bound_past_the_optimum_and_a_point_outside_of_the_domain(solved):
    case, result, said = solved
    assert "past the optimum" in wrong(case, with_certificate(result, bound=1.3 + 1e-6), said)
    assert "outside of X" in wrong(case, replace(result, x=result.x + 1e-4))


def test_solved_far_above_the_optimum(solved):
    """A rival whose optimum is lower; and one whose optimum is higher than infeasibility pays."""
    case, result, said = solved
    lower = replace(said, low=1.2, high=1.2)
    assert "above the optimum" in wrong(case, result, lower)
    higher = replace(said, low=1.4, high=1.4)
    assert "below the optimum" in wrong(case, result, higher)


def test_infeasible_where_a_point_is_known(solved):
    case, result, said = solved
    false = replace(
        result, status=Status.INFEASIBLE, infeasible=Proof(0.1, "none"), separator=np.ones(1)
    )
    assert "the separator has" in wrong(case, false)
    assert "INFEASIBLE by a wide margin" in wrong(case, false, said)
    assert "but a point is known" in wrong(replace(case, margin=0.0), false)
    unproved = replace(result, status=Status.INFEASIBLE)
    assert "INFEASIBLE with proof None" in wrong(case, unproved)


def test_a_problem_that_is_infeasible():
    """x_2 + x_3 = 1.5 misses by 0.5: proved; and a false claim to have solved it is seen."""
    case = case_of(b=1.5, margin=0.5)
    result = condal.solve(case.model, tol=TOL)
    assert result.status is Status.INFEASIBLE
    assert judge(case, result, UNKNOWN, TOL).wrong == []
    claimed = replace(result, status=Status.SOLVED, infeasible=None, separator=None)
    assert "SOLVED, but it is infeasible" in wrong(case, claimed)
    near = replace(claimed, certificate=replace(claimed.certificate, infeasibility=1e-3))
    assert "is least" in wrong(case, near)
    stopped = replace(claimed, status=Status.MAX_ITERS)
    assert judge(case, stopped, UNKNOWN, TOL).short == ["not proved infeasible"]


@pytest.mark.parametrize("family", ["simplex", "spectrahedron", "hull", "max-cut"])
def test_proofs_that_claim_a_little_too_much_are_seen(family, monkeypatch):
    """By a millionth of the size of the objective."""
    certify = importlib.import_module("condal.certificates.bound")
    true = certify.lower_bound

    def false(problem, *args, **options):
        lower, proof = true(problem, *args, **options)
        return lower + 1e-6 * problem.objective_range, proof

    monkeypatch.setattr(certify, "lower_bound", false)
    assert any(attempt(family, seed, 1.0).wrong for seed in range(12))
