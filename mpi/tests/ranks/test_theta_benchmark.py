"""The benchmark of theta on ranks runs, small, and its answers agree."""

from __future__ import annotations

import pytest
import ranks

from condal_lab.benchmarks import theta_ranks
from condal_lab.benchmarks.record import random_graph
from condal_mpi import write_shards

pytestmark = ranks.needed


def test_one_process_and_ranks_prove_the_same(tmp_path):
    file = tmp_path / "graph.shards"
    write_shards(file, random_graph(600, 4.0))
    alone, *on_ranks = (theta_ranks.run(file, count) for count in (0, 1, 2))
    assert {row["status"] for row in (alone, *on_ranks)} == {"SOLVED"}
    assert {row["method"] for row in on_ranks} == {"spheres"}
    one, two = on_ranks
    assert two["objective"] == pytest.approx(one["objective"], rel=1e-6)
    assert one["objective"] == pytest.approx(alone["objective"], rel=2e-2)
    assert all(row["bound"] >= alone["objective"] for row in on_ranks)
    assert all(row["peak_mb"] < row["estimate_mb"] for row in on_ranks)
    text = theta_ranks.page([alone, one, two])
    assert "| 600 | " in text
    assert "| no MPI |" in text
