"""What a solve shows: nothing by default, its progress if verbose, and records for `logging`."""

import logging

import networkx as nx
import numpy as np

import condal
from condal.problems import max_cut
from condal.report.progress import HEADER, last_line

GRAPH = nx.gnp_random_graph(30, 0.3, seed=0)


def test_nothing_is_shown_by_default(capfd):
    condal.solve(max_cut(GRAPH))
    assert capfd.readouterr() == ("", "")


def test_a_verbose_solve_shows_its_rows_and_what_is_proved(capsys):
    result = condal.solve(max_cut(GRAPH), verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == HEADER
    assert lines[-1] == last_line(result)


def test_a_verbose_solve_still_asks_the_callback(capsys):
    rows = []
    result = condal.solve(
        max_cut(GRAPH), tol=1e-9, verbose=True, callback=lambda row: rows.append(row) or row.k >= 3
    )
    assert result.status is condal.Status.INTERRUPTED
    assert [row.k for row in rows] == [1, 2, 3]
    assert HEADER in capsys.readouterr().err


def test_a_resumed_solve_can_be_verbose(tmp_path, capsys):
    model = max_cut(GRAPH)
    condal.solve(model, condal.CGAL(), max_iters=5, checkpoint=tmp_path / "point")
    condal.resume(tmp_path / "point", model, max_iters=5, verbose=True)
    assert HEADER in capsys.readouterr().err


def test_the_logger_has_the_methods_and_the_result(caplog):
    with caplog.at_level(logging.INFO, logger="condal"):
        result = condal.solve(max_cut(GRAPH), tol=1e-2)
    begun, method, ended = [record.getMessage() for record in caplog.records]
    assert begun == "solve max-cut to tol = 0.01"
    assert method == f"method {result.why}"
    assert ended.startswith(f"solved: objective {result.objective:.10g}, bound {result.bound:.10g}")


def test_the_logger_has_each_row_at_the_level_debug(caplog):
    with caplog.at_level(logging.DEBUG, logger="condal"):
        result = condal.solve(max_cut(GRAPH), condal.CGAL(), tol=1e-9, max_iters=7)
    rows = [record.getMessage() for record in caplog.records if record.levelname == "DEBUG"]
    assert [row.partition(":")[0] for row in rows] == [f"k = {row.k}" for row in result.history]


def test_a_generator_draws_the_seed():
    model, rng = max_cut(GRAPH), np.random.default_rng(3)
    drawn = int(np.random.default_rng(3).integers(2**63))
    options = {"method": condal.CGAL(), "tol": 1e-9, "max_iters": 9}
    by_generator = condal.solve(model, **options, seed=rng)
    by_number = condal.solve(model, **options, seed=drawn)
    assert np.array_equal(by_generator.y, by_number.y)
    assert rng.integers(2**63) != drawn  # the generator moves on
    rounded = [
        model.round(by_number, seed=seed).signs for seed in (np.random.default_rng(3), drawn)
    ]
    assert np.array_equal(*rounded)


def test_the_summary_has_80_columns_and_says_what_is_proved_and_why():
    result = condal.solve(max_cut(GRAPH))
    lines = result.summary().splitlines()
    assert lines[0] == "Result of max-cut"
    assert max(map(len, lines)) <= 80
    words = " ".join(result.summary().split())
    for name, value in result.rows():
        assert f"{name} {value}" in words
    assert f"why {result.why}" in words
    assert repr(result) == result.summary()
