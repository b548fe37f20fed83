"""condal solve: every application from a file to its answer, bad files, options of others."""

import json
import re
import shlex
import signal
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import condal
from commands import COMMON, FILES, NEEDED, PENTAGON, SIGNAL, intensities, refused, run, solved
from condal.cli.applications import APPLICATIONS
from condal.io.formats import write_metis
from condal.problems.completion import matrix_completion
from condal.problems.cuts import MaxCut
from condal.runtime.text import excess_text, number, sizes


def record_of(name, *options):
    return json.loads(solved(name, "--json", "-", "--quiet", *options).stdout)


def answer_of(name, *options):
    solved(name, "--out", "answer.txt", "--quiet", *options)
    return [int(line) for line in Path("answer.txt").read_text().splitlines()]


def test_every_application_is_tried():
    assert set(FILES) == set(APPLICATIONS)


@pytest.mark.parametrize("name", FILES)
def test_what_a_person_reads(name):
    ended = solved(name)
    assert ended.stdout.startswith(f"\n{name} of {name}.txt\n\n  status  ")
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())
    shown = dict(re.findall(r"^  (\S+(?: \S+)*)  +(.+)$", ended.stdout, re.MULTILINE))
    assert shown["status"].startswith("solved")
    assert {"bound", "objective", "gap", "proof", "method", "work", "time"} <= set(shown)


@pytest.mark.parametrize("name", FILES)
def test_what_a_machine_reads(name):
    record = record_of(name)
    assert list(record)[: len(COMMON)] == list(COMMON)
    assert len(record) > len(COMMON)
    assert record["problem"] == name
    assert record["status"] == "solved"
    assert record["certified"] is True
    assert record["gap"] <= 1e-3
    assert all(isinstance(record[key], float) for key in list(record)[len(COMMON) :])


@pytest.mark.parametrize("name", FILES)
def test_the_keys_are_the_same_where_there_is_no_answer(name, request):
    keys = list(record_of(name))
    request.getfixturevalue("pointless")
    ended = solved(name, "--json", "-", "--quiet", code=1)
    assert list(json.loads(ended.stdout)) == keys


def test_theta_of_the_pentagon():
    record = record_of("theta", "--tol", "1e-4")
    assert record["bound"] == pytest.approx(np.sqrt(5), rel=1e-3)
    assert record["stable_set"] == 2.0
    assert "the best possible: no stable set of this graph is larger" in solved("theta").stdout
    first, second = answer_of("theta")
    assert (second - first) % 5 in (2, 3)  # no neighbours on the cycle
    assert record_of("theta", "--plus")["bound"] <= record["bound"] * (1 + 1e-3)


def test_a_graph_may_come_in_any_format_and_an_edge_list_keeps_its_labels():
    labels, W = [3, 10, 20, 40, 70], np.roll(np.eye(5), 1, axis=1)
    W += W.T
    edges = [(labels[i], labels[(i + 1) % 5]) for i in range(5)]
    Path("theta.edges").write_text("# a pentagon\n" + "".join(f"{i}\t{j}\n" for i, j in edges))
    write_metis("theta.graph", W)
    sparse.save_npz("theta.npz", sparse.csr_array(W))
    for name, known in (("edges", labels), ("graph", range(1, 6)), ("npz", range(1, 6))):
        command = ("solve", f"theta.{name}", "--as", "theta", "--out", "-", "--quiet")
        found = {int(line) for line in run(*command).stdout.split()}
        first, second = (list(known).index(label) for label in found)
        assert (second - first) % 5 in (2, 3)


