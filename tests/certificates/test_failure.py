"""`failure`: how often the proofs of a solve may be wrong. With 0 they are deterministic."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import condal
from commands import run
from condal.certificates.evaluation import EvaluatedPoint
from condal.certificates.ledger import ProofLedger
from condal.cvxpy import CONDAL
from condal.linalg import eigenvalue_bounds

N = 2000


@pytest.fixture
def model():
    half = sp.random(N, N, 10 / N, random_state=0)
    return condal.problems.max_cut(sp.csr_array(half + half.T))


@pytest.fixture
def certain(monkeypatch):
    """Let no Lanczos proof begin."""
    wrong = pytest.fail
    monkeypatch.setattr(eigenvalue_bounds, "probabilistic", lambda *_, **__: wrong("Lanczos"))


@pytest.mark.parametrize("failure", [-1e-9, 0.5, np.nan, True, "0"])
def test_what_is_no_small_probability_is_refused(model, failure):
    for door in (
        lambda: condal.solve(model, failure=failure),
        lambda: condal.certify(model, np.eye(N), np.ones(N), failure=failure),
        lambda: CONDAL(failure=failure),
    ):
        with pytest.raises(condal.ProblemError, match=r"from 0, .* to 0\.01; got"):
            door()


@pytest.mark.usefixtures("certain")
def test_with_0_all_proofs_are_deterministic_and_their_cost_is_said(model):
    said = []

    class Listener:
        note = said.append

        def __call__(self, row):
            return False

    result = condal.solve(model, tol=1e-2, failure=0, callback=Listener())
    assert result.status is condal.Status.SOLVED
    assert result.certificate.failure == 0
    assert "each proof is a factorisation of about" in said[0]
    assert condal.certify(model, result.x, result.y, failure=0).certified


def test_without_an_affordable_proof_no_solve_begins(monkeypatch):
    """Of an operator, or of a graph whose factor fills."""
    monkeypatch.setattr(condal.Spectrahedron, "lmo", lambda *_, **__: pytest.fail("it began"))
    C = aslinearoperator(sp.eye(40_000, format="csr"))
    problem = condal.Problem.of(f=condal.Linear(C), X=condal.Spectrahedron(40_000, trace=1.0))
    ends = np.random.default_rng(0).integers(0, 200_000, (2, 10**6))
    W = sp.csr_array(sp.coo_array((np.ones(10**6), ends), (200_000, 200_000)))
    for asked in (problem, condal.problems.max_cut(W + W.T)):
        with pytest.raises(condal.ProblemError, match="no deterministic proof is affordable"):
            condal.solve(asked, "cgal", failure=0)


@pytest.mark.parametrize(("work", "failure"), [(0.0, 1e-3), (1e12, 0.0)])
def test_a_proof_of_less_than_half_of_the_solve_is_deterministic(model, work, failure):
    ledger = ProofLedger(model.problem, 1e-3, 0, 1e-3)
    ledger.method_work = work
    seen = EvaluatedPoint.of(model.problem, condal.LowRank(np.ones((N, 1)), np.ones(1)))
    proved = ledger.certify(seen, np.full(N, 50.0), 1e3, enough=-1.9e4).certificate
    assert proved.certified
    assert proved.failure == failure


def test_the_command_line_takes_it(tmp_path):
    path = tmp_path / "cycle.txt"
    path.write_text("3 3\n1 2 1\n2 3 1\n1 3 1\n")
    done = run("solve", str(path), "--as", "max-cut", "--failure", "0")
    assert done.exit_code == 0
    assert "each proof is a factorisation" in done.output
    assert run("solve", str(path), "--as", "max-cut", "--failure", "2").exit_code == 2
