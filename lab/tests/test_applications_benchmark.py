"""`python -m condal_lab.benchmarks applications`: tiny instances, and runs that end badly."""

from __future__ import annotations

import sys

import pytest

from condal_lab.benchmarks import applications, timed
from condal_lab.benchmarks.instances import INSTANCES


def rows(case):
    return applications.measured(case, INSTANCES[case](), quick=True)


@pytest.mark.parametrize("case", [name for name in INSTANCES if name.startswith("quick-")])
def test_condal_and_its_rivals_come_to_the_same(case):
    rivals = list(INSTANCES[case]().rivals)
    if "HiGHS" in rivals:
        pytest.importorskip("highspy")  # an old CVXPY does not bring it
    measured = rows(case)
    assert [row["solver"] for row in measured] == ["condal", *rivals]
    assert all(row["outcome"] == "solved" for row in measured)
    assert measured[0]["said"] == "SOLVED"
    if measured[0]["what"] == "objective":
        assert all(row["error"] <= 1e-3 for row in measured)
    if measured[0]["what"] == "signal":
        assert all(row["error"] <= 1e-2 for row in measured)


def test_the_quick_mode_records_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(applications, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["applications", "--quick", "--only=quick-theta"])
    applications.main()
    assert not list(tmp_path.iterdir())
    assert "theta, n = 15, 30 edges  condal" in capsys.readouterr().out


def test_unknown_instances_are_refused(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["applications", "--only=thetas"])
    with pytest.raises(
        SystemExit, match="no application 'thetas'; the applications are phase-64, "
    ):
        applications.main()


def test_a_run_has_a_process_of_its_own():
    measured = timed.run("quick-theta", "condal", 1e-2, 30.0)
    assert measured["outcome"] == "solved"
    assert measured["mb"] > 10


def test_what_gives_no_answer_is_a_row():
    """Too little time, and a program that does not fit."""
    late = timed.run("phase-10000", "condal", 1e-6, 0.01)
    assert late["outcome"] == "time"
    large = timed.run("phase-10000", "SCS", 1e-3, 30.0)
    assert large["outcome"] == "refused"
    assert "GB" in large["said"]
    facts = {"case": "a", "application": "a", "limit": 1.0, "eps": 1e-3}
    table = [
        {**facts, "solver": "condal", "outcome": "solved", "cpu": 0.5, "wall": 1.0, "mb": 9.0}
        | {"value": 1.0, "error": 2e-4, "said": "SOLVED"},
        {**facts, "solver": "SCS", **late},
        {**facts, "solver": "Clarabel", **large},
    ]
    text = applications.page(table)
    assert "| a | condal | 0.500 | 1 | 9 |  | 1 | 2.0e-4 |" in text
    assert "|  | SCS | > 1 |  |  | <0.5 |  |  |" in text
    assert "|  | Clarabel | refused |" in text
    assert "* a, Clarabel: refused, its matrix alone is" in text
