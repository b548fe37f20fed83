"""Bad files at the command line: exit code 2, one line that names the file, no traceback, and no
files left behind."""

import gzip
import os
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cell import Refused
from cells import CELLS

from commands import PENTAGON, run
from readers import FORMATS, results
from readers.contents import RUDY, SDPA

COMMANDS = [form for form in FORMATS if form.command is not None]
BY_NAME = {form.name: form for form in FORMATS}
CASES = [
    (form.name, fault)
    for form in COMMANDS
    for fault, cell in CELLS[form.name].items()
    if isinstance(cell, Refused)
]
KEPT = ("--save", "run", "--json", "result.json", "--out", "answer.txt")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*arguments, text="", line=None):
    """Return the error; the command must leave no new files."""
    before = {path: os.lstat(path) for path in Path().rglob("*")}
    ended = run(*arguments)
    assert ended.exit_code == 2, ended.output
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("condal: error: ")
    assert "Traceback" not in ended.stderr
    assert text in ended.stderr
    if line is not None:
        assert f", line {line}: " in ended.stderr
    assert set(Path().rglob("*")) == set(before)
    return ended.stderr


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_condal_solve_of_a_file_with(name, fault):
    form, cell = BY_NAME[name], CELLS[name][fault]
    path = Path(f"given{form.suffix}")
    path.write_bytes(cell.contents)
    refused("solve", path, *form.command, *KEPT, text=str(path), line=cell.line)


@pytest.mark.parametrize("form", COMMANDS, ids=repr)
def test_condal_solve_of_what_is_no_file(form):
    os.mkfifo(f"fifo{form.suffix}")
    Path(f"folder{form.suffix}").mkdir()
    Path(f"loop{form.suffix}").symlink_to(f"loop{form.suffix}")
    Path(f"bomb{form.suffix}").write_bytes(gzip.compress(b"\n" * (20 << 20)))
    for name, text in (
        ("fifo", "is a pipe; wanted a regular file"),
        ("folder", "is a folder; wanted a regular file"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
        ("absent", "cannot be read: No such file or directory; check the path"),
        ("bomb", ""),
    ):
        refused("solve", f"{name}{form.suffix}", *form.command, *KEPT, text=text)


@pytest.mark.parametrize("length", range(len(RUDY) - 6))
def test_condal_info_of_a_truncated_file(length):
    Path("given.txt").write_bytes(RUDY[:length])
    refused("info", "given.txt", text="given.txt")


# Saved results.


@pytest.fixture
def saved(folder):
    """Return a saved result and its problem."""
    Path("pentagon.txt").write_text(PENTAGON)
    assert run("solve", "pentagon.txt", "--as", "max-cut", "--save", "run").exit_code == 0
    return folder / "run"


READERS = {
    "certify": ("certify", "pentagon.txt", "run"),
    "show": ("show", "run", "--json", "shown.json"),
    "report": ("report", "run", "-o", "page.html"),
}
FILES = ["result.json", "history.csv", "x.npz", "y.npy", "picture.npz"]


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("name", FILES)
def test_a_saved_result_with(saved, command, name):
    """Truncated; trailing garbage; symlink; FIFO; missing."""
    path = saved / name
    whole = path.read_bytes()
    for contents in (b"", whole[:-1], whole[: len(whole) // 2], whole + b"more", whole[1:]):
        path.write_bytes(contents)
        if contents.strip() == whole.strip():  # a record without its last line's end
            continue
        refused(*READERS[command], text=f"run/{name}: ")
    path.unlink()
    refused(*READERS[command], text=f"run/{name}: cannot be read: No such file or directory")
    path.symlink_to("/dev/zero")
    refused(*READERS[command], text=f"run/{name}: is a link; a saved result has the file itself")
    path.unlink()
    os.mkfifo(path)
    assert stat.S_ISFIFO(path.lstat().st_mode)
    refused(*READERS[command], text=f"run/{name}: is not a regular file; a saved result has")


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("name", [name for name in CELLS if name.startswith("saved ")])
def test_a_saved_result_whose_hashes_are_right_with(saved, command, name):
    for cell in CELLS[name].values():
        if isinstance(cell, Refused):
            results.put(saved, {name.removeprefix("saved "): cell.contents})
            refused(*READERS[command], text="run/")


@pytest.mark.parametrize("length", range(0, len(RUDY) - 6, 3))
def test_condal_certify_of_a_truncated_problem(saved, length):
    Path("pentagon.txt").write_bytes(PENTAGON.encode()[:length])
    refused("certify", "pentagon.txt", "run", text="pentagon.txt: is not the file that run is a")


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, *sorted(name for name, _ in attributes)))


MARKUP = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'&amp;{{7*7}}</title>"


def test_html_in_a_problems_name_shown_in_a_report():
    """In the names of its file and folder, and in its record."""
    name = MARKUP.replace("/", "|")
    for folder, file in (("plain", "plain.dat-s"), (name, f"{name}.dat-s")):
        Path(file).write_bytes(SDPA)
        assert run("solve", file, "--as", "sdp", "--save", folder).exit_code == 0
    files = {path.name: path.read_bytes() for path in Path(name).iterdir()}
    for field in (b"problem", b"method", b"why", b"reason"):
        words = b'"%b": "' % field
        assert words in files["result.json"]
        text = MARKUP.replace('"', "'").encode()
        files["result.json"] = files["result.json"].replace(words, words + text)
    results.put(Path(name), files)
    pages = []
    for folder in ("plain", name):
        assert run("report", folder, "plain", "-o", f"{folder[:5]}.html").exit_code == 0
        pages.append(Path(f"{folder[:5]}.html").read_text())
    assert "alert(1)" not in pages[0]
    assert "&lt;script&gt;alert(1)&lt;|script&gt;" in pages[1]  # of its folder
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages[1]  # of its record
    assert "{{7*7}}" in pages[1]
    assert set(Elements(pages[1]).found) == set(Elements(pages[0]).found)
    shown = run("show", name)
    assert shown.exit_code == 0
    assert MARKUP.replace('"', "'") in " ".join(shown.stdout.split())


def test_a_path_with_dots_is_just_a_path(folder):
    (folder / "below").mkdir()
    Path("given.txt").write_bytes(RUDY)
    assert run("info", "below/../given.txt").exit_code == 0
