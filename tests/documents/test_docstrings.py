"""Docstrings: their examples print what they show, and the site has them as reStructuredText."""

import doctest
import inspect
import sys

import pytest

from pages import ROOT, has_cvxpy

PACKAGES = sorted(
    page.stem if page.stem.startswith("condal") else f"condal.{page.stem}"
    for page in (ROOT / "docs" / "api").glob("*.md")
    if page.stem != "index"
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def _extensions(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "extensions"), *sys.path])


@pytest.mark.usefixtures("_extensions")
@pytest.mark.parametrize("package", PACKAGES)
def test_examples_print_what_they_show(package):
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


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("|x| <= a_1 for `tol`", r"\|x\| \<= a\_1 for ``tol``"),
        (r":math:`\lambda_1` of *all*", r":math:`\lambda_1` of *all*"),
        (".. math::\n\n    a_1 = b\n\nMore_here.", ".. math::\n\n    a_1 = b\n\nMore\\_here."),
        ("Text\n\n    x = a_1", "Text\n\n::\n\n        x = a_1"),
        (">>> a_1 = 2\n>>> a_1\n2", ">>> a_1 = 2\n>>> a_1\n2"),
        ("See [1]_.\n\n.. [1] A. Author,\n   *Title*.", "See [1].\n\n* [1] A. Author, *Title*."),
        (
            "Parameters\n----------\ntol : float\n    The gap.\n\n    More.\nk : int\n    Rank.",
            ".. rubric:: Parameters\n\n``tol`` : float\n    The gap.\n\n    More.\n\n"
            "``k`` : int\n    Rank.",
        ),
        ("Returns\n-------\nfloat\n    A value.", ".. rubric:: Returns\n\n``float``\n    A value."),
        ("Raises\n------\nOSError\n    If not.", ".. rubric:: Raises\n\n``OSError``\n    If not."),
    ],
)
@pytest.mark.usefixtures("_extensions")
def test_a_docstring_becomes_restructured_text(docstring, expected):
    if not has_cvxpy():
        pytest.skip("the names of the site include condal.cvxpy, which needs CVXPY 1.9 or later")
    from plain_docstrings import converted

    lines = [line.rstrip() for line in converted(docstring.split("\n"))]
    assert "\n".join(lines).rstrip() == expected
