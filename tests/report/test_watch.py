"""A solve that is watched: who may look, what is told, and that the button stops it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

import condal
from browser import Browser, needs_chromium
from condal.certificates.history import Row
from condal.cli.app import cli
from condal.driver.run import broadcast
from condal.errors import CondalError
from condal.report.live import Watch
from condal.report.live.rows import COLUMNS, MAX_ROWS, Rows
from condal.result import Status
from known import torus

STOP = {"X-Condal": "stop"}


def row(k):
    return Row(k, 1.0 / k, -1.0, float("inf"), 0.5, 0.1, 0.6, 1.0, 1.0, 1.0, k, 2 * k, k / 10)


def ask(watch, path="", *, method="GET", host=None, **headers):
    """The status, the headers and the body of an answer."""
    there = urlsplit(watch.address)
    connection = http.client.HTTPConnection(there.hostname, there.port, timeout=60)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.closing(connection):
        if host is not None:
            headers["Host"] = host
        whole = path if path.startswith("/") else there.path + path
        connection.request(method, whole, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def events(watch):
    """The events of a page, as they come."""
    with urllib.request.urlopen(watch.address + "events", timeout=60) as stream:
        name = None
        for line in stream:
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                yield name, json.loads(line[6:])


def test_the_page_is_for_whoever_knows_its_address():
    with Watch(title="<b>G1</b>") as watch:
        status, headers, body = ask(watch)
        assert status == 200
        assert "&lt;b&gt;G1&lt;/b&gt;" in body
        assert "<b>" not in body
        nonce = re.search(r"script-src 'nonce-([^']+)'", headers["Content-Security-Policy"])[1]
        assert f'<script nonce="{nonce}">' in body
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert nonce not in ask(watch)[2]


@pytest.mark.parametrize(
    "path", ["/", "/x", "/x/", "/x/events", "//", "/%00/", "/" + "A" * 32 + "/"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_without_the_token_there_is_nothing(path, method):
    with Watch() as watch:
        status, headers, body = ask(watch, path, method=method, X_Condal="stop")
        token = urlsplit(watch.address).path.strip("/")
        assert (status, body) == (404, "")
        assert token not in str(headers)
        assert not watch(row(1))


@pytest.mark.parametrize("host", ["example.com", "example.com:80", "127.0.0.1", "", "0.0.0.0:1"])
def test_another_name_is_refused(host):
    """A name elsewhere that is bound to 127.0.0.1 sends its own."""
    with Watch() as watch:
        assert ask(watch, host=host)[0] == 403
        assert ask(watch, "stop", method="POST", host=host, X_Condal="stop")[0] == 403
        assert not watch(row(1))


def test_the_server_is_on_this_machine_alone():
    with Watch() as watch:
        assert watch.address.startswith("http://127.0.0.1:")
        assert ask(watch, host=f"localhost:{urlsplit(watch.address).port}")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X_Condal": "go"},
        {"X_Condal": "stop", "Origin": "http://example.com"},
        {"X_Condal": "stop", "Origin": "null"},
    ],
)
def test_a_page_from_elsewhere_cannot_press_the_button(headers):
    with Watch() as watch:
        assert ask(watch, "stop", method="POST", **headers)[0] == 403
        assert ask(watch, "stop")[0] == 404
        assert not watch(row(1))


def test_the_button_counts_once():
    pressed = []
    with Watch(on_stop=lambda: pressed.append(1)) as watch:
        assert not watch(row(1))
        for _ in range(3):
            assert ask(watch, "stop", method="POST", X_Condal="stop")[0] == 204
        assert watch(row(2))
        assert pressed == [1]


def test_there_is_nothing_to_stop_once_the_answer_is_there():
    pressed = []
    with Watch(on_stop=lambda: pressed.append(1)) as watch:
        watch.settle()
        assert ask(watch, "stop", method="POST", X_Condal="stop")[0] == 204
        assert not watch(row(1))
        assert pressed == []


def test_what_is_told_as_it_runs_and_in_the_end():
    result = condal.solve(condal.problems.max_cut(torus(3, 4)), tol=1e-2)
    with Watch(title="mine") as watch:
        listening = events(watch)
        name, first = next(listening)
        assert (name, first["rows"]["k"], first["asked"]) == ("rows", [], False)
        for k in range(1, 6):
            watch(row(k))
        name, second = next(listening)
        assert name == "rows"
        assert second["rows"]["k"][-1] == 5
        assert second["rows"]["gap"][-1] is None
        assert set(second["rows"]) == set(COLUMNS)
        watch.finish(result)
        name, last = list(listening)[-1]
        assert name == "end"
        assert last["verdict"] == "Solved and proved"
        assert "<h1>mine</h1>" in last["html"]
        with pytest.raises(StopIteration):
            next(listening)


def test_a_solve_that_fails_ends_the_page_too():
    heard = []

    def listen(listening):
        heard.extend(listening)

    with contextlib.suppress(ZeroDivisionError), Watch() as watch:
        listening = events(watch)
        next(listening)
        thread = threading.Thread(target=listen, args=(listening,))
        thread.start()
        raise ZeroDivisionError
    thread.join(60)
    assert heard[-1] == ("end", {"verdict": None, "html": None})


def test_without_a_page_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr("condal.report.live.page.page", None)
    with Watch() as watch:
        watch.finish(condal.solve(condal.problems.max_cut(torus(3, 4)), tol=1e-2, callback=watch))
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(watch.address, timeout=60)


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            CondalError, match=f"cannot listen on port {port} of 127.0.0.1: .* give another port"
        ):
            Watch(port)


def test_rows_are_thinned_evenly_and_the_last_is_there():
    rows = Rows()
    assert rows.record()["k"] == []
    for k in range(1, 10_001):
        rows.append(row(k))
        if k in (1, 2, MAX_ROWS, 10_000):
            kept = rows.record()["k"]
            assert kept[0] == 1
            assert kept[-1] == k
            assert len(kept) <= MAX_ROWS + 1
            assert max(b - a for a, b in zip([0, *kept], kept, strict=False)) <= 2 * rows.every


def test_every_listener_is_told():
    heard = []
    tell = broadcast(None, lambda r: True, heard.append)
    assert tell(row(1)) is True
    assert heard == [row(1)]
    assert broadcast(None)(row(1)) is False


def test_a_watched_solve_stops_from_another_thread():
    """As from a notebook, where there is no Ctrl-C handler of the command."""
    with Watch() as watch:

        def press(r):
            if r.k == 3:
                ask(watch, "stop", method="POST", X_Condal="stop")
            return watch(r)

        model = condal.problems.max_cut(torus(5, 8))
        result = condal.solve(model, condal.CGAL(), tol=1e-9, callback=press)
    assert result.status is Status.INTERRUPTED
    assert result.iterations >= 3  # the answer may be there before the solve has heard of it
    assert result.certificate.certified


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A graph that takes CGAL for ever to solve to the last digit."""
    monkeypatch.chdir(tmp_path)
    W = torus(20, 25).tocoo()
    lines = [f"{i + 1} {j + 1} 1" for i, j in zip(W.row, W.col, strict=True) if i < j]
    Path("graph.txt").write_text("\n".join([f"{W.shape[0]} {len(lines)}", *lines, ""]))
    return "graph.txt"


