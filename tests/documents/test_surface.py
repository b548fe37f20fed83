"""Names, texts and clients of strangers: what they are shown as, and what they are refused."""

from __future__ import annotations

import base64
import contextlib
import hmac
import io
import re
import socket
import tarfile
import threading
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

import commands
import condal
from condal.certificates.history import Row
from condal.errors import FormatError
from condal.io.results.rows import cell
from condal.lab.experiments import data
from condal.report.live import Watch
from condal.report.live.server import NOTHING, Server
from condal.report.notebook import Bar
from condal.report.pages import page
from condal.report.section import _csv
from condal.runtime.markup import escape_html, grid, pairs
from condal.runtime.text import escape_controls, escape_terminal
from known import torus

HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "attribute": "\" onmouseover='alert(1)' x=\"",
    "comment": "--><!-- ]]></style></svg>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "colours": "\x1b[31mred\x1b[0m\x9b31m",
    "link": "\x1b]8;;http://example.com\x07here\x1b]8;;\x1b\\",
    "overwritten": "failed\rsolved",
    "backspaces": "failed\x08\x08\x08\x08\x08\x08solved",
    "direction": "\u202egpj.exe\u2066\u200f",
    "formula": "=cmd|' /C calc'!A0",
    "mathtext": "$\\frac{1}{$",
    "broken": "\udcff\x00",
}
hostile = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


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


class Tags(HTMLParser):
    """The names of all tags, and of all attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.words += data


def test_on_a_page_names_are_text_in_html_and_in_drawings(solved):
    names = list(HOSTILE.values())
    every = " ".join(names)
    result = replace(solved, problem_name=every, reason=every, why=every)
    text = page([result, replace(result, history=condal.History())], labels=names[:2], title=every)
    assert text.isascii()
    seen = Tags(text)
    assert not ACTING.search(unescape(text))
    assert seen.words.count(escape_controls(names[0])) >= 6
    assert names[3] in seen.words  # {{ 7 * 7 }} is no template
    assert not seen.tags & {"script", "object", "iframe", "embed", "base", "form", "input"}
    assert not [name for name in seen.attributes if name.startswith("on")]


POLICIES = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}


def policy(text):
    return dict(one.strip().partition(" ")[::2] for one in text.split(";"))


def test_every_page_has_a_policy_that_forbids_all_but_itself(solved):
    text = page(solved)
    (given,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    stated = policy(given)
    assert {key: stated[key] for key in POLICIES} == POLICIES
    assert stated["img-src"] == "data:"
    assert not {"script-src", "connect-src", "frame-src", "object-src", "font-src"} & stated.keys()
    assert text.index("Content-Security-Policy") < text.index("<title>") < text.index("<style>")
    assert 'name="referrer" content="no-referrer"' in text
    live = policy(NOTHING)
    assert {key: live[key] for key in POLICIES} == POLICIES
    assert live["frame-ancestors"] == "'none'"


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
    from condal.cli import bench, experiment

    bench._say(HOSTILE["colours"])
    assert escape_terminal(HOSTILE["colours"]) in capsys.readouterr().err
    report = type("Report", (), {"claims": (), "figures": (), "page": Path("a\x1b[31m.md")})
    monkeypatch.setattr(experiment, "table", lambda rows: "")
    assert experiment.summary(report).strip() == "a\\x1b[31m.md"


def talk(watch, words, *, read=True):
    """The answer to the very bytes."""
    there = urlsplit(watch.address)
    with socket.create_connection((there.hostname, there.port), timeout=30) as client:
        with contextlib.suppress(OSError):  # it may be answered before all is said
            client.sendall(words)
        answer = b""
        with contextlib.suppress(OSError):
            while read and (piece := client.recv(65536)):
                answer += piece
    return answer


def request(watch, line, *headers):
    there = urlsplit(watch.address)
    lines = [line.format(path=there.path), *headers, "Connection: close"]
    if not any(one.lower().startswith("host:") for one in headers):
        lines.insert(1, f"Host: {there.netloc}")
    return talk(watch, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "<b>"])
def test_other_methods_get_a_number_and_nothing_else(method):
    with Watch() as watch:
        answer = request(watch, f"{method} {{path}} HTTP/1.1")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 501 ")
        assert b"Content-Security-Policy: default-src 'none'" in head
        assert body == b""
        assert watch.address.rsplit("/", 2)[1].encode() not in answer


@pytest.mark.parametrize(
    ("line", "headers", "code"),
    [
        ("GET {path} HTTP/1.1", ["Host: example.com"], 403),
        ("GET {path} HTTP/1.1", ["Host: 127.0.0.1.example.com:80"], 403),
        ("GET http://example.com{path} HTTP/1.1", [], 404),
        ("GET /é/ HTTP/1.1", [], 404),
        ("GET {path}../ HTTP/1.1", [], 404),
        ("GET {path}%2e%2e/etc/passwd HTTP/1.1", [], 404),
        ("GET {path} HTTP/9.9", [], None),  # not in words that it would understand
        ("GET", [], None),
        ("POST {path}stop HTTP/1.1", ["Content-Length: 99999999999"], 403),
        ("POST {path}stop HTTP/1.1", ["X-Condal: stop", "Origin: http://127.0.0.1:1"], 403),
        ("POST {path} HTTP/1.1", ["X-Condal: stop"], 404),
        ("GET /" + "A" * 70_000 + "/ HTTP/1.1", [], 414),
        ("GET {path} HTTP/1.1", ["X: " + "A" * 70_000], 431),
        ("GET {path} HTTP/1.1", [f"X{i}: 1" for i in range(200)], 431),
    ],
)
def test_requests_of_strangers(line, headers, code):
    with Watch() as watch:
        answer = request(watch, line, *headers)
        assert answer == b"" if code is None else answer.startswith(f"HTTP/1.1 {code} ".encode())
        assert b"<title>" not in answer
        assert not watch(Row(1, *[0.0] * 9, 1, 1, 0.0))


def test_a_token_is_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(a, b):
        compared.append((a, b))
        return hmac.compare_digest(a, b)

    monkeypatch.setattr("condal.report.live.server.hmac", SimpleNamespace(compare_digest=compare))
    with Watch() as watch:
        token = watch.address.rsplit("/", 2)[1]
        assert len(token) >= 32
        for wrong in (token[:-1], token[:-1] + "~", token + "A", token.swapcase()):
            assert request(watch, f"GET /{wrong}/ HTTP/1.1").split()[1] == b"404"
        assert request(watch, f"GET /{token}/ HTTP/1.1").split()[1] == b"200"
        assert [b for _, b in compared] == [token.encode()] * 5
        with Watch() as another:
            assert another.address.rsplit("/", 2)[1] != token


def test_the_token_is_neither_logged_nor_told(capfd):
    with Watch() as watch:
        answer = request(watch, "GET {path} HTTP/1.1")
        token = watch.address.rsplit("/", 2)[1].encode()
        assert answer.startswith(b"HTTP/1.1 200")
        assert token not in answer
        assert b"Referrer-Policy: no-referrer" in answer
        request(watch, "GET {path}nothing HTTP/1.1")
        request(watch, "BREW {path} HTTP/1.1")
        talk(watch, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")  # TLS
    assert capfd.readouterr() == ("", "")


def test_clients_that_say_nothing_take_no_more_than_their_share(monkeypatch):
    """Others are let go at once; when they go, there is room again."""
    monkeypatch.setattr(Server, "max_clients", 3)
    with Watch() as watch, contextlib.ExitStack() as stack:
        there = urlsplit(watch.address)
        silent = [
            stack.enter_context(socket.create_connection((there.hostname, there.port), timeout=30))
            for _ in range(3)
        ]
        settled(lambda: not watch._server._free.acquire(blocking=False))
        assert request(watch, "GET {path} HTTP/1.1") == b""
        assert not watch(Row(1, *[0.0] * 9, 1, 1, 0.0))
        silent[0].close()
        settled(lambda: request(watch, "GET {path} HTTP/1.1").startswith(b"HTTP/1.1 200"))


def settled(true):
    """Wait until it is so."""
    pause = threading.Event()
    for _ in range(400):
        if true():
            return
        pause.wait(0.05)
    raise AssertionError("it never was so")


def test_a_slow_client_does_not_hold_up_the_solve():
    with Watch() as watch:
        there = urlsplit(watch.address)
        with socket.create_connection((there.hostname, there.port), timeout=30) as client:
            client.sendall(b"GET /")
            model = condal.problems.max_cut(torus(3, 4))
            assert condal.solve(model, tol=1e-2, callback=watch).status is condal.Status.SOLVED


def test_a_member_of_an_archive_that_claims_too_much_is_not_read(monkeypatch):
    monkeypatch.setattr(data, "MAX_MEMBER_BYTES", 10)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        member = tarfile.TarInfo("folder/it")
        member.size = 11
        tar.addfile(member, io.BytesIO(b"x" * 11))
    with pytest.raises(FormatError, match="the archive's it claims 11 bytes"):
        data._member(packed.getvalue(), "it")


def test_a_download_of_other_contents_leaves_nothing(tmp_path):
    """Whatever came, the cache is as it was."""

    class Pooch:
        @staticmethod
        def HTTPDownloader(timeout):
            return lambda home, path, _: Path(path).write_bytes(b"3 1\n1 2 6\n")

    made = data.Source("G7", "gset/G7.txt", "0" * 64, ("http://127.0.0.1:9/G7",))
    with pytest.raises(condal.ProblemError, match="is not the file G7 of the experiments"):
        data._download(made, made.homes[0], tmp_path, Pooch)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