def test_theta_of_a_complement_speaks_of_cliques_and_colours():
    Path("theta.txt").write_text("6 8\n1 2\n2 3\n1 3\n4 5\n5 6\n6 4\n3 4\n1 4\n")
    shown = solved("theta", "--complement").stdout
    assert shown.startswith("\ntheta of the complement of theta.txt\n\n")
    assert re.search(r"^  clique +3 vertices, all of them adjacent$", shown, re.MULTILINE)
    assert re.search(r"^  colours +at least 3,", shown, re.MULTILINE)
    assert "so no clique has more than 3" in shown
    assert "the best possible: no clique of this graph is larger" in shown
    assert "stable" not in shown
    assert set(answer_of("theta", "--complement")) in ({1, 2, 3}, {4, 5, 6}, {1, 3, 4})
    record = record_of("theta", "--complement")
    figures = {key: record[key] for key in list(record)[len(COMMON) :]}
    assert figures == {"clique": 3.0, "clique_bound": 3.0, "colours": 3.0}


@pytest.mark.parametrize("plus", [(), ("--plus",)])
def test_colours_are_bounded_from_below(plus):
    # A cycle of five needs three, by sqrt(5) > 2, where its cliques have but two.
    record = record_of("theta", "--complement", *plus)
    assert record["bound"] == pytest.approx(np.sqrt(5), rel=2e-3)
    assert (record["clique"], record["clique_bound"], record["colours"]) == (2.0, 2.0, 3.0)
    # All six joined need six, and rounding makes no seventh; none joined need one.
    Path("theta.txt").write_text(
        "6 15\n" + "".join(f"{i} {j}\n" for i in range(1, 7) for j in range(i + 1, 7))
    )
    assert record_of("theta", "--complement", *plus)["colours"] == 6.0
    Path("theta.txt").write_text("4 0\n")
    assert record_of("theta", "--complement", *plus)["colours"] == 1.0


def test_communities_of_two_triangles():
    record = record_of("communities")
    assert record["quality"] <= record["quality_bound"] * (1 + 1e-9)
    labels = answer_of("communities")
    assert set(labels) == {1, 2}
    assert labels[:3] == [labels[0]] * 3
    assert labels[3:] == [labels[3]] * 3
    assert "2, of 3, 3 vertices" in solved("communities").stdout
    by_degrees = record_of("communities", "--expected", "degrees", "--resolution", "0.5")
    assert by_degrees["quality"] != record["quality"]


def test_generalised_eigenvector_of_a_pair():
    name = "generalised-eigenvector"
    assert record_of(name, "--tol", "1e-6")["value"] == pytest.approx(4.0, rel=1e-6)
    solved(name, "--out", "u.txt", "--tol", "1e-6")
    u = np.loadtxt("u.txt")
    assert u @ np.diag([1.0, 0.5]) @ u == pytest.approx(1.0)
    assert np.abs(u) == pytest.approx([0.0, np.sqrt(2)], abs=1e-2)
    assert "no such vector has a larger value" in solved(name).stdout


def test_a_generalised_eigenvector_that_cannot_be():
    name = "generalised-eigenvector"
    ended = run("solve", f"{name}.txt", "--as", name, "--alpha", "0.9")
    assert ended.exit_code == 1
    assert "none: raise --alpha" in ended.stdout


def test_bisection_of_two_triangles():
    assert record_of("bisection")["cut"] == 1.0
    sides = answer_of("bisection")
    assert sides == [sides[0]] * 3 + [-sides[0]] * 3
    shown = " ".join(solved("bisection").stdout.split())
    assert "1, sides of 3 and 3 vertices" in shown
    assert "no cut into halves is lighter" in shown
    assert record_of("bisection", "--imbalance", "4")["cut"] == 1.0
    error = refused("solve", "bisection.txt", "--as", "bisection", "--imbalance", "6")
    assert "imbalance must be below the number of vertices, 6; got 6" in error


def test_signs_of_exact_measurements():
    record = record_of("sync")
    assert record["agreement"] == 6.0  # a pair counts once
    assert record["share"] == 1.0
    assert record["objective"] == pytest.approx(6.0, rel=1e-3)
    assert answer_of("sync") == [1, 1, -1, -1]
    assert "the best possible: no signs agree with C better" in solved("sync").stdout


