"""A proof that the time limit cut short says nothing about the bound that was estimated."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.certificates.evaluation import EvaluatedPoint
from condal.driver.certification import Certifier
from condal.driver.scaling import normalise
from condal.problem import problem_of
from condal.runtime.meter import Deadline, Stopper


@pytest.fixture
def certifier():
    """Return a certifier of max-cut at the optimal dual, where discs prove little."""
    half = np.triu(np.random.default_rng(0).random((100, 100)) < 0.1, 1)
    model = condal.problems.max_cut((half + half.T).astype(float))
    result = condal.solve(model, tol=1e-4)
    problem = problem_of(model)
    normalised, scaling = normalise(problem)
    certifier = Certifier(problem, normalised, scaling, 1e-4, 0)
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
    return certifier._certify(certifier.point, seen, certifier.w, 1e-3, tangent=None)


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
