"""Steps of the multipliers at a fixed R: what they promise, and what they mend."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.methods.surface.manifold import Surface
from condal.methods.surface.newton import SurfacePoint, newton_step
from condal.methods.surface.oracle import SlackSpectrum, dual_step
from condal.methods.surface.rows import SurfaceRows, cost_of
from known import PLANTED, random_graph

TOL = 1e-9


def problem_of(kind: str) -> condal.Problem:
    graph = random_graph(60, 4.0, seed=1)
    if kind == "theta":
        problem = condal.problems.theta(graph).problem
    elif kind == "3-cut":
        problem = condal.problems.max_k_cut(graph, 3).problem
    elif kind == "halves":
        problem = condal.problems.bisection(graph).problem
    else:
        problem = PLANTED["sdp-at-most"]().problem
    return normalise(problem)[0]


def near_a_solution(problem: condal.Problem, steps: int, rank: int = 14) -> SurfacePoint:
    surface = Surface(SurfaceRows.of(problem), cost_of(problem))
    rank = min(rank, surface.rows.n)
    R = np.random.default_rng(3).standard_normal((surface.rows.n, rank))
    R = surface.retracted(surface.rows.with_slacks(R / np.linalg.norm(R)))
    point, radius = SurfacePoint(surface, R, np.zeros(surface.rows.b.size)), 0.3
    for _ in range(steps):
        step = newton_step(point, radius)
        point, radius = step.point, step.radius
    return point


def spectrum_of(problem, point, y) -> SlackSpectrum:
    return SlackSpectrum.of(problem, point, y, TOL * abs(point.value))


@pytest.mark.parametrize("steps", [4, 8, 16])
@pytest.mark.parametrize("kind", ["theta", "3-cut", "halves", "at most"])
def test_a_step_promises_no_less_than_it_keeps_and_no_more_than_the_gap(kind, steps):
    """The promise is the gap on a subspace; a short step is never much worse than none."""
    problem = problem_of(kind)
    point = near_a_solution(problem, steps)
    before = spectrum_of(problem, point, point.multiplier)
    y, promised = dual_step(problem, point, before)
    after, unit = spectrum_of(problem, point, y), abs(point.value)
    assert after.gap >= promised - 1e-7 * unit
    assert promised <= before.gap + 0.05 * abs(before.gap) + 1e-7 * unit
    assert after.lower <= point.value - point.price_of(y) + 1e-7 * unit + abs(
        problem.f.value(np.zeros(problem.f.M.size))
    )


@pytest.mark.parametrize("edge", [12, 36, 60, 96])
def test_a_wrong_multiplier_of_one_edge_is_mended(edge):
    problem = problem_of("theta")
    point = near_a_solution(problem, 25)
    wrong = point.multiplier.copy()
    wrong[edge] -= np.abs(wrong[:-1]).max()
    spectrum = spectrum_of(problem, point, wrong)
    y, promised = dual_step(problem, point, spectrum)
    assert promised < 0.1 * spectrum.gap
    assert spectrum_of(problem, point, y).gap < 0.1 * spectrum.gap
