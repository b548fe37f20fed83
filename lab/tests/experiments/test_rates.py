"""The study of rates: its measurements, its file, and its page in the documentation."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from condal.methods import CGAL
from condal.methods.rules import Exact
from condal_lab.benchmarks import paper as benchmark
from condal_lab.experiments.claims import ClaimVerdict
from condal_lab.experiments.curve import Slope
from condal_lab.experiments.guarantees import states
from condal_lab.experiments.paper import HALF_SLOPE, NEARLY_ONE_SLOPE
from condal_lab.experiments.rate_claims import (
    DEFICIENT,
    EXPECTATIONS,
    SIGNIFICANT,
    expectations,
    paired_difference,
    select,
    signed_rank_pvalue,
    slopes,
)
from condal_lab.experiments.rate_instances import rate_instances
from condal_lab.experiments.rates import (
    FILE,
    FULL,
    METHODS,
    QUICK,
    RESIDUALS,
    RateRun,
    measure,
    measure_all,
    read_runs,
    write_runs,
)
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.workers import Here
from locations import ROOT

PAGE = ROOT / "docs" / "rates.md"


@pytest.fixture(scope="module")
def stored():
    return read_runs(benchmark.RATES / FILE)


def made_up(gap, *, pair="diagonal 12", strict=True, method="cgal", lam0=1.0):
    return RateRun(pair, strict, method, lam0, {name: Slope(gap) for name in RESIDUALS}, {})


def test_a_run_measures_every_residual():
    run = measure(rate_instances((1,))[0], "cgal", 1.0, 200)
    assert set(run.slopes) == set(RESIDUALS)
    assert all(np.isfinite(slope.value) for slope in run.slopes.values())
    assert 0 < run.peaks["gap"][-1] < run.peaks["gap"][0] <= 1


def test_atoms_of_a_solution_of_rank_one_converge_to_it():
    """With strict complementarity and x* extreme, the face of x* is x* itself."""
    run = measure(rate_instances((1,))[0], "cgal", 10.0, 400)
    assert run.slopes["atoms"].value < -1


def test_the_dual_steps_of_const_average_the_gap_away():
    """sum d = (y_K - y_{K/2}) / lam0: without strict complementarity too, d oscillates about 0."""
    truth = rate_instances((3,))[1].truth
    problem, K = truth.problem, 600
    lam0 = float(np.linalg.norm(truth.y)) / (problem.A.norm * problem.X.diameter)
    visited = list(states(problem, CGAL(lam0, tol=Exact()), K))
    late = visited[K // 2 :]
    assert all(state.sigma == pytest.approx(lam0) for state in late)
    d = np.array([state.Ax - problem.A(truth.x) for state in late])
    moved = late[-1].y - late[0].y
    assert d[1:].sum(axis=0) == pytest.approx(moved / lam0, abs=1e-9)
    assert np.linalg.norm(d.mean(axis=0)) < 0.25 * np.sqrt(np.mean(np.sum(d**2, axis=1)))


def test_runs_are_read_as_they_were_written(tmp_path):
    run = replace(made_up(-0.123), peaks={"gap": [0.5, 0.25]})
    write_runs([run, made_up(float("nan"), strict=False)], tmp_path / FILE)
    first, second = read_runs(tmp_path / FILE)
    assert (first.pair, first.slopes["gap"].value, first.peaks) == (run.pair, -0.123, run.peaks)
    assert np.isnan(second.slopes["gap"].value)


def test_nothing_is_measured_twice(tmp_path):
    plan = replace(QUICK, iterations=20)
    with Here() as workers:
        runs = measure_all(plan, tmp_path, workers, Watch())
        assert len(runs) == 10 * len(METHODS)
        again = measure_all(replace(plan, iterations=10**9), tmp_path, workers, Watch())
    assert {run.pair for run in again} == {run.pair for run in runs}
    assert len(again) == len(runs)


@pytest.mark.parametrize(
    "values",
    [[1.0], [-1.0], [1.0, 2.0, 3.0, -4.0], [0.0, 2.0, -1.0, 0.0, 3.0], [1.0, 1.0, -1.0, 2.0, -2.0]],
    ids=["up", "down", "distinct", "zeros", "ties"],
)
def test_the_p_value_is_the_share_of_signs_with_as_large_a_rank_sum(values):
    sizes = np.abs([value for value in values if value != 0.0])
    ranks = [np.mean(np.flatnonzero(np.sort(sizes) == size)) + 1 for size in sizes]
    reached = sum(rank for rank, v in zip(ranks, filter(None, values), strict=True) if v > 0)
    sums = [float(np.dot(signs, ranks)) for signs in product([0, 1], repeat=len(ranks))]
    assert signed_rank_pvalue(values) == np.mean([total >= reached for total in sums])


def test_a_paired_difference_compares_twins():
    names = [f"diagonal {n}" for n in range(8)]
    runs = [made_up(-1.0 - 0.01 * i, pair=name) for i, name in enumerate(names)]
    runs += [made_up(-0.7 - 0.02 * i, pair=name, strict=False) for i, name in enumerate(names)]
    difference = paired_difference(runs, "gap")
    assert difference.median == pytest.approx(0.3 - 0.035)
    assert difference.p == pytest.approx(0.5**8)  # all signs agree
    assert difference.pairs == 8


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([-1.0, -1.1, -0.9, -0.5], ClaimVerdict.HOLDS),
        ([-1.0, -1.1, -0.5, -0.5], ClaimVerdict.UNDECIDED),
        ([-1.0, -0.5, -0.5, -0.5], ClaimVerdict.FAILS),
    ],
)
def test_an_expectation_is_judged_by_the_share_that_complies(values, verdict):
    runs = [made_up(value, pair=f"diagonal {i}") for i, value in enumerate(values)]
    assert EXPECTATIONS[2](runs).verdict is verdict


def test_the_full_study_is_stored(stored):
    assert len(stored) == 30 * len(METHODS) * len(FULL.lam0)
    assert {(run.pair, run.strict) for run in stored} == {
        (instance.name, instance.strict) for instance in rate_instances()
    }
    verdicts = {claim.verdict for claim in expectations(stored)}
    assert ClaimVerdict.UNTESTED not in verdicts


def test_the_runs_say_what_the_page_concludes(stored):
    grid = FULL.lam0
    for method in ("cgal", "cgal-ls"):
        gaps = [slopes(select(stored, method, lam0), "gap") for lam0 in grid]
        assert max(map(max, gaps)) <= NEARLY_ONE_SLOPE[1]
    assert all(paired_difference(select(stored, "cgal", v), "gap").p > SIGNIFICANT for v in grid)
    for lam0 in (1.0, 10.0):
        hcgm, const, by_search = (
            select(stored, name, lam0) for name in ("hcgm", "cgal", "cgal-ls")
        )
        assert HALF_SLOPE[0] < np.median(slopes(hcgm, "gap")) < HALF_SLOPE[1]
        assert paired_difference(const, "objective").p < SIGNIFICANT
        assert np.median(slopes(by_search, "objective")) > np.median(slopes(const, "objective"))
    for run in select(stored, "cgal", 10.0):
        if run.pair.endswith(" 12") and run.kind in DEFICIENT:
            assert (run.slopes["gap"].value < -2.5) == run.strict


def test_the_page_says_what_was_run():
    text = PAGE.read_text(encoding="utf-8")
    assert f"{FULL.iterations:,} iterations" in text
