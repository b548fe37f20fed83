"""condal solve FILE.dat-s: told by its name, in the sense of the format, with verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from commands import PROGRAM, refused, run
from condal.cli.applications import programs
from condal.io.formats.answers import read_solution
from condal.problems.conic.interpretation import Interpretation
from known import DATA, needs_data

INFEASIBLE = "1\n1\n2\n-1\n0 1 1 1 1\n1 1 1 1 2\n1 1 1 2 1\n1 1 2 2 1\n"  # <positive, X> = -1
UNBOUNDED = "1\n1\n2\n0\n0 1 1 1 1\n1 1 1 1 1\n1 1 2 2 -1\n"  # maximise x_11 = x_22
# maximise 0, x_12 = 1
FREE = "1\n1\n2\n1\n1 1 1 2 0.5\n"


@pytest.fixture(autouse=True)
def _programs(folder):
    files = {"small": PROGRAM, "infeasible": INFEASIBLE, "unbounded": UNBOUNDED, "free": FREE}
    for name, contents in files.items():
        Path(f"{name}.dat-s").write_text(contents)


def shown(ended):
    return dict(re.findall(r"^  (\S+(?: \S+)*)  +(.+)$", ended.stdout, re.MULTILINE))


def test_a_file_is_told_by_its_name(monkeypatch):
    monkeypatch.delattr(Interpretation, "slack")  # which only --out writes
    ended = run("solve", "small.dat-s", "--tol", "1e-5")
    assert ended.exit_code == 0, ended.stderr
    rows = shown(ended)
    assert ended.stdout.startswith("\nsdp of small.dat-s\n")
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())
    assert float(rows["objective"].split(",")[0]) == pytest.approx(np.sqrt(2), abs=1e-4)
    assert float(rows["bound"].split(",")[0]) >= np.sqrt(2)
    assert rows["trace"] == "of a block is 3: constraints add up to the trace"
    assert rows["duals"].startswith("z, 2 numbers from 0.35")


@pytest.mark.parametrize(
    "arguments",
    [
        ("small.dat-s", "--quiet"),
        ("--quiet", "small.dat-s"),
        ("--tol", "1e-3", "small.dat-s", "--quiet"),
        ("--as", "sdp", "small.dat-s", "--quiet"),
        ("small.dat-s", "--as=sdp", "--trace-bound", "5", "--quiet"),
        ("--trace-bound", "5", "small.dat-s", "--quiet"),
    ],
)
def test_wherever_the_file_stands(arguments):
    ended = run("solve", *arguments)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "")


def test_the_name_of_another_file_tells_nothing():
    Path("graph.txt").write_text("2 1\n1 2\n")
    ended = run("solve", "graph.txt", "--out", "out.dat-s")
    assert ended.exit_code == 2
    assert "Missing option '--as'" in ended.stderr
    assert (
        run("solve", "graph.txt", "--as", "max-cut", "--out", "out.dat-s", "--quiet").exit_code == 0
    )


def test_a_solution_is_written_as_csdp_does():
    assert (
        run("solve", "small.dat-s", "--tol", "1e-6", "--out", "solution.txt", "--quiet").exit_code
        == 0
    )
    found = read_solution("solution.txt", (2, -1))
    np.testing.assert_allclose(found.z, [np.sqrt(0.5), np.sqrt(0.125)], atol=1e-3)
    np.testing.assert_allclose(found.X[0], [[1, np.sqrt(2)], [np.sqrt(2), 2]], atol=1e-4)
    np.testing.assert_allclose(found.X[1], [0.0], atol=1e-4)


def test_a_large_x_is_left_to_save(monkeypatch):
    monkeypatch.setattr(programs, "MAX_WRITTEN_ENTRIES", 1)
    ended = run("solve", "small.dat-s", "--out", "solution.txt")
    assert "--save keeps X" in shown(ended)["--out"]
    assert not any(line.startswith("2 ") for line in Path("solution.txt").read_text().splitlines())


def test_what_a_machine_reads():
    record = json.loads(run("solve", "small.dat-s", "--json", "-", "--quiet").stdout)
    assert record["status"] == "solved"
    assert record["trace_bound"] == pytest.approx(3.0, abs=1e-4)
    assert record["dual_objective"] == pytest.approx(np.sqrt(2), abs=1e-2)


def test_a_trace_bound_that_is_given():
    ended = run("solve", "small.dat-s", "--trace-bound", "4", "--tol", "1e-4")
    assert shown(ended)["trace"] == "of a block is at most 4: given by the user"
    text = " ".join(ended.stdout.split())
    assert "holds whatever the trace" in text or "within the given trace bound" in text
    # Of a larger trace there is more: what is said is said of that trace alone.
    free = run("solve", "free.dat-s", "--trace-bound", "10")
    assert "no feasible X of such a trace has a larger <F0, X>" in " ".join(free.stdout.split())
    assert "'--trace-bound': -1" in refused("solve", "small.dat-s", "--trace-bound", "-1")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("infeasible", "infeasible: no point of X satisfies the constraints, as is proved"),
        ("unbounded", "unbounded: the objective has no bound where the constraints hold, as"),
    ],
)
def test_a_program_without_an_optimum(name, said):
    ended = run("solve", f"{name}.dat-s", "--json", "result.json", "--out", "none.txt")
    assert ended.exit_code == 1
    assert shown(ended)["status"].startswith(said)
    assert not Path("none.txt").exists()
    record = json.loads(Path("result.json").read_text())
    assert record["status"] == name
    assert record["trace_bound"] is None
    assert name == "unbounded" or record["objective"] is record["bound"] is None


def test_an_infeasible_program_has_no_objective_gap_or_bound():
    Path("ones.dat-s").write_text("2\n1\n2\n1 1\n0 1 1 2 0.5\n1 1 1 1 1\n2 1 2 2 1\n")  # trace 2
    ended = run("solve", "ones.dat-s", "--trace-bound", "1.5", "--save", "run")
    assert ended.exit_code == 1
    again = run("show", "run")
    for rows in (shown(ended), shown(again)):
        assert rows["status"].startswith("infeasible: ")
        assert "proof" in rows
        assert not rows.keys() & {"objective", "gap", "infeasibility", "bound", "optimum"}


@pytest.mark.parametrize("entry", ["0.5", "0.125"])
def test_gap_and_price_are_relative_to_the_objective_though_it_is_small(entry):
    """As it is as large as the data let it be."""
    Path("scaled.dat-s").write_text(PROGRAM.replace("0 1 1 2 0.5", f"0 1 1 2 {entry}"))
    rows = shown(run("solve", "scaled.dat-s"))
    assert rows["gap"].endswith(", relative to the objective")
    assert re.search(r"worth \S+ of the objective \(its price\)$", rows["infeasibility"])


def test_a_program_of_any_trace_needs_no_bound():
    ended = run("solve", "free.dat-s", "--json", "result.json")
    assert ended.exit_code == 0, ended.stderr
    assert "the bound on the objective holds for any trace" in " ".join(ended.stdout.split())
    record = json.loads(Path("result.json").read_text())
    assert record["bound"] == pytest.approx(0.0, abs=1e-9)
    assert record["bound"] >= 0.0
    assert record["trace_bound"] is None
    assert run("solve", "free.dat-s", "--save", "run", "--quiet").exit_code == 0
    checked = run("certify", "free.dat-s", "run")
    assert checked.exit_code == 0, checked.output
    assert run("solve", "free.dat-s", "--trace-bound", "3", "--quiet").exit_code == 0


def test_a_file_of_sedumi():
    from scipy.io import savemat

    # minimise x_3 + u with u free, u >= -1 by a slack, and |(x_4, x_5)| <= x_3, x_4 = 3, x_5 = 4: 4
    A = np.array([[1.0, -1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])
    program = {"A": A, "b": [[-1.0], [3.0], [4.0]], "c": [[1.0, 0, 1, 0, 0]]}
    savemat("small.mat", {**program, "K": {"f": 1.0, "l": 1.0, "q": 3.0}})
    ended = run(
        "solve", "small.mat", "--tol", "1e-6", "--json", "result.json", "--out", "solution.txt"
    )
    assert ended.exit_code == 0, ended.stderr
    assert "no feasible X has a smaller <c, x>" in " ".join(ended.stdout.split())
    record = json.loads(Path("result.json").read_text())
    assert record["objective"] == pytest.approx(4.0, abs=1e-5)
    assert 4.0 - 1e-5 <= record["bound"] <= 4.0
    checked = run("certify", "small.mat", "solution.txt", "--tol", "1e-5")
    assert checked.exit_code == 0, checked.output


def test_a_broken_file_is_refused_by_its_line():
    Path("broken.dat-s").write_text(PROGRAM + "1 1 1 9 1\n")
    assert "line 9" in refused("solve", "broken.dat-s")


@needs_data
def test_max_cut_of_sdplib():
    record = run(
        "solve", DATA / "sdplib" / "maxG11.dat-s.xz", "--tol", "1e-4", "--json", "-", "--quiet"
    )
    found = json.loads(record.stdout)
    assert found["status"] == "solved"
    assert found["objective"] == pytest.approx(629.1648, rel=1e-4)
    assert found["bound"] >= 629.16478
    assert found["method"] == "lowrank"
