"""--max-seconds is one budget from the file to the answer, in processor time of the process."""

import csv
import json
import re
import time
from pathlib import Path

import pytest

from commands import run
from condal.io.formats import write_rudy
from condal.runtime.limits import bytes_of
from condal_lab.sweeps.workers import Workers
from known import random_graph
from soak import limits

# Several seconds each: one of every kind of call, of which `make soak SUITES=limits` makes all.
QUICK = ("theta, n = 2e4", "QAPLIB, n = 3,000", "CVXPY, shorter", "pose graph")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def graph(n, degree):
    write_rudy("graph.txt", random_graph(n, degree))
    return "graph.txt"


@pytest.mark.parametrize("name", QUICK)
def test_a_call_keeps_its_limit_and_obeys_signals(name):
    """The second and the third trial have no limit, and end by SIGINT and by SIGTERM."""
    faults = [fault for row in limits.trials(name, [None, 1.5, 0.5]) for fault in row.faults]
    assert not faults


@pytest.mark.usefixtures("processor_clock")
def test_the_time_of_a_command_is_that_from_the_file_to_the_answer():
    words = ("solve", graph(20_000, 6), "--as", "theta", "--tol", 1e-9, "--trials", 10_000)
    began = time.process_time()
    ended = run(*words, "--max-seconds", 2, "--json", "result.json", "--out", "answer.txt")
    spent, result = time.process_time() - began, json.loads(Path("result.json").read_text())
    assert (ended.exit_code, result["status"]) == (1, "max_seconds")
    assert Path("answer.txt").stat().st_size > 0
    # What is shown covers reading, solve and rounding; writing does not count.
    assert spent - 0.5 <= result["seconds"] <= spent <= 1.1 * 2 + 1.0
    assert f"time           {result['seconds']:.2f} s" in ended.stdout


@pytest.mark.usefixtures("processor_clock")
def test_each_point_of_a_sweep_keeps_the_time_limit(monkeypatch):
    here = Workers.of(0)  # the points are solved in this process, by its clock
    monkeypatch.setattr("condal_lab.commands.sweep.Workers.of", lambda _: here)
    words = (graph(20_000, 6), "--as", "theta", "--tol", 1e-9, "--vary", "seed=0,1")
    ended = run("sweep", *words, "--max-seconds", 2, "--out", "points")
    assert ended.exit_code == 1, ended.output
    with Path("points/table.csv").open(newline="") as file:
        seconds = [float(row["seconds"]) for row in csv.DictReader(file)]
    assert len(seconds) == 2
    assert max(seconds) <= 1.1 * 2 + 1.0


def test_k_means_of_60000_points_takes_no_matrix_of_them(monkeypatch):
    monkeypatch.setattr("condal.runtime.limits.available", lambda: 2 * 10**9)
    Path("points.csv").write_text("0,1\n5,5\n" * 30_000)
    ended = run("solve", "points.csv", "--as", "k-means", "--clusters", "2")
    assert ended.exit_code == 0
    assert "solved" in ended.stdout


@pytest.mark.parametrize("limit", ["110MB", "150MB", "250MB", "1GB"])
def test_max_memory_is_compared_with_what_is_announced(limit, monkeypatch):
    monkeypatch.setattr("condal.cli.settings.MIN_BYTES_TO_MENTION", 0)
    words = ("solve", graph(1_500, 6), "--as", "max-cut", "--max-iters", "1", "--max-memory", limit)
    ended = run(*words)
    announced = re.search(r"memory: at most ([0-9.]+ [kMG]B) in total", ended.stderr)
    if ended.exit_code == 2:
        assert announced is None
        assert "of memory with" in ended.stderr
    else:
        assert bytes_of(announced[1]) <= 1.05 * bytes_of(limit)  # it is shown in two digits
