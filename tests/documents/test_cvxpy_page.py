"""docs/cvxpy.md shows what was measured, and names every option."""

import re
from dataclasses import fields

import pytest

from pages import ROOT, has_cvxpy

PAGE = (ROOT / "docs" / "cvxpy.md").read_text()
BENCH = (ROOT / "lab" / "results" / "bench-conic.md").read_text()


def included():
    """The part of the benchmark's page between the marks that the page names."""
    begin, end = (re.search(rf':{mark}: "(.*)"', PAGE)[1] for mark in ("start-after", "end-before"))
    assert BENCH.count(begin) == BENCH.count(end) == 1
    return BENCH.partition(begin)[2].partition(end)[0]


def test_the_page_shows_the_everyday_problems():
    lines = [line for line in included().splitlines() if line.startswith("|")]
    assert lines[0].startswith("| instance | what | condal | SCS | Clarabel | x |")
    assert len(lines) == 2 + 25
    assert "25 everyday problems" in PAGE


def test_condal_is_right_on_all_that_the_page_shows():
    for line in included().splitlines()[4:]:
        if line.startswith("|"):
            assert line.split("|")[3].endswith(" right "), line


@pytest.mark.skipif(not has_cvxpy(), reason="needs CVXPY 1.9")
def test_every_option_is_on_the_page():
    from condal.cvxpy.options import Options

    for option in fields(Options):
        assert f"`{option.name}" in PAGE, option.name
