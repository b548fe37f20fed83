"""condal show and condal report take the folder of a sweep, and say what varies."""

import json
from pathlib import Path

import networkx as nx
import pytest
from click.testing import CliRunner

import condal
import condal_lab
from condal.cli.app import cli
from condal_lab.sweeps.folder import MANIFEST, TABLE, is_sweep, read_sweep


def family(seed, scale):
    if seed == 2:
        raise ValueError("no such seed")
    return condal.problems.max_cut(nx.cycle_graph(5)), {"seed": seed}


@pytest.fixture
def swept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return condal_lab.sweep(family, {"seed": [0, 1, 2], "scale": [1.0]}, out="seeds", workers=0)


def run(*arguments):
    return CliRunner().invoke(cli, arguments)


def test_the_table_is_read_without_writing(swept):
    assert is_sweep("seeds")
    assert not is_sweep(".")
    before = {path: path.stat().st_mtime_ns for path in Path("seeds").rglob("*")}
    again = read_sweep("seeds")
    assert str(again) == str(swept)
    assert [row.folder for row in again] == [row.folder for row in swept]
    assert {path: path.stat().st_mtime_ns for path in Path("seeds").rglob("*")} == before


def test_a_line_that_is_being_written_is_left_out(swept):
    with Path("seeds", TABLE).open("a") as table:
        table.write('{"digest": "x", ')
    assert len(read_sweep("seeds")) == 3


def test_a_row_is_called_by_what_varies(swept):
    assert [swept.label(row) for row in swept] == ["seed 0", "seed 1", "seed 2"]


def test_show_prints_the_table(swept):
    ended = run("show", "seeds")
    assert ended.exit_code == 0, ended.stderr
    assert str(swept) in ended.stdout
    assert "1 point failed, the first by: ValueError: no such seed" in ended.stdout
    assert run("show", "seeds", "--json", "-").exit_code == 0
    assert len(json.loads(run("show", "seeds", "--json", "-").stdout)) == 2


def test_show_takes_results_and_sweeps(swept):
    ended = run("show", str(swept[0].folder), "seeds")
    assert ended.exit_code == 0, ended.stderr
    assert "max-cut" in ended.stdout
    assert str(swept) in ended.stdout


def test_report_shows_the_points_side_by_side(swept):
    ended = run("report", "seeds", "-o", "page.html")
    assert ended.exit_code == 0, ended.stderr
    page = Path("page.html").read_text()
    assert '<th scope="row">1: seed 0</th>' in page
    assert '<th scope="row">2: seed 1</th>' in page


def test_a_manifest_that_was_changed_is_refused(swept):
    path = Path("seeds", MANIFEST)
    path.write_text(path.read_text().replace("family", "others"))
    ended = run("show", "seeds")
    assert ended.exit_code == 2
    assert "was changed after it was saved" in ended.stderr


def test_the_first_tile_of_a_page_is_the_value_of_the_application(swept):
    result = swept[0].result
    condal.save(result, "one", application="max-cut", figures={"cut": 4.0, "share": 0.9})
    assert run("report", "one", "-o", "page.html").exit_code == 0
    tiles = Path("page.html").read_text().partition('<dl class="tiles">')[2]
    assert tiles.split("</div>")[0].strip() == "<div><dt>cut</dt><dd>4</dd>"
