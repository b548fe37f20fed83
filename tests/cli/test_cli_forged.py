"""condal certify of forged folders: no assumption is hidden, and no word of a folder is ours."""

import random
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from commands import NEEDED, refused, run
from condal.io.checkpoint.codec import pack
from condal.io.checkpoint.file import put, read
from condal.io.results import load
from condal.result import Status
from forging import VALUES, WORDS, reseal, rewrite, spoil, spoiled

FEASIBLE = "2\n1\n2\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 2 2 1\n"  # X_11 = X_22 = 1: the trace is 2


def text_of(ended):
    return " ".join(ended.stdout.split())


def test_a_trace_bound_that_only_the_folder_states_proves_nothing():
    Path("program.txt").write_text(FEASIBLE)
    arguments = ("--as", "sdp", "--trace-bound", "0.5", "--save", "run", "--quiet")
    assert run("solve", "program.txt", *arguments).exit_code == 1
    assert load("run").result.status.name == "INFEASIBLE"
    ended = run("certify", "program.txt", "run")
    assert ended.exit_code == 1, ended.output
    text = text_of(ended)
    assert "with --trace-bound 0.5" in text
    assert "the result states this bound and nothing proves it: give --assume-trace T" in text
    ended = run("certify", "program.txt", "run", "--assume-trace", "0.5")
    assert ended.exit_code == 0, ended.output
    assert "Proved, for points within the given trace bound 0.5: every claim" in text_of(ended)
    assert run("certify", "program.txt", "run", "--assume-trace", "2").exit_code == 1
    run("solve", "max-cut.txt", "--as", "max-cut", "--save", "cut", "--quiet")
    error = refused("certify", "max-cut.txt", "cut", "--assume-trace", "2")
    assert "--assume-trace is for SDPA programs; the trace of max-cut is known" in error


def test_a_trace_bound_that_only_a_checkpoint_states_proves_nothing():
    Path("program.txt").write_text(FEASIBLE)
    arguments = ("--as", "sdp", "--method", "cgal", "--checkpoint", "run", "--quiet")
    run("solve", "program.txt", *arguments, "--trace-bound", "0.5")
    text = "assumes that no block of a solution has a trace above 0.5, which nothing proves: give"
    assert text in refused("resume", "run", "program.txt")
    ended = run("resume", "run", "program.txt", "--assume-trace", "0.5")
    assert "proved for points within the given trace bound only" in text_of(ended)
    Path("run").unlink()
    run("solve", "program.txt", *arguments, "--trace-bound", "2", "--max-iters", "2")
    assert run("resume", "run", "program.txt").exit_code == 0  # the rows prove it


@pytest.mark.parametrize("name", ["k-means", "sdp"])
def test_whatever_the_command_line_left_in_a_checkpoint_it_is_refused_or_harmless(name):
    arguments = ("--as", name, *NEEDED.get(name, ()), "--checkpoint", "run", "--quiet")
    run("solve", f"{name}.txt", *arguments, "--method", "cgal", "--tol", "1e-12", "--max-iters", 9)
    contents, rng = read("run"), random.Random(name)
    for key in (None, "seed", "clusters", "trace_bound", "limit", "say") * 4:
        about = deepcopy(contents.about)
        how = about["options"]["solve"]
        if key is None:
            spoil(rng, about["options"])
        else:
            how["settings"][key] = rng.choice(VALUES)
        put("run", about, *pack(contents.value))
        Path("run.previous").unlink(missing_ok=True)
        ended = run("resume", "run", f"{name}.txt", "--max-iters", "1", "--tol", "1e-12")
        assert ended.exit_code in (0, 1, 2), ended.output
        assert "truth" not in ended.stdout
        assert "\x1b" not in ended.output


def test_a_resumed_solve_says_that_its_tolerance_is_that_of_the_file():
    run("solve", "max-cut.txt", "--as", "max-cut", "--tol", "0.5", "--checkpoint", "run", "--quiet")
    said = "tol is 0.5, as the checkpoint says; --tol sets another"
    assert said in run("resume", "run", "max-cut.txt").stderr
    assert "checkpoint says" not in run("resume", "run", "max-cut.txt", "--tol", "0.1").stderr


@pytest.mark.parametrize("tol", ["0.1", "0.01", "0.001"])
def test_an_honest_folder_within_an_assumed_trace_is_proved(tol):
    Path("program.txt").write_text("1\n1\n2\n1\n0 1 1 2 0.5\n0 1 2 2 -1\n1 1 1 1 1\n")
    arguments = ("--as", "sdp", "--trace-bound", "3", "--method", "cgal", "--tol", tol)
    run("solve", "program.txt", *arguments, "--save", "run", "--quiet")
    assert run("certify", "program.txt", "run", "--assume-trace", "3").exit_code == 0


