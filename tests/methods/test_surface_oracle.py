"""The oracle of a surface: S on the complement of range(R), and what a look at it costs."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.driver.scaling import counted, normalise
from condal.linalg.symmetric import Symmetric
from condal.methods.surface import run
from condal.methods.surface.manifold import Surface
from condal.methods.surface.newton import SurfacePoint, newton_step
from condal.methods.surface.oracle import SlackSpectrum, lifted
from condal.methods.surface.rows import SurfaceRows, cost_of
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
