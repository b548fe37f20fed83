"""--max-seconds is one budget from the file to the answer, in processor time of the process."""

import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from commands import run
from condal.io.formats import write_rudy
from condal.runtime.limits import bytes_of
from condal_lab.sweeps.workers import Workers
from known import random_graph

STEP = 2.0  # seconds, at most, of one iteration, product or eigenvalue decomposition

# The processor's clock takes the place of the wall's: other processes do not matter. Imports of
# the command itself come before the limit begins.
IN_PROCESSOR_TIME = """
import sys, time
time.perf_counter = time.process_time
import condal.cli.solve, condal_lab.commands.sweep, condal.cli.resume
from condal.cli import main
began = time.process_time()
try:
    main()
finally:
    print(time.process_time() - began, file=sys.stderr)
"""


def timed(*words):
    """Run a command in its own process; return its processor seconds and its output."""
    ended = subprocess.run(
        [sys.executable, "-c", IN_PROCESSOR_TIME, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stderr  # solved, or stopped
    return float(ended.stderr.splitlines()[-1]), ended


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


def graph(n, degree):
    write_rudy("graph.txt", random_graph(n, degree))
    return "graph.txt"


def table(n):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.standard_normal((n // 3, 5)) + 3 * c for c in range(3)])
    np.savetxt("points.csv", rows, delimiter=",")
    return "points.csv"


def sdpa(n):
    """Write a program with a dense random row for each side, whose trace no sum of rows bounds."""
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((n + 1, n, n))
    matrices += matrices.transpose(0, 2, 1)
    matrices[1] += 3 * n * np.eye(n)
    values = matrices[1:].trace(axis1=1, axis2=2)  # x = I is feasible
    i, j = np.triu_indices(n)
    with Path("program.dat-s").open("w") as file:
        file.write(f"{n}\n1\n{n}\n{' '.join(map(repr, values.tolist()))}\n")
        for k, matrix in enumerate(matrices):
            places = zip(i + 1, j + 1, matrix[i, j].tolist(), strict=True)
            file.writelines(f"{k} 1 {r} {c} {value!r}\n" for r, c, value in places)
    return "program.dat-s"


COMMANDS = {
    "max-cut": lambda: (graph(50_000, 8), "--as", "max-cut"),
    "theta": lambda: (graph(100_000, 6), "--as", "theta"),
    "k-means": lambda: (table(900), "--as", "k-means", "--clusters", "3"),
    "sdp": lambda: (sdpa(60),),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_keeps_its_time_limit_from_the_file_to_the_answer(name):
    words = COMMANDS[name]()
    options = ("--max-seconds", 2, "--tol", 1e-9, "--json", "result.json", "--out", "answer.txt")
    spent, ended = timed("solve", *words, *options)
    assert spent <= 1.1 * 2 + 1.0 + STEP
    result = json.loads(Path("result.json").read_text())
    assert result["status"] in ("max_seconds", "solved", "stalled", "inaccurate")
    assert Path("answer.txt").stat().st_size > 0
    # What is shown covers reading, solve and rounding; starting the process and writing do not.
    assert result["seconds"] >= (0.5 if result["status"] == "max_seconds" else 0.0)
    assert f"time           {result['seconds']:.2f} s" in ended.stdout


def test_each_point_of_a_sweep_keeps_the_time_limit(monkeypatch):
    here = Workers.of(0)  # the points are solved in this process, by its clock
    monkeypatch.setattr("condal_lab.commands.sweep.Workers.of", lambda _: here)
    monkeypatch.setattr(time, "perf_counter", time.process_time)
    words = (graph(20_000, 6), "--as", "theta", "--tol", 1e-9, "--vary", "seed=0,1")
    ended = run("sweep", *words, "--max-seconds", 2, "--out", "points")
    assert ended.exit_code == 1, ended.output
    with Path("points/table.csv").open(newline="") as file:
        seconds = [float(row["seconds"]) for row in csv.DictReader(file)]
    assert len(seconds) == 2
    assert max(seconds) <= 1.1 * 2 + 1.0 + STEP


def test_the_rounding_is_in_the_time_that_is_shown():
    """A solve of one iteration is followed by a rounding of one trial, and of many."""
    words = (graph(3_000, 6), "--as", "theta", "--max-iters", 1, "--json", "result.json")
    spent, shown = [], []
    for trials in (1, 80):
        spent.append(timed("solve", *words, "--trials", trials)[0])
        shown.append(json.loads(Path("result.json").read_text())["seconds"])
    assert spent[1] - spent[0] > 0.3
    assert shown[1] - shown[0] > 0.5 * (spent[1] - spent[0])


def test_a_resumed_solve_keeps_its_own_limit():
    words = (graph(20_000, 8), "--as", "max-cut", "--tol", 1e-9, "--trials", 1)
    timed("solve", *words, "--max-seconds", 1, "--checkpoint", "run.checkpoint", "--quiet")
    spent, _ = timed("resume", "run.checkpoint", "graph.txt", "--max-seconds", 2, "--quiet")
    assert spent <= 1.1 * 2 + 1.0 + STEP


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
