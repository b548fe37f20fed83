"""The benchmark of orders runs, small, and counts what is between ranks."""

from __future__ import annotations

import numpy as np
import ranks
import scipy.sparse as sp

from condal_lab.benchmarks import partition as benchmark
from condal_mpi import write_shards

pytestmark = ranks.needed


def test_edges_and_bytes_between_ranks_are_counted(tmp_path):
    path = np.diag(np.ones(9), 1)
    write_shards(tmp_path / "path", sp.csr_array(path + path.T))
    counted = benchmark.between(tmp_path / "path", 3)
    assert counted == {"cut_3": 2, "share_3": 2 / 9, "bytes_3": 8 * 4 / 3}


def test_each_order_is_solved(tmp_path):
    write_shards(tmp_path / "torus", benchmark.shuffled_torus(20))
    rows = [benchmark.run("torus", order, tmp_path) for order in ("file", "partition")]
    assert all(row["status"] == "SOLVED" for row in rows)
    assert rows[1]["bytes_2"] < 0.5 * rows[0]["bytes_2"]
    assert "| torus | 400 | partition | " in benchmark.page(rows)
