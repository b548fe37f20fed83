"""condal solve --save, certify, show: every application from its file to a proof of its result."""

from __future__ import annotations

import gzip
import json
import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import condal
from commands import FILES, NEEDED, refused, run, solved
from condal.cli.applications import APPLICATIONS
from condal.cli.claims import _alike, _same
from condal.io.formats import write_rudy
from condal.io.results import load
from condal.runtime.limits import TimeLimit
from forging import reseal
from forging import rewrite as rewrite_in
from known import random_graph

# Options of each application that make another problem.
OTHER = {
    "theta": {"plus": True},
    "communities": {"resolution": 2.0},
    "bisection": {"imbalance": 2},
    "k-means": {"clusters": 3},
    "qap": {"nonnegative": "costs"},
    "matrix-completion": {"radius": 10.0},
    "phase-retrieval": {"trace": 1.0},
    "state-tomography": {"loss": "likelihood"},
    "generalised-eigenvector": {"alpha": 1.5},
    "sdp": {"trace_bound": 0.1},
}
# In the folder of the saved result.
rewrite, rewrite_array = partial(rewrite_in, "run"), partial(reseal, "run")


def saved(name, *options, folder="run"):
    return solved(name, "--save", folder, *options)


def certified(name, *options, code=0, folder="run"):
    ended = run("certify", f"{name}.txt", folder, *options)
    assert ended.exit_code == code, ended.output
    assert ended.stderr == ""
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())
    return ended.stdout


