"""The command line imports only what a command needs."""

import os
import subprocess
import sys

import click
import pytest

from condal.cli.app import COMMANDS, cli
from pages import ROOT

PROGRAM = "import sys; from condal.__main__ import main\ntry: main()\nfinally: print(*sys.modules)"
SPARSE = "import sys, scipy.sparse; print(*sys.modules)"  # SciPy 1.10 imports its solvers with it
MAX_SOLVE_MODULES = 149  # of condal
PENTAGON = "5 5\n1 2\n2 3\n3 4\n4 5\n5 1\n"


def imported(folder, *arguments, program=PROGRAM):
    """The modules that a command imports, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_group_itself_needs_only_click(option, tmp_path):
    modules = imported(tmp_path, option)
    assert "click" in modules
    assert not modules & {"numpy", "scipy", "rich", "condal.cli.solve", "condal.types"}


def test_a_solve_imports_its_application_and_method_and_no_other(tmp_path):
    (tmp_path / "graph.txt").write_text(PENTAGON)
    modules = imported(tmp_path, "solve", "graph.txt", "--as", "max-cut")
    rooms = {name.split(".")[2] for name in modules if name.startswith("condal.methods.")}
    assert "lowrank" in rooms
    assert not rooms & {"cgal", "rules", "interior", "classic", "surface"}
    assert "condal.methods.projection.splitting" not in modules
    models = {"cuts", "lovasz_theta", "clusterings", "phases", "qap", "conic"}
    assert {name for name in models if f"condal.problems.{name}" in modules} == {"cuts"}
    unneeded = "scipy.optimize scipy.fft scipy.stats scipy.spatial matplotlib jinja2 rich http"
    assert not modules & set(unneeded.split())


def test_a_small_solve_imports_few_modules(tmp_path):
    """Each module costs about 0.1 ms and each dataclass 0.4 ms; SciPy's sparse solvers cost 8 ms.

    A module that every such solve needs may raise the limit; any other is imported on use.
    """
    (tmp_path / "graph.txt").write_text(PENTAGON)
    modules = imported(tmp_path, "solve", "graph.txt", "--as", "max-cut")
    others = modules - imported(tmp_path, program=SPARSE)
    assert not others & {"scipy.sparse.linalg", "numpy.ma"}
    ours = {name for name in modules if name.partition(".")[0] == "condal"}
    assert len(ours) <= MAX_SOLVE_MODULES, sorted(ours)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_first_line_of_each_help(name):
    command = cli.get_command(None, name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help.splitlines()[0] == COMMANDS[name]
