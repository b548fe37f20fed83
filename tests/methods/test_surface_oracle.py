"""The oracle of a surface: S beside range(R), looks, and the rank."""

from math import inf

import numpy as np
import pytest

import condal
from condal.driver.scaling import counted, normalise
from condal.linalg.symmetric import Symmetric
from condal.methods.surface import run
from condal.methods.surface.equations import cost_of
from condal.methods.surface.manifold import Surface
from condal.methods.surface.newton import SurfacePoint, newton_step
from condal.methods.surface.oracle import MAX_GROWN, RankPolicy, SlackSpectrum, lifted
from condal.methods.surface.rows import SurfaceRows
from known import random_graph


def near_a_solution(problem: condal.Problem, steps: int, rank: int) -> SurfacePoint:
    surface = Surface(SurfaceRows.of(problem), cost_of(problem))
    R = np.random.default_rng(3).standard_normal((surface.rows.n, rank))
    R = surface.retracted(surface.rows.with_slacks(R / np.linalg.norm(R)))
    point, radius = SurfacePoint(surface, R, np.zeros(surface.rows.b.size)), 0.3
    for _ in range(steps):
        step = newton_step(point, radius)
        point, radius = step.point, step.radius
    return point


@pytest.mark.parametrize("lift", [0.0, 7.0])
@pytest.mark.parametrize("rank", [0, 1, 6, 15])
def test_the_lifted_slack_is_that_of_the_projections_also_along_the_axes(rank, lift):
    rng = np.random.default_rng(0)
    S = rng.standard_normal((20, 20))
    S += S.T
    axes = np.linalg.qr(rng.standard_normal((20, rank)))[0]
    P = np.eye(20) - axes @ axes.T
    V = lifted(Symmetric(20, dense=S), axes, lift).to_dense()
    t = np.trace((np.eye(20) - P) @ V) / max(rank, 1)
    assert rank == 0 or t >= lift + np.linalg.eigvalsh(axes.T @ S @ axes)[-1] - 1e-12
    np.testing.assert_allclose(V, P @ S @ P + t * (np.eye(20) - P), atol=1e-11)


def test_no_slack_is_lifted_without_a_division_by_zero():
    V = lifted(Symmetric(3, dense=np.zeros((3, 3))), np.eye(3)[:, :1], 0.0)
    np.testing.assert_allclose(V.to_dense(), 0.0, atol=1e-200)


def test_lanczos_ends_before_rounding_along_the_axes_is_amplified():
    """With a product that is not symmetric along the axes it took n steps at any tolerance."""
    problem = normalise(condal.problems.bisection(random_graph(400, 40.0, seed=1)).problem)[0]
    point = near_a_solution(problem, steps=6, rank=18)
    problem, counts = counted(problem)
    SlackSpectrum.of(problem, point, point.multiplier, 1e-3 * abs(point.value))
    assert counts.matvecs < 300


def test_far_from_a_solution_a_look_waits_for_the_work_that_it_costs(monkeypatch):
    looks = []
    look = run.SurfaceRun._look

    def recorded(self, stuck):
        looks.append((self._settled(self.carry.gap), self.carry.work, self.carry.steps))
        look(self, stuck)

    monkeypatch.setattr(run.SurfaceRun, "_look", recorded)
    model = condal.problems.bisection(random_graph(400, 40.0, seed=1))
    result = condal.solve(model, condal.methods.LowRankNewton(), tol=1e-6)
    assert result.status is condal.Status.SOLVED
    for settled, work, steps in looks:
        assert settled or work >= run.LOOK_WORK or steps >= run.LATEST_LOOK
        assert settled or steps >= run.LOOK_EVERY
    assert 2 <= len(looks) <= 5


def test_a_direction_on_its_way_out_is_cut():
    kept = RankPolicy(10).kept(np.array([1.0, 1e-5]), np.array([0.0, 1.0]), -1e-3, 1e-2)
    assert kept.tolist() == [True, False]


def test_a_direction_in_the_null_space_of_the_slack_is_kept_however_small():
    kept = RankPolicy(10).kept(np.array([1.0, 1e-12]), np.array([1.0, 1e-4]), -1e-3, 1e-2)
    assert kept.all()


def test_a_cut_removes_less_of_the_trace_than_the_gap():
    squares, curvatures = np.array([1.0, 4e-3, 3e-3, 2e-3]), np.array([0.0, 1.0, 1.0, 1.0])
    kept = RankPolicy(10).kept(squares, curvatures, -1e-6, 1e-2)
    assert kept.tolist() == [True, True, True, False]
    assert squares[~kept].sum() <= 1e-2 * squares.sum()


def test_a_cut_needs_half_the_gap_of_the_last_one():
    squares, curvatures = np.array([1.0, 1e-9]), np.array([0.0, 1.0])
    policy = RankPolicy(10).after_cut(1e-2)
    assert policy.kept(squares, curvatures, -1e-9, 6e-3).all()
    assert not policy.kept(squares, curvatures, -1e-9, 5e-3).all()


@pytest.mark.parametrize(
    ("values", "rank", "gap", "residual", "grown"),
    [
        ([-1.0, -0.5, -0.05, 0.0], 3, 1e-2, 1e-3, 2),
        ([-1.0, -0.5], 3, 1e-4, 1e-3, 0),  # the gap may be due to the residual
        ([-1.0, -0.5], 9, 1e-2, 1e-3, 1),  # no room for more
        ([1e-9, 1.0], 3, 1e-2, 1e-3, 0),
        ([], 3, 1e-2, 1e-3, 0),
        ([-1.0] * 50, 3, 1e-2, 1e-3, min(MAX_GROWN, 7)),
    ],
)
def test_growth(values, rank, gap, residual, grown):
    assert RankPolicy(10).grown(np.array(values), rank, gap, residual) == grown


def test_no_sequence_of_decisions_repeats_for_ever():
    """Whatever it is shown, the number of cuts is at most log2(first gap / last gap) + 1."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        policy, rank, cuts, least, first = RankPolicy(30), 20, 0, inf, 0.0
        for _ in range(400):
            gap = float(10 ** rng.uniform(-6, 0))
            squares, curvatures = 10 ** rng.uniform(-12, 0, rank), rng.uniform(-0.1, 1, rank)
            kept = policy.kept(squares, curvatures, -1e-3, gap)
            if not kept.all():
                cuts, policy = cuts + 1, policy.after_cut(gap)
                least, first = min(least, gap), max(first, gap)
            rank = int(kept.sum())
            rank += policy.grown(np.sort(rng.uniform(-1, 1, 12)), rank, gap, 0.0)
            assert 1 <= rank <= 30
        assert cuts <= np.log2(first / least) + 1


def test_slacks_at_zero_of_a_wrong_sign_are_opened():
    slacks, values = np.array([0.0, 1e-12, 0.3, 0.0]), np.array([-1.0, 1.0, -1.0, 2.0])
    opened = RankPolicy(10).opened(slacks, values, 1e-2)
    assert opened[0] > 1e-4
    assert opened[1:].tolist() == slacks[1:].tolist()
    assert np.sum(opened[:1] ** 2) <= RankPolicy(10).column_norm(1e-2) ** 2


def test_slacks_are_left_alone_where_every_sign_is_right():
    slacks = np.array([0.0, 1.0])
    assert RankPolicy(10).opened(slacks, np.array([1.0, 0.0]), 1e-2) is slacks
