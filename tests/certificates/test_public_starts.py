"""Data that know where the Lanczos runs of a solve begin: a lowest eigenvector that they all miss.

A proof whose random start is known proves nothing of such data, so starts are drawn from the
system's entropy. A point that refutes a bound voids it.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import condal
from condal import Status
from condal.certificates.evaluation import EvaluatedPoint
from condal.certificates.ledger import ProofLedger
from condal.linalg import eigenvalue_bounds

N, BLOCK = 6000, 300
LIMITS = {"tol": 1e-3, "max_iters": 100}


@cache
def laplacian():
    """A sparse psd matrix with eigenvalues from 0 to 1, in which no Lanczos run ends early."""
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, N - BLOCK, (2, 4 * N))
    W = sp.coo_array((np.ones(i.size), (i, j)), shape=(N - BLOCK, N - BLOCK)).tocsr()
    W = W + W.T
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return (sp.diags_array(degrees) - W) / (2 * degrees.max())


def lowest_along(u, depth):
    """The problem of the smallest eigenvalue, -depth, whose eigenvector is u in the last block."""
    last = 0.5 * np.eye(BLOCK) - (0.5 + depth) * np.outer(u, u)
    C = sp.block_diag([laplacian(), sp.csr_array(last)], format="csr")
    return condal.Problem.of(f=condal.Linear(C), X=condal.Spectrahedron(N, trace=1.0))


def hidden_direction(starts, rng):
    """A unit vector of the last block that is orthogonal to all starts."""
    u = rng.standard_normal(BLOCK)
    if starts:
        basis = np.linalg.qr(np.array([start[-BLOCK:] for start in starts]).T)[0]
        for _ in range(2):  # once more, for rounding
            u -= basis @ (basis.T @ u)
    return u / np.linalg.norm(u)


class Recorder:
    """A generator of random numbers that keeps the vectors with a number per row."""

    def __init__(self, rng, kept, rows=N):
        self._rng, self._kept, self.rows = rng, kept, rows

    def __getattr__(self, name):
        return getattr(self._rng, name)

    def standard_normal(self, size=None, **options):
        numbers = self._rng.standard_normal(size, **options)
        if np.shape(numbers)[:1] == (self.rows,):
            self._kept.extend(numbers.reshape(self.rows, -1).T)
        return numbers


def watched(methods):
    """The starts of solves with a public seed."""
    starts, drawn, rng = [], np.random.default_rng, np.random.default_rng(5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.random, "default_rng", lambda *seeds: Recorder(drawn(*seeds), starts))
        for method in methods:
            problem = lowest_along(hidden_direction(starts, rng), 0.01)
            condal.solve(problem, method, seed=0, **LIMITS)
    return starts


def hostile_problem(method, depth, *, seed):
    """A problem that knows every start of a solve with this seed, by having watched such solves."""
    starts, drawn, rng = [], np.random.default_rng, np.random.default_rng(5)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "a proof of a bound is wrong")
        patch.setattr(np.random, "default_rng", lambda *seeds: Recorder(drawn(*seeds), starts))
        for _ in range(3):
            problem = lowest_along(hidden_direction(starts, rng), depth)
            condal.solve(problem, method, seed=seed, **LIMITS)
    return lowest_along(hidden_direction(starts, rng), depth)


@pytest.mark.parametrize(("method", "depth"), [("cgal", 0.006), ("hcgm", 0.02)])
def test_data_that_know_the_seed_deceive_a_proof(method, depth):
    """So the test below can fail, and a proof of a stranger's data should not be given a seed."""
    result = condal.solve(hostile_problem(method, depth, seed=0), method, seed=0, **LIMITS)
    assert result.bound > -depth


@pytest.mark.usefixtures("system_entropy")
@pytest.mark.parametrize("depth", [0.006, 0.02])
@pytest.mark.parametrize("method", ["cgal", "hcgm", None])
def test_no_false_bound_of_data_that_know_all_public_starts(method, depth):
    problem = hostile_problem(method, depth, seed=0)
    result = condal.solve(problem, method, **LIMITS)
    assert result.seed != 0
    assert result.bound <= -depth
    if result.status is Status.SOLVED:
        assert result.objective <= -depth + 1e-3


@pytest.mark.usefixtures("system_entropy")
def test_the_seed_that_was_drawn_is_in_the_result_and_repeats_it(tmp_path):
    problem = lowest_along(hidden_direction([], np.random.default_rng(3)), 0.02)
    first, other = (condal.solve(problem, "cgal", **LIMITS) for _ in range(2))
    assert first.seed != other.seed
    again = condal.solve(problem, "cgal", seed=first.seed, **LIMITS)
    assert (again.seed, again.bound) == (first.seed, first.bound)
    condal.save(first, tmp_path / "result")
    assert condal.load(tmp_path / "result").result.seed == first.seed


@pytest.fixture
def refuted(monkeypatch):
    """The eigenvalue problem of Diag(-1, 0), and a proof that says that its optimum is -0.9."""
    problem = condal.Problem.of(
        f=condal.Linear(np.diag([-1.0, 0.0])), X=condal.Spectrahedron(2, trace=1.0)
    )
    real = condal.Spectrahedron.bound

    def wrong(X, v, **options):
        proof = real(X, v, **options)
        return type(proof)(-0.9, "a wrong proof", 1e-6)

    monkeypatch.setattr(condal.Spectrahedron, "bound", wrong)
    return problem


