"""Sketches in extreme cases, and reproducible answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import condal
from condal import LowRank, Spectrahedron, Status
from condal.linalg.lifting import rectangle, square_point
from condal.storage import Sketch, TwoSidedSketch
from known import PLANTED, torus
from locations import TESTS


def unit(n, seed=0):
    u = np.random.default_rng(seed).standard_normal((n, 1))
    return LowRank(u / np.linalg.norm(u), np.ones(1))


def moved(x, n, steps, atoms=None):
    """Return the sketch after the steps of a method, and the matrix that it sketches."""
    full = np.zeros((n, n))
    for k in range(1, steps + 1):
        s = unit(n, k % (atoms or steps + 1))
        x.move(s, 2 / (k + 1))
        full = (1 - 2 / (k + 1)) * full + 2 / (k + 1) * np.asarray(s)
    return x.point(), full


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("R", [6, 50, 10**6])
def test_sketch_r_above_n(n, R):
    x = Sketch(n, R)
    assert n == x.R
    point, full = moved(x, n, 40)
    np.testing.assert_allclose(np.asarray(point), full, atol=1e-10)
    other = TwoSidedSketch(n, 3, R)
    other.load(square_point(np.ones((n, 3)), n, 3))
    np.testing.assert_allclose(np.asarray(rectangle(other.point(), n)), np.ones((n, 3)), atol=1e-10)


def test_sketch_r_above_n_solves():
    known = PLANTED["sdp-equal"]()
    result = condal.solve(known.problem, storage=Sketch(12, 500), tol=1e-2, max_iters=5000)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(known.optimum, rel=0.05)


@pytest.mark.parametrize("R", [1, 3, 9])
def test_an_all_zero_sketch(R):
    x = Sketch(5, R)
    assert not np.asarray(x.point()).any()
    x.move(LowRank(np.ones((5, 1)), np.zeros(1)), 1.0)
    assert not np.asarray(x.point()).any()
    x.load(np.zeros((5, 5)))
    assert not np.asarray(x.point()).any()
    y = TwoSidedSketch(5, 4, R)
    y.load(square_point(np.zeros((5, 4)), 5, 4))
    assert not np.asarray(rectangle(y.point(), 5)).any()


def test_an_all_zero_sketch_solves():
    """The optimum is x = 0, which the sketch holds at every step."""
    problem = condal.Problem.of(condal.Linear(np.eye(5)), Spectrahedron(5, at_most=True))
    result = condal.solve(problem, storage=Sketch(5, 2))
    assert (result.status, result.objective) == (Status.SOLVED, 0.0)


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("R", [4, 8, 30])
def test_rank_below_r(rank, R):
    """The core of the sketch is singular, and its Cholesky factorisation needs a shift."""
    point, full = moved(Sketch(30, R), 30, 200, atoms=rank)
    assert np.linalg.matrix_rank(full, tol=1e-10) == rank
    np.testing.assert_allclose(np.asarray(point), full, atol=1e-8)
    assert np.isfinite(point.U).all()
    assert point.trace == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("trace", [0.0, 0.3, 0.999999])
def test_a_negative_trace_correction(trace):
    """Rounding or drift may give the reconstruction a larger trace than x: no weight is negative,
    and the trace is as near to that of x as possible."""
    x = Sketch(12, 4)
    x.load(unit(12))
    x._trace = trace
    point = x.point()
    assert np.all(point.weights >= 0.0)
    assert point.trace <= max(trace, 1.0) + 1e-12
    assert np.isfinite(point.U).all()


def test_a_negative_trace_correction_over_many_steps():
    for seed in range(5):
        x = Sketch(20, 3, seed=seed)
        point, _ = moved(x, 20, 500, atoms=3)
        assert np.all(point.weights >= 0.0)
        assert point.trace == pytest.approx(1.0, abs=1e-10)
        assert Spectrahedron(20).distance(point) <= 1e-10


# Reproducibility.

PROBLEMS = {
    "sdp": lambda: PLANTED["sdp-equal"]().problem,
    "max-cut": lambda: condal.problems.max_cut(torus(6, 6)),
    "simplex": lambda: PLANTED["simplex-box"]().problem,
    "nuclear": lambda: condal.problems.matrix_completion(
        [0, 0, 1, 2, 2], [0, 1, 1, 0, 2], [1.0, 2.0, 3.0, 4.0, 5.0], radius=9.0
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", [None, condal.CGAL()], ids=["default", "cgal"])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_twice_gives_the_same_answer(name, method, seed):
    first, second = (
        condal.solve(PROBLEMS[name](), method, tol=1e-4, max_iters=80, seed=seed) for _ in range(2)
    )
    assert (first.objective, first.bound) == (second.objective, second.bound)
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(np.asarray(first.x), np.asarray(second.x))
    for column in ("objective", "bound", "infeasibility", "lam", "eta", "sigma"):
        np.testing.assert_array_equal(first.history[column], second.history[column])


def test_the_same_seed_twice_gives_the_same_sketch_and_another_another():
    problem = PLANTED["sdp-equal"]().problem
    results = [
        condal.solve(problem, storage=Sketch(12, 2, seed=seed), tol=1e-6, max_iters=50)
        for seed in (3, 3, 4)
    ]
    first, same, other = (np.asarray(result.x) for result in results)
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


THREADED = """
import json, sys
import numpy as np, condal
sys.path.insert(0, {tests!r})
from known import planted_sdp, torus
C = np.random.default_rng(0).standard_normal((150, 150))
large = condal.Problem.of(condal.Linear(C + C.T), condal.Spectrahedron(150))
found = []
for model, tol in ((planted_sdp().problem, 1e-6), (condal.problems.max_cut(torus(12, 12)), 1e-4),
                   (large, 1e-6)):
    r = condal.solve(model, tol=tol, max_iters=2000)
    found.append([r.status.name, r.objective, r.bound])
print(json.dumps(found))
"""


def test_1_thread_against_2():
    """Sums in another order differ by rounding: the answers agree to the tolerance."""
    tests = str(TESTS)
    runs = []
    for threads in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", THREADED.format(tests=tests)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        runs.append(json.loads(run.stdout))
    for (status, objective, bound), (other, *numbers) in zip(*runs, strict=True):
        assert status == other == "SOLVED"
        np.testing.assert_allclose(numbers, [objective, bound], rtol=2e-4)
