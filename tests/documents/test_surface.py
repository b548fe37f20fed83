"""Names and texts of strangers: what they are shown as, and what is refused."""

import base64
import io
import re
import tarfile
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import commands
import condal
from condal.certificates.history import Row
from condal.errors import FormatError
from condal.io.results.record import cell
from condal.report.notebook import Bar
from condal.report.pages import _csv, page
from condal.runtime.text import escape_controls, escape_html, escape_terminal, grid, pairs
from condal_lab.experiments import data
from hostile import ACTING, HOSTILE
from known import torus

hostile = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)


@pytest.fixture(scope="module")
def solved():
    return condal.solve(condal.problems.max_cut(torus(3, 4)), condal.CGAL(), tol=1e-2)


@hostile
def test_on_a_terminal_every_character_is_one_that_is_seen(name, solved):
    assert escape_terminal(name).isprintable()
    certificate = replace(solved.certificate, how=name)
    shown = repr(replace(solved, problem_name=name, method=name, certificate=certificate))
    assert all(line.isprintable() for line in shown.split("\n"))
    names = [re.findall(r"^  (\w[\w ]*?)  ", text, flags=re.M) for text in (shown, repr(solved))]
    assert names[0] == names[1]  # no name begins a row; a long one continues below itself


@hostile
def test_in_a_notebook_a_name_is_text(name, solved, monkeypatch):
    drawn = replace(solved, problem_name=name, method=name)._repr_html_()
    drawn += pairs(name, [(name, name)]) + grid(name, [name], [[name]])
    drawn += replace(solved.certificate, how=name)._repr_html_()
    bar = object.__new__(Bar)
    monkeypatch.setattr(bar, "_notes", [name], raising=False)
    monkeypatch.setattr(bar, "_row", None, raising=False)
    monkeypatch.setattr(bar, "_result", None, raising=False)
    monkeypatch.setattr(bar, "_began", 0.0, raising=False)
    drawn += bar._draw()
    assert not ACTING.search(drawn)
    assert escape_controls(name) in unescape(drawn)
    assert {tag.lower() for tag in re.findall(r"<\s*/?\s*(\w+)", drawn)} <= {
        *("caption", "div", "span", "table", "tbody", "td", "th", "tr")
    }
    assert not re.search(r"<[^>]*\bon\w+\s*=[^>]*>", drawn)


def test_escape_leaves_what_does_nothing():
    assert escape_html("a é \u00a0 \u7ed3 & <") == "a é \u00a0 \u7ed3 &amp; &lt;"
    assert escape_controls("two\nlines\tand \u200d") == "two\nlines\tand \u200d"


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -1.5, 1e300, 0.0])
def test_no_cell_of_a_table_is_a_formula(value):
    """A cell that begins with = + - @ is one, unless it is a number."""
    number = re.compile(r"-?[0-9][0-9.]*(e[-+]?[0-9]+)?|nan")
    assert number.fullmatch(cell("gap", value))
    history = condal.History()
    history.append(Row(1, *[value] * 9, 1, 1, 0.5))
    link = _csv(history).partition(",")[2]
    header, row, _ = base64.b64decode(link).decode().split("\n")
    assert header == ",".join(Row._fields)
    assert all(number.fullmatch(one) for one in row.split(","))


def test_a_page_of_numbers_that_no_solve_comes_to(solved):
    """A folder of a stranger's may have them: they are no reason to fail, nor for a warning."""
    history = condal.History()
    for k, value in enumerate([np.inf, -1e300, 1e300, np.nan, 1e-300], 1):
        history.append(Row(k, value, value, *[abs(value)] * 4, *[value] * 3, k, k, 0.1 * k))
    assert "What is proved" in page(replace(solved, history=history))


NAMES = {key: name for key, name in HOSTILE.items() if "/" not in name and "\x00" not in name}
NAMES["escapes"] = "\x1b]0;title\x07\x1b[2J"


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_names_of_files_do_nothing_to_a_terminal(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(commands.PENTAGON)
    Path(f"bad{name}").write_text(f"5 1\n1 {name}\n", errors="surrogateescape")
    given, drawn = ("--as", "theta", "--tol", "0.1"), name == NAMES["escapes"]  # it takes long
    for arguments in (
        ("info", "--", name),
        ("solve", *given, "--save", f"{name}-saved", "--", name),
        ("show", "--", f"{name}-saved"),
        ("certify", "--", name, f"{name}-saved"),
        *([("report", "--out", f"{name}.html", "--", f"{name}-saved")] if drawn else []),
        ("info", "--", f"bad{name}"),
        ("info", "--", f"absent{name}"),
        ("show", "--", f"absent{name}"),
        ("solve", "--as", name, "--", name),
    ):
        ended = commands.run(*arguments)
        assert ended.exit_code in (0, 2), ended.output
        for line in ended.output.split("\n"):
            assert line.isprintable(), (arguments, line)


def test_what_peers_and_folders_are_called_is_printed_plain(capsys, monkeypatch):
    from condal_lab.commands import bench, experiment

    bench._say(HOSTILE["colours"])
    assert escape_terminal(HOSTILE["colours"]) in capsys.readouterr().err
    report = type("Report", (), {"claims": (), "figures": (), "page": Path("a\x1b[31m.md")})
    monkeypatch.setattr(experiment, "table", lambda rows: "")
    assert experiment.summary(report).strip() == "a\\x1b[31m.md"


def test_a_member_of_an_archive_that_claims_too_much_is_not_read(monkeypatch):
    monkeypatch.setattr(data, "MAX_MEMBER_BYTES", 10)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        member = tarfile.TarInfo("folder/it")
        member.size = 11
        tar.addfile(member, io.BytesIO(b"x" * 11))
    with pytest.raises(FormatError, match="the archive's it claims 11 bytes"):
        data._member(packed.getvalue(), "it")


def test_a_download_of_other_contents_leaves_nothing(tmp_path, monkeypatch):
    """Whatever came, the cache is as it was."""
    pooch = pytest.importorskip("pooch")

    def downloader(timeout):
        return lambda home, path, _: Path(path).write_bytes(b"3 1\n1 2 6\n")

    monkeypatch.setattr(pooch, "HTTPDownloader", downloader)
    made = data.Source("G7", "gset/G7.txt", "0" * 64, ("http://127.0.0.1:9/G7",))
    with pytest.raises(condal.ProblemError, match="is not the file G7 of the experiments"):
        data._download(made, made.homes[0], tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