def test_a_point_beyond_a_bound_voids_it_loudly(refuted):
    with pytest.warns(RuntimeWarning, match=r"a proof of a bound is wrong.*void.*a wrong proof"):
        certificate = condal.certify(refuted, np.diag([1.0, 0.0]), np.zeros(0))
    assert certificate.bound == -np.inf
    assert not certificate.certified
    # A point that does not reach beyond the bound cannot know.
    assert condal.certify(refuted, np.diag([0.5, 0.5]), np.zeros(0)).bound <= -0.9


def test_a_bound_that_a_later_point_refutes_is_not_kept(refuted):
    ledger = ProofLedger(refuted, 1e-3, 0)
    for diagonal, loud in (([0.5, 0.5], False), ([1.0, 0.0], True)):
        x = condal.LowRank(np.eye(2), np.array(diagonal))
        seen = EvaluatedPoint.of(refuted, x)
        if loud:
            with pytest.warns(RuntimeWarning, match="a proof of a bound is wrong"):
                ledger.keep(ledger.certify(seen, np.zeros(0), 1e-3))
        else:
            ledger.keep(ledger.certify(seen, np.zeros(0), 1e-3))
    assert ledger.certified is not None
    assert ledger.certified.certificate.objective == -1.0
    assert ledger.certified.certificate.bound == -np.inf


def test_a_solve_that_a_point_refutes_at_its_end_is_not_solved(refuted, monkeypatch):
    """The better point is there from the start, and proves nothing by itself."""
    ledger = ProofLedger(refuted, 1e-3, 0)
    better, worse = (condal.LowRank(np.eye(2), np.array(d)) for d in ([1.0, 0.0], [0.9, 0.1]))
    with pytest.warns(RuntimeWarning, match="a proof of a bound is wrong"):
        ledger.keep(ledger.certify(EvaluatedPoint.of(refuted, better), np.zeros(0), 1e-3))
    proposal = ledger.certify(EvaluatedPoint.of(refuted, worse), np.zeros(0), 1e-3)
    assert proposal.certificate.within(ledger.tol)
    with pytest.warns(RuntimeWarning, match="a proof of a bound is wrong"):
        ledger.certify_proposal(worse, np.zeros(0))
    assert ledger.status is None


def test_a_fixed_diagonal_is_no_reason_for_an_alarm(monkeypatch):
    """A proof scaled by the diagonal bounds feasible points only: others may lie beyond it."""
    monkeypatch.setattr(
        eigenvalue_bounds, "_plan", lambda V: eigenvalue_bounds.Plan("probabilistic", 0.0)
    )
    n = 300
    C = sp.diags_array(np.where(np.arange(n) < 10, 300.0, 5.0))
    problem = condal.Problem.of(
        f=condal.Linear(C),
        X=condal.Spectrahedron(n, trace=float(n)),
        A=condal.Diagonal(n),
        K=condal.Equal(np.ones(n)),
    )
    optimum = float(C.diagonal().sum())
    x = condal.LowRank(np.eye(n)[:, -1:], np.array([float(n)]))
    certificate = condal.certify(problem, x, np.zeros(n), slack=1.0)
    assert problem.objective(x) < certificate.bound <= optimum * (1 + 1e-12)


def test_a_point_outside_X_refutes_nothing():
    f = condal.LeastSquares(condal.Matrix(np.eye(3)), np.full(3, 2.0))
    problem = condal.Problem.of(f=f, X=condal.Simplex(3))
    best = condal.solve(problem, tol=1e-6)
    tangent = f.M(best.x)
    certificate = condal.certify(problem, np.full(3, 2.0), np.zeros(0), tangent=tangent)
    assert certificate.bound == pytest.approx(best.objective, rel=1e-5)


@pytest.mark.usefixtures("system_entropy")
def test_the_trace_of_phase_retrieval_is_proved_from_a_start_that_is_not_public():
    """Measurements whose weakest direction is orthogonal to all starts of an earlier model."""
    n, weakest = 3100, 0.01
    starts, drawn, u = [], np.random.default_rng, np.random.default_rng(5).standard_normal(3100)

    def model():
        def rows(x):
            along = u @ np.ravel(x)
            return np.append(np.ravel(x) - along * u, np.sqrt(weakest) * along)

        def columns(z):
            first, last = np.ravel(z)[:-1], np.ravel(z)[-1]
            return first - (u @ first) * u + np.sqrt(weakest) * last * u

        a = LinearOperator((n + 1, n), matvec=rows, rmatvec=columns, dtype=float)
        return condal.problems.phase_retrieval((a @ (300.0 * u)) ** 2, a)

    u /= np.linalg.norm(u)
    for _ in range(2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                np.random, "default_rng", lambda *seeds: Recorder(drawn(*seeds), starts, n)
            )
            model()
        basis = np.linalg.qr(np.array(starts).T)[0]
        for _ in range(2):
            u = u - basis @ (basis.T @ u)
        u /= np.linalg.norm(u)
    assert model().trace >= 300.0**2


def test_a_solve_whose_proofs_are_wrong_does_not_claim_to_have_solved(refuted):
    with pytest.warns(RuntimeWarning, match="a proof of a bound is wrong"):
        result = condal.solve(refuted, "cgal", max_iters=200)
    assert result.status is not Status.SOLVED
    assert not result.certificate.certified