def test_signs_of_measurements_that_contradict_each_other():
    Path("sync.txt").write_text("3 3\n1 2 -1\n2 3 -1\n1 3 -1\n")
    record = record_of("sync")  # the relaxation's 3/2 proves 1, as the agreement is a whole number
    assert record["bound"] == pytest.approx(1.5, rel=1e-3)
    assert (record["agreement"], record["share"]) == (1.0, 1.0)
    Path("sync.txt").write_text("3 3\n1 2 -1\n2 3 -1\n1 3 -1.0625\n")
    assert 0.6 < record_of("sync")["share"] < 0.8
    assert re.search(r"at least [67]\d\.\d% of the best possible agreement", solved("sync").stdout)


@pytest.mark.parametrize("kind", ["csv", "npy"])
def test_clusters_of_points(kind):
    points = np.loadtxt("k-means.txt", delimiter=",", skiprows=1)
    if kind == "npy":
        np.save("k-means.npy", points)
        Path("k-means.npy").replace("k-means.txt")
    record = record_of("k-means")
    assert record["cost"] == pytest.approx(8 / 3)
    assert 0 <= record["excess"] <= 1e-3
    labels = answer_of("k-means")
    assert set(labels) == {1, 2}
    assert labels[:3] == [labels[0]] * 3
    assert "2, of 3, 3 points" in solved("k-means").stdout


def test_an_assignment():
    record = record_of("qap")
    p = np.array(answer_of("qap")) - 1
    A, B = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]]), np.array([[0, 5, 2], [5, 0, 3], [2, 3, 0]])
    assert sorted(p) == [0, 1, 2]
    assert (A * B[np.ix_(p, p)]).sum() == record["cost"]
    assert record["bound"] <= record["cost"] * (1 + 1e-9)
    assert "the best possible: no assignment costs less" in solved("qap").stdout
    assert record["excess"] == 0.0


def test_the_excess_of_whole_costs_is_that_of_the_table():
    # The bound is below the cost, but rounds up to it.
    record = record_of("qap", "--method", "cgal", "--tol", "2e-2")
    assert record["cost"] - 1 < record["bound"] < record["cost"]
    assert record["excess"] == 0.0


def test_a_signal_from_its_intensities():
    assert record_of("phase-retrieval", "--tol", "1e-5")["residual"] < 1e-2
    solved("phase-retrieval", "--tol", "1e-5", "--out", "signal.csv")
    real, imaginary = np.loadtxt("signal.csv", delimiter=",").T
    found = real + 1j * imaginary
    turn = np.vdot(found, SIGNAL) / abs(np.vdot(found, SIGNAL))
    np.testing.assert_allclose(turn * found, SIGNAL, atol=2e-2)
    assert "4 complex numbers" in solved("phase-retrieval").stdout


@pytest.mark.parametrize(
    ("name", "arrays", "text"),
    [
        *(
            ("phase-retrieval", arrays, text)
            for arrays, text in (
                ({"c": np.ones(2)}, "holds c; wanted the intensities b, and either the matrix a"),
                ({"b": np.ones(2)}, "holds b; wanted the intensities b, and"),
                ({"b": np.ones(2), "a": np.eye(2), "masks": np.ones(1)}, "holds a, b, masks; "),
                ({"b": np.ones(3), "a": np.eye(2)}, "there are 2 measurements, but 3 intensities"),
                ({"b": -np.ones(2), "a": np.eye(2)}, "none may be negative"),
                ({"b": np.array(["x"]), "a": np.eye(1)}, "b.npy: holds <U1, not numbers"),
                ({"b": np.ones(3), "a": np.ones(3)}, "a has shape (3,); wanted a matrix with one"),
                ({"b": np.ones(3), "a": 1j * np.ones(3)}, "a has shape (3,); wanted a matrix with"),
            )
        ),
        ("generalised-eigenvector", {"Phi": np.eye(2)}, "holds Phi; wanted the symmetric matrices"),
        (
            "generalised-eigenvector",
            {"Phi": np.eye(2), "Psi": np.ones(2)},
            "Psi has shape (2,); wanted a symmetric matrix",
        ),
        ("k-means", {"points": np.eye(3)}, "save one array with numpy.save"),
    ],
)
def test_arrays_of_no_use(name, arrays, text):
    np.savez("bad.npz", **arrays)
    assert text in refused("solve", "bad.npz", "--as", name, *NEEDED.get(name, ()))


