"""Data files: found in order, verified by their contents, downloaded or asked for."""

import gzip
import io
import lzma
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch
import pytest

from condal.errors import FormatError, ProblemError
from condal_lab.experiments import data as module
from condal_lab.experiments.data import SOURCES, Source, find
from known import DATA, needs_data

GRAPH = b"3 2\n1 2 1\n2 3 5\n"


def source(contents: bytes = GRAPH, *, name: str = "G7", home: str = "", **changes) -> Source:
    made = Source(name, f"gset/{name}.txt", "", (home or "http://127.0.0.1:9/G7",), **changes)
    return replace(made, sha256=made.checksum(contents))


@pytest.fixture
def known(monkeypatch, tmp_path):
    """Register a source, with an empty cache and no folder in the environment."""
    cache = tmp_path / "cache"
    monkeypatch.setattr(pooch, "os_cache", lambda name: cache)
    monkeypatch.delenv("CONDAL_DATA", raising=False)

    def register(made: Source) -> Path:
        monkeypatch.setitem(SOURCES, made.name, made)
        return cache

    return register


@pytest.fixture
def serve():
    """A web server on this machine: `serve({path: bytes})` returns its address."""
    servers = []

    def start(files: dict[str, bytes]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                contents = files.get(self.path)
                self.send_response(404 if contents is None else 200)
                self.send_header("Content-Length", str(len(contents or b"")))
                self.end_headers()
                self.wfile.write(contents or b"")

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def put(folder: Path, place: str, contents: bytes = GRAPH) -> Path:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    return path


@pytest.mark.parametrize(
    ("place", "packed"),
    [
        ("gset/G7.txt", GRAPH),
        ("gset/G7", GRAPH),
        ("G7", GRAPH.replace(b"\n", b" \r\n")),
        ("gset/G7.txt.xz", lzma.compress(GRAPH)),
        ("G7.txt.gz", gzip.compress(GRAPH)),
    ],
)
def test_a_copy_is_found_plain_or_packed(known, tmp_path, place, packed):
    known(source())
    path = put(tmp_path / "mine", place, packed)
    assert find("G7", tmp_path / "mine") == path


def test_the_folders_are_searched_in_order(known, tmp_path, monkeypatch):
    cache = known(source())
    cached = put(cache, "gset/G7.txt")
    assert find("G7") == cached
    variable = put(tmp_path / "variable", "gset/G7")
    monkeypatch.setenv("CONDAL_DATA", str(tmp_path / "variable"))
    assert find("G7") == variable
    mine = put(tmp_path / "mine", "G7")
    assert find("G7", str(tmp_path / "mine")) == mine
    (tmp_path / "empty").mkdir()
    assert find("G7", tmp_path / "empty") == variable


@pytest.mark.parametrize(
    ("made", "contents"),
    [
        (source(), b"3 2\n1 2 1\n2 3 4\n"),
        (source(b"a b", text=False), b"a  b"),  # binary contents count to the byte
    ],
)
def test_another_file_of_the_name_is_refused(known, tmp_path, made, contents):
    known(made)
    put(tmp_path / "mine", "G7.txt", contents)
    with pytest.raises(ProblemError, match=r"is not the file G7 of the experiments: the checksum"):
        find("G7", tmp_path / "mine")


def test_a_download_goes_to_the_cache_and_is_made_once(known, serve):
    files = {"/Gset/G7": GRAPH}
    cache = known(source(home=serve(files) + "/Gset/G7"))
    path = find("G7")
    assert path == cache / "gset/G7.txt"
    assert path.read_bytes() == GRAPH
    files.clear()
    assert find("G7") == path
    assert [p for p in cache.rglob("*") if p.is_file()] == [path]


def test_an_archive_gives_its_member(known, serve):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, contents in (("G7/notes.txt", b"hello"), ("G7/G7.txt", GRAPH)):
            member = tarfile.TarInfo(name)
            member.size = len(contents)
            tar.addfile(member, io.BytesIO(contents))
    known(source(home=serve({"/G7.tar.gz": packed.getvalue()}) + "/G7.tar.gz"))
    assert find("G7").read_bytes() == GRAPH
    with pytest.raises(FormatError, match="the archive holds no other"):
        module._member(packed.getvalue(), "other")
    with pytest.raises(FormatError, match="is not a tar archive"):
        module._member(b"<html>", "other")


def test_a_home_that_fails_is_followed_by_the_next(known, serve):
    address = serve({"/changed": b"1 1\n", "/good": GRAPH})
    homes = tuple(f"{address}/{name}" for name in ("missing", "changed", "good"))
    known(replace(source(), homes=homes))
    assert find("G7").read_bytes() == GRAPH


def test_without_any_home_the_error_says_where_to_put_what(known, serve, tmp_path, monkeypatch):
    address = serve({"/changed": b"1 1\n"})
    cache = known(replace(source(), homes=(f"{address}/changed", f"{address}/missing")))
    monkeypatch.setenv("CONDAL_DATA", str(tmp_path))
    with pytest.raises(ProblemError) as caught:
        find("G7")
    text = str(caught.value)
    assert f"is not in --data (not given), $CONDAL_DATA ({tmp_path}) or the user's" in text
    assert f"{address}/changed: other contents; {address}/missing: HTTPError" in text
    assert f"fetch {address}/changed by hand, and put the file at gset/G7.txt in a folder" in text
    assert not [p for p in cache.rglob("*") if p.is_file()]


def test_a_folder_must_be_one_and_a_name_known(known, tmp_path, monkeypatch):
    known(source())
    with pytest.raises(ProblemError, match=r"the data folder, .*/no, is not a folder"):
        find("G7", tmp_path / "no")
    monkeypatch.setenv("CONDAL_DATA", str(tmp_path / "no"))
    with pytest.raises(ProblemError, match=r"\$CONDAL_DATA, .*/no, is not a folder"):
        find("G7")
    with pytest.raises(ProblemError, match="there is no file 'G8'; the experiments know GD97_b"):
        find("G8")


def test_a_file_without_a_url_is_derived_by_hand(known, tmp_path):
    known(replace(source(), homes=(), origin="the graph G6"))
    with pytest.raises(ProblemError, match=r"it has no URL.*; derive it from the graph G6 by hand"):
        find("G7")
    (tmp_path / "G7.txt").write_bytes(GRAPH)
    assert find("G7", tmp_path) == tmp_path / "G7.txt"
    (tmp_path / "G7.txt").write_bytes(GRAPH + b"1")
    with pytest.raises(ProblemError, match="remove it, and derive it from the graph G6"):
        find("G7", tmp_path)


def test_the_table_is_whole():
    for name, entry in SOURCES.items():
        assert entry.name == name
        assert len(entry.sha256) == 64
        assert all(home.startswith("https://") for home in entry.homes)
        assert bool(entry.homes) != bool(entry.origin)


@needs_data
@pytest.mark.parametrize("name", SOURCES)
def test_the_public_files_pass_their_checksums(name):
    assert find(name, DATA).is_relative_to(DATA)
