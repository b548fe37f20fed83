"""Where there is no MPI or PETSc, what needs them says how to install them."""

import sys
from pathlib import Path

import numpy as np
import pytest

import commands
import condal_mpi
from condal.errors import MissingExtra
from condal_mpi import team as module
from condal_mpi.team import engine

TOLD = "condal_mpi needs mpi4py, petsc4py and slepc4py"
INSTALL = ("apt-get install python3-mpi4py", "pip install 'condal-mpi[petsc]'")


@pytest.fixture
def _without(monkeypatch):
    for name in ("mpi4py", "petsc4py", "slepc4py"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"{name}.{name[:-3].upper()}", raising=False)
    engine.cache_clear()
    yield
    engine.cache_clear()


@pytest.mark.usefixtures("_without")
def test_a_team_asks_for_the_extra():
    with pytest.raises(MissingExtra) as caught:
        condal_mpi.Team()
    assert str(caught.value).startswith(TOLD)
    assert all(one in str(caught.value) for one in INSTALL)


@pytest.mark.usefixtures("_without")
def test_the_command_asks_for_the_extra(tmp_path):
    file = tmp_path / "g.txt"
    file.write_text(commands.PENTAGON)
    ended = commands.run("solve", str(file), "--as", "max-cut", "--distributed")
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"condal: error: {TOLD}")


@pytest.mark.usefixtures("_without")
def test_a_partition_names_the_order_that_needs_no_extra(tmp_path):
    ended = commands.run("convert", str(tmp_path), str(tmp_path / "new"), "--order", "partition")
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"condal: error: {TOLD}")
    assert "--order rcm needs neither MPI nor PETSc" in ended.stderr


@pytest.mark.usefixtures("_without")
def test_one_that_was_built_for_another_numpy_is_as_good_as_none(monkeypatch):
    def unfit(name):
        raise ValueError("numpy.dtype size changed, may indicate binary incompatibility")

    monkeypatch.setattr("condal_mpi.team.import_module", unfit)
    with pytest.raises(MissingExtra, match=r"numpy\.dtype size changed") as caught:
        condal_mpi.Team()
    assert str(caught.value).startswith(TOLD)


@pytest.mark.usefixtures("_without")
def test_a_petsc_of_complex_or_single_numbers_is_refused(monkeypatch):
    class Module:
        ScalarType = np.complex128

        @staticmethod
        def init(_):
            pass

    monkeypatch.setattr("condal_mpi.team.import_module", lambda name: Module)
    with pytest.raises(MissingExtra, match=r"real numbers in double precision.* has complex128"):
        condal_mpi.Team()


def test_of_debians_builds_the_newest_of_short_indices_is_the_first_choice(tmp_path, monkeypatch):
    names = ["petsc3.9", "petsc3.18", "petsc64-3.18", "petsc64-3.19"]
    for name in names:
        (tmp_path / "petscdir" / name / "x86_64-linux-gnu-real").mkdir(parents=True)
    monkeypatch.setattr(module, "DEBIAN_LIBRARIES", tmp_path)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "path", [])
    module._add_debian_path("petsc")
    assert "/petsc3.18/" in sys.path[-1]


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD", "PMI"])
def test_ranks_that_would_all_do_the_same_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(commands.PENTAGON)
    assert commands.run("solve", "g.txt", "--as", "max-cut", "--checkpoint", "c").exit_code == 0
    monkeypatch.setenv(f"{name}_SIZE", "2")
    monkeypatch.setenv(f"{name}_RANK", "0")
    ended = commands.run("solve", "g.txt", "--as", "max-cut")
    assert ended.exit_code == 2
    assert "mpirun or the like started condal 2 times: add --distributed" in ended.stderr
    again = commands.run("resume", "c", "g.txt")
    assert again.exit_code == 2
    assert "this checkpoint was written by one process; start it once" in again.stderr
    monkeypatch.setenv(f"{name}_SIZE", "1")
    assert commands.run("solve", "g.txt", "--as", "max-cut").exit_code == 0
