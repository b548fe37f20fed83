"""The table of method names against the methods themselves."""

import re

import numpy as np
import pytest

import condal
import condal_lab
from condal.driver.run_record import HANDOVER
from condal.driver.warm_start import ends_with_cgal
from condal.methods import __all__ as in_condal
from condal.methods.registry import METHODS
from condal_lab.methods import __all__ as in_lab
from locations import ROOT


@pytest.mark.parametrize("name", METHODS)
def test_solve_takes_a_method_by_its_name_on_the_command_line(name):
    assert METHODS[name]().name == name
    problem = condal.problems.max_cut(1.0 - np.eye(4))
    try:
        wanted = condal.solve(problem, METHODS[name](), max_iters=3)
    except condal.ProblemError as error:  # the method is for other problems
        with pytest.raises(condal.ProblemError, match=re.escape(str(error))):
            condal.solve(problem, name, max_iters=3)
    else:
        result = condal.solve(problem, method=name, max_iters=3)
        assert (result.method, result.objective) == (wanted.method, wanted.objective)


def test_solve_takes_auto_for_the_method_that_it_would_choose():
    problem = condal.problems.max_cut(1.0 - np.eye(4))
    assert condal.solve(problem, "auto").method == condal.solve(problem).method


def test_a_sweep_takes_a_method_by_its_name(tmp_path):
    table = condal_lab.sweep(
        lambda n: condal.problems.max_cut(1.0 - np.eye(n)),
        {"n": [3]},
        out=tmp_path / "sweep",
        name="complete graphs",
        workers=0,
        method="cgal",
    )
    assert table[0].result.method == "cgal"


def test_every_public_method_is_listed():
    homes = {method.home.rpartition(".")[2] for method in METHODS.values()}
    public, page = {*in_condal, *in_lab}, (ROOT / "docs" / "choosing.md").read_text()
    assert homes <= public, "export it in methods/__init__.pyi"
    missing = [f"add {name} to METHODS in methods/registry.py" for name in sorted(public - homes)]
    missing += [f"say in docs/choosing.md when to use {name}" for name in homes if name not in page]
    assert missing == []


def test_the_last_of_several_methods_decides_about_lam():
    assert ends_with_cgal("cgal-ls")
    assert ends_with_cgal(HANDOVER.join(["lowrank", "cgal"]))
    assert not ends_with_cgal(HANDOVER.join(["cgal", "lowrank"]))
    assert not ends_with_cgal("hcgm")
