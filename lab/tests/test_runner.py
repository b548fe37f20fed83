"""Benchmarks of single claims: their cases run in processes of their own, and rows are kept."""

import json
import os
import time
from importlib import import_module

import numpy as np
import pytest

from condal.errors import CondalError
from condal_lab.bench.process import run_alone
from condal_lab.benchmarks import large, penalty, threads
from condal_lab.benchmarks.__main__ import NAMES
from condal_lab.benchmarks.runner import RESULTS, Benchmark, Case


def numbers(n):
    return [{"n": n, "root": np.sqrt(n), "nan": np.nan}]


def facts():
    return {"process": os.getpid(), "threads": os.environ["OPENBLAS_NUM_THREADS"]}


def broken():
    raise ValueError("no luck")


def hungry():
    return float(np.ones(10**9).sum())


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)  # noqa: PTH120


def test_work_has_a_process_of_its_own_with_one_thread():
    found = run_alone(facts, wall=60.0).reply
    assert found["process"] != os.getpid()
    assert found["threads"] == "1"


def test_work_that_does_not_end_well_says_how():
    assert run_alone(time.sleep, 60, wall=1.0).outcome == "time"
    failed = run_alone(broken, wall=60.0)
    assert (failed.outcome, "ValueError: no luck" in failed.reason) == ("failed", True)
    starved = run_alone(hungry, wall=60.0, memory=2 << 30)
    assert "MemoryError" in starved.reason


def test_rows_of_other_cases_are_kept(tmp_path):
    cases = tuple(Case(f"n={n}", numbers, (n,)) for n in (4, 9))
    benchmark = Benchmark("roots", cases, page=lambda rows: f"{len(rows)} rows")
    benchmark.run(["n=9"], results=tmp_path)
    benchmark.run(["n=4"], results=tmp_path)
    stored = json.loads((tmp_path / "roots.json").read_text())
    assert [(row["case"], row["root"], row["nan"]) for row in stored["rows"]] == [
        ("n=4", 2.0, None),
        ("n=9", 3.0, None),
    ]
    assert {"cpu", "cores"} <= set(stored["machine"])
    assert {"condal", "numpy"} <= set(stored["versions"])
    assert (tmp_path / "roots.md").read_text() == "2 rows"
    with pytest.raises(SystemExit, match="roots has no case m; its cases are n=4, n=9"):
        benchmark.run(["m"], results=tmp_path)


def test_a_case_that_fails_stops_the_benchmark(tmp_path):
    with pytest.raises(CondalError, match=r"roots one: .*no luck"):
        Benchmark("roots", (Case("one", broken),)).run(results=tmp_path)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ranks"])
def test_rows_are_stored_and_their_page_is_that_of_them(name):
    if name == "cvxpy_maxcut":
        pytest.importorskip("cvxpy")
    benchmark = import_module(f"condal_lab.benchmarks.{name}").BENCHMARK
    assert benchmark.stored()
    if benchmark.page is not None:
        assert (RESULTS / f"{name}.md").read_text() == benchmark.page(benchmark.stored())


@pytest.mark.parametrize("kind", large.PROBLEMS)
def test_large_problems_are_certified_and_within_their_estimate(kind):
    (row,) = large.measure(kind, 1600, 4.0, 1e-1, 60.0)
    assert row["status"] == "solved"
    assert max(row["gap"], row["infeasibility"]) <= 1e-1
    assert row["peak_mb"] > 0


def test_two_threads_have_the_bits_of_one():
    one, two = (threads.measure("maxcut", 400, 4.0, 1e-3, count)[0] for count in (1, 2))
    assert (one["objective"], one["dual_sum"]) == (two["objective"], two["dual_sum"])
    assert "| maxcut-400, tol 0.001 | 2 |" in threads.page([one, two])


@pytest.mark.parametrize("name", penalty.FAMILIES)
def test_the_default_penalty_needs_no_tuning(name, monkeypatch):
    monkeypatch.setattr(penalty, "GRID", (0.1, 1.0))
    monkeypatch.setattr(penalty, "SIDES", (40,))
    (row,) = penalty.family(name)
    assert 0 < row["default"] < penalty.MAX_ITERS
    assert row["ratio"] is None or row["ratio"] <= 1.5