def assert_every_claim_is_true(proof):
    """A bound that is proved in place of the claimed one, if any, differs by rounding."""
    said, _, instead = proof.partition("\nProved, without assumptions: every claim is true")
    assert said != proof
    if instead != ".\n":  # the images of a loaded x may be rounded differently
        words = " ".join(instead.split())
        found = re.fullmatch(r", with the bound (\S+) in place of the claimed (\S+)\.", words)
        assert found, instead
        assert float(found[1]) == pytest.approx(float(found[2]), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", FILES)
def test_every_application_is_saved_proved_and_shown(name):
    told = saved(name).stdout
    assert told.endswith(f"\nSaved in run. To verify it:\n\n  condal certify {name}.txt run\n")
    proof = certified(name)
    assert "\n  solved  " in proof
    source = "its labels" if name in ROUNDED else "x"
    assert f"\n  answer         the same when recomputed from {source}\n" in proof
    assert_every_claim_is_true(proof)
    assert "REFUTED" not in proof
    shown = run("show", "run")
    assert shown.exit_code == 0
    page = told[: told.index("\nSaved in")]
    assert shown.stdout.startswith(page.rstrip("\n"))
    assert f"\n  solved as  {name}\n" in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    assert re.search(r"\n  versions +condal .* numpy .* scipy ", shown.stdout)
    assert_every_claim_is_true(certified(name, "--tol", "1e-2"))


@pytest.mark.parametrize("name", FILES)
def test_the_options_that_are_kept_make_the_very_same_problem(name):
    saved(name, "--quiet")
    kept = load("run").options
    assert set(kept) == {str(option.name) for option in APPLICATIONS[name].options} - set(
        APPLICATIONS[name].inputs
    )
    if name not in OTHER:
        return
    rewrite(lambda record: record["options"].update(OTHER[name]))
    # A bisection with another imbalance has the same x, and its bound is only not proved.
    wanted = "NOT PROVED" if name == "bisection" else "REFUTED"
    assert wanted in certified(name, code=1)


@pytest.mark.parametrize("name", FILES)
def test_numbers_that_are_not_true_are_refuted(name):
    saved(name, "--quiet")
    result, contents = load("run").result, Path("run/result.json").read_bytes()
    sense = 1.0 if result.bound <= result.objective else -1.0
    unit = max(1.0, abs(result.objective))
    for claim in ("objective", "bound", "infeasibility", "price"):
        amount = sense * unit if claim == "bound" else unit
        value = getattr(result.certificate, claim) + amount
        rewrite(lambda record, change={claim: value}: record["certificate"].update(change))
        text = certified(name, code=1)
        word = re.search(rf"^  {claim} +(REFUTED|NOT PROVED): ", text, re.MULTILINE)
        # A bound that y does not prove is false only if a feasible point is beyond it.
        assert word[1] == "REFUTED" or (claim == "bound" and not result.bracket)
        assert "off by" in " ".join(text.split())
        begin = "Refuted: these claims are false" if word[1] == "REFUTED" else "Not proved"
        assert re.search(rf"^{begin}: .*{claim}", text, re.MULTILINE | re.DOTALL)
        Path("run/result.json").write_bytes(contents)


@pytest.mark.parametrize("name", FILES)
def test_arrays_that_are_not_true_are_refuted(name):
    saved(name, "--quiet")
    rewrite_array("x.npz", lambda array: 1.05 * array)
    assert "REFUTED" in certified(name, code=1)
    saved(name, "--quiet", "--overwrite")
    if load("run").result.y.size:
        rewrite_array("y.npy", lambda y: y + 5.0 * (1 + np.abs(y)) * (-1.0) ** np.arange(y.size))
        assert re.search(r"^  bound +NOT PROVED: ", certified(name, code=1), re.MULTILINE)


@pytest.mark.parametrize("name", FILES)
def test_files_that_were_changed_are_named(name):
    saved(name, "--quiet")
    for file in ("x.npz", "y.npy", "history.csv"):
        path = Path("run") / file
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        text = f"run/{file}: is not what result.json says: it was changed after it was saved"
        assert text in refused("certify", f"{name}.txt", "run")
        assert text in refused("show", "run")
        path.write_bytes(whole)
    Path(f"{name}.txt").write_bytes(Path(f"{name}.txt").read_bytes() + b"\n")
    error = refused("certify", f"{name}.txt", "run")
    assert f"{name}.txt: is not the file that run is a result for" in error


def test_answers_that_are_not_true_are_refuted():
    saved("max-cut", "--quiet")
    rewrite(lambda record: record["figures"].update(cut=5.0))
    text = " ".join(certified("max-cut", code=1).split())
    assert "answer REFUTED: cut 5.0 is claimed; recomputed from its labels, it is 4.0" in text
    assert "may round differently" not in text
    rewrite(lambda record: record["versions"].update(condal="0.0.9"))
    text = " ".join(certified("max-cut", code=1).split())
    assert "it was saved with another version of condal, which may round differently" in text
    saved("max-cut", "--quiet", "--overwrite")
    rewrite(lambda record: record["answer"].pop())
    assert "its lines differ" in certified("max-cut", code=1)
    saved("max-cut", "--quiet", "--overwrite")
    rewrite(lambda record: record["answer"].__setitem__(0, ["cut", "5, sides of 4 and 1 vertices"]))
    text = " ".join(certified("max-cut", code=1).split())
    assert "is claimed; recomputed from its labels, it is" in text
    rewrite(lambda record: record.update(figures={}))
    assert "REFUTED" in certified("max-cut", code=1)
    rewrite(lambda record: record.update(answer=[]))
    assert "none is claimed" in certified("max-cut")


@pytest.mark.parametrize(
    ("claimed", "found", "alike"),
    [
        ("4, sides of 3 and 2", "4, sides of 3 and 2", True),
        ("4, sides of 3 and 2", "4, sides of 2 and 3", False),
        ("1,234.567, no more", "1,234.568, no more", True),
        ("1,234.567, no more", "1,234.667, no more", False),
        ("1.2e-08, of |b|", "1.3e-08, of |b|", True),
        ("1.2e-08, of |b|", "1.2e-07, of |b|", False),
        ("the best", "the worst", False),
        ("at least 99.9%", "at least 9.99%", False),
        ("11,624", "11,625", False),
    ],
)
def test_answers_are_compared_to_the_last_digit_that_is_shown(claimed, found, alike):
    assert _alike(claimed, found) is alike


ROUNDED = ("max-cut", "bisection", "sync", "communities", "theta", "k-means", "qap")


@pytest.mark.parametrize(
    ("name", "options"), [*((name, ()) for name in ROUNDED), ("theta", ("--complement",))]
)
def test_an_answer_whose_rounding_was_cut_short_is_proved(name, options, monkeypatch):
    """The saved answer is checked itself: a longer rounding may find a better one."""
    rng = np.random.default_rng(1)
    if name == "k-means":
        np.savetxt("k-means.txt", rng.standard_normal((40, 2)), delimiter=",")
    elif name == "qap":
        matrices = rng.integers(0, 9, (2, 5, 5))
        rows = (" ".join(map(str, row)) for matrix in matrices for row in matrix)
        Path("qap.txt").write_text("\n".join(["5", *rows]))
    else:
        write_rudy(f"{name}.txt", random_graph(150, 8))
    with monkeypatch.context() as patch:
        patch.setattr(TimeLimit, "is_over", lambda limit: limit.until < math.inf)
        words = (f"{name}.txt", "--as", name, *NEEDED.get(name, ()), *options, "--max-iters", 8)
        ended = run("solve", *words, "--max-seconds", 600, "--save", "run", "--quiet")
    assert ended.exit_code in (0, 1), ended.stderr
    assert "the same when recomputed from its labels" in certified(name)


@pytest.mark.parametrize("name", ROUNDED)
def test_an_answer_of_a_folder_must_be_one_of_the_problem(name):
    for change in (lambda d: d[:-1], np.ones_like, lambda d: d + 2**62, lambda d: d - 2**62):
        saved(name, "--quiet", "--overwrite")
        rewrite_array("labels.npy", change)
        assert "answer         REFUTED: " in certified(name, code=1)


def test_what_the_model_chose_is_kept():
    arguments = ("--as", "matrix-completion", "--loss", "huber", "--save", "run", "--quiet")
    ended = run("solve", "matrix-completion.txt", *arguments)
    assert ended.exit_code == 0, ended.stderr
    options = load("run").options
    assert options["radius"] > 0
    assert options["delta"] > 0
    assert options["columns"] is None
    assert certified("matrix-completion")
    rewrite(lambda record: record["options"].update(delta=1.5 * options["delta"]))
    assert "REFUTED" in certified("matrix-completion", code=1)
    saved("phase-retrieval", "--quiet", folder="signal")
    assert load("signal").options["trace"] > 0


def test_files_that_options_name_are_not_kept():
    Path("asked.csv").write_text("user,film\n7,1\n")
    columns = ("--predict", "asked.csv", "--columns", "user,film,rating")
    saved("matrix-completion", "--quiet", *columns)
    Path("asked.csv").unlink()
    assert load("run").options["columns"] == "user,film,rating"
    assert certified("matrix-completion")
    rewrite(lambda record: record["options"].update(predict="/etc/passwd"))
    error = refused("certify", "matrix-completion.txt", "run")
    assert "options: matrix-completion has no 'predict'" in error


def test_a_file_may_be_packed_meanwhile_and_a_page_stand_beside_the_result():
    saved("max-cut", "--quiet")
    Path("run/page.html").write_text("<html></html>")
    Path("packed.txt.gz").write_bytes(gzip.compress(Path("max-cut.txt").read_bytes()))
    ended = run("certify", "packed.txt.gz", "run")
    assert ended.exit_code == 0
    assert ended.stdout.startswith("\nmax-cut of packed.txt.gz\n")


def test_a_solve_that_was_stopped_is_proved_for_what_it_is():
    Path("max-cut.txt").write_text("9 9\n" + "".join(f"{i} {i % 9 + 1}\n" for i in range(1, 10)))
    arguments = ("--as", "max-cut", "--method", "cgal", "--max-iters", "3", "--save", "run")
    assert run("solve", "max-cut.txt", *arguments).exit_code == 1
    assert "solved" not in certified("max-cut")
    text = certified("max-cut", "--tol", "1e-3", code=1)
    assert "\n  tol 0.001      NOT PROVED: a gap of" in text
    assert "\nNot proved to within tol 0.001: a gap of" in text
    assert text.endswith("\nProved, without assumptions: every claim is true.\n")
    assert "\n  answer         the same" in text  # what the folder claims is proved
    rewrite(lambda record: record.update(status="solved"))
    assert "\n  solved         NOT PROVED: a gap of" in certified("max-cut", code=1)


@pytest.mark.usefixtures("pointless")
def test_a_result_without_a_point():
    saved_early = solved("max-cut", "--save", "run", "--quiet", code=1)
    assert saved_early.output == ""
    if load("run").result.x is None:
        assert "there is none: the solve ended too early" in certified("max-cut", code=1)
    assert run("show", "run").exit_code == 0


def test_a_result_that_does_not_say_what_it_is_of():
    model = condal.problems.k_means(np.loadtxt("k-means.txt", delimiter=",", skiprows=1), 2)
    condal.save(condal.solve(model), "run")
    assert "give --as NAME and its options" in refused("certify", "k-means.txt", "run")
    assert "Missing option '--clusters'" in refused(
        "certify", "k-means.txt", "run", "--as", "k-means"
    )
    proof = certified("k-means", "--as", "k-means", "--clusters", "2")
    assert "none is claimed" in proof
    assert "REFUTED" in certified("k-means", "--as", "k-means", "--clusters", "3", code=1)
    shown = run("show", "run").stdout
    assert "\n  solved as  a problem built in Python\n" in shown
    assert "\n  bound  " in shown


def test_only_its_own_options_are_taken():
    saved("max-cut", "--quiet")
    error = refused("certify", "max-cut.txt", "run", "--as", "max-cut")
    assert "run: was solved as max-cut and has its options: leave out --as" in error
    for change, text in (
        ({"clusters": 3}, "options: max-cut has no 'clusters'"),
        ({"trials": 0}, "options: Invalid value for '--trials'"),
        ({"trials": "x"}, "options: Invalid value for '--trials'"),
        ({"trials": [1]}, "options: Invalid value for '--trials'"),
    ):
        rewrite(lambda record, change=change: record.update(options=change))
        assert text in refused("certify", "max-cut.txt", "run")
    rewrite(lambda record: record.update(options={}, application="min-cut"))
    assert "application 'min-cut' that this condal does not" in refused(
        "certify", "max-cut.txt", "run"
    )
    rewrite(lambda record: record.update(application="sync"))
    assert "REFUTED" in certified("max-cut", code=1)
    rewrite(lambda record: record["settings"].update(seed=-1))
    assert "the seed is -1, not a non-negative integer" in refused("certify", "max-cut.txt", "run")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("certify absent.txt run", "absent.txt: cannot be read"),
        ("certify max-cut.txt absent", "absent: there is no such file or folder"),
        ("certify max-cut.txt max-cut.txt", "max-cut.txt: is not a folder"),
        ("certify max-cut.txt .", "result.json: cannot be read"),
        ("certify max-cut.txt", "Missing argument 'ANSWER'"),
        ("certify max-cut.txt run --tol 0", "tol must be a positive number"),
        ("show", "Missing argument 'RESULT...'"),
        ("show run --json absent/x.json", "absent/x.json: cannot be written"),
        ("show run --json run/result.json", "is in the result run; give --json another path"),
    ],
)
def test_arguments_of_no_use(arguments, text):
    saved("max-cut", "--quiet")
    assert text in refused(*arguments.split())


