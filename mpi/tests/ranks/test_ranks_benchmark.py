"""The benchmark of ranks runs, small, and tells what it found."""

from __future__ import annotations

import pytest
import ranks

from condal_lab.benchmarks import ranks as benchmark
from condal_lab.benchmarks.ranks_page import outside, page

pytestmark = ranks.needed

LOW_RANK = ((1500, 0), (1500, 1), (3000, 1), (3000, 2))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    each = 1500
    cases = [
        *(benchmark.Case("torus", count * each, count, "short", 3) for count in (1, 2)),
        *(benchmark.Case("random", each, count, "answer", 3) for count in (1, 2)),
        benchmark.Case("random", each, 0, "plain", 3),
        *(benchmark.Case("random", n, count, "lowrank", 0) for n, count in LOW_RANK),
        benchmark.Case("random", each, 2, benchmark.PAIR, 0),
    ]
    return [benchmark.run(case, folder) for case in cases]


def test_a_short_run_has_one_krylov_space_an_iteration(rows):
    for row in rows[:2]:
        assert row["products"] == 25
        assert row["shell_calls"] == 24
        assert 0 < outside(row) < 1


def test_the_parts_of_an_iteration_are_within_it(rows):
    row = rows[1]
    assert row["shell_seconds"] < row["slepc_seconds"] < row["seconds"]
    assert row["size"]["ranks"] == 2


def test_the_answers_of_ranks_agree(rows):
    one, two = rows[2:4]
    assert two["objective"] == pytest.approx(one["objective"], rel=1e-9)
    # Once a Ritz value has converged, the further steps of a Lanczos proof depend on rounding.
    assert two["bound"] == pytest.approx(one["bound"], rel=1e-6)


def test_low_rank_runs_are_solved_alike(rows):
    plain, single, one, two = (row for row in rows if row["how"] == "lowrank")
    assert {row["status"] for row in (plain, single, one, two)} == {"SOLVED"}
    assert {row["method"] for row in (plain, single, one, two)} == {"lowrank"}
    assert single["objective"] == pytest.approx(plain["objective"], rel=1e-3)
    assert two["objective"] == pytest.approx(one["objective"], rel=1e-9)
    assert two["peak_mb"] < two["estimate_mb"]


def test_ranks_that_solve_apart_find_what_one_finds(rows):
    pair = next(row for row in rows if row["how"] == benchmark.PAIR)
    one = next(row for row in rows if (row["how"], row["n"], row["ranks"]) == ("lowrank", 1500, 1))
    assert pair["objective"] == one["objective"]
    assert pair["products"] == one["products"]


def test_the_page_has_a_line_for_each(rows):
    text = page(rows)
    assert "| torus | 3,000 | 2 | 25.0 |" in text
    assert "| 1,500 | no MPI |" in text
    assert "Weak scaling, torus graph, 1,500 rows per rank" in text
    assert "random graph of 3,000 vertices: 2 ranks take" in text
    assert "random graph of 1,500 vertices: 1 rank takes" in text
    assert "Weak scaling of the low-rank method, 1,500 rows per rank: 2 ranks take" in text
    assert "is the growth of a solve on 1 rank from 1,500 to" in text
    assert "* Two solves of 1,500 vertices at once, one per core and without messages," in text
