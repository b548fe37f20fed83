"""The failure probability of a solve: each proof has a share of its own, and all fit into one."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.certificates.bound import DEFAULT_FAILURE
from condal.certificates.evaluation import EvaluatedPoint
from condal.certificates.ledger import ProofLedger, _share
from condal.linalg import eigenvalue_bounds as proofs
from condal_lab.experiments.stand_ins import random_graph


def test_the_shares_of_any_number_of_proofs_fit_into_one():
    shares = [_share(number) for number in range(1, 100_000)]
    assert sum(shares) < DEFAULT_FAILURE
    assert min(shares) > 0


@pytest.fixture
def asked(monkeypatch):
    """The failure probabilities and seeds that Lanczos proofs are asked for."""
    options, real = [], proofs.probabilistic

    def probabilistic(V, *, failure, seed, **others):
        options.append((failure, seed))
        return real(V, failure=failure, seed=seed, **others)

    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan("probabilistic", 0.0))
    monkeypatch.setattr(proofs, "probabilistic", probabilistic)
    return options


def test_no_proof_takes_the_share_of_another(asked):
    """The twentieth proof of a run still has a share, and each proof has its own start."""
    problem = condal.problems.max_cut(random_graph(40, density=0.2)).problem
    ledger = ProofLedger(problem, 1e-3, 0)
    x = condal.LowRank(np.ones((40, 1)), np.ones(1))
    seen = EvaluatedPoint.of(problem, x)
    for _ in range(20):
        point = ledger.certify(x, seen, np.full(40, 5.0), 1.0)
        assert point.certificate.failure == DEFAULT_FAILURE  # chosen among all of them
    failures, seeds = zip(*asked, strict=True)
    assert sum(failures) < DEFAULT_FAILURE
    assert min(failures) > 1e-3 * DEFAULT_FAILURE
    assert len(set(seeds)) == 20


def test_a_proof_of_a_run_that_is_proved_again_takes_no_new_share(asked):
    problem = condal.problems.max_cut(random_graph(40, density=0.2)).problem
    ledger = ProofLedger(problem, 1e-3, 0)
    x = condal.LowRank(np.ones((40, 1)), np.ones(1))
    point = ledger.certify(x, EvaluatedPoint.of(problem, x), np.full(40, 5.0), 1.0)
    again = ledger.proved_again(point)
    assert again.certificate == point.certificate
    assert asked[0] == asked[1]
    assert ledger.count == 1