@pytest.mark.parametrize(
    ("file", "options", "text"),
    [
        ("max-cut.txt", "--save max-cut.txt", "max-cut.txt: exists and is not a folder"),
        ("max-cut.txt", "--save others", "others: exists and is not a saved result"),
        ("max-cut.txt", "--save absent/run", "absent/run: cannot be written: No such file"),
        ("max-cut.txt", "--save /proc/run", "/proc/run: cannot be written: "),
        ("max-cut.txt", "--overwrite", "--overwrite needs --save DIR"),
        ("max-cut.txt", "--save a --json a", "a: contains the --json file; give --save another"),
        ("max-cut.txt", "--save a --out a", "a: contains the --out file; give --save another"),
        ("max-cut.txt", "--save run", "run: holds an earlier result"),
        ("run/history.csv", "--save run --overwrite", "contains the file itself"),
        ("max-cut.txt", "--save run --overwrite --json run/x", "contains the --json file"),
        ("max-cut.txt", "--save run --overwrite --out run/x", "contains the --out file"),
    ],
)
def test_folders_that_cannot_be_saved_to(file, options, text, request):
    saved("max-cut", "--quiet")
    request.getfixturevalue("unsolved")
    Path("others").mkdir()
    assert text in refused("solve", file, "--as", "max-cut", *options.split())


