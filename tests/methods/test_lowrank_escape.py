"""A failed proof is not wasted: its vectors become columns of R."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import condal
from condal.certificates.ledger import ProofLedger
from condal.domains.spectral import Spectrahedron
from condal.driver.run import Run
from condal.driver.scaling import normalise
from condal.linalg import eigenvalue_bounds as proofs
from condal.methods import LowRankCGAL
from condal.methods.lowrank.rounds import Rounds
from condal_lab.generated import random_graph


@dataclass(frozen=True)
class Blind(Spectrahedron):
    """A spectrahedron whose oracle sees no negative curvature: it reports a large eigenvalue."""

    def lowest(self, v, count, tol, *, beside=None):
        vector = np.ones((self.n, 1)) / np.sqrt(self.n)
        return np.array([1e3]), vector


def blind_max_cut(n=300):
    problem = condal.problems.max_cut(random_graph(n, density=0.05)).problem
    return replace(problem, X=Blind(n, trace=problem.X.trace))


@pytest.fixture(params=["dense", "sparse"])
def plan(request, monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan(request.param, 0.0))


METHOD = LowRankCGAL(rank=2, aim=1e-5)


def test_the_vectors_of_a_failed_proof_lead_out_of_a_local_minimum(plan):
    result = condal.solve(blind_max_cut(), METHOD, tol=1e-5, max_iters=2000)
    assert result.status is condal.Status.SOLVED
    assert result.gap <= 1e-5


def test_without_them_the_method_rests_where_it_is(plan, monkeypatch):
    monkeypatch.setattr(Rounds, "escape", lambda self, refuting: None)
    result = condal.solve(blind_max_cut(), METHOD, tol=1e-5, max_iters=2000)
    assert result.status is not condal.Status.SOLVED
    assert result.gap > 1e-4


def test_a_resumed_run_has_the_vectors_too(plan, tmp_path, monkeypatch):
    told, escape = [], Rounds.escape
    monkeypatch.setattr(Rounds, "escape", lambda self, v: told.append(v) or escape(self, v))
    ks = []
    whole = condal.solve(
        blind_max_cut(), METHOD, tol=1e-5, callback=lambda row: ks.append((row.k, len(told)))
    )
    failed = [k - 1 for (k, now), (_, before) in zip(ks[1:], ks, strict=False) if now > before]
    assert len(failed) >= 2
    for k in failed[:2]:
        path = tmp_path / f"{k}.npz"
        condal.solve(blind_max_cut(), METHOD, tol=1e-5, max_iters=k, checkpoint=path)
        resumed = condal.resume(path, blind_max_cut(), max_iters=2000)
        np.testing.assert_array_equal(resumed.y, whole.y)


def test_vectors_that_promise_nothing_change_nothing():
    problem = normalise(condal.problems.max_cut(random_graph(60, density=0.2)).problem)[0]
    rounds = Rounds(METHOD, problem, METHOD.start(problem))
    width = rounds.point.R.shape[1]
    rounds.escape(np.ones((7, 1)))  # of another problem
    assert rounds.point.R.shape[1] == width
    top = np.eye(60)[:, [int(np.argmin(rounds.point.shift))]]
    rounds.escape(top)  # the slack is positive there
    assert rounds.point.R.shape[1] == width


def test_proofs_that_fail_do_not_take_the_run(plan, monkeypatch):
    """Each proof of this run fails; there are few, and they cost less than the method."""
    monkeypatch.setattr(Rounds, "escape", lambda self, refuting: None)
    shares, certify = [], ProofLedger.certify

    def watched(self, *args, **options):
        point = certify(self, *args, **options)
        shares.append(self.failed_work)
        return point

    monkeypatch.setattr(ProofLedger, "certify", watched)
    work = []
    advance = Run._advance

    def advanced(self, states):
        state = advance(self, states)
        work.append((self.certifier.ledger.method_work, self.certifier.ledger.failed_work))
        return state

    monkeypatch.setattr(Run, "_advance", advanced)
    condal.solve(blind_max_cut(), METHOD, tol=1e-5, max_iters=400)
    method, failed = work[-1]
    assert method > 0
    costs = np.diff([0.0, *shares])
    assert failed <= 0.5 * method + np.log2(400) * costs.max()
    assert len(shares) <= 0.5 * method / costs[0] + np.log2(400)