def test_other_arrays_are_not_looked_at():
    more = {"what": np.array(["lab 3"]), "truth": SIGNAL, "c": np.array([np.nan])}
    Path("phase-retrieval.txt").write_bytes(intensities(**more))
    assert record_of("phase-retrieval")["status"] == "solved"


def test_a_matrix_from_some_of_its_entries():
    record = record_of("matrix-completion", "--columns", "user,film,rating", "--tol", "1e-4")
    assert record["rmse"] < 2e-2
    assert record["radius"] == 20.0
    solved("matrix-completion", "--tol", "1e-4", "--out", "fitted.csv")
    fitted = np.loadtxt("fitted.csv", delimiter=",")
    known = np.loadtxt("matrix-completion.txt", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(fitted[:, :2], known[:, :2])
    np.testing.assert_allclose(fitted[:, 2], known[:, 2], atol=0.1)
    Path("asked.csv").write_text("user,film\n7,1\n77,6\n")
    solved("matrix-completion", "--predict", "asked.csv", "--out", "predicted.csv")
    predicted = np.loadtxt("predicted.csv", delimiter=",")
    np.testing.assert_array_equal(predicted[:, :2], [[7, 1], [77, 6]])
    assert "8 x 6, rank " in solved("matrix-completion", "--loss", "huber").stdout


def test_a_matrix_market_file_and_a_radius_that_is_chosen():
    values = "1 1 1\n1 2 2\n2 1 2\n2 2 4\n3 1 3\n3 3 1\n2 3 2\n"
    Path("some.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n3 3 7\n{values}")
    arguments = ("some.mtx", "--as", "matrix-completion", "--no-effects", "--json", "-", "--quiet")
    ended = run("solve", *arguments)
    assert ended.exit_code == 0
    assert json.loads(ended.stdout)["radius"] > 0


@pytest.mark.usefixtures("unsolved")
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--columns", "user,film"), "'--columns': wanted three names or numbers"),
        (("--columns", "user,film,stars"), "no unique column 'stars'; there are user, film, ra"),
        (("--columns", "rating,film,user"), "line 2: the row of an entry must be a whole number"),
        (("--columns", "1,1,3"), "must be three columns; got 1,1,3"),
        (("--predict", "absent.csv"), "absent.csv: cannot be read"),
        (("--predict", "one.csv"), "one.csv: has 1 column; wanted two"),
        (("--predict", "two.csv"), "two.csv, line 2: asks for column 99, which has no known"),
        (("--radius", "0"), "'--radius'"),
    ],
)
def test_ratings_of_no_use(options, text):
    Path("one.csv").write_text("7\n")
    Path("two.csv").write_text("7,1\n7,99\n")
    arguments = ("matrix-completion.txt", "--as", "matrix-completion", "--radius", "20", *options)
    assert text in refused("solve", *arguments)


