"""condal report: folders of results to one page, and what it refuses."""

import re
from pathlib import Path

import pytest

from commands import refused, run
from condal.cli import report
from condal.errors import CondalError
from condal.io.results import save


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, solved, limited):
    monkeypatch.chdir(tmp_path)
    save(solved, "first", application="max-cut", settings={"seed": 3})
    save(limited, "second")
    return tmp_path


def test_one_result():
    ended = run("report", "first", "-o", "page.html")
    assert ended.exit_code == 0, ended.stderr
    assert re.fullmatch(r"page.html: \d+ kB\n", ended.stdout)
    text = Path("page.html").read_text()
    assert "<h1>max-cut</h1>" in text
    assert "<dt>seed</dt><dd>3</dd>" in text


def test_several_are_called_by_their_folders():
    assert (
        run("report", "first", "second/", "-o", "page.html", "--title", "Both & all").exit_code == 0
    )
    text = Path("page.html").read_text()
    assert "<h1>Both &amp; all</h1>" in text
    assert '<th scope="row">1: first</th>' in text
    assert '<th scope="row">2: second</th>' in text


def test_nothing_is_overwritten_unless_asked_for():
    Path("page.html").write_text("mine")
    text = refused("report", "first", "-o", "page.html")
    assert "page.html: exists; give -o another path, or add --overwrite" in text
    assert Path("page.html").read_text() == "mine"
    assert run("report", "first", "-o", "page.html", "--overwrite").exit_code == 0
    assert Path("page.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("first", "Missing option '-o' / '--out'"),
        ("-o page.html", "Missing argument 'RESULT...'"),
        ("first -o -", "a page needs a file: -o page.html"),
        ("first -o first", "is not a regular file; give -o another path"),
        ("first -o first/page.html", "is in the result first; give -o another path"),
        ("first -o no/page.html", "cannot be written: No such file or directory"),
        ("third -o page.html", "third: "),
        ("loop -o page.html", "loop: there is no such file or folder"),
        ("first -o loop", "loop: cannot be written"),
    ],
)
def test_what_is_refused(arguments, text):
    Path("loop").symlink_to("loop")
    assert text in refused("report", *arguments.split())


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    def missing():
        raise CondalError("pages need Jinja2; install with: pip install 'condal[report]'")

    monkeypatch.setattr(report, "require", missing)
    assert "pages need Jinja2" in refused("report", "first", "-o", "page.html")
