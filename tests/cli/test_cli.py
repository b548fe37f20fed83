"""The command line: exit codes, the JSON, the errors, and what a person reads."""

import json
import logging
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import condal
from commands import COMMON, PENTAGON, refused, run
from condal.certificates.certificate import Certificate
from condal.certificates.history import History
from condal.cli import demo, result_text, settings
from condal.cli.app import COMMANDS
from condal.driver.memory import make_plan
from condal.problems import max_cut
from condal.result import Status
from condal.runtime.text import escape_terminal, number, percent, table
from sparse_matrices import path_graph

CYCLE = "max-cut.txt"  # of five vertices; its best cut weighs 4
KEYS = {**COMMON, "cut": float, "share": float}
CYCLE_RELAXATION = 5 / 2 * (1 + math.cos(math.pi / 5))

METHODS = ["auto", "cgal", "cgal-decr", "cgal-ls", "cgal-fc", "lowrank", "splitting"]
METHODS += ["hcgm", "ial", "upd", "aupd"]


@pytest.fixture
def failing(monkeypatch):
    """Return a function that lets every solve raise the error."""
    return lambda error: monkeypatch.setattr(condal, "solve", Mock(side_effect=error))


def run_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "condal", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def solve_json(*arguments: str | Path) -> dict[str, object]:
    ended = run("solve", *arguments, "--as", "max-cut", "--json", "-", "--quiet")
    assert ended.exit_code == 0, ended.stderr
    return json.loads(ended.stdout)


# solve


@pytest.mark.parametrize("method", METHODS)
def test_solved_json(method):
    record = solve_json(CYCLE, "--method", method, "--tol", "1e-2")
    assert list(record) == list(KEYS)
    assert all(type(record[key]) is kind for key, kind in KEYS.items())
    assert record["problem"] == "max-cut"
    assert record["method"] == ("lowrank" if method == "auto" else method)
    assert record["status"] == "solved"
    assert record["certified"] is True
    assert record["objective"] <= CYCLE_RELAXATION * (1 + 1e-9)
    assert record["bound"] >= CYCLE_RELAXATION * (1 - 1e-12)
    assert record["gap"] <= 1e-2
    assert record["infeasibility"] <= 1e-2
    assert record["cut"] == 4.0


@pytest.mark.parametrize("storage", ["auto", "dense", "factored", "sketch:3", "sketch:1000"])
def test_storages(storage):
    record = solve_json(CYCLE, "--storage", storage, "--tol", "1e-2")
    assert record["cut"] == 4.0


def test_summary_says_what_was_proved():
    ended = run("solve", CYCLE, "--as", "max-cut")
    assert ended.exit_code == 0
    assert "  status         solved to tol 0.001 (deterministic proof)\n" in ended.stdout
    assert "the best possible: no cut of this graph weighs more" in ended.stdout
    assert "objective" in ended.stderr  # the header of the progress
    assert all(len(line) <= 80 for line in ended.output.splitlines())


def test_json_to_stdout_is_alone_there():
    ended = run("solve", CYCLE, "--as", "max-cut", "--json", "-")
    assert json.loads(ended.stdout)["status"] == "solved"
    assert "max-cut of max-cut.txt" in ended.stderr


def test_json_to_a_file_leaves_the_summary_on_stdout_and_quiet_nothing():
    before = set(Path().iterdir())
    Path("result.json").write_text("old")
    ended = run("solve", CYCLE, "--as", "max-cut", "--json", "result.json")
    assert "max-cut of max-cut.txt" in ended.stdout
    assert json.loads(Path("result.json").read_text())["status"] == "solved"
    assert set(Path().iterdir()) - before == {Path("result.json")}
    Path("result.json").unlink()
    assert run("solve", CYCLE, "--as", "max-cut", "--json", "result.json", "-q").output == ""
    assert Path("result.json").exists()


@pytest.mark.parametrize(
    ("limit", "status", "advice"),
    [
        (("--max-iters", "2"), "max_iters", "raise --max-iters"),
        (("--max-seconds", "1e-9"), "max_seconds", "raise --max-seconds"),
    ],
)
def test_a_limit_is_exit_code_1(limit, status, advice):
    ended = run("solve", CYCLE, "--as", "max-cut", *limit, "--tol", "1e-9", "--json", "r.json")
    assert ended.exit_code == 1
    assert advice in ended.stdout
    record = json.loads(Path("r.json").read_text())
    assert record["status"] == status
    assert record["bound"] >= CYCLE_RELAXATION * (1 - 1e-12)


