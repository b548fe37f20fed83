"""Every block of Python and every command of every page runs, and prints what the page says."""

import ast
import contextlib
import importlib.util
import io
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings

import click
import numpy as np
import pytest
from click.testing import CliRunner

import condal
from condal.cli.app import cli
from given import ALONE, BEFORE, written_files
from pages import ROOT, RUN, SHOWN, Step, agrees, all_pages, blocks_of, fences, has_cvxpy, steps

CVXPY = has_cvxpy()
# What takes too long is parsed, with all its options, and not run.
LONG = {
    "condal demo": "ten seconds; tests/test_cli.py runs it",
    "condal bench": "minutes to hours; tests/bench run small ones",
    "condal experiment": "minutes to hours; `make experiments-quick` runs all of it, small",
    "condal sweep G1.txt --as max-cut --vary seed=0:1000": "lab/tests/sweeps have a small cluster",
}
PAGES = [page for page in all_pages() if steps(page)]


def run_python(step, names):
    """Run a block with warnings as errors; what it prints."""
    printed = io.StringIO()
    padded = "\n" * step.line + step.text  # so that an error names the line of the page
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        exec(compile(padded, step.page, "exec"), names)
    return printed.getvalue()


def run_command(line):
    """Run a command as a shell would, or see that it could be run; what it prints."""
    words = shlex.split(line, comments=True)
    program, rest = words[0].removeprefix(".venv/bin/"), words[1:]
    if program == "condal":
        return run_condal(line, rest)
    if program == "csdp":  # tests/given.py has its solution where it is not installed
        if shutil.which(program):
            subprocess.run(words, check=True, capture_output=True, timeout=60)
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text()
        for target in (word for word in rest if "=" not in word):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), line
    elif program in ("mpirun", "srun"):  # mpi/tests/ranks/test_documented_ranks.py runs it
        rest = rest[1:] if program == "srun" and rest[0] == "-K" else rest
        assert rest[:1] == ["-n"], line
        assert rest[1].isdecimal(), line
        assert rest[2] == "condal", line
        cli.get_command(None, rest[3]).make_context(rest[3], rest[4:])
    elif program == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        wanted = re.fullmatch(r"(?:\.|condal)(?:\[([\w,]+)\])?", rest[1])
        assert rest[0] == "install"
        assert wanted is not None, line
        for extra in (wanted[1] or "").split(",") if wanted[1] else ():
            assert extra in project["optional-dependencies"], line
    elif program == "python" and rest[0].startswith("checker/"):
        checked = [sys.executable, ROOT / rest[0], *rest[1:]]
        return subprocess.run(checked, check=True, capture_output=True, text=True).stdout
    else:
        assert program == "python", f"nothing is known of {line!r}"
        assert rest[0] == "-m", line
        assert importlib.util.find_spec(rest[1]) is not None or (ROOT / rest[1]).is_dir(), line
    return ""


def run_condal(line, words):
    """Run `condal` with these words."""
    asks = {"--help", "--list", "-h", "--version"} & set(words)
    if not asks and any(line.startswith(long) for long in LONG):
        command = cli.get_command(None, words[0])
        command.make_context(words[0], words[1:])  # raises what parsing finds wrong
        return ""
    result = CliRunner().invoke(cli, words, prog_name="condal")
    assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
    return result.output


def run(step, names):
    """Run a step, and hold it to its output."""
    if step.language == "python":
        printed = run_python(step, names)
    else:
        printed = "".join(run_command(line) for line in step.commands)
    if step.output is not None:
        assert agrees(step.output, printed), f"{step.page}, line {step.line}, prints\n{printed}"


def names_in(step):
    """The names that a step binds, and those that it uses: files too, for a command."""
    if step.language != "python":
        words = [word for line in step.commands for word in shlex.split(line, comments=True)]
        return set(), {word for word in words if "." in word}
    nodes = list(ast.walk(ast.parse(step.text)))
    bound = {(a.asname or a.name).partition(".")[0] for a in nodes if isinstance(a, ast.alias)}
    bound |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = {node.id for node in nodes if isinstance(node, ast.Name)} - bound
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    return bound | {text for text in texts if isinstance(text, str) and "." in text}, used


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ALONE])
def test_a_page_runs_from_its_beginning_to_its_end(page, monkeypatch, tmp_path):
    """In one folder, with the names that earlier blocks leave behind."""
    monkeypatch.chdir(tmp_path)
    written_files(tmp_path)
    names = BEFORE[page]() if page in BEFORE else {}
    left_out, missing = [], set()
    for step in steps(page):
        bound, used = names_in(step)
        if ("cvxpy" in step.text and not CVXPY) or used & (missing - set(names)):
            left_out.append(step.line)
            missing |= bound - {"np"}
            names |= {"np": np} if "np" in bound else {}
        else:
            run(step, names)
    if left_out:
        pytest.skip(f"no CVXPY, or an old one: the blocks of the lines {left_out} did not run")