def test_columns_are_of_tables():
    Path("some.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
    arguments = ("--as", "matrix-completion", "--radius", "1")
    error = refused("solve", "some.mtx", *arguments, "--columns", "1,2,3")
    assert "is a Matrix Market file, whose columns are row, column, value" in error
    Path("some.mtx").write_text("1 1 1\n2 2 1\n")
    assert "the first line must be '%%Matrix" in refused("solve", "some.mtx", *arguments)


def test_out_may_be_stdout_and_then_nothing_else_is():
    ended = solved("k-means", "--out", "-")
    assert re.fullmatch(r"([12]\n){6}", ended.stdout)
    assert "k-means of k-means.txt" in ended.stderr


def test_a_solve_starts_from_a_saved_result():
    """As `condal.solve(..., warm_start=...)` does, with the same seed."""
    record_of("max-cut", "--save", "first")
    warm = record_of("max-cut", "--tol", "1e-6", "--warm-start", "first")
    model = condal.problems.max_cut(condal.read_graph("max-cut.txt"))
    earlier = condal.load("first").result
    result = condal.solve(model, tol=1e-6, seed=0, warm_start=earlier)
    cold = condal.solve(model, tol=1e-6, seed=0)
    assert (warm["objective"], warm["bound"]) == (result.objective, result.bound)
    assert (warm["objective"], warm["bound"]) != (cold.objective, cold.bound)


def test_a_dual_that_was_saved_is_recovered_to_a_point():
    record_of("theta", "--tol", "1e-6", "--save", "first")
    recovered = record_of("theta", "--method", "recovery", "--warm-start", "first")
    assert recovered["status"] == "solved"


def test_a_warm_start_is_a_saved_result_of_the_same_problem():
    assert "missing" in refused("solve", "theta.txt", "--as", "theta", "--warm-start", "missing")
    solved("k-means", "--save", "other")
    error = refused("solve", "theta.txt", "--as", "theta", "--warm-start", "other")
    assert "warm_start has" in error


# Refusals.


@pytest.mark.parametrize(
    ("name", "option", "owners"),
    [
        ("max-cut", "--clusters", "k-means"),
        (
            "matrix-completion",
            "--trials",
            "max-cut or theta or communities or bisection or sync or k-means or qap",
        ),
        ("qap", "--plus", "theta"),
        ("theta", "--groups", "communities"),
    ],
)
def test_options_of_another_application(name, option, owners):
    error = refused("solve", f"{name}.txt", "--as", name, *NEEDED.get(name, ()), option, "3")
    assert error.endswith(f"; see condal solve --as {name} --help\n")
    assert f"{option} belongs to --as {owners}" in error
    assert f"--as {name} does not take it" in error


def test_an_option_of_an_application_needs_the_application():
    error = refused("solve", "k-means.txt", "--clusters", "2")
    assert "--clusters belongs to --as k-means; say what FILE is with --as" in error


def test_a_misspelt_application_is_named_before_its_options():
    error = refused("solve", "k-means.txt", "--as", "kmeans", "--clusters", "2")
    assert "'kmeans' is not one of" in error
    assert "(did you mean k-means?)" in error


@pytest.mark.parametrize(("name", "k"), [("k-means", "2"), ("communities", "2")])
def test_k_is_short_for_the_number_of_parts(name, k):
    assert run("solve", f"{name}.txt", "--as", name, "-k", k, "--quiet").exit_code == 0


@pytest.mark.usefixtures("unsolved")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("k-means.txt --as k-means", "Missing option '--clusters'"),
        ("k-means.txt --as=k-means", "; see condal solve --as k-means --help\n"),
        ("k-means.txt --as k-means --clusters 0", "'-k': 0 is not in the range"),
        ("k-means.txt --as k-means --clusters 7", "k must be"),
        ("theta.txt", "Missing option '--as'. Choose from: max-cut, theta, communities"),
        ("theta.txt --as thet", "; see condal solve --help\n"),
        ("theta.txt --as=thet", "'thet' is not one of 'max-cut', 'theta'"),
        ("theta.txt --as theta --trials 0", "'--trials'"),
        ("theta.txt --as theta --nonsense", "No such option"),
        ("theta.txt --as theta --out .", "give --out another path"),
        ("theta.txt --as theta --out theta.txt", "is the file itself"),
        ("theta.txt --as theta --out no/folder/x", "cannot be written"),
        ("theta.txt --as theta --out - --json -", "only one of --json and --out can go to stdout"),
        ("communities.txt --as communities --expected x", "'x' is not one of"),
        *(
            (f"max-cut.txt --as max-cut {options}", text)
            for options, text in (
                ("--tol 0", "tol must be a positive number such as 1e-3; got 0.0"),
                ("--tol -1", "tol must be a positive number"),
                ("--tol nan", "tol must be a positive number"),
                ("--tol small", "not a valid float; see condal solve --as max-cut --help"),
                ("--max-iters 0", "max_iters must be a whole number, at least 1; got 0"),
                ("--max-seconds nan", "max_seconds must be positive"),
                ("--storage sketch:x", "such as sketch:10; got 'sketch:x'"),
                ("--storage sketch:0", "--storage must be auto, dense, factored or sketch:R"),
                ("--storage sketch:" + "9" * 5000, "--storage must be"),
                ("--storage sparse", "--storage must be"),
                ("--method simplex", "'simplex' is not one of 'auto', 'cgal', 'cgal-decr'"),
                ("--method CGAL", "(did you mean cgal?); see condal solve --as max-cut"),
                ("--seed -1", "'--seed'"),
                ("--json no/folder/r.json", "cannot be written: No such file or directory"),
                ("--json .", "is not a regular file; give --json another path"),
                ("--json max-cut.txt", "is the file itself"),
                ("--json ''", "is not a regular file"),
                ("--jsonn r.json", "option '--jsonn' (did you mean --json?); see condal"),
                ("--tolerance 1e-3", "option '--tolerance' (did you mean --tol?); see condal"),
            )
        ),
    ],
)
def test_bad_options(arguments, text):
    assert text in refused("solve", *shlex.split(arguments))
    assert Path("max-cut.txt").read_text() == PENTAGON


