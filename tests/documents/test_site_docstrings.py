"""Docstrings become reStructuredText for the site: sections, formulas, doctests and references."""

from __future__ import annotations

import sys

import pytest

from pages import ROOT, has_cvxpy


@pytest.fixture
def converted(monkeypatch):
    if not has_cvxpy():
        pytest.skip("the names of the site include condal.cvxpy, which needs CVXPY 1.9 or later")
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "extensions"), *sys.path])
    from plain_docstrings import converted

    return lambda text: "\n".join(line.rstrip() for line in converted(text.split("\n"))).rstrip()


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
def test_a_docstring_becomes_restructured_text(docstring, expected, converted):
    assert converted(docstring) == expected