def test_a_file_that_is_not_read_in_time_is_given_up(monkeypatch):
    monkeypatch.setattr("condal.cli.session.MIN_BUILD_SECONDS", 0.0)
    ended = run("solve", CYCLE, "--as", "max-cut", "--max-seconds", "1e-9", "--json", "r.json")
    assert ended.exit_code == 1
    assert ended.stderr == (
        "condal: the time was up (raise --max-seconds) before the problem was built; nothing is "
        "written\n"
    )
    assert not Path("r.json").exists()


def test_negative_weights_claim_no_share():
    Path("negative.txt").write_text("3 3\n1 2 -1\n2 3 -1\n1 3 -1\n")
    ended = run("solve", "negative.txt", "--as", "max-cut")
    assert ended.exit_code == 0
    assert "%" not in ended.stdout
    assert re.search(r"^  bound +0, no cut of this graph weighs more$", ended.stdout, re.MULTILINE)
    assert "the best possible: no cut of this graph weighs more" in ended.stdout
    Path("negative.txt").write_text("3 3\n1 2 -1.5\n2 3 -1\n1 3 -1\n")
    ended = run("solve", "negative.txt", "--as", "max-cut")
    assert re.search(r"^  bound +0 up to rounding, no cut", ended.stdout, re.MULTILINE)
    assert "the best possible" not in ended.stdout


def test_weights_that_are_no_integers():
    Path("real.txt").write_text("3 3\n1 2 0.5\n2 3 1.25\n1 3 2\n")
    ended = run("solve", "real.txt", "--as", "max-cut", "--tol", "1e-2")
    assert ended.exit_code == 0
    assert re.search(r"at least (9\d|100)\.\d% of the best possible cut", ended.stdout)


# refusals


def test_a_misspelt_command_or_application_is_answered_with_the_right_one():
    assert "No such command 'sovle' (did you mean solve?); see condal --help" in refused("sovle")
    assert "No such command 'x'; see condal --help" in refused("x")
    for command in (("solve", CYCLE), ("certify", CYCLE, CYCLE)):
        assert "'sdp' (did you mean max-cut?); see" in refused(*command, "--as", "maxcut")


def test_verbose_prints_the_methods_and_then_the_iterations():
    plain, one, two = (
        run("solve", CYCLE, "--as", "max-cut", *more).stderr.splitlines()
        for more in ((), ("-v",), ("--verbose", "--verbose"))
    )
    begun = "solve max-cut to tol", "method lowrank: f is linear"
    methods = [line for line in one if line.startswith(begun)]
    assert len(methods) == 2
    assert not [line for line in one if line.startswith("k = ")]
    assert [line for line in two if line.startswith("k = 1: objective ")]
    assert not set(methods) & set(plain)
    assert logging.getLogger("condal").level == logging.NOTSET
    error = refused("solve", CYCLE, "--as", "max-cut", "-q", "-v")
    assert "--quiet and --verbose exclude each other" in error


@pytest.mark.usefixtures("permissions")
def test_a_read_only_json_target():
    Path("r.json").touch(0o444)
    assert "Permission denied" in refused("solve", CYCLE, "--as", "max-cut", "--json", "r.json")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("absent.txt", "absent.txt: cannot be read: No such file"),
        (".", "is a folder"),
        ("a\nb\x1b[31m", r"a\nb\x1b[31m"),
    ],
)
def test_what_info_refuses_is_named_on_one_line(file, text):
    assert text in refused("info", file)


def test_a_storage_larger_than_the_machine_is_refused_before_it_is_made():
    n = 10**6
    Path("large.txt").write_text(f"{n} 1\n1 2\n")
    error = refused("solve", "large.txt", "--as", "max-cut", "--storage", "dense")
    assert "needs about 24 TB for 1000000 vertices, and this machine has" in error


def test_out_of_memory_is_no_traceback(failing):
    failing(MemoryError())
    assert "out of memory" in refused("solve", CYCLE, "--as", "max-cut", "--json", "r.json")


def test_what_nobody_thought_of_is_one_line_and_exit_code_70(failing, monkeypatch):
    failing(ZeroDivisionError("division\nby zero"))
    monkeypatch.delenv("CONDAL_TRACEBACK", raising=False)
    ended = run("solve", CYCLE, "--as", "max-cut", "--json", "r.json", "--quiet")
    assert (ended.exit_code, ended.stdout) == (70, "")
    assert ended.stderr == (
        "condal: internal error: ZeroDivisionError: division by zero; please report it with the "
        "command and the file (CONDAL_TRACEBACK=1 shows where it is)\n"
    )
    assert not Path("r.json").exists()
    monkeypatch.setenv("CONDAL_TRACEBACK", "1")
    ended = run("solve", CYCLE, "--as", "max-cut", "--quiet")
    assert ended.exit_code == 70
    assert ended.stderr.startswith("Traceback (most recent call last)")
    assert "condal: internal error: ZeroDivisionError" in ended.stderr