@pytest.mark.parametrize(
    ("name", "contents", "text"),
    [
        ("k-means", "1,2\n3,x\n", "bad.txt, line 2: wanted finite decimal numbers, but column 2"),
        ("k-means", "NA,NA\n3,4\n", "bad.txt, line 1: wanted finite decimal numbers, but column 1"),
        ("matrix-completion", "1::2::3\n", "line 1: the columns are separated by '::'"),
        ("max-cut", "1 2\n2 3\n", "is the first line 'n m' missing?"),
        ("qap", "2\n0 1 1 0 0 1 1\n", "the file ends after 7"),
        ("communities", "2 1\n1 2 -1\n", "weights must not be negative"),
        ("sync", "2 0\n", "C has no measurements"),
        ("max-cut", "2 0\n", "the graph has no edges"),
        ("max-cut", "hello\n", "bad.txt, line 1: "),
    ],
)
def test_files_of_no_use(name, contents, text):
    Path("bad.txt").write_text(contents)
    assert text in refused("solve", "bad.txt", "--as", name, *NEEDED.get(name, ()))


@pytest.mark.usefixtures("unsolved")
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--json", "x", "--out", "x"), "x: is the --json file; give --out another path"),
        (("--json", "x", "--out", "./x"), "./x: is the --json file; give --out another path"),
        (("--predict", "p", "--out", "p"), "p: is the --predict file; give --out another path"),
        (("--predict", "p", "--json", "p"), "p: is the --predict file; give --json another"),
        (("--predict", "p", "--out", "link"), "link: is the --predict file"),
        (("--out", "matrix-completion.txt"), "is the file itself; give --out another path"),
    ],
)
def test_nothing_is_written_over_what_is_read_or_written(options, text):
    Path("p").write_text("7,1\n")
    Path("link").symlink_to("p")
    arguments = ("matrix-completion.txt", "--as", "matrix-completion", "--radius", "20", *options)
    assert text in refused("solve", *arguments)
    assert Path("p").read_text() == "7,1\n"


# Control.


def test_a_choice_of_the_radius_is_told_and_has_half_of_the_time(monkeypatch):
    module = "condal.problems.matrix_completion"
    true, limits = matrix_completion, []

    def build(*arguments, **options):
        limits.append(options["max_seconds"])
        if options["watch"] is not None:
            options["watch"](2.5, 0.125)
        return true(*arguments, **{**options, "radius": 20.0})

    monkeypatch.setattr(module, build)
    ended = solved("matrix-completion", "--max-seconds", "500")
    assert "radius 2.5: mean loss 0.125 on the held-out entries\n" in ended.stderr
    assert "radius 2.5" not in solved("matrix-completion", "--quiet").stderr
    assert limits.pop() is None
    assert 200 < limits.pop() <= 250


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("name", "place", "what"),
    [
        (
            "matrix-completion",
            "condal.problems.matrix_completion",
            "the problem was built",
        ),
        ("max-cut", "condal.cli.solve.make_plan", "there was a point"),
    ],
)
def test_ctrl_c_before_there_is_anything_to_write(name, place, what, monkeypatch):
    monkeypatch.setattr(place, lambda *_, **__: signal.raise_signal(signal.SIGINT))
    before = sorted(Path().iterdir())
    ended = solved(name, "--json", "r.json", "--out", "o.txt", "--save", "run", code=1)
    assert ended.stdout == ""
    assert ended.stderr == (
        f"stopping; Ctrl-C again aborts\ncondal: interrupted before {what}; nothing is written\n"
    )
    assert sorted(Path().iterdir()) == before