def test_no_text_of_a_folder_is_repeated_as_ours():
    run("solve", "max-cut.txt", "--as", "max-cut", "--save", "run", "--quiet")

    def change(record):
        record.update(problem=WORDS, reason=WORDS, why=WORDS, method=WORDS)
        record["certificate"]["how"] = f"Cholesky, {WORDS}"
        record["file"]["name"] = WORDS
        record["settings"].update(note=WORDS, tol=WORDS)
        record["versions"]["condal"] = WORDS

    rewrite("run", change)
    ended = run("certify", "max-cut.txt", "run")
    assert ended.exit_code == 0, ended.output
    assert "truth" not in ended.output
    assert ended.stdout.startswith("\nmax-cut of max-cut.txt\n")
    shown = run("show", "run").stdout
    assert "truth\\x1b[31m" in shown
    assert "verified   no: this is what the folder says" in shown
    assert ended.stdout.endswith("\nProved, without assumptions: every claim is true.\n")


def test_the_options_that_define_the_problem_are_in_the_heading():
    arguments = ("--as", "k-means", "--clusters", "2", "--save", "run", "--quiet")
    assert run("solve", "k-means.txt", *arguments).exit_code == 0
    ended = run("certify", "k-means.txt", "run")
    assert ended.stdout.startswith("\nk-means of k-means.txt with --clusters 2\n"), ended.stdout


def test_scales_that_solve_refuses_are_refused_from_files():
    huge = FEASIBLE.replace(" 2 1\n1 1", " 2 5e147\n1 1")
    Path("program.txt").write_text(FEASIBLE)
    run("solve", "program.txt", "--as", "sdp", "--save", "run", "--quiet")
    Path("program.txt").write_text(huge)
    rewrite("run", lambda record: record.update(file=None))
    solved = run("solve", "program.txt", "--as", "sdp")
    certified = run("certify", "program.txt", "run")
    assert solved.exit_code == certified.exit_code == 2
    assert "beyond what double precision holds" in solved.stderr
    assert "beyond what double precision holds" in certified.stderr


@pytest.mark.parametrize("name", ["max-cut", "theta", "k-means", "sdp"])
def test_whatever_a_folder_says_it_is_refused_or_what_is_proved_is_true(name):
    options = ("--clusters", "2") if name == "k-means" else ()
    arguments = ("--as", name, *options, "--tol", "1e-4", "--save", "true", "--quiet")
    assert run("solve", f"{name}.txt", *arguments).exit_code == 0
    true, rng = load("true").result, random.Random(name)
    for _ in range(60):
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree("true", "run")
        forge(rng)
        ended = run("certify", f"{name}.txt", "run")
        assert ended.exit_code in (0, 1, 2), ended.output
        assert "truth" not in ended.stdout
        assert "\x1b" not in ended.output + run("show", "run").output
        if ended.exit_code == 0:
            assert_as_true(load("run").result, true)


def forge(rng):
    what = rng.choice(["array", "claim", "certificate", "record", "all"])
    if what in ("array", "all"):
        file = rng.choice([file for file in FILES if (Path("run") / file).exists()])
        reseal("run", file, lambda array: np.asarray(spoiled(rng, array)))
    if what in ("claim", "all"):
        rewrite("run", lambda record: _claim(rng, record["certificate"]))
    if what in ("certificate", "all"):
        rewrite("run", lambda record: spoil(rng, record["certificate"]), fitting=False)
    if what == "record":
        rewrite("run", lambda record: spoil(rng, record), fitting=False)


FILES = ("x.npz", "y.npy", "labels.npy")


def _claim(rng, certificate):
    name = rng.choice(["objective", "bound", "infeasibility", "price", "unit", "size_of_X"])
    size = 10.0 ** rng.uniform(-5.0, 3.0) * max(1.0, abs(certificate[name]))
    certificate[name] += rng.choice([-size, size])


def assert_as_true(result, true):
    """What a proved folder claims is what the true one does, or less."""
    assert result.status in (true.status, Status.STALLED, Status.INACCURATE)
    own, best = result.certificate, true.certificate
    side = 1.0 if best.bound >= best.objective else -1.0
    assert side * (own.bound - best.bound) >= -1e-9 * max(1.0, abs(best.bound))
    for name in ("objective", "infeasibility", "price", "unit", "size_of_X"):
        same = pytest.approx(getattr(best, name), rel=1e-5, abs=1e-8)
        assert getattr(own, name) == same or (name == "price" and own.price != own.price), name
    assert own.distance_to_X >= best.distance_to_X - 1e-8
    assert own.failure >= best.failure
    assert own.inside <= best.inside
    assert own.bracket <= best.bracket
