"""Points recovered from a dual by approximate complementarity."""

import numpy as np
import pytest

import condal
from condal.methods import CGAL, DualRecovery
from condal.methods.state import Warm
from condal.storage import Factor
from known import PLANTED, planted_sdp, random_graph
from method_cases import smooth_sdp, smooth_simplex, unit_diagonal

SDPS = [PLANTED["sdp-equal"], PLANTED["sdp-box"], PLANTED["sdp-at-most"], unit_diagonal]


def recovered(problem, y, method=None, **options):
    method = DualRecovery() if method is None else method
    return condal.solve(problem, method, tol=1e-11, warm_start=(None, y), **options)


def dual_value(problem, y):
    """The bound of y, for an equality: min over X of <C + A'y, .> - <b, y>."""
    V = problem.f.M.adjoint(np.ones(1)).to_dense() + problem.A.adjoint(y).to_dense()
    least = np.linalg.eigvalsh(V)[0]
    return problem.X.trace * least - float(problem.h.fixed @ y)


@pytest.mark.parametrize("known", SDPS)
def test_the_optimal_dual_gives_the_solution(known):
    case = known()
    result = recovered(case.problem, case.y)
    np.testing.assert_allclose(condal.dense(result.x), case.x, atol=1e-8)
    assert result.objective == pytest.approx(case.optimum, abs=1e-8)
    assert result.infeasibility <= 1e-8
    assert result.bound == pytest.approx(case.optimum, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_error_of_x_is_at_most_the_root_of_the_gap_of_y(seed):
    known = planted_sdp(seed=seed)
    direction = np.random.default_rng(seed).standard_normal(known.y.size)
    direction /= np.linalg.norm(direction)
    ratios = []
    for size in (1e-2, 1e-3, 1e-4, 1e-5):
        y = known.y + size * direction
        gap = known.optimum - dual_value(known.problem, y)
        assert gap > 0
        error = np.linalg.norm(condal.dense(recovered(known.problem, y).x) - known.x)
        ratios.append(error / np.sqrt(gap))
    assert max(ratios) <= 20 * np.linalg.norm(known.x)


def least_infeasible(problem, y, rank):
    """MinFeasSDP of Ding et al. (2021), written out: min |A(V S V') - b| over psd S, tr S fixed."""
    C, A = problem.f.M.adjoint(np.ones(1)).to_dense(), problem.A.as_matrix().toarray()
    V = np.linalg.eigh(C + (A.T @ y).reshape(C.shape))[1][:, :rank]
    G = A @ np.kron(V, V)  # A(V S V') = G vec(S)
    S, L = np.eye(rank) * problem.X.trace / rank, np.linalg.norm(G, 2) ** 2
    for _ in range(20_000):
        moved = S - (G.T @ (G @ S.ravel() - problem.h.fixed)).reshape(S.shape) / L
        values, turned = np.linalg.eigh(0.5 * (moved + moved.T))
        thresholds = (np.cumsum(values[::-1]) - problem.X.trace) / np.arange(1, rank + 1)
        kept = max(1, int(np.count_nonzero(values[::-1] > thresholds)))
        S = (turned * np.maximum(values - thresholds[kept - 1], 0.0)) @ turned.T
    return V @ S @ V.T


@pytest.mark.parametrize("known", [PLANTED["sdp-equal"], unit_diagonal])
def test_a_large_penalty_gives_the_published_least_infeasible_point(known):
    case = known()
    y = case.y + 1e-2 * np.random.default_rng(1).standard_normal(case.y.size)
    method, x = DualRecovery(rank=2, lam=1e14), Factor()
    next(method.iterates(case.problem, x, method.start(case.problem, Warm(None, y, 0))))
    printed = least_infeasible(case.problem, y, 2)
    np.testing.assert_allclose(condal.dense(x.point()), printed, atol=1e-10)


def test_more_eigenvectors_than_the_rank_do_no_harm():
    known = unit_diagonal()
    y = known.y + 1e-4 * np.random.default_rng(0).standard_normal(known.y.size)
    errors = [
        np.linalg.norm(condal.dense(recovered(known.problem, y, DualRecovery(rank)).x) - known.x)
        for rank in (2, 4, 6)
    ]
    assert max(errors) <= 1e-2 * np.linalg.norm(known.x)


@pytest.mark.parametrize("seed", range(4))
def test_the_point_of_a_stopped_run_is_as_good_as_its_dual(seed):
    model = condal.problems.max_cut(random_graph(60, 12.0, seed))
    stopped = condal.solve(model, CGAL(), tol=0, max_iters=200)
    result = condal.solve(model, "recovery", tol=1e-9, warm_start=stopped)
    assert result.method == "recovery"
    assert result.infeasibility <= 1e-12
    assert stopped.bound - result.objective <= stopped.bound * np.sqrt(stopped.gap)


def test_a_resumed_recovery_is_bit_identical(tmp_path):
    known = PLANTED["sdp-box"]()
    y = known.y + 1e-3
    whole = recovered(known.problem, y)
    assert whole.iterations > 1
    recovered(known.problem, y, max_iters=1, checkpoint=tmp_path / "run")
    resumed = condal.resume(tmp_path / "run", known.problem)
    for column in ("objective", "bound", "infeasibility"):
        np.testing.assert_array_equal(resumed.history[column], whole.history[column])
    np.testing.assert_array_equal(condal.dense(resumed.x), condal.dense(whole.x))


def test_it_needs_a_dual_and_a_linear_objective_over_matrices():
    with pytest.raises(condal.ProblemError, match="needs constraints and a dual: pass warm_start"):
        condal.solve(planted_sdp().problem, DualRecovery())
    for known, text in ((smooth_sdp, "linear objective"), (smooth_simplex, "linear objective")):
        with pytest.raises(condal.ProblemError, match=f"recovery from a dual needs a {text}"):
            recovered(known().problem, np.zeros(0))
    with pytest.raises(condal.ProblemError, match="rank"):
        DualRecovery(rank=0)
    with pytest.raises(condal.ProblemError, match="lam"):
        DualRecovery(lam=0.0)
