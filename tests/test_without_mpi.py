"""Where there is no MPI or PETSc, what needs them says how to install them."""

from __future__ import annotations

import sys

import pytest

import commands
from condal import distributed
from condal.distributed.engine import engine
from condal.errors import MissingExtra

TOLD = "condal.distributed needs mpi4py, petsc4py and slepc4py"
INSTALL = ("apt-get install python3-mpi4py", "pip install 'condal[distributed]'")


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
        distributed.Team()
    assert str(caught.value).startswith(TOLD)
    assert all(one in str(caught.value) for one in INSTALL)


@pytest.mark.usefixtures("_without")
def test_the_command_asks_for_the_extra(tmp_path):
    file = tmp_path / "g.txt"
    file.write_text(commands.PENTAGON)
    ended = commands.run("solve", str(file), "--as", "max-cut", "--distributed")
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"condal: error: {TOLD}")