BLOCKS = [(page, number) for page in ALONE for number in range(len(blocks_of(page)))]


@pytest.mark.parametrize(("page", "number"), BLOCKS, ids=[f"{p[5:-3]}-{n}" for p, n in BLOCKS])
def test_the_blocks_of_a_page_run_each_by_itself(page, number):
    step = steps(page)[number]
    if "cvxpy" in step.text and not CVXPY:
        pytest.skip("no CVXPY, or an old one")
    given = {"condal": condal, "np": np, **ALONE[page]()}
    run(step, given)
    assert given["result"].status is condal.Status.SOLVED


def test_a_page_whose_blocks_stand_alone_has_no_commands():
    for page in ALONE:
        assert {step.language for step in steps(page)} <= {"python"}


@pytest.mark.parametrize("page", all_pages())
def test_no_block_of_a_page_is_left_out(page):
    """A fence is of a kind that runs, or of one that is known to show something only."""
    for fence in fences(page):
        assert fence.language in RUN + SHOWN, f"line {fence.line}: {fence.language!r}"
        if fence.language == "text":  # what looks like a command must be run
            assert not re.search(r"^(\$ )?condal ", fence.text, re.MULTILINE), fence.line


def test_what_a_block_prints_is_compared():
    run(Step("page.md", 3, "python", "print(2 + 2)", "4\n"), {})
    with pytest.raises(AssertionError, match=r"page.md, line 3, prints\s+4"):
        run(Step("page.md", 3, "python", "print(2 + 2)", "5\n"), {})


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("gap 0.00096", "gap  0.00091\n", True),
        ("bound 774.06 (dense)", "bound 774.1 (dense)", True),
        ("bound 774.06 (dense)", "bound 791 (dense)", False),
        ("bound 774.06 (dense)", "bound 774.06 (sparse)", False),
        ("weight=4, sides of 3", "weight=3, sides of 3", False),
        ("  seconds  0.05\n", "  seconds  12.5\n", True),
        ("SOLVED", "STALLED", False),
        ("closed form, ...", "closed form, by 3 of 4", True),
        ("closed form, ...", "no form, by 3 of 4", False),
        ("1", "1 2", False),
    ],
)
def test_words_and_numbers_are_compared(shown, printed, same):
    assert agrees(shown, printed) is same


@pytest.mark.parametrize(
    ("line", "error", "text"),
    [
        ("condal bench gset --nonsense", click.NoSuchOption, "--nonsense"),
        ("condal experiment --quack", click.NoSuchOption, "--quack"),
        ("condal solve missing.txt --as max-cut", AssertionError, "missing.txt"),
        ("make no-such-target", AssertionError, "no-such-target"),
        ("pip install 'condal[no-such-extra]'", AssertionError, "no-such-extra"),
        ("python -m no_such_module", AssertionError, "no_such_module"),
        ("rm -rf folder", AssertionError, "nothing is known of 'rm -rf folder'"),
    ],
)
def test_a_command_that_cannot_be_run_is_found(line, error, text):
    with pytest.raises(error, match=re.escape(text)):
        run_command(line)


def test_the_readme_means_what_it_says(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = BEFORE["README.md"]()
    for block in blocks_of("README.md"):
        if CVXPY or "cvxpy" not in block:
            exec(block, names)
    model = condal.problems.max_cut(names["graph"] + names["graph"].T)
    assert names["cut"].weight == model.weight(names["cut"].signs)
    assert names["clustering"].labels.size == len(names["points"])
    assert names["result"].status.name == "SOLVED"


def test_the_readme_shows_the_commands_of_many_machines_that_run():
    """mpi/tests/ranks/test_documented_ranks.py runs those of docs/distributed.md."""

    def on_ranks(page):
        lines = [line for step in steps(page) if step.language == "sh" for line in step.commands]
        converted = [line for line in lines if line.startswith("condal convert")]
        return converted[:1] + [line for line in lines if line.startswith("mpirun")]

    assert on_ranks("README.md") == on_ranks("docs/distributed.md")[:3]


def test_the_tutorial_installs_what_its_blocks_import():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras, needed = project["optional-dependencies"], set()
    for step in steps("docs/tutorial.md"):
        if step.language == "python":
            nodes = ast.walk(ast.parse(step.text))
            needed |= {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    pip = next(
        shlex.split(line)
        for step in steps("docs/tutorial.md")
        if step.language == "sh"
        for line in step.commands
        if line.startswith("pip install")
    )
    (chosen,) = re.fullmatch(r"\.\[([\w,]+)\]", pip[2]).groups()
    wanted = [*project["dependencies"], *pip[3:]]
    wanted += [text for name in chosen.split(",") for text in extras[name]]
    installed = {re.match(r"\w+", text)[0] for text in wanted} | {"condal"}
    assert {name.partition(".")[0] for name in needed} - sys.stdlib_module_names <= installed
