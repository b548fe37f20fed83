"""The benchmark of ranks runs, small, and its answers agree."""

import numpy as np
import pytest
import ranks
import scipy.sparse as sp

from condal_lab.benchmarks import ranks as benchmark
from condal_mpi import write_shards

pytestmark = ranks.needed

N = 1000


@pytest.fixture(scope="module")
def rows():
    solves = [(kind, count) for kind in (benchmark.CUT, benchmark.THETA) for count in (0, 1, 2)]
    solves += [(benchmark.APART, 2), (benchmark.CGAL, 0), (benchmark.CGAL, 2)]
    each = [row for kind, count in solves for row in benchmark.measure(kind, N, count)]
    return [{**row, "load": 1.0} for row in each]


@pytest.mark.parametrize(("kind", "rel"), [(benchmark.CUT, 1e-3), (benchmark.THETA, 2e-2)])
def test_ranks_and_one_process_prove_the_same(rows, kind, rel):
    plain, one, two = (row for row in rows if row["problem"] == kind)
    assert {row["status"] for row in (plain, one, two)} == {"solved"}
    assert one["objective"] == pytest.approx(plain["objective"], rel=rel)
    assert two["objective"] == pytest.approx(one["objective"], rel=1e-6)
    assert two["peak_mb"] < two["estimate_mb"]


def test_ranks_that_solve_apart_find_what_one_finds(rows):
    apart = next(row for row in rows if row["problem"] == benchmark.APART)
    one = next(row for row in rows if (row["problem"], row["ranks"]) == (benchmark.CUT, 1))
    assert apart["objective"] == one["objective"]
    assert apart["products"] == one["products"]


def test_edges_and_bytes_between_ranks_are_counted(tmp_path):
    path = np.diag(np.ones(9), 1)
    write_shards(tmp_path / "path", sp.csr_array(path + path.T))
    assert benchmark.between(tmp_path / "path", 3) == {"share_3": 2 / 9, "bytes_3": 8 * 4 / 3}


def test_the_page_has_a_line_for_each(rows):
    orders = [
        {**row, "load": 1.0}
        for order in ("file", "partition")
        for row in benchmark.ordered("torus", 20, order)
    ]
    assert all(row["status"] == "solved" for row in orders)
    assert orders[1]["bytes_2"] < 0.5 * orders[0]["bytes_2"]
    text = benchmark.page([*rows, *orders])
    assert "| max-cut | 1,000 | 2 |" in text
    assert "| theta | 1,000 | no MPI |" in text
    assert "| torus | 400 | partition | " in text
