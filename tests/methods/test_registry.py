"""The table of method names against the methods themselves."""

from __future__ import annotations

import pytest

from condal.methods import __all__ as public
from condal.methods.registry import METHODS, ends_with_cgal, joined_names, method_classes


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_the_name_that_it_is_listed_by(name):
    assert METHODS[name]().name == name


def test_every_public_method_is_listed():
    homes = {method.home.rpartition(".")[2] for method in METHODS.values()}
    assert homes == set(public)
    assert {cls.__name__ for cls in method_classes()} == {n for n in public if n[0].isupper()}


def test_the_last_of_several_methods_decides_about_lam():
    assert ends_with_cgal("cgal-ls")
    assert ends_with_cgal(joined_names(["lowrank", "cgal"]))
    assert not ends_with_cgal(joined_names(["cgal", "lowrank"]))
    assert not ends_with_cgal("hcgm")
