"""The ledger keeps the best of what was proved; each proof has its share of the failures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal import Equal, LeastSquares, Linear, Matrix, Problem, Simplex
from condal.certificates.bound import DEFAULT_FAILURE
from condal.certificates.certificate import Certificate
from condal.certificates.evaluation import EvaluatedPoint
from condal.certificates.ledger import CertifiedPoint, ProofLedger, _share
from condal.linalg import eigenvalue_bounds as proofs
from condal.result import Status
from condal_lab.generated import random_graph

SENSES = pytest.mark.parametrize("sense", [1, -1])


def problem_of(sense=1):
    """min -x_0, or max x_0, over the simplex with x_0 = 0.5: y = 1 proves the optimum."""
    return Problem.of(
        f=Linear(np.array([-sense, 0.0, 0.0])),
        X=Simplex(3),
        A=Matrix(sp.csr_array(np.array([[1.0, 0, 0]]))),
        K=Equal(np.array([0.5])),
        maximise=sense < 0,
    )


@SENSES
@pytest.mark.parametrize("price", [np.nan, np.inf])
def test_of_points_of_unknown_error_one_with_a_bound_is_better(sense, price):
    ledger, x = ProofLedger(problem_of(sense), 1e-6, 0), np.array([0.5, 0.5, 0])

    def point(bound):
        certificate = Certificate(-0.5 * sense, bound, 0.0, "a test", price=price)
        return CertifiedPoint(x, np.ones(1), certificate)

    bounded, unbounded = point(-0.6 * sense), point(-sense * np.inf)
    assert ledger.better_of(bounded, unbounded) is bounded
    assert ledger.better_of(unbounded, bounded) is bounded
    later = point(-0.6 * sense)
    assert ledger.better_of(bounded, later) is later


@SENSES
@pytest.mark.parametrize("order", [1, -1])
def test_the_best_bound_goes_with_the_best_point(sense, order):
    """A bound holds whatever x is: -0.5 was proved, and -0.7 was kept with a better point."""
    problem = problem_of(sense)
    ledger = ProofLedger(problem, 1e-6, 0)
    pairs = [([1.0, 0, 0], 1.0), ([0.5, 0.5, 0], 0.6)][::order]
    for x, y in pairs:
        x, y = np.array(x), np.array([y])
        ledger.keep(ledger.certify(EvaluatedPoint.of(problem, x), y, 1e-6))
    kept = ledger.certified
    np.testing.assert_array_equal(kept.x, [0.5, 0.5, 0])
    np.testing.assert_array_equal(kept.y, [1.0])
    assert abs(kept.certificate.bound - -0.5 * sense) <= 1e-12
    assert kept.certificate.error <= 1e-12
    assert ledger.status is Status.SOLVED
    again = ledger.proved_again(kept)
    assert again.certificate == kept.certificate
    assert again.minimum == kept.minimum


def test_a_pair_keeps_the_tangent_of_its_bound():
    """min |x - c|^2 / 2: the bound depends on where the tangent of f is taken."""
    rng = np.random.default_rng(0)
    f = LeastSquares(Matrix(sp.csr_array(np.eye(3))), np.array([0.5, 0.3, 0.2]))
    A, K = Matrix(sp.csr_array(np.eye(3)[:1])), Equal(np.array([0.5]))
    problem = Problem.of(f=f, X=Simplex(3), A=A, K=K)
    ledger = ProofLedger(problem, 1e-9, 0)
    for _ in range(20):
        x, y = rng.dirichlet(np.ones(3)), rng.standard_normal(1)
        x[0], x[1:] = 0.5, 0.5 * x[1:] / x[1:].sum()
        ledger.keep(ledger.certify(EvaluatedPoint.of(problem, x), y, 1e-6))
        kept = ledger.certified
        seen = EvaluatedPoint.of(problem, kept.x)
        assert kept.certificate == ledger.proved_again(kept).certificate
        assert kept.certificate.objective == seen.objective
        assert kept.certificate.bound <= 1e-15


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


@pytest.fixture
def proving():
    """A ledger, and a function that certifies a point by it."""
    problem = condal.problems.max_cut(random_graph(40, density=0.2)).problem
    ledger = ProofLedger(problem, 1e-3, 0)
    seen = EvaluatedPoint.of(problem, condal.LowRank(np.ones((40, 1)), np.ones(1)))
    return ledger, lambda: ledger.certify(seen, np.full(40, 5.0), 1.0)


def test_no_proof_takes_the_share_of_another(asked, proving):
    """The twentieth proof of a run still has a share, and each proof has its own start."""
    for _ in range(20):
        point = proving[1]()
        assert point.certificate.failure == DEFAULT_FAILURE  # chosen among all of them
    failures, seeds = zip(*asked, strict=True)
    assert sum(failures) < DEFAULT_FAILURE
    assert min(failures) > 1e-3 * DEFAULT_FAILURE
    assert len(set(seeds)) == 20


def test_a_proof_of_a_run_that_is_proved_again_takes_no_new_share(asked, proving):
    ledger, point = proving[0], proving[1]()
    again = ledger.proved_again(point)
    assert again.certificate == point.certificate
    assert asked[0] == asked[1]
    assert ledger.count == 1
