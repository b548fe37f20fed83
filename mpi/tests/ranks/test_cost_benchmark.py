"""The benchmark of the cost model runs, small, and compares each part."""

from __future__ import annotations

import ranks

from condal_lab.benchmarks import cost_model as benchmark

pytestmark = ranks.needed


def test_each_part_is_measured_and_predicted(tmp_path):
    rows = [
        benchmark.run(kind, 8000, method, 2, tmp_path)
        for kind, method in (("torus", "lowrank"), ("random", "cgal"))
    ]
    for row in rows:
        assert set(row["measured"]) == set(row["predicted"])
        assert all(value > 0 for value in row["predicted"].values())
    assert {"sweeps", "evaluations", "steps"} <= set(rows[0]["measured"])
    text = benchmark.page(rows)
    assert "| lowrank | torus | 8,000 | 2 | " in text
    assert "of 2 runs" in text