@contextlib.contextmanager
def solving(graph, *options):
    """The command in a process of its own, and the address that it tells."""
    command = [sys.executable, "-m", "condal", "solve", graph, "--as", "max-cut"]
    command += ["--method", "cgal", "--tol", "1e-9", "--watch", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        line = process.stderr.readline()
        yield (
            process,
            re.fullmatch(r"watch the solve at (http://127\.0\.0\.1:\d+/[\w-]+/)\n", line)[1],
        )
    finally:
        process.kill()
        process.communicate()


@needs_chromium
def test_the_button_in_a_browser(graph, tmp_path):
    browser = Browser(tmp_path / "profile")
    with contextlib.closing(browser), solving(graph, "--json", "result.json") as (process, address):
        browser.see()
        browser.open(address)
        browser.wait("document.getElementById('status').textContent === 'Running'")
        browser.wait("document.querySelectorAll('#values path').length === 2")
        before = int(str(browser.run("document.getElementById('k').textContent")).replace(",", ""))
        browser.wait(
            f"parseInt(document.getElementById('k').textContent.replaceAll(',', '')) > {before}"
        )
        browser.click("#stop")
        browser.wait("document.body.innerText.includes('CONDAL REPORT')")
        assert process.wait(timeout=60) == 1
        assert browser.complaints == []
        assert set(browser.requests) == {address, address + "events", address + "stop"}
        text = browser.text()  # the process is gone, and the page is not
        assert "Interrupted" in text
        assert "What is proved" in text
        assert "no feasible point has an objective better than" in text
        assert "The graph and its cut." in text
        assert (
            "interrupted; the values below are proved for the point reached"
            in process.stdout.read()
        )
    record = json.loads(Path("result.json").read_text())
    assert record["status"] == "interrupted"
    assert record["certified"]


@needs_chromium
def test_a_process_that_is_killed_leaves_a_page_that_says_so(graph, tmp_path):
    browser = Browser(tmp_path / "profile")
    with contextlib.closing(browser), solving(graph) as (process, address):
        browser.see(width=360)
        browser.open(address)
        browser.wait("document.querySelectorAll('#errors path').length === 3")
        assert browser.run("document.documentElement.scrollWidth") <= 360
        process.kill()
        process.wait(timeout=60)
        browser.wait("document.getElementById('status').textContent === 'Not connected'")
        assert "The values are from" in browser.text()
        assert browser.run("document.getElementById('stop').disabled") is True
        assert browser.run("document.querySelectorAll('#errors path').length") == 3


def test_the_button_where_ctrl_c_is_ignored(graph):
    """As for a command in the background of a script: the iteration ends, and then the solve."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with solving(graph, "--json", "result.json") as (process, address):
            request = urllib.request.Request(address + "stop", method="POST", headers=STOP)
            urllib.request.urlopen(request, timeout=60).close()
            assert process.wait(timeout=60) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert json.loads(Path("result.json").read_text())["status"] == "interrupted"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--watch", "70000"], "'70000' is not a port, an integer up to 65535"),
        (["--watch", "x.txt"], "'x.txt' is not a port, an integer up to 65535; FILE goes before"),
    ],
)
def test_bad_ports(graph, options, text):
    ended = CliRunner().invoke(cli, ["solve", graph, "--as", "max-cut", *options])
    assert ended.exit_code == 2
    assert text in ended.stderr


def test_a_short_solve_is_watched_and_ends_as_ever(graph):
    ended = CliRunner().invoke(
        cli, ["solve", graph, "--as", "max-cut", "--tol", "0.1", "--quiet", "--watch"]
    )
    assert ended.exit_code == 0
    assert ended.stderr.startswith("watch the solve at http://127.0.0.1:")