def test_what_a_machine_reads_of_saved_results():
    saved("max-cut", "--quiet", "--json", "solve.json")
    saved("theta", "--quiet", folder="other")
    ended = run("show", "run", "--json", "-")
    assert ended.exit_code == 0
    record, solved = json.loads(ended.stdout), json.loads(Path("solve.json").read_text())
    assert {name: record[name] for name in solved} == solved
    assert (record["application"], record["file"]) == ("max-cut", "max-cut.txt")
    assert record["settings"]["seed"] is None
    assert ended.stderr.startswith("\nmax-cut of max-cut.txt\n")
    both = json.loads(run("show", "run", "other", "--json", "-").stdout)
    assert [one["application"] for one in both] == ["max-cut", "theta"]
    run("show", "run", "--json", "shown.json")
    assert json.loads(Path("shown.json").read_text()) == record


def test_figures_that_are_no_numbers_are_the_same_again():
    nan = float("nan")
    assert _same(nan, nan)
    assert _same(None, None)
    assert not any(_same(a, b) for a, b in [(nan, 1.0), (None, nan), (1.0, None), (1.0, 2.0)])


# X_11 = X_22 = 1; X_11 = 1 and tr X = 0; X_12 = 0.
SDPA = {
    "cut": "2\n1\n2\n1 1\n0 1 1 2 1\n1 1 1 1 1\n2 1 2 2 1\n",
    "infeasible": "2\n1\n2\n1 0\n0 1 1 1 1\n1 1 1 1 1\n2 1 1 1 1\n2 1 2 2 1\n",
    "unbounded": "1\n1\n2\n0\n0 1 1 1 1\n0 1 2 2 1\n1 1 1 2 1\n",
}


