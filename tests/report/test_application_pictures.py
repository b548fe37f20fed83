"""Every application of the command line has a picture, which is kept with its result and drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from commands import FILES, NEEDED
from condal.cli.app import cli
from condal.io.results import load
from condal.report.figures import of_picture

WITHOUT = {"sdp"}  # its unknowns stand for nothing that could be drawn


@pytest.mark.parametrize("name", sorted(set(FILES) - WITHOUT))
def test_the_picture_of_an_application(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents = FILES[name]
    Path("file.txt").write_bytes(contents() if callable(contents) else contents.encode())
    options = [*NEEDED.get(name, ()), "--tol", "0.01", "--quiet", "--save", "run"]
    ended = CliRunner().invoke(cli, ["solve", "file.txt", "--as", name, *map(str, options)])
    assert ended.exit_code == 0, ended.stderr
    drawn = of_picture(load("run").picture, "p")
    assert drawn is not None
    assert drawn.caption.endswith(".")
    assert drawn.svg.count("<path") + drawn.svg.count("<image") > 2