# Ctrl-C


def test_an_abort_is_exit_code_130(failing):
    failing(KeyboardInterrupt())
    assert run("solve", CYCLE, "--as", "max-cut", "--json", "r.json").exit_code == 130
    assert not Path("r.json").exists()


# info


def test_info():
    Path("graph.txt").write_text("6 5\n1 2 3\n2 3 -1.5\n1 3 2\n4 5 1\n2 2 7\n")
    ended = run("info", "graph.txt")
    assert ended.exit_code == 0
    shown = dict(re.findall(r"^  (\S+(?: \S+)*)  +(.+)$", ended.stdout, re.MULTILINE))
    assert shown["vertices"] == "6"
    assert shown["edges"] == "4"
    assert shown["weights"] == "-1.5 to 3, sum 4.5"
    assert shown["self-loops"] == "1, which no cut separates"
    assert shown["isolated vertices"] == "1"
    assert shown["connected components"] == "3"
    assert shown["density"] == "26.7%"
    assert shown["method auto"].startswith("lowrank, a factor of x: about")
    assert "condal solve graph.txt --as max-cut" in ended.stdout
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())


def test_info_of_weights_whose_sum_overflows():
    Path("huge.txt").write_text("3 2\n1 2 1e308\n2 3 1e308\n")
    assert "all 1e+308, sum inf" in run("info", "huge.txt").stdout


def test_info_quotes_the_command():
    Path("my graph.txt").write_text(PENTAGON)
    assert "condal solve 'my graph.txt' --as max-cut" in run("info", "my graph.txt").stdout


@pytest.mark.parametrize("contents", ["1 0\n", "2 1\n1 1 5\n"])
def test_info_of_a_graph_without_edges(contents):
    Path("none.txt").write_text(contents)
    ended = run("info", "none.txt")
    assert ended.exit_code == 0
    assert "there is nothing to solve" in ended.stdout


# demo


def test_demo_explains_itself():
    said: list[str] = []
    result = demo.run(said.append, n=200, tol=1e-2)
    text = "\n".join(said)
    assert result.status is Status.SOLVED
    assert "A map holds 200 radio stations" in text
    found, most = re.search(
        r"cut of weight ([\d,]+).*can weigh more than ([\d,]+)", text, re.DOTALL
    ).groups()
    assert int(found.replace(",", "")) <= int(most.replace(",", ""))
    assert re.search(r"at least 9\d\.\d% of the best possible weight", text)
    assert "condal solve FILE --as max-cut" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_demo_is_the_same_every_time():
    assert (demo.stations(300).W != demo.stations(300).W).nnz == 0
    assert demo.stations().n == 2000
    assert 18 <= demo.stations().W.nnz / 2000 <= 20


def test_demo_runs_to_its_tolerance():
    ended = run("demo")
    assert ended.exit_code == 0
    assert re.search(r"at least 9\d\.\d% of the best possible weight", ended.stdout)


# the program


