"""condal sweep: a file, many values of its options, one folder; what is typed wrong is told."""

import json
import re
from pathlib import Path

import pytest

import condal
from commands import FILES, enter, run
from condal_lab.commands.sweep import split


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    return enter(tmp_path, monkeypatch)


def test_a_sweep_is_the_solves_and_goes_on_where_it_was():
    words = ("sweep", "max-cut.txt", "--as", "max-cut", "--out", "out", "--workers", "1")
    words += ("--vary", "seed=0:2", "--vary", "tol=1e-1,1e-2")
    ended = run(*words)
    assert ended.exit_code == 0, ended.output
    head, *rows = ended.stdout.split("\n\n")[0].strip().splitlines()
    assert head.split() == ["seed", "tol", "status", "objective", "cut", "gap", "time"]
    assert [row.split()[:3] for row in rows] == [
        [seed, tol, "solved"] for seed in ("0", "1") for tol in ("0.1", "0.01")
    ]
    assert all(len(line) <= 80 for line in ended.output.splitlines())
    assert "The table is in out/table.csv, and the results are in out/points." in ended.stdout
    written = [json.loads(line) for line in Path("out/table.jsonl").read_text().splitlines()]
    for one in written:
        given = [f"--{name}={value}" for name, value in one["parameters"].items()]
        solved = run("solve", *words[1:4], *given, "--json", "-", "--quiet")
        alone = json.loads(solved.stdout)
        for name in ("objective", "bound", "iterations"):
            assert one[name] == alone[name]
        assert one["figures"]["cut"] == alone["cut"]
        assert run("certify", "max-cut.txt", f"out/points/{one['name']}").exit_code == 0
    again = run(*words)
    assert "  4 results were there already" in again.stderr
    assert again.stdout == ended.stdout
    assert len(Path("out/table.jsonl").read_text().splitlines()) == 4
    Path("max-cut.txt").write_text(FILES["theta"].replace("5 5", "6 5"))
    other = run(*words)
    assert other.exit_code == 2
    assert re.search(
        r"results of max-cut of max-cut\.txt \(SHA-256 .*give another folder", other.stderr
    )


def test_a_chain_and_an_option_that_must_be_given():
    ended = run(
        *("sweep", "k-means.txt", "--as", "k-means", "--vary", "clusters=2,9", "--along"),
        *("clusters", "--out", "out", "--workers", "1", "--tol", "1e-2"),
    )
    assert ended.exit_code == 1  # nine clusters of six points are none
    first, second = (json.loads(line) for line in Path("out/table.jsonl").read_text().splitlines())
    assert (first["status"], second["status"]) == ("solved", "failed")
    told = " ".join(ended.stdout.split())  # in lines of 80 columns
    assert f"1 point failed, the first by: {second['error']}" in told
    (path,) = Path("out/points").iterdir()
    assert condal.load(path).options == {"clusters": 2, "trials": 10}
    assert condal.load(path).result.tol == 1e-2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--vary", "sed=1"],
            "'sed=1' is not NAME=VALUES.*one of trials, method, lam0, .*, tol",
        ),
        (["--vary", "seed"], "'seed' is not NAME=VALUES"),
        (["--vary", "seed=3:3"], "3:3 has 0 numbers: A:B goes from A to B - 1"),
        (["--vary", "seed=x"], "--seed: 'x' is not a valid integer"),
        (["--vary", "tol=1,-1"], "tol must be a positive number such as 1e-3; got -1.0"),
        (["--vary", "storage=dense,huge"], "--storage must be auto"),
        (["--vary", "seed=1", "--vary", "seed=2"], "seed is varied twice; give all values at once"),
        (["--vary", "seed=1,1"], "a point is given twice: seed=1"),
        (["--vary", "seed=1", "--along", "tol"], "along must be one of the parameters, seed; got"),
        (
            ["--vary", "seed=1", "--workers", "none"],
            "'none' is neither a number of processes, 1 or more",
        ),
        (["--vary", "seed=1", "--workers", "0"], "'0' is neither a number of processes, 1 or more"),
        ([], "Missing option '--vary'"),
        (["--vary", "clusters=2"], "'clusters=2' is not NAME=VALUES"),
    ],
)
def test_what_is_no_sweep_is_refused_in_one_line(more, said):
    ended = run("sweep", "max-cut.txt", "--as", "max-cut", "--out", "out", *more)
    assert ended.exit_code == 2
    assert re.fullmatch(r"condal: error: [^\n]+\n", ended.stderr)
    assert re.search(said, ended.stderr), ended.stderr
    assert not Path("out").exists()


def test_values():
    assert split("1e-2,x") == ["1e-2", "x"]
    assert split("0:3") == ["0", "1", "2"]
    assert split("-4:5:4") == ["-4", "0", "4"]
    assert split("a:b") == ["a:b"]
