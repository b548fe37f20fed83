"""The examples in the docstrings of all public names run and print what they show."""

from __future__ import annotations

import doctest
import inspect
import sys

import pytest

from pages import ROOT

PACKAGES = sorted(
    page.stem if page.stem.startswith("condal") else f"condal.{page.stem}"
    for page in (ROOT / "docs" / "api").glob("*.md")
    if page.stem != "index"
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_print_what_they_show(package, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "extensions"), *sys.path])
    from public_names import names_of

    try:
        names = list(names_of(package))
    except ImportError as error:  # of CVXPY 1.9, which needs NumPy 2
        pytest.skip(str(error))
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=FLAGS)
    report: list[str] = []
    for path, obj in names:
        if inspect.isclass(obj) or inspect.isfunction(obj):
            for test in finder.find(obj, path, module=False):
                runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