def test_version():
    ended = run_process("--version")
    assert (ended.returncode, ended.stdout) == (0, f"condal {condal.__version__}\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_begins_with_an_example(command):
    ended = run(*command.split(), "--help")
    assert ended.exit_code == 0
    assert re.match(r"Usage: .*\n\n  .*\n\n  Examples?:\n    condal \w+", ended.stdout)
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())
    assert "\n\n\n" not in ended.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_is_printed_or_installed(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    printed = run("completion", shell)
    assert "_CONDAL_COMPLETE" in printed.stdout
    assert run("completion").stdout == printed.stdout
    assert not list(tmp_path.rglob("*condal*"))
    for _ in range(2):  # a second time changes nothing
        ended = run("completion", "--install")
        assert ended.exit_code == 0, ended.stderr
        path = Path(ended.stdout.partition(": completion for")[0])
        assert path.is_relative_to(tmp_path)
        assert path.read_text().count("_CONDAL_COMPLETE=") == 1


def test_the_completion_of_an_unknown_shell(monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "no completion for the shell 'tcsh'; give one: bash, zsh, fish" in refused("completion")


def test_commands_and_names_are_completed():
    for words, wanted in (("condal so", "solve"), ("condal solve g.txt --as max", "max-cut")):
        asked = {"_CONDAL_COMPLETE": "bash_complete", "COMP_WORDS": words}
        ended = subprocess.run(
            [sys.executable, "-c", "from condal.cli import main; main()"],
            env={**os.environ, **asked, "COMP_CWORD": str(len(words.split()) - 1)},
            capture_output=True,
            text=True,
        )
        assert f"plain,{wanted}\n" in ended.stdout, ended.stderr


def test_no_command_shows_the_help():
    assert run().stdout == run("--help").stdout


def test_an_error_of_the_process():
    ended = run_process("solve", "absent.txt", "--as", "max-cut", "--json", "-")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("condal: error: absent.txt")


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra_one_line_says_how_to_get_it(missing):
    code = f"import sys; sys.modules['{missing}'] = None; import condal.__main__ as m; m.main()"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "pip install 'condal[cli]'" in ended.stderr
    assert ended.stderr.count("\n") == 1


# real data


# pieces


@pytest.mark.parametrize(
    ("value", "up", "shown"),
    [
        (12044.0, False, "12,044"),
        (12044.478526, False, "12,044.48"),
        (12155.841, True, "12,155.85"),
        (123456789.25, False, "123,456,789"),
        (123456789.25, True, "123,456,790"),
        (-123456789.25, True, "-123,456,789"),
        (-0.5, False, "-0.5"),
        (1.5e-9, False, "1.5e-9"),
        (1e300, False, "1e+300"),
        (math.nan, False, "none"),
        (math.inf, True, "inf"),
        (0.0, False, "0"),
    ],
)
def test_number(value, up, shown):
    assert number(value, up=up) == shown


def test_a_share_is_never_rounded_up():
    assert percent(9999, 10000) == "99.9%"


def test_a_table_wraps_beneath_its_values():
    lines = table([("name", "word " * 40), ("other", "x")]).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].startswith("         word")


def test_printable():
    assert escape_terminal("a\tb\udcff é") == r"a\tb\udcff é"


def test_a_result_without_a_point_is_valid_json():
    nothing = condal.Result(
        x=None,
        y=np.zeros(1),
        status=Status.INTERRUPTED,
        certificate=Certificate(np.nan, np.inf, np.inf, "nothing was computed"),
        history=History(),
        seconds=0.0,
        oracle_calls=0,
        matvecs=0,
    )
    record = result_text.record(nothing, {"cut": None})
    json.dumps(record, allow_nan=False)
    assert record["certified"] is False
    assert record["bound"] is record["objective"] is record["gap"] is record["cut"] is None
    said = dict(result_text.summary(nothing, []))
    assert said["status"].startswith("interrupted")
    assert "reason" not in said
    failed = replace(nothing, status=Status.NUMERICAL_ERROR, reason="a product was inf")
    assert dict(result_text.summary(failed, []))["reason"] == "a product was inf"


@pytest.mark.parametrize("n", [50, 100, 10_000])
def test_described_storage_can_be_asked_for(n):
    from condal.domains import Spectrahedron
    from condal.storage import automatic

    name, kept = settings.describe(automatic(Spectrahedron(n, trace=float(n)), n), n)
    assert settings.check_storage(name) == name
    assert 0 < kept <= 2**30


@pytest.mark.parametrize("storage", ["auto", "sketch:10"])
def test_much_memory_is_told_of_before_it_is_taken(storage):
    n = 1_000_000
    problem = max_cut(path_graph(n)).problem
    kept = settings.build_storage(storage, problem, "vertices", 0)
    text = settings.memory_note(problem, make_plan(problem, condal.CGAL(), kept, tol=1e-1), kept)
    assert re.fullmatch(
        r"memory: at most 1\.[0-9] GB in total with cgal, including x [67]\d0 MB, .+", text
    )
    small = max_cut(path_graph(50)).problem
    assert settings.memory_note(small, make_plan(small, None, None, tol=1e-1), None) is None


def test_the_memory_that_is_told_is_that_of_the_storage_which_a_solve_takes():
    n = 3_000_000  # of which a sketch of rank 10 takes more than the usual 1 GiB
    problem = max_cut(path_graph(n)).problem
    plan = make_plan(problem, condal.CGAL(), None, tol=1e-1, max_memory="24 GB")
    kept = plan.first_storage(problem, None)
    assert (plan.method.name, kept.R) == ("cgal", 10)
    text = settings.memory_note(problem, plan, None)
    assert f"at most {settings.size(settings.in_all(problem, plan.method, kept))} in total" in text
    less = make_plan(problem, condal.CGAL(), None, tol=1e-1, max_memory="2.5 GB")
    assert less.first_storage(problem, None).R < 10
    with pytest.raises(condal.ProblemError, match="max_memory is 1,000"):
        make_plan(problem, condal.CGAL(), None, tol=1e-1, max_memory="1 GB")