def test_the_last_row_of_the_progress_is_the_result():
    ended = run("solve", "max-cut.txt", "--as", "max-cut", "--json", "r.json")
    assert ended.exit_code == 0
    name, objective, bound, gap, _, proved, _, _ = ended.stderr.splitlines()[-1].split()
    record = json.loads(Path("r.json").read_text())
    assert name == "result"
    assert float(objective) <= record["objective"] <= record["bound"] <= float(bound)
    assert float(gap) == float(proved) == pytest.approx(record["gap"], rel=0.05)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_the_result_is_rounded(monkeypatch, number):
    def round_(*_, **__):
        signal.raise_signal(number)

    monkeypatch.setattr(MaxCut, "round", round_)
    arguments = ("max-cut.txt", "--as", "max-cut", "--json", "r.json", "--out", "o.txt")
    ended = run("solve", *arguments)
    assert ended.exit_code == 1
    assert "none: interrupted while the result was rounded" in ended.stdout
    record = json.loads(Path("r.json").read_text())
    assert (record["status"], record["cut"], record["share"]) == ("solved", None, None)
    assert not Path("o.txt").exists()


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_aborts(monkeypatch):
    def build(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)

    module = "condal.problems.matrix_completion"
    monkeypatch.setattr(module, build)
    ended = run("solve", "matrix-completion.txt", "--as", "matrix-completion", "--json", "r.json")
    assert ended.exit_code == 130
    assert not Path("r.json").exists()


def test_a_storage_counts_what_the_application_does():
    rows = "\n".join(f"{i},{i}" for i in range(20))
    Path("points.csv").write_text(rows)
    arguments = ("points.csv", "--as", "k-means", "--clusters", "2", "--max-iters", "3")
    ended = run("solve", *arguments, "--storage", "dense", "--method", "cgal", "--quiet")
    assert ended.exit_code == 1


# Help.


@pytest.mark.parametrize("name", FILES)
def test_the_help_of_an_application(name):
    text = run("solve", "--as", name, "--help").stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    application = APPLICATIONS[name]
    flat = " ".join(text.split())
    assert " ".join(application.about.split()) in flat
    assert f"Example:\n    {application.example}\n" in text
    assert f"--out writes {application.out}." in flat
    for option in application.options:
        assert option.opts[0] in text
    assert application.example.startswith("condal solve ")
    assert f"--as {name}" in application.example or application.suffixes


def test_the_help_of_the_command_lists_them_all():
    text = run("solve", "--help").stdout
    for application in APPLICATIONS.values():
        assert re.search(rf"^  {application.name} +{application.title}$", text, re.MULTILINE)
    assert "--clusters" not in text


# Pieces.


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "the best possible: no cut costs less"),
        (1e-9, "at most 0.1% above the best possible cut"),
        (0.0123, "at most 1.3% above the best possible cut"),
        (np.inf, "unknown: the bound says nothing about the best cut"),
    ],
)
def test_an_excess_is_never_rounded_down(share, text):
    assert excess_text(share, "cut") == text


def test_sizes_begin_with_the_largest():
    assert sizes([3, 1200, 5]) == "3, of 1,200, 5, 3"
    assert sizes(range(9)) == "9, of 8, 7, 6, 5, 4, 3, 2, 1, ..."


def test_a_lower_bound_is_never_rounded_up():
    assert number(33.96743999, down=True) == "33.96743"
    assert number(-1.23456789, down=True) == "-1.234568"
