"""condal certify of forged folders: no assumption is hidden, and no word of a folder is ours."""

from pathlib import Path

import numpy as np
import pytest

from commands import run
from condal.io.results import load
from forging import reseal, rewrite

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
    # A larger trace does not prove it.
    assert run("certify", "program.txt", "run", "--assume-trace", "2").exit_code == 1


def test_a_trace_bound_is_assumed_for_programs_only():
    run("solve", "max-cut.txt", "--as", "max-cut", "--save", "run", "--quiet")
    ended = run("certify", "max-cut.txt", "run", "--assume-trace", "2")
    assert ended.exit_code == 2
    assert "--assume-trace is for SDPA programs; the trace of max-cut is known" in ended.stderr


WORDS = "the one and only truth"


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
    assert WORDS not in ended.output
    assert ended.stdout.startswith("\nmax-cut of max-cut.txt\n")
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


def _beyond(bound, objective):
    """The objective, or a little more than the bound says if the gap is already closed."""
    closed = abs(bound - objective) <= 1e-9 * max(1.0, abs(objective))
    return objective + (1e-4 if objective > bound else -1e-4) if closed else objective


FORGERIES = {
    "objective up": lambda record, unit: _add(record, "objective", unit),
    "objective down": lambda record, unit: _add(record, "objective", -unit),
    "bound tighter": lambda record, unit: _add(record, "bound", _towards(record) * unit),
    "bound beyond": lambda record, unit: _add(record, "bound", 2 * _towards(record) * unit),
    # A gap that is rounding may be closed: what is claimed must be beyond that.
    "gap closed": lambda record, unit: record["certificate"].update(
        bound=_beyond(record["certificate"]["bound"], record["certificate"]["objective"])
    ),
    "infeasibility": lambda record, unit: _add(record, "infeasibility", unit),
    "tolerance": lambda record, unit: record.update(tol=1e-18),
    "infeasible": lambda record, unit: record.update(status="infeasible"),
    "unbounded": lambda record, unit: record.update(status="unbounded"),
}


def _add(record, name, amount):
    record["certificate"][name] += amount


def _towards(record):
    """The direction of a bound that claims more."""
    certificate = record["certificate"]
    return 1.0 if certificate["objective"] >= certificate["bound"] else -1.0


def _scaled(rng, array):
    return array * (1 + 0.3 * rng.standard_normal(array.shape))


def _shifted(rng, array):
    return array + rng.standard_normal(array.shape)


@pytest.mark.parametrize("name", ["max-cut", "theta", "k-means", "sdp"])
def test_no_forged_folder_is_proved(name):
    """Claims, arrays and both at once, with hashes that fit."""
    options = ("--clusters", "2") if name == "k-means" else ()
    arguments = ("--as", name, *options, "--tol", "1e-4", "--save", "true", "--quiet")
    assert run("solve", f"{name}.txt", *arguments).exit_code == 0
    true = {path.name: path.read_bytes() for path in Path("true").iterdir()}
    assert run("certify", f"{name}.txt", "true").exit_code == 0
    rng = np.random.default_rng(5)
    sizes = 10.0 ** rng.uniform(-5.0, 3.0, len(FORGERIES))
    for (what, forge), size in zip(FORGERIES.items(), sizes, strict=True):
        _copy(true)
        unit = size * max(1.0, abs(load("run").result.objective))
        rewrite("run", lambda record, f=forge, u=unit: f(record, u))
        _refuted(name, f"{what} by {unit}")
    for file, change in (("x.npz", _scaled), ("x.npz", _shifted), ("y.npy", _shifted)):
        _copy(true)
        reseal("run", file, lambda array, c=change: c(rng, array))
        _refuted(name, f"{file} {change.__name__}")


def _copy(files):
    folder = Path("run")
    folder.mkdir(exist_ok=True)
    for name, contents in files.items():
        (folder / name).write_bytes(contents)


def _refuted(name, what):
    ended = run("certify", f"{name}.txt", "run")
    assert ended.exit_code == 1, f"{what}\n{ended.output}"
    assert "Proved" not in ended.output