@pytest.mark.parametrize("kind", SDPA)
def test_a_semidefinite_program_is_proved_again(kind):
    Path("program.dat-s").write_text(SDPA[kind])
    ended = run("solve", "program.dat-s", "--save", "run", "--quiet")
    assert ended.exit_code == (0 if kind == "cut" else 1), ended.stderr
    assert load("run").application == "sdp"
    Path("program.txt").write_text(SDPA[kind])  # the name does not matter
    proof = certified("program")
    assert proof.endswith("every claim is true.\n")
    assert f"\n  {'solved' if kind == 'cut' else kind}  " in proof
    assert run("show", "run").exit_code == 0
    other = "unbounded" if kind == "infeasible" else "infeasible"
    rewrite(lambda record: record.update(status=other))  # which needs no gap
    assert re.search(r"(REFUTED|NOT PROVED): ", certified("program", code=1))


def test_a_program_within_a_trace_that_is_given():
    Path("program.txt").write_text(SDPA["cut"])
    arguments = ("--as", "sdp", "--trace-bound", "5", "--save", "run", "--quiet")
    assert run("solve", "program.txt", *arguments).exit_code == 0
    assert load("run").options == {"trace_bound": 5.0}
    assert certified("program")
    rewrite(lambda record: record["certificate"].update(bound=1.9))
    assert re.search(r"^  bound +REFUTED: ", certified("program", code=1), re.MULTILINE)


def test_quiet_is_silent():
    saved("max-cut", "--quiet")
    rewrite(lambda record: record["certificate"].update(objective=1.0))
    ended = run("certify", "max-cut.txt", "run", "--quiet")
    assert (ended.exit_code, ended.output) == (1, "")
