"""`python -m condal_lab.benchmarks huge`: tiny runs in separate processes, and their cost."""

from __future__ import annotations

import sys

from condal_lab.benchmarks import huge, sketchy
from condal_lab.benchmarks.record import random_graph


def test_a_run_alone_is_certified_and_within_its_estimate():
    row = huge._alone(huge.CGAL, 20_000, 60.0)
    assert (row["status"], row["R"]) == ("SOLVED", 10)
    assert row["gap"] <= huge.EPS
    assert 0 < row["peak_mb"] <= row["estimate_mb"]
    assert f"| 20,000 | {huge.CGAL} | solved |" in huge.table([row])


def test_the_published_algorithm_comes_to_its_own_rule():
    row = sketchy.solve(random_graph(400, 20.0), 10, 0.1, 60.0)
    assert row["stopped"]
    assert row["infeasibility"] <= 0.1
    assert row["surrogate_gap"] <= 0.1


def test_the_quick_mode_records_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(huge, "RESULTS", tmp_path)
    monkeypatch.setattr(huge, "_alone", huge.work)
    monkeypatch.setattr(huge, "QUICK", {300: {huge.CHOSEN: 20.0, huge.PUBLISHED: 0.1}})
    monkeypatch.setattr(sys, "argv", ["benchmarks", "huge", "--quick"])
    huge.main()
    assert not list(tmp_path.iterdir())
    assert f"| 300 | {huge.PUBLISHED} |" in capsys.readouterr().out
